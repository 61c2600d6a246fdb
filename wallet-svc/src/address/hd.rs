//! Receiving addresses of hierarchical deterministic wallets: BIP 32 public derivation below an
//! account's extended public key, and P2WPKH addresses as BIP 84 makes them. Pure.
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
/// The chain of addresses that are shown to payers.
const RECEIVING: u32 = 0;

/// Version bytes of BIP 32 and SLIP 132: how a key is written, and how BIP 32 writes it.
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

/// An account's extended public key, from which nothing can be spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountKey(Xpub);

/// Why a text is no account's extended public key. It never quotes the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// Not written in base 58 with its check digits.
    #[error("is not an extended public key: its letters or check digits are wrong")]
    Encoding,
    /// A key that can spend.
    #[error("is a private key: give the extended public key, and treat this one as leaked")]
    Private,
    /// Base 58, but neither xpub, zpub, tpub nor vpub.
    #[error("is not an extended public key (xpub, zpub, tpub or vpub)")]
    Kind,
    /// Not that of an account.
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
        let known = PUBLIC.iter().find(|(written, _)| *written == version);
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
    /// Names the key without giving it away.
    pub fn fingerprint(&self) -> String {
        self.0.identifier().to_string()
    }

    /// The receiving address of this index and its path below the account; `None` past the last
    /// index of BIP 32.
    pub fn address(&self, index: u32) -> Option<(String, String)> {
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
        Some((address, format!("{RECEIVING}/{index}")))
    }
}

/// The configured keys. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub struct AccountKeys(Arc<[(String, AccountKey)]>);

impl AccountKeys {
    /// Those of the setting `HD_PUBLIC_KEYS`.
    pub fn read(setting: Option<&SecretString>) -> anyhow::Result<Self> {
        let Some(setting) = setting else {
            return Ok(Self::default());
        };
        let keys = setting.expose_secret().parse();
        keys.map_err(|error: String| anyhow::anyhow!("HD_PUBLIC_KEYS: {error}"))
    }

    /// The key of this asset.
    pub fn find(&self, asset: &AssetCode) -> Option<&AccountKey> {
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
            let place = index + 1;
            let (asset, key) = entry
                .split_once('=')
                .map(|(asset, key)| (asset.trim(), key))
                // What is no code may be a key, put on the wrong side, and is not quoted.
                .filter(|(asset, _)| is_code(asset))
                .ok_or_else(|| format!("entry {place} is not `asset=key`"))?;
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
    fn addresses_are_those_of_the_standard() {
        let key: AccountKey = ZPUB.parse().unwrap();
        for (index, address) in [
            (0, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"),
            (1, "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g"),
        ] {
            let expected = (address.to_owned(), format!("0/{index}"));
            assert_eq!(key.address(index), Some(expected));
        }
        assert!(key.address(0x7fff_ffff).is_some());
        assert_eq!(key.address(0x8000_0000), None);
    }

    #[test]
    fn a_key_is_one_however_it_is_written() {
        let key: AccountKey = ZPUB.parse().unwrap();
        let xpub = key.0.to_string();
        assert!(xpub.starts_with("xpub"));
        assert_eq!(xpub.parse(), Ok(key.clone()));
        assert_eq!(key.fingerprint().len(), 40);
    }

    #[test]
    fn what_is_no_accounts_public_key_is_refused() {
        let damaged = ZPUB.replace('q', "p");
        for (text, fault) in [
            ("", InvalidKey::Encoding),
            ("zpub", InvalidKey::Encoding),
            (&*damaged, InvalidKey::Encoding),
            (ROOT_ZPRV, InvalidKey::Private),
            (ROOT_ZPUB, InvalidKey::Depth),
            ("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", InvalidKey::Kind),
        ] {
            assert_eq!(text.parse::<AccountKey>(), Err(fault), "{text}");
        }
    }

    #[test]
    fn keys_belong_to_assets() {
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
