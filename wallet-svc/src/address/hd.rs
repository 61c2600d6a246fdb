//! Derives receiving addresses of hierarchical deterministic wallets: BIP 32 public derivation below
//! an account's extended public key, and the P2WPKH addresses of BIP 84. Pure.
//!
//! <https://github.com/bitcoin/bips/blob/master/bip-0084.mediawiki>

use std::{str::FromStr, sync::Arc};

use bitcoin::{
    Address, KnownHrp, NetworkKind, base58,
    bip32::{ChildNumber, Xpub},
    secp256k1::Secp256k1,
};
use secrecy::{ExposeSecret as _, SecretString};

use crate::asset::model::AssetCode;

/// m / 84' / coin' / account'
const ACCOUNT_DEPTH: u8 = 3;
/// The chain of external addresses, which are shown to payers.
const RECEIVING: u32 = 0;

/// Version bytes of SLIP 132, and those of BIP 32 for the same key.
const PUBLIC: [([u8; 4], [u8; 4]); 4] = [
    ([0x04, 0x88, 0xb2, 0x1e], [0x04, 0x88, 0xb2, 0x1e]), // xpub
    ([0x04, 0xb2, 0x47, 0x46], [0x04, 0x88, 0xb2, 0x1e]), // zpub
    ([0x04, 0x35, 0x87, 0xcf], [0x04, 0x35, 0x87, 0xcf]), // tpub
    ([0x04, 0x5f, 0x1c, 0xf6], [0x04, 0x35, 0x87, 0xcf]), // vpub
];
const PRIVATE: [[u8; 4]; 4] = [
    [0x04, 0x88, 0xad, 0xe4], // xprv
    [0x04, 0xb2, 0x43, 0x0c], // zprv
    [0x04, 0x35, 0x83, 0x94], // tprv
    [0x04, 0x5f, 0x18, 0xbc], // vprv
];

/// An account's extended public key, which cannot spend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccountKey(Xpub);

/// Why a text is not an account's extended public key. Its message never quotes the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidKey {
    /// Not base 58, or its checksum is wrong.
    #[error("is not an extended public key: its letters or checksum are wrong")]
    Encoding,
    #[error("is a private key: give the extended public key, and treat this one as leaked")]
    Private,
    /// Base 58, but not xpub, zpub, tpub or vpub.
    #[error("is not an extended public key (xpub, zpub, tpub or vpub)")]
    Kind,
    #[error("is not the key of an account (m/84'/coin'/account')")]
    Depth,
}

impl FromStr for AccountKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let mut bytes = base58::decode_check(text).map_err(|_| InvalidKey::Encoding)?;
        let version = bytes.first_chunk::<4>().copied().unwrap_or_default();
        if PRIVATE.contains(&version) {
            return Err(InvalidKey::Private);
        }
        let known = PUBLIC.iter().find(|(prefix, _)| *prefix == version);
        let (_, standard) = known.ok_or(InvalidKey::Kind)?;
        bytes.splice(..4, *standard);
        let key = Xpub::decode(&bytes).map_err(|_| InvalidKey::Encoding)?;
        if key.depth != ACCOUNT_DEPTH {
            return Err(InvalidKey::Depth);
        }
        Ok(Self(key))
    }
}

impl AccountKey {
    /// Returns the key's identifier (BIP 32), which does not reveal the key.
    pub(crate) fn fingerprint(&self) -> String {
        self.0.identifier().to_string()
    }

    /// Derives the receiving address of an index; `None` past the last index of BIP 32.
    pub(crate) fn address(&self, index: u32) -> Option<DerivedAddress> {
        let path = [
            ChildNumber::from_normal_idx(RECEIVING).ok()?,
            ChildNumber::from_normal_idx(index).ok()?,
        ];
        let secp = Secp256k1::verification_only();
        let child = self.0.derive_pub(&secp, &path).ok()?;
        let hrp = match self.0.network {
            NetworkKind::Main => KnownHrp::Mainnet,
            NetworkKind::Test => KnownHrp::Testnets,
        };
        let address = Address::p2wpkh(&child.to_pub(), hrp).to_string();
        let path = format!("{RECEIVING}/{index}");
        Some(DerivedAddress { address, path })
    }
}

/// A derived receiving address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DerivedAddress {
    pub(crate) address: String,
    /// The path below the account.
    pub(crate) path: String,
}

/// The configured keys by asset. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct AccountKeys(Arc<[(String, AccountKey)]>);

impl AccountKeys {
    /// Reads the setting `HD_PUBLIC_KEYS`.
    pub(crate) fn read(setting: Option<&SecretString>) -> anyhow::Result<Self> {
        let Some(setting) = setting else {
            return Ok(Self::default());
        };
        let keys = setting.expose_secret().parse();
        keys.map_err(|error: String| anyhow::anyhow!("HD_PUBLIC_KEYS: {error}"))
    }

    /// Finds the key of an asset.
    pub(crate) fn find(&self, asset: &AssetCode) -> Option<&AccountKey> {
        let is_of = |(code, _): &&(String, AccountKey)| code.eq_ignore_ascii_case(asset.as_str());
        self.0.iter().find(is_of).map(|(_, key)| key)
    }
}

impl FromStr for AccountKeys {
    type Err = String;

    /// `btc=zpub…,tbtc=vpub…`
    fn from_str(text: &str) -> Result<Self, String> {
        let mut keys: Vec<(String, AccountKey)> = Vec::new();
        for (index, entry) in text.split(',').enumerate() {
            let number = index + 1;
            let (asset, key) = entry
                .split_once('=')
                .map(|(asset, key)| (asset.trim(), key))
                // Not quoted: it may be a key on the wrong side of the `=`.
                .filter(|(asset, _)| is_code(asset))
                .ok_or_else(|| format!("entry {number} is not `asset=key`"))?;
            let key = key.trim().parse();
            let key = key.map_err(|error: InvalidKey| format!("the key of {asset} {error}"))?;
            if keys
                .iter()
                .any(|(other, _)| other.eq_ignore_ascii_case(asset))
            {
                return Err(format!("{asset} has two keys"));
            }
            keys.push((asset.to_owned(), key));
        }
        Ok(Self(keys.into()))
    }
}

fn is_code(asset: &str) -> bool {
    (1..=16).contains(&asset.len()) && asset.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of BIP 84.
    const ZPUB: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
    const ROOT_ZPRV: &str = "zprvAWgYBBk7JR8Gjrh4UJQ2uJdG1r3WNRRfURiABBE3RvMXYSrRJL62XuezvGdPvG6GFBZduosCc1YP5wixPox7zhZLfiUm8aunE96BBa4Kei5";
    const ROOT_ZPUB: &str = "zpub6jftahH18ngZxLmXaKw3GSZzZsszmt9WqedkyZdezFtWRFBZqsQH5hyUmb4pCEeZGmVfQuP5bedXTB8is6fTv19U1GQRyQUKQGUTzyHACMF";

    #[test]
    fn addresses_match_the_test_vectors_of_bip_84() {
        let key: AccountKey = ZPUB.parse().unwrap();
        for (index, address) in [
            (0, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"),
            (1, "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"),
        ] {
            let derived = key.address(index).unwrap();
            assert_eq!(derived.address, address);
            assert_eq!(derived.path, format!("0/{index}"));
        }
        assert!(key.address(0x7fff_ffff).is_some());
        assert_eq!(key.address(0x8000_0000), None);
    }

    #[test]
    fn zpub_and_xpub_of_one_key_are_equal() {
        let key: AccountKey = ZPUB.parse().unwrap();
        let xpub = key.0.to_string();
        assert!(xpub.starts_with("xpub"));
        assert_eq!(xpub.parse(), Ok(key.clone()));
        assert_eq!(key.fingerprint().len(), 40);
    }

    #[test]
    fn other_keys_are_refused() {
        let damaged = ZPUB.replace('q', "p");
        for (text, error) in [
            ("", InvalidKey::Encoding),
            ("zpub", InvalidKey::Encoding),
            (&*damaged, InvalidKey::Encoding),
            (ROOT_ZPRV, InvalidKey::Private),
            (ROOT_ZPUB, InvalidKey::Depth),
            ("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", InvalidKey::Kind),
        ] {
            assert_eq!(text.parse::<AccountKey>(), Err(error), "{text}");
        }
    }

    #[test]
    fn keys_are_found_by_asset_and_errors_quote_none() {
        let keys: AccountKeys = format!("BTC={ZPUB}").parse().unwrap();
        assert!(keys.find(&AssetCode::stored("btc")).is_some());
        assert!(keys.find(&AssetCode::stored("eur")).is_none());
        for bad in [
            String::new(),
            ZPUB.to_owned(),
            format!("btc={ROOT_ZPRV}"),
            format!("{ROOT_ZPRV}=btc"),
            format!("btc={ZPUB},"),
            format!("btc={ZPUB},BTC={ZPUB}"),
        ] {
            let error = bad.parse::<AccountKeys>().unwrap_err();
            assert!(!error.contains("zp"), "{error}");
        }
    }
}
