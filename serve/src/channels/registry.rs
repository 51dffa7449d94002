//! [`ChannelRegistry`]: the enrolled channels of a log.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::data::Data;
use eventlog::{EventLog as _, LogError, Record, RecordFilter, SqliteLog};
use runtime::event_log::Topic;

use super::ChannelSecret;
use super::enrolment::{EnrolledChannel, EnrolmentError, NewChannel};
use crate::gateway::{ChannelRecordKind, kind_of, record};

/// The number of records that are read at a time.
const PAGE: usize = 1_000;

/// The enrolled channels of a log, also those that are no longer valid.
#[derive(Debug, Clone, Default)]
pub struct ChannelRegistry {
    channels: BTreeMap<Arc<str>, Arc<EnrolledChannel>>,
}

/// The reason why a caller is not a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AuthenticationError {
    /// The text does not have the form of a secret.
    #[error("invalid secret: it does not have the form that `harn channel add` printed")]
    Malformed,
    /// The secret belongs to no channel.
    #[error("invalid secret")]
    Wrong,
    /// The channel was revoked.
    #[error("the channel was revoked")]
    Revoked,
    /// The secret has expired.
    #[error("the secret of the channel has expired")]
    Expired,
}

impl AuthenticationError {
    /// Returns the word for responses and records.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            AuthenticationError::Malformed => "malformed_secret",
            AuthenticationError::Wrong => "wrong_secret",
            AuthenticationError::Revoked => "revoked",
            AuthenticationError::Expired => "expired",
        }
    }
}

impl ChannelRegistry {
    /// Reads the channels of a log. Waits for the disk.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn read(log: &SqliteLog) -> Result<ChannelRegistry, LogError> {
        let mut registry = ChannelRegistry::default();
        log.look(|file| {
            let mut filter = RecordFilter::topic(Topic::Channel);
            loop {
                let page = file.read_kept(&filter, PAGE)?;
                page.iter().for_each(|record| registry.take(record));
                match page.last() {
                    Some(last) if page.len() == PAGE => filter.after = last.cursor,
                    _ => return Ok(()),
                }
            }
        })?;
        Ok(registry)
    }

    /// Applies the next record of the log. Records about other things have no effect.
    pub fn take(&mut self, record: &Record) {
        match kind_of(&record.topic, &record.kind) {
            Some(ChannelRecordKind::Enrolled) => {
                if let Some(channel) = EnrolledChannel::from_data(&record.payload.to_data()) {
                    // An id is enrolled once: a later record cannot revive a revoked channel.
                    self.channels.entry(channel.caller.id.clone()).or_insert_with(|| Arc::new(channel));
                }
            }
            Some(ChannelRecordKind::Revoked) => {
                let id = record.payload.get("channel_id").as_str().unwrap_or_default();
                if let Some(channel) = self.channels.get_mut(id) {
                    Arc::make_mut(channel).is_revoked = true;
                }
            }
            _ => {}
        }
    }

    /// Returns the channel whose secret a caller sent.
    ///
    /// # Errors
    /// The secret is not that of a valid channel. A caller without a right secret learns nothing about channels.
    pub fn authenticate(&self, written: &str, now_ms: u64) -> Result<&Arc<EnrolledChannel>, AuthenticationError> {
        let secret = ChannelSecret::read(written).ok_or(AuthenticationError::Malformed)?;
        let channel = self.channels.get(secret.channel_id()).ok_or(AuthenticationError::Wrong)?;
        if !channel.secret.is_of(&secret) {
            return Err(AuthenticationError::Wrong);
        }
        match channel.is_valid(now_ms) {
            true => Ok(channel),
            false if channel.is_revoked => Err(AuthenticationError::Revoked),
            false => Err(AuthenticationError::Expired),
        }
    }

    /// Returns the channel with an id, valid or not.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<EnrolledChannel>> {
        self.channels.get(id)
    }

    /// Returns the valid channel with this name or id.
    #[must_use]
    pub fn find(&self, name: &str, now_ms: u64) -> Option<&Arc<EnrolledChannel>> {
        self.channels.values().find(|it| it.is_valid(now_ms) && (&*it.caller.name == name || &*it.caller.id == name))
    }

    /// Returns all channels, ordered by name.
    #[must_use]
    pub fn all(&self) -> Vec<&EnrolledChannel> {
        let mut all: Vec<_> = self.channels.values().map(Arc::as_ref).collect();
        all.sort_by(|a, b| (&a.caller.name, a.caller.expires_at_ms).cmp(&(&b.caller.name, b.caller.expires_at_ms)));
        all
    }
}

/// Enrols a channel, and returns it with its secret, which is stored nowhere. Waits until the record is durable.
///
/// # Errors
/// The name is not valid or is taken, or the log cannot be read or written.
pub fn enrol(log: &SqliteLog, new: NewChannel) -> Result<(EnrolledChannel, ChannelSecret), EnrolmentError> {
    let now = crate::a2a::now_ms();
    let (channel, secret) = EnrolledChannel::new(new, now)?;
    if ChannelRegistry::read(log)?.find(&channel.caller.name, now).is_some() {
        return Err(EnrolmentError::Taken(channel.caller.name.to_string()));
    }
    // Before there is something to keep.
    log.keep_grants()?;
    log.append(channel.to_record());
    settle(log)?;
    Ok((channel, secret))
}

/// Revokes the valid channel with this name or id, and returns it. Waits until the record is durable; a server of the
/// same log then closes its connections.
///
/// # Errors
/// There is no such channel, or the log cannot be read or written.
pub fn revoke(log: &SqliteLog, name: &str) -> Result<Arc<EnrolledChannel>, EnrolmentError> {
    let registry = ChannelRegistry::read(log)?;
    let found = registry.find(name, crate::a2a::now_ms()).ok_or_else(|| EnrolmentError::Unknown(name.to_owned()))?;
    let payload = Data::dict([("channel_id", Data::from(&found.caller.id)), ("name", (&found.caller.name).into())]);
    log.append(record(ChannelRecordKind::Revoked, None, payload, crate::a2a::now_ms()));
    settle(log)?;
    Ok(found.clone())
}

/// Waits until all appended records are durable.
fn settle(log: &SqliteLog) -> Result<(), LogError> {
    log.look(|_| Ok(()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::channels::{ChannelScopes, PeerRole};
    use crate::store::tests::StoreFolder;

    fn new(name: &str) -> NewChannel {
        NewChannel {
            name: name.to_owned(),
            role: PeerRole::Client,
            scopes: ChannelScopes::parse("view").unwrap(),
            account: "local".into(),
            expires: Duration::from_secs(60),
        }
    }

    #[test]
    fn a_channel_is_known_by_its_secret_until_it_expires_or_is_revoked() {
        let folder = StoreFolder::new();
        let log = folder.log();
        let (channel, secret) = enrol(&log, new("phone")).unwrap();
        let (other, another) = enrol(&log, new("desk")).unwrap();
        // Another process reads the same.
        let registry = ChannelRegistry::read(&log).unwrap();
        let now = crate::a2a::now_ms();
        assert_eq!(**registry.authenticate(secret.text(), now).unwrap(), channel);
        assert_eq!(
            registry.authenticate(secret.text(), channel.caller.expires_at_ms),
            Err(AuthenticationError::Expired)
        );
        let swapped = secret.text().replace(&*channel.caller.id, &other.caller.id);
        assert_eq!(registry.authenticate(&swapped, now), Err(AuthenticationError::Wrong));
        let unknown = secret.text().replace(&*channel.caller.id, "chan-0");
        assert_eq!(registry.authenticate(&unknown, now), Err(AuthenticationError::Wrong));
        assert_eq!(registry.authenticate("password", now), Err(AuthenticationError::Malformed));

        assert_eq!(revoke(&log, "phone").unwrap().caller.id, channel.caller.id);
        let registry = ChannelRegistry::read(&log).unwrap();
        assert_eq!(registry.authenticate(secret.text(), now), Err(AuthenticationError::Revoked));
        assert!(registry.authenticate(another.text(), now).is_ok());
        assert_eq!(revoke(&log, "phone").unwrap_err(), EnrolmentError::Unknown("phone".to_owned()));
    }

    #[test]
    fn a_secret_is_not_on_the_log_and_a_record_cannot_revive_a_channel() {
        let folder = StoreFolder::new();
        let log = folder.log();
        let (channel, secret) = enrol(&log, new("phone")).unwrap();
        let records = log.look(|file| file.read(&RecordFilter::default(), 9)).unwrap();
        let written: String = records.iter().map(|record| record.to_data().to_json()).collect();
        let random = secret.text().rsplit_once('_').unwrap().1;
        assert!(written.contains(&*channel.caller.id) && !written.contains(random));
        revoke(&log, &channel.caller.id).unwrap();
        log.append(channel.to_record());
        let registry = ChannelRegistry::read(&log).unwrap();
        assert_eq!(registry.authenticate(secret.text(), 0), Err(AuthenticationError::Revoked));
    }

    #[test]
    fn a_name_is_plain_and_belongs_to_one_valid_channel() {
        let folder = StoreFolder::new();
        let log = folder.log();
        for wrong in ["", "two words", "größe", "a/b", &"x".repeat(65)] {
            assert_eq!(enrol(&log, new(wrong)).unwrap_err(), EnrolmentError::Name(wrong.to_owned()));
        }
        enrol(&log, new("phone")).unwrap();
        assert_eq!(enrol(&log, new("phone")).unwrap_err(), EnrolmentError::Taken("phone".to_owned()));
        revoke(&log, "phone").unwrap();
        enrol(&log, new("phone")).unwrap();
        assert_eq!(ChannelRegistry::read(&log).unwrap().all().len(), 2);
    }
}
