//! Signatures as JSON Web Tokens have them (RFC 7515), and the keys for them (RFC 7517).
//!
//! The cryptography is that of the library which TLS brings along; what is here is the text around
//! it.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::{SystemRandom, fill};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;

use crate::env::Secret;
use crate::protocol::json;
use crate::protocol::params::Members;

/// How a token is signed (RFC 7518, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
}

impl Algorithm {
    /// Its name in a token.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Es256 => "ES256",
            Algorithm::Rs256 => "RS256",
        }
    }
}

/// A private key.
pub enum SigningKey {
    /// For [`Algorithm::Es256`].
    Ec(EcdsaKeyPair),
    /// For [`Algorithm::Rs256`].
    Rsa(RsaKeyPair),
}

/// Why a private key was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidKey {
    /// There is no private key in PEM in the text, or it is encrypted.
    NoKey,
    /// It is a key of another kind than P-256 and RSA with 2048 bits or more.
    Unsupported,
    /// It is a good key, for another algorithm than was asked for.
    OtherAlgorithm,
}

impl SigningKey {
    /// Reads a key in PEM: PKCS #8, SEC 1 or PKCS #1. Errors when it does not fit the algorithm.
    pub fn from_pem(pem: &Secret, wanted: Option<Algorithm>) -> Result<SigningKey, InvalidKey> {
        let der = PrivateKeyDer::from_pem_slice(pem.expose().as_bytes());
        let der = der.map_err(|_| InvalidKey::NoKey)?;
        let bytes = der.secret_der();
        let key = match EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes)
        {
            Ok(key) => SigningKey::Ec(key),
            Err(_) => {
                let key = match &der {
                    PrivateKeyDer::Pkcs1(_) => RsaKeyPair::from_der(bytes),
                    _ => RsaKeyPair::from_pkcs8(bytes),
                };
                SigningKey::Rsa(key.map_err(|_| InvalidKey::Unsupported)?)
            }
        };
        match wanted.is_none_or(|wanted| wanted == key.algorithm()) {
            true => Ok(key),
            false => Err(InvalidKey::OtherAlgorithm),
        }
    }

    /// The algorithm that it is for.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            SigningKey::Ec(_) => Algorithm::Es256,
            SigningKey::Rsa(_) => Algorithm::Rs256,
        }
    }

    /// A signed token. `header` and `claims` are JSON objects, the header with its `alg`.
    pub fn sign(&self, header: &str, claims: &str) -> String {
        let mut token =
            format!("{}.{}", base64url(header.as_bytes()), base64url(claims.as_bytes()));
        let signature = match self {
            SigningKey::Ec(key) => {
                let signature = key.sign(&SystemRandom::new(), token.as_bytes());
                signature.expect("a key that was read can sign").as_ref().to_vec()
            }
            SigningKey::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), token.as_bytes(), &mut signature)
                    .expect("a key that was read can sign");
                signature
            }
        };
        token.push('.');
        token.push_str(&base64url(&signature));
        token
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.algorithm().name())
    }
}

/// A P-256 key of our own, made for one token.
pub(super) struct OwnKey {
    key: SigningKey,
    /// The public key as JSON (RFC 7517), its members in the order of RFC 7638.
    pub jwk: String,
    pkcs8: Vec<u8>,
}

impl OwnKey {
    /// A new key.
    pub(super) fn generate() -> OwnKey {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
        let key = key.expect("the system has random numbers");
        let pkcs8 = key.to_pkcs8v1().expect("a key that was made can be written");
        OwnKey { jwk: ec_jwk(&key), pkcs8: pkcs8.as_ref().to_vec(), key: SigningKey::Ec(key) }
    }

    /// A key that was kept; `None` when the text is none.
    pub(super) fn from_text(text: &Secret) -> Option<OwnKey> {
        let pkcs8 = URL_SAFE_NO_PAD.decode(text.expose()).ok()?;
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &pkcs8).ok()?;
        Some(OwnKey { jwk: ec_jwk(&key), pkcs8, key: SigningKey::Ec(key) })
    }

    /// The key as text, to be kept.
    pub(super) fn to_text(&self) -> Secret {
        Secret::new(base64url(&self.pkcs8))
    }

    /// A signed token, as [`SigningKey::sign`] makes it.
    pub(super) fn sign(&self, header: &str, claims: &str) -> String {
        self.key.sign(header, claims)
    }
}

impl fmt::Debug for OwnKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnKey({})", self.jwk)
    }
}

/// The public key as JSON: required members only, in the order of their names, so that its hash is
/// its thumbprint (RFC 7638).
fn ec_jwk(key: &EcdsaKeyPair) -> String {
    // X9.62 uncompressed: 4, then x and y with 32 bytes each.
    let point = key.public_key().as_ref();
    let mut jwk = Members::new();
    jwk.push("crv", "\"P-256\"");
    jwk.push("kty", "\"EC\"");
    jwk.push("x", &json::string(&base64url(&point[1..33])));
    jwk.push("y", &json::string(&base64url(&point[33..])));
    jwk.finish()
}

/// Base64 for URLs, without padding (RFC 4648, section 5).
pub(super) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// SHA-256 in base64 for URLs: of a verifier its challenge (RFC 7636), of a token its `ath`
/// (RFC 9449), of a key its thumbprint (RFC 7638).
pub(super) fn sha256_base64url(text: &str) -> String {
    base64url(digest(&SHA256, text.as_bytes()).as_ref())
}

/// Text that nobody can guess: 256 random bits, 43 characters.
pub(super) fn random_text() -> String {
    let mut bytes = [0; 32];
    fill(&mut bytes).expect("the system has random numbers");
    base64url(&bytes)
}

#[cfg(test)]
pub(super) mod tests {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    /// The key of RFC 7515, appendix A.3.1, in the form of SEC 1.
    pub(in crate::auth) const EC_KEY: &str = "-----BEGIN EC PRIVATE KEY-----\n\
        MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49\n\
        AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b\n\
        focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n\
        -----END EC PRIVATE KEY-----\n";

    /// The key of RFC 7515, appendix A.2.1, in the form of PKCS #1.
    const RSA_KEY: &str = "-----BEGIN RSA PRIVATE KEY-----\n\
        MIIEowIBAAKCAQEAofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd/wWJcyQoTbji9k0\n\
        l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL+yRT+SFd2lZS+pC\n\
        gNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb/7OMg0LOL+bSf63kpaSHSX\n\
        ndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uD\n\
        Zlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxXFvUK+DWNmoudF8NAco9/h9iaGNj8\n\
        q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQIDAQABAoIBABKucaRpzQorw35S\n\
        bEUAVx8dYXUdZOlJcHtiWQ+dC6V8ljxAHj/PLyzTveyI5QO/xkObCyjIL303l2cf\n\
        UhPu2MFaJdjVzqACXuOrLot/eSFvxjvqVidTtAZExqFRJ9mylUVAoLvhowVWmC1O\n\
        n95fZCXxTUtxNEG1Xcc7m0rtzJKs45J+N/V9DP1edYH6USyPSWGp6wuA+KgHRnKK\n\
        Vf9GRx80JQY7nVNkL17eHoTWEwga+lwi0FEoW9Y7lDtWXYmKBWhUE+U8PGxlJf8f\n\
        40493HDw1WRQ/aSLoS4QTp3rn7gYgeHEvfJdkkf0UMhlknlo53M09EFPdadQ4TlU\n\
        bjqKc50CgYEA4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH/5IB3jw3bcxGn6QLvnE\n\
        tfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw/Py5PJdTJNPY8cQn7ouZ2KKDcmnPG\n\
        BY5t7yLc1QlQ5xHdwW1VhvKn+nXqhJTBgIPgtldC+KDV5z+y2XDwGUcCgYEAuQPE\n\
        fgmVtjL0Uyyx88GZFF1fOunH3+7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYs\n\
        p1ZSe7zFYHj7C6ul7TjeLQeZD/YwD66t62wDmpe/HlB+TnBA+njbglfIsRLtXlnD\n\
        zQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdcCgYAHAp9XcCSrn8wVkMVkKdb7\n\
        DOX4IKjzdahm+ctDAJN4O/y7OW5FKebvUjdAIt2GuoTZ71iTG+7F0F+lP88jtjP4\n\
        U4qe7VHoewl4MKOfXZKTe+YCS1XbNvfgwJ3Ltyl1OH9hWvu2yza7q+d5PCsDzqtm\n\
        27kxuvULVeya+TEdAB1ijQKBgQCH/3r6YrVH/uCWGy6bzV1nGNOdjKc9tmkfOJmN\n\
        54dxdixdpozCQ6U4OxZrsj3FcOhHBsqAHvX2uuYjagqvo3cOj1TRqNocX40omfCC\n\
        Mx3bD1yPPf/6TI2XECva/ggqEY2mYzmIiA5LVVmc5nrybr+lssFKneeyxN2Wq93S\n\
        0iJMdQKBgCGHewxzoa1r8ZMD0LETNrToK423K377UCYqXfg5XMclbrjPbEC3YI1Z\n\
        NqMtuhdBJqUnBi6tjKMF+34Xf0CUN8ncuXGO2CAYvO8PdyCixHX52ybaDjy1FtCE\n\
        6yUXjoKNXKvUm7MWGsAYH6f4IegOetN5NvmUMFStCSkh7ixZLkN1\n\
        -----END RSA PRIVATE KEY-----\n";

    /// The claims of both appendices.
    const CLAIMS: &str =
        "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}";

    #[test]
    fn hashes_are_those_of_the_standards() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(sha256_base64url(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        // RFC 7638, section 3.1.
        let jwk = concat!(
            r#"{"e":"AQAB","kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4"#,
            "cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9y",
            "BXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6q",
            "MQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqb",
            r#"w0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"}"#,
        );
        assert_eq!(sha256_base64url(jwk), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
        // RFC 9449, section 7.1: the hash of the access token of its example.
        let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
        assert_eq!(sha256_base64url(token), "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo");
    }

    #[test]
    fn rsa_keys_sign_as_in_rfc_7515_a_2() {
        let expected = concat!(
            "eyJhbGciOiJSUzI1NiJ9.",
            "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19y",
            "b290Ijp0cnVlfQ.",
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF",
            "5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK",
            "5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqt",
            "FZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrB",
            "p0igcN_IoypGlUPQGe77Rw",
        );
        let key = SigningKey::from_pem(&RSA_KEY.into(), Some(Algorithm::Rs256)).unwrap();
        assert_eq!(key.sign(r#"{"alg":"RS256"}"#, CLAIMS), expected);
    }

    #[test]
    fn ec_keys_sign_as_in_rfc_7515_a_3() {
        let SigningKey::Ec(key) = SigningKey::from_pem(&EC_KEY.into(), None).unwrap() else {
            panic!("an EC key")
        };
        let jwk = concat!(
            r#"{"crv":"P-256","kty":"EC","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#,
            r#""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
        );
        assert_eq!(ec_jwk(&key), jwk);
        // Such signatures are never the same twice: the one of the appendix is good by this key,
        // and so is ours.
        let theirs = concat!(
            "eyJhbGciOiJFUzI1NiJ9.",
            "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19y",
            "b290Ijp0cnVlfQ.",
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-K",
            "g6NU1Q",
        );
        let public = key.public_key().as_ref().to_vec();
        let ours = SigningKey::Ec(key).sign(r#"{"alg":"ES256"}"#, CLAIMS);
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public);
        for token in [theirs, &ours] {
            let (signed, signature) = token.rsplit_once('.').unwrap();
            assert_eq!(signed, theirs.rsplit_once('.').unwrap().0);
            let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
            public.verify(signed.as_bytes(), &signature).unwrap();
        }
    }

    #[test]
    fn own_keys_can_be_kept() {
        let key = OwnKey::generate();
        let kept = OwnKey::from_text(&key.to_text()).unwrap();
        assert_eq!(kept.jwk, key.jwk);
        assert_ne!(OwnKey::generate().jwk, key.jwk);
        assert!(OwnKey::from_text(&"AAAA".into()).is_none());
        assert!(!format!("{key:?}").contains(key.to_text().expose()));
    }

    #[test]
    fn keys_must_fit_the_algorithm() {
        let check = |pem: &str, wanted, expected: Result<Algorithm, InvalidKey>| {
            let key = SigningKey::from_pem(&pem.into(), wanted);
            assert_eq!(key.map(|key| key.algorithm()), expected);
        };
        check(EC_KEY, None, Ok(Algorithm::Es256));
        check(EC_KEY, Some(Algorithm::Es256), Ok(Algorithm::Es256));
        check(EC_KEY, Some(Algorithm::Rs256), Err(InvalidKey::OtherAlgorithm));
        check(RSA_KEY, None, Ok(Algorithm::Rs256));
        check(RSA_KEY, Some(Algorithm::Es256), Err(InvalidKey::OtherAlgorithm));
        check("", None, Err(InvalidKey::NoKey));
        check(
            "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n",
            None,
            Err(InvalidKey::Unsupported),
        );
    }

    #[test]
    fn random_texts_are_long_and_never_the_same() {
        let (one, other) = (random_text(), random_text());
        assert_ne!(one, other);
        // RFC 7636, section 4.1: a verifier has 43 to 128 characters.
        assert_eq!(one.len(), 43);
        assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
    }
}
