//! Keys and tokens for the sign-in tests, made on the spot so that no private key is stored.

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value as Json, json};

use super::NOW_MS;

/// The shared secret of `HS256` tokens.
pub(super) const SECRET: &str = "a shared secret of 32 bytes or so";

/// Modulus of an RSA key whose private half was thrown away.
pub(super) const RSA_MODULUS: &str = concat!(
    "wDIIabONdTQ7ZUEO4xtY-xhM7MFrtKprZauUrt2KobT6SCWERIeClmHct5cIoZy5Aqm9XfamoH-18-Ds",
    "ZxrLr_Yz8OhCIdYZHrJ-OfazA6wgKqcdmNKZSolHLxv7vj5DfL2j4jwXhCF4aCWyvnMhpD92pydDXeF8",
    "iN9pWOZ0RnG2dXYYKjcS2cO-idn82vSo8g6Y8HkzsIuwrcAPYPg7chWKDFCsh4l9msXqSrsydv4ue3Dw",
    "3upt9yyuXje2i8L8ZtgVl8Cdr2LyqoMQKDK6wYaFVeGeW6gaNan4PXP3QTEcqnhqkYZKptSYBK2ZTEXr",
    "TN0W3SM25_A46dCaRP5ElQ",
);
/// A token by that key: subject 77, valid for an hour from [`NOW_MS`].
pub(super) const RSA_TOKEN: &str = concat!(
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSJ9.eyJzdWIiOiI3NyIsImV4cCI6MTc2NzIyOTIwMH0.VmB",
    "uXFDdGCDqpU9gDHOmLcTmDPKGmpTdWsoTg2oElzeGXU0Ru_ElkKbtpNlhB9bV2UAsQGUrfsohpxwYl1D",
    "nmhPZELt0Wunq7NdL9vFJfZ8p_POqZEE9xnpNaMfMAti0qB22jYREpwdllBQhQs1pDkTZsMmQyGuRvOG",
    "5cSTX89wyMFnciMF_qinCWXI9_1LNfI4Dv9MTBGBgQWjNW39-3jYi3CPTF0mRAhjDIqISGuN0_Ir46wL",
    "qtnuPm4JJEUvgCtS2i-9PQdCribYDnCHGD1emirOzbpDYkeHkmlChxQyKn4z5SOYR62DOVtSrV7slAGu",
    "0LGXQ8RbF1pC65Z6gKA",
);

/// `reqwest` is built without a TLS provider of its own.
pub(super) fn install_tls() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
}

/// A moment this many seconds from now, as tokens write it.
pub(super) fn seconds(from_now: i64) -> i64 {
    NOW_MS / 1000 + from_now
}

/// Claims of subject 42 that are valid for a minute, changed by `changes`; null removes one.
pub(super) fn claims(changes: &Json) -> Json {
    let mut claims = json!({"sub": "42", "exp": seconds(60)});
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

/// A token signed with the shared secret.
pub(super) fn shared(algorithm: Algorithm, claims: &Json) -> String {
    let key = EncodingKey::from_secret(SECRET.as_bytes());
    encode(&Header::new(algorithm), claims, &key).unwrap()
}

/// A pair of keys made from a seed.
pub(super) struct Signer {
    id: String,
    algorithm: Algorithm,
    key: EncodingKey,
}

impl Signer {
    /// Any 32 bytes are an Ed25519 key; before them stands what PKCS #8 says about the kind.
    pub(super) fn ed25519(id: &str, seed: u8) -> Self {
        let mut der = vec![
            0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
        ];
        der.extend([seed; 32]);
        let key = EncodingKey::from_ed_der(&der);
        Self {
            id: id.to_owned(),
            algorithm: Algorithm::EdDSA,
            key,
        }
    }

    /// Nearly any 32 bytes are a P-256 key.
    pub(super) fn p256(id: &str, seed: u8) -> Self {
        let mut der = vec![
            0x30, 0x41, 2, 1, 0, 0x30, 0x13, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2,
        ];
        der.extend([
            1, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7, 4, 0x27, 0x30, 0x25, 2, 1, 1,
        ]);
        der.extend([4, 0x20]);
        der.extend([seed; 32]);
        let key = EncodingKey::from_ec_der(&der);
        Self {
            id: id.to_owned(),
            algorithm: Algorithm::ES256,
            key,
        }
    }

    /// The public half as issuers publish it.
    pub(super) fn public(&self) -> Json {
        let mut jwk = Jwk::from_encoding_key(&self.key, self.algorithm).unwrap();
        jwk.common.key_id = Some(self.id.clone());
        serde_json::to_value(jwk).unwrap()
    }

    pub(super) fn sign(&self, claims: &Json) -> String {
        let mut header = Header::new(self.algorithm);
        header.kid = Some(self.id.clone());
        encode(&header, claims, &self.key).unwrap()
    }
}
