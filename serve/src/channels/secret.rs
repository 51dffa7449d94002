//! [`ChannelSecret`]: the secret of a channel, of which only a salted digest is stored.
//!
//! A secret has 244 random bits, so that it cannot be guessed from its digest however fast the digest is. A slow
//! function such as Argon2 would only let callers with wrong secrets use up the processor.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The beginning of secrets, by which scanners for leaked secrets can find them.
const PREFIX: &str = "hchn_";

/// The length of the random part of a secret.
const RANDOM: usize = 64;

/// The secret of a channel: a prefix, the id of the channel, and a random part.
#[derive(Clone, PartialEq, Eq)]
pub struct ChannelSecret(String);

/// The salted digest of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretDigest {
    pub(super) salt: Arc<str>,
    pub(super) digest: [u8; 32],
}

impl ChannelSecret {
    /// Creates an unguessable secret.
    #[must_use]
    pub fn fresh(channel_id: &str) -> ChannelSecret {
        ChannelSecret(format!("{PREFIX}{channel_id}_{}{}", random(), random()))
    }

    /// Reads a secret that a caller sent. Returns `None` if it does not have the form of a secret.
    #[must_use]
    pub fn read(written: &str) -> Option<ChannelSecret> {
        let secret = ChannelSecret(written.to_owned());
        let is_secret = secret.parts().is_some_and(|(id, random)| !id.is_empty() && random.len() == RANDOM);
        (is_secret && written.is_ascii()).then_some(secret)
    }

    fn parts(&self) -> Option<(&str, &str)> {
        self.0.strip_prefix(PREFIX)?.rsplit_once('_')
    }

    /// Returns the id of the channel that the secret claims to belong to.
    #[must_use]
    pub fn channel_id(&self) -> &str {
        self.parts().map_or("", |(id, _)| id)
    }

    /// Returns the text, which is shown once.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns a digest with a fresh salt.
    #[must_use]
    pub fn digest(&self) -> SecretDigest {
        let salt: Arc<str> = random().into();
        let digest = digest(&salt, &self.0);
        SecretDigest { salt, digest }
    }
}

impl SecretDigest {
    /// Returns whether this is the digest of the secret. The time does not depend on how much of it is right.
    #[must_use]
    pub fn is_of(&self, secret: &ChannelSecret) -> bool {
        digest(&self.salt, &secret.0).ct_eq(&self.digest).into()
    }

    pub(super) fn to_hex(&self) -> String {
        self.digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    pub(super) fn from_hex(salt: Arc<str>, hex: &str) -> Option<SecretDigest> {
        let mut digest = [0; 32];
        if hex.len() != 2 * digest.len() || !hex.is_ascii() {
            return None;
        }
        for (at, byte) in digest.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(SecretDigest { salt, digest })
    }
}

fn digest(salt: &str, secret: &str) -> [u8; 32] {
    Sha256::new().chain_update(salt).chain_update([0]).chain_update(secret).finalize().into()
}

/// Returns 32 random hexadecimal digits.
fn random() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

impl fmt::Debug for ChannelSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChannelSecret({})", self.channel_id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_of_one_secret_and_says_nothing_about_it() {
        let secret = ChannelSecret::fresh("ch_1");
        let (one, two) = (secret.digest(), secret.digest());
        assert_ne!(one, two, "each digest has its own salt");
        assert!(one.is_of(&secret) && two.is_of(&secret));
        assert!(!one.is_of(&ChannelSecret::fresh("ch_1")));
        assert_eq!(SecretDigest::from_hex(one.salt.clone(), &one.to_hex()), Some(one));
        assert_eq!(format!("{secret:?}"), "ChannelSecret(ch_1)");
    }

    #[test]
    fn only_texts_with_the_form_of_a_secret_are_read() {
        let secret = ChannelSecret::fresh("ch_1");
        let read = ChannelSecret::read(secret.text()).unwrap();
        assert_eq!((read.channel_id(), &read), ("ch_1", &secret));
        for wrong in ["", "hchn_", "hchn_ch_1_short", &secret.text()[1..], &format!("{}ä", secret.text())] {
            assert_eq!(ChannelSecret::read(wrong), None, "{wrong}");
        }
        for wrong in ["", "zz", &"g".repeat(64), &"ä".repeat(32)] {
            assert_eq!(SecretDigest::from_hex("s".into(), wrong), None, "{wrong}");
        }
    }
}
