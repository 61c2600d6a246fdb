//! Signatures by Standard Webhooks 1.0.0
//! (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>):
//! HMAC-SHA-256 over id, time in seconds and payload, joined by full stops.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use hmac::{Hmac, Mac as _};
use secrecy::{ExposeSecret as _, SecretSlice};
use sha2::Sha256;

/// Signs with each of the secrets: the value of `webhook-signature`.
pub(super) fn sign(secrets: &[SecretSlice<u8>], id: &str, timestamp: i64, payload: &str) -> String {
    let signatures = secrets.iter().map(|secret| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret())
            .expect("HMAC takes keys of any length");
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(payload.as_bytes());
        format!("v1,{}", BASE64.encode(mac.finalize().into_bytes()))
    });
    signatures.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> SecretSlice<u8> {
        BASE64.decode(text).unwrap().into()
    }

    /// The vector of the reference libraries (`libraries/*/…webhook_test` of the repository above).
    #[test]
    fn a_signature_is_that_of_the_reference_libraries() {
        let secrets = [secret("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signature = sign(&secrets, id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn each_secret_makes_a_signature() {
        let [new, old] = ["bmV3", "b2xk"];
        let alone = |text| sign(&[secret(text)], "e", 1, "{}");
        let both = sign(&[secret(new), secret(old)], "e", 1, "{}");
        assert_eq!(both, format!("{} {}", alone(new), alone(old)));
    }
}
