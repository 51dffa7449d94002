//! [`EnrolledChannel`]: a channel with its rights and the digest of its secret.

use std::sync::Arc;
use std::time::Duration;

use base::data::Data;
use eventlog::{LogError, NewRecord};

use super::{ChannelScopes, ChannelSecret, PeerRole, SecretDigest};
use crate::gateway::{Caller, ChannelRecordKind, record};

/// The maximum length of a name.
const MAX_NAME: usize = 64;

/// Returns whether a text can be the name of a channel.
pub(super) fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_allowed)
}

/// The description of a channel to enrol.
#[derive(Debug, Clone)]
pub struct NewChannel {
    /// The name for people.
    pub name: String,
    /// The role of the other side.
    pub role: PeerRole,
    /// The rights of the channel.
    pub scopes: ChannelScopes,
    /// The account whose sessions it can reach.
    pub account: Arc<str>,
    /// The time at which its secret expires.
    pub expires: Duration,
}

/// A channel with its rights and the digest of its secret.
#[derive(Debug, Clone, PartialEq)]
pub struct EnrolledChannel {
    /// The channel, as one that asks.
    pub caller: Arc<Caller>,
    /// The digest of its secret.
    pub secret: SecretDigest,
    /// Whether it was revoked.
    pub is_revoked: bool,
}

/// The reason why a channel was not enrolled or revoked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnrolmentError {
    /// The name is not valid.
    #[error("`{0}` is not the name of a channel: use 1 to 64 letters, digits, `-`, `_` and `.`")]
    Name(String),
    /// A valid channel has the name.
    #[error("a channel with the name `{0}` is already enrolled")]
    Taken(String),
    /// No valid channel has this name or id.
    #[error("no valid channel has the name or id `{0}`")]
    Unknown(String),
    /// The log cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl EnrolledChannel {
    /// Creates a channel with a fresh id and secret.
    ///
    /// # Errors
    /// The name is not valid.
    pub(super) fn new(new: NewChannel, now_ms: u64) -> Result<(EnrolledChannel, ChannelSecret), EnrolmentError> {
        if !is_name(&new.name) {
            return Err(EnrolmentError::Name(new.name));
        }
        let id: Arc<str> = format!("chan-{}", &uuid::Uuid::new_v4().simple().to_string()[..16]).into();
        let secret = ChannelSecret::fresh(&id);
        let lasts = u64::try_from(new.expires.as_millis()).unwrap_or(u64::MAX);
        let caller = Caller {
            id,
            name: new.name.into(),
            role: new.role,
            account: new.account,
            scopes: new.scopes,
            expires_at_ms: now_ms.saturating_add(lasts),
        };
        let channel = EnrolledChannel { caller: Arc::new(caller), secret: secret.digest(), is_revoked: false };
        Ok((channel, secret))
    }

    /// Returns whether its secret is valid.
    #[must_use]
    pub fn is_valid(&self, now_ms: u64) -> bool {
        !self.is_revoked && self.caller.is_valid(now_ms)
    }

    /// Returns the record of the enrolment.
    pub(super) fn to_record(&self) -> NewRecord {
        let caller = &self.caller;
        let payload = Data::dict([
            ("channel_id", Data::from(&caller.id)),
            ("name", (&caller.name).into()),
            ("peer_role", caller.role.as_str().into()),
            ("account_ref", (&caller.account).into()),
            ("scopes", caller.scopes.to_data()),
            ("salt", (&self.secret.salt).into()),
            ("digest", self.secret.to_hex().into()),
            ("expires_at_ms", caller.expires_at_ms.into()),
        ]);
        record(ChannelRecordKind::Enrolled, None, payload, crate::a2a::now_ms())
    }

    /// Reads the record of an enrolment. A record with a missing or invalid field enrols no channel.
    pub(super) fn from_data(data: &Data) -> Option<EnrolledChannel> {
        let text = |key: &str| data.get(key).as_shared_str();
        let caller = Caller {
            id: text("channel_id")?,
            name: text("name")?,
            role: data.get("peer_role").as_str()?.parse().ok()?,
            account: text("account_ref")?,
            scopes: ChannelScopes::from_data(data.get("scopes")),
            expires_at_ms: u64::try_from(data.get("expires_at_ms").as_int()?).ok()?,
        };
        let secret = SecretDigest::from_hex(text("salt")?, data.get("digest").as_str()?)?;
        Some(EnrolledChannel { caller: Arc::new(caller), secret, is_revoked: false })
    }
}
