//! The codec of a reminder: its fields, their names on each surface, and writing and reading of a whole reminder.
//!
//! Every writer and reader of a reminder uses this module: scripts, the event log, snapshots, ACP, A2A and the A2A
//! client. A field of [`Reminder`] has one row in [`ReminderField`]; a field without a row fails the tests below.

use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use base::data::Data;
use base::words::{UnknownWord, words};

use crate::reminder::{ExpireReason, FramedBody};

use super::rules::OnSurface;
use super::{Reminder, ReminderRules, ReminderSource};

/// A surface on which reminders are written, with names and words of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    /// Scripts, snapshots, and the guide's bridge JSON.
    Script,
    /// Records of the event log.
    Log,
    /// The Agent Client Protocol.
    Acp,
    /// The Agent2Agent protocol.
    A2a,
    /// The Model Context Protocol.
    Mcp,
}

impl Surface {
    /// All surfaces, in the order of the columns.
    pub const ALL: [Surface; 5] = [Surface::Script, Surface::Log, Surface::Acp, Surface::A2a, Surface::Mcp];
}

words! {
    /// A change of a reminder that clients are notified of.
    pub enum ReminderChange {
        /// It was sent to the model.
        Emitted = "emitted",
        /// It replaced others.
        Deduped = "deduped",
        /// It has ended.
        Expired = "expired",
        /// A turn followed it.
        Heeded = "heeded",
        /// A turn did not follow it.
        Ignored = "ignored",
    }
}

/// Defines the fields with their names on each surface.
macro_rules! fields {
    ($( $(#[$doc:meta])* $field:ident = $script:literal, $log:literal, $acp:literal, $a2a:literal, $mcp:literal; )+) => {
        /// A field of a reminder.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ReminderField { $( $(#[$doc])* $field, )+ }

        impl ReminderField {
            /// All fields.
            pub const ALL: &'static [ReminderField] = &[$(ReminderField::$field),+];

            /// The rename table: a row per field, a column per surface.
            const NAMES: &'static [[&'static str; Surface::ALL.len()]] = &[$( [$script, $log, $acp, $a2a, $mcp] ),+];

            /// Returns the field with a name of scripts.
            #[must_use]
            pub fn of_script(name: &str) -> Option<ReminderField> {
                match name { $( $script => Some(ReminderField::$field), )+ _ => None }
            }
        }
    };
}

fields! {
    // field = script, log, ACP, A2A, MCP
    /// Stable id.
    Id = "id", "reminder_id", "reminderId", "id", "reminderId";
    /// Text.
    Body = "body", "body", "body", "body", "body";
    /// Tags.
    Tags = "tags", "tags", "tags", "tags", "tags";
    /// Key by which a newer reminder replaces an older one.
    DedupeKey = "dedupe_key", "dedupe_key", "dedupeKey", "dedupeKey", "dedupeKey";
    /// Number of prompts in which it still appears.
    TtlTurns = "ttl_turns", "ttl_turns", "ttlTurns", "ttlTurns", "ttlTurns";
    /// Whether compaction keeps it.
    PreserveOnCompact = "preserve_on_compact", "preserve_on_compact", "preserveOnCompact", "preserveOnCompact", "preserveOnCompact";
    /// Propagation to sub-agents.
    Propagate = "propagate", "propagate", "propagate", "propagate", "propagate";
    /// Requested slot.
    RoleHint = "role_hint", "role_hint", "roleHint", "roleHint", "roleHint";
    /// Producer of the reminder.
    Source = "source", "source", "source", "source", "source";
    /// Turn in which it was made.
    FiredAtTurn = "fired_at_turn", "fired_at_turn", "firedAtTurn", "firedAtTurn", "firedAtTurn";
    /// Session that first made it.
    OriginatingAgentId = "originating_agent_id", "originating_agent_id", "originatingAgentId", "originatingAgentId", "originatingAgentId";
    /// Provider or hook that made it.
    Producer = "producer", "producer", "providerId", "providerId", "providerId";
    /// Priority if not all reminders fit.
    Priority = "priority", "priority", "priority", "priority", "priority";
    /// Number of prompts without it after one that carried it.
    CooldownTurns = "cooldown_turns", "cooldown_turns", "cooldownTurns", "cooldownTurns", "cooldownTurns";
    /// It is due in each n-th prompt.
    Every = "every", "every", "every", "every", "every";
    /// Number of firings after which it ends.
    MaxTimes = "max_times", "max_times", "maxTimes", "maxTimes", "maxTimes";
    /// Bodies of later firings.
    Escalate = "escalate", "escalate", "escalate", "escalate", "escalate";
    /// Whether it is shown again without a change.
    Refresh = "refresh", "refresh", "refresh", "refresh", "refresh";
    /// Bodies for some models.
    Bodies = "bodies", "bodies", "bodies", "bodies", "bodies";
    /// Condition under which a prompt shows it, by name.
    When = "when", "when", "when", "when", "when";
    /// Condition that ends it, by name.
    Until = "until", "until", "until", "until", "until";
    /// Decision whether a turn followed it.
    Expect = "expect", "expect", "expect", "expect", "expect";
}

impl ReminderField {
    /// The fields that a producer writes.
    pub const SPEC: [ReminderField; 14] = {
        use ReminderField as F;
        [
            F::Body,
            F::Tags,
            F::DedupeKey,
            F::TtlTurns,
            F::PreserveOnCompact,
            F::Propagate,
            F::RoleHint,
            F::Priority,
            F::CooldownTurns,
            F::Every,
            F::MaxTimes,
            F::Escalate,
            F::Refresh,
            F::Bodies,
        ]
    };

    /// The fields of [`ReminderRules`], which are left out where they have their defaults.
    pub const RULES: [ReminderField; 10] = {
        use ReminderField as F;
        [
            F::Priority,
            F::CooldownTurns,
            F::Every,
            F::MaxTimes,
            F::Escalate,
            F::Refresh,
            F::Bodies,
            F::When,
            F::Until,
            F::Expect,
        ]
    };

    /// The fields among them that may be functions, which only the run itself can give.
    pub const CONDITIONS: [ReminderField; 3] = [ReminderField::When, ReminderField::Until, ReminderField::Expect];

    /// The fields that the runtime sets and a producer must not.
    pub const OF_RUNTIME: [ReminderField; 4] = {
        use ReminderField as F;
        [F::Id, F::Source, F::FiredAtTurn, F::OriginatingAgentId]
    };

    /// The guide's record, in bytewise order of the names.
    const RECORD: [ReminderField; 11] = {
        use ReminderField as F;
        [
            F::Body,
            F::DedupeKey,
            F::FiredAtTurn,
            F::Id,
            F::OriginatingAgentId,
            F::PreserveOnCompact,
            F::Propagate,
            F::RoleHint,
            F::Source,
            F::Tags,
            F::TtlTurns,
        ]
    };

    /// Returns whether a strict producer may write it: it is one of [`Self::SPEC`] or [`Self::CONDITIONS`].
    #[must_use]
    pub fn is_written(self) -> bool {
        const WRITTEN: [bool; ReminderField::ALL.len()] = {
            let (mut written, mut at) = ([false; ReminderField::ALL.len()], 0);
            while at < ReminderField::SPEC.len() {
                written[ReminderField::SPEC[at] as usize] = true;
                at += 1;
            }
            let mut at = 0;
            while at < ReminderField::CONDITIONS.len() {
                written[ReminderField::CONDITIONS[at] as usize] = true;
                at += 1;
            }
            written
        };
        WRITTEN[self as usize]
    }

    /// Returns whether it is one of [`Self::RULES`].
    #[must_use]
    pub fn is_rule(self) -> bool {
        Self::RULES.contains(&self)
    }

    /// Returns the field's name on a surface.
    #[must_use]
    pub const fn name(self, surface: Surface) -> &'static str {
        Self::NAMES[self as usize][surface as usize]
    }

    /// Returns the same as a key that is made once.
    #[must_use]
    pub fn key(self, surface: Surface) -> &'static Arc<str> {
        static KEYS: LazyLock<Vec<[Arc<str>; Surface::ALL.len()]>> =
            LazyLock::new(|| ReminderField::NAMES.iter().map(|row| row.map(Arc::from)).collect());
        &KEYS[self as usize][surface as usize]
    }

    /// Returns the field with a name on a surface. A wire also accepts the names of scripts, because hosts mix the two.
    #[must_use]
    pub fn named(name: &str, surface: Surface) -> Option<ReminderField> {
        let is_meant =
            |row: &[&str; Surface::ALL.len()]| row[surface as usize] == name || row[Surface::Script as usize] == name;
        Self::NAMES.iter().position(is_meant).map(|place| Self::ALL[place])
    }
}

/// Returns the names that scripts use for some fields, followed by `more`; `N` is their number.
pub(super) const fn names_and<const N: usize>(fields: &[ReminderField], more: &[&'static str]) -> [&'static str; N] {
    assert!(fields.len() + more.len() == N, "N is the number of names");
    let (mut all, mut at) = ([""; N], 0);
    while at < N {
        all[at] = if at < fields.len() { fields[at].name(Surface::Script) } else { more[at - fields.len()] };
        at += 1;
    }
    all
}

impl Reminder {
    /// Returns the value of a field in the words of scripts; nil if it is not set.
    #[must_use]
    pub fn value(&self, field: ReminderField) -> Data {
        match field {
            ReminderField::Id => (&self.id).into(),
            ReminderField::Body => (&self.body).into(),
            ReminderField::Tags => self.tags.iter().map(Data::from).collect(),
            ReminderField::DedupeKey => self.dedupe_key.as_ref().into(),
            ReminderField::TtlTurns => self.ttl_turns.into(),
            ReminderField::PreserveOnCompact => self.preserve_on_compact.into(),
            ReminderField::Propagate => self.propagate.as_str().into(),
            ReminderField::RoleHint => self.role_hint.as_str().into(),
            ReminderField::Source => self.source.as_str().into(),
            ReminderField::FiredAtTurn => self.fired_at_turn.into(),
            ReminderField::OriginatingAgentId => self.originating_agent_id.as_ref().into(),
            ReminderField::Producer => self.producer.as_ref().into(),
            ReminderField::Priority
            | ReminderField::CooldownTurns
            | ReminderField::Every
            | ReminderField::MaxTimes
            | ReminderField::Escalate
            | ReminderField::Refresh
            | ReminderField::Bodies
            | ReminderField::When
            | ReminderField::Until
            | ReminderField::Expect => self.rules.as_ref().map_or(Data::Nil, |rules| rules.value(field)),
        }
    }

    /// Returns a field as a surface writes it: its name there, and its value in the words of that surface.
    #[must_use]
    pub fn written(&self, field: ReminderField, surface: Surface) -> (&'static str, Data) {
        let value = match field {
            ReminderField::Source => source_word(surface, self.source).into(),
            _ => self.value(field),
        };
        (field.name(surface), value)
    }

    /// Returns the payload of the guide's event envelope, with the current `ttl_turns`. Nil fields are left out.
    #[must_use]
    pub fn to_data(&self, ttl_turns: Option<u32>) -> Data {
        let pair = |field: ReminderField| {
            let value = if field == ReminderField::TtlTurns { ttl_turns.into() } else { self.value(field) };
            (field.key(Surface::Script).clone(), value)
        };
        if self.rules.is_none() {
            return Data::dict_of_present(ReminderField::RECORD.map(pair));
        }
        Data::dict_of_present(ReminderField::RECORD.into_iter().chain(ReminderField::RULES).map(pair))
    }

    /// Reads a reminder that the runtime has written on a surface. Values are read strictly; only fields that older
    /// versions did not write fall back to a default.
    ///
    /// # Errors
    /// Names the unreadable field, as the end of a sentence.
    pub fn from_stored(data: &Data, surface: Surface) -> Result<Reminder, String> {
        let field = |field: ReminderField| data.get(field.name(surface));
        let text = |name: ReminderField| {
            field(name).as_shared_str().ok_or_else(|| format!("`{}` is missing", name.name(surface)))
        };
        let count = |name: ReminderField| {
            let whole = field(name).as_int().and_then(|number| u32::try_from(number).ok());
            whole.ok_or_else(|| format!("`{}` is not a count", name.name(surface)))
        };
        let ttl_turns = match field(ReminderField::TtlTurns) {
            Data::Nil => None,
            _ => Some(count(ReminderField::TtlTurns)?),
        };
        let tags = field(ReminderField::Tags).as_list().unwrap_or_default();
        Ok(Reminder {
            id: text(ReminderField::Id)?,
            body: text(ReminderField::Body)?,
            tags: tags.iter().filter_map(Data::as_shared_str).collect(),
            dedupe_key: field(ReminderField::DedupeKey).as_shared_str(),
            ttl_turns,
            preserve_on_compact: field(ReminderField::PreserveOnCompact).as_bool().unwrap_or(false),
            propagate: stored_word(&text(ReminderField::Propagate)?, ReminderField::Propagate.name(surface))?,
            role_hint: stored_word(&text(ReminderField::RoleHint)?, ReminderField::RoleHint.name(surface))?,
            source: stored_word(&text(ReminderField::Source)?, ReminderField::Source.name(surface))?,
            fired_at_turn: count(ReminderField::FiredAtTurn)?,
            originating_agent_id: field(ReminderField::OriginatingAgentId).as_shared_str(),
            producer: field(ReminderField::Producer).as_shared_str(),
            rules: stored_rules(data, surface)?,
            framed: FramedBody::default(),
        })
    }
}

/// Reads the rules of a reminder that the runtime has written.
fn stored_rules(data: &Data, surface: Surface) -> Result<Option<Arc<ReminderRules>>, String> {
    let given = ReminderField::RULES.map(|field| data.get(field.name(surface)));
    if given.iter().all(|value| value.is_nil()) {
        return Ok(None);
    }
    ReminderRules::read(&OnSurface(data, surface)).map(ReminderRules::shared).map_err(|error| error.message)
}

/// Reads a word that the runtime has written.
fn stored_word<T: FromStr<Err = UnknownWord>>(word: &str, name: &str) -> Result<T, String> {
    word.parse().map_err(|error| format!("`{name}`: {error}"))
}

/// Returns the word for a source on a surface.
#[must_use]
pub fn source_word(surface: Surface, source: ReminderSource) -> &'static str {
    match (surface, source) {
        (Surface::Script | Surface::Log, _) | (_, ReminderSource::Hook | ReminderSource::Inherited) => source.as_str(),
        (Surface::Acp | Surface::A2a | Surface::Mcp, ReminderSource::StdlibProvider) => "provider",
        (Surface::Acp | Surface::A2a | Surface::Mcp, ReminderSource::Bridge) => "host",
        (Surface::Acp | Surface::A2a | Surface::Mcp, ReminderSource::InPipeline) => "bridge",
    }
}

/// Returns the word for the reason of an expiry on a surface.
#[must_use]
pub fn expiry_word(surface: Surface, reason: ExpireReason) -> &'static str {
    match (surface, reason) {
        (Surface::Script | Surface::Log, _)
        | (_, ExpireReason::Cleared | ExpireReason::MaxTimes | ExpireReason::Until) => reason.as_str(),
        (Surface::Acp | Surface::A2a | Surface::Mcp, ExpireReason::Ttl) => "ttl_expired",
        (Surface::Acp | Surface::A2a | Surface::Mcp, ExpireReason::Compaction) => "compacted_out",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::lifecycle::rebuild::rebuild;
    use crate::lifecycle::{LifecycleContext, LifecycleRecord};
    use crate::reminder::bridge::{DeliveryMode, Injection, InjectionPayload, RecordedQueue};
    use crate::transcript::TranscriptEvent;
    use crate::workers::propagation;
    use base::ids::{IdStream, SharedIds};
    use eventlog::{EventLog, MemoryLog, RecordFilter};

    /// A reminder with a value in every field.
    fn full_reminder() -> Reminder {
        serde_json::from_str(include_str!("full_reminder.json")).unwrap()
    }

    /// Asserts that a reminder was restored with every field, except those that a surface does not carry or sets
    /// itself.
    fn assert_same(back: &Reminder, but: &[ReminderField], surface: &str) {
        let sent = full_reminder();
        for field in ReminderField::ALL.iter().copied().filter(|field| !but.contains(field)) {
            assert_eq!(back.value(field), sent.value(field), "{field:?} by {surface}");
        }
    }

    #[test]
    fn each_field_of_the_struct_has_a_row_and_a_value() {
        let mut serde = serde_json::to_value(full_reminder()).unwrap();
        // The rules are a part of their own; on every surface they are fields like the others.
        let mut rules = serde["rules"].take();
        rules["bodies"] = serde_json::json!({"claude-*": "for Claude"});
        let serde = serde.as_object_mut().unwrap();
        serde.remove("rules");
        serde.extend(rules.as_object().unwrap().clone());
        let mut names: Vec<_> = serde.keys().map(String::as_str).collect();
        let mut rows: Vec<_> = ReminderField::ALL.iter().map(|field| field.name(Surface::Script)).collect();
        names.sort_unstable();
        rows.sort_unstable();
        assert_eq!(names, rows);
        for field in ReminderField::ALL {
            assert_eq!(
                Data::from(serde[field.name(Surface::Script)].clone()),
                full_reminder().value(*field),
                "{field:?}, set and written alike"
            );
            assert!(full_reminder().value(*field).truthy(), "{field:?} is set");
        }
    }

    #[test]
    fn a_name_means_one_field_on_a_surface() {
        for surface in Surface::ALL {
            for field in ReminderField::ALL {
                assert_eq!(ReminderField::named(field.name(surface), surface), Some(*field), "{surface:?}");
                assert_eq!(ReminderField::named(field.name(Surface::Script), surface), Some(*field), "{surface:?}");
                assert_eq!(&**field.key(surface), field.name(surface));
            }
        }
        assert_eq!(ReminderField::named("dedupekey", Surface::Acp), None);
        assert_eq!(ReminderField::named("reminderId", Surface::A2a), None);
    }

    #[test]
    fn the_fields_of_a_record_are_those_of_a_spec_and_of_the_runtime() {
        let mut of_both: Vec<_> = ReminderField::SPEC.into_iter().chain(ReminderField::OF_RUNTIME).collect();
        of_both.sort_unstable_by_key(|field| field.name(Surface::Script));
        let of_guide: Vec<_> = of_both.iter().copied().filter(|field| !field.is_rule()).collect();
        assert_eq!(of_guide, ReminderField::RECORD);
        let left_out: Vec<_> = ReminderField::ALL.iter().filter(|field| !of_both.contains(field)).collect();
        let of_process = [ReminderField::Producer, ReminderField::When, ReminderField::Until, ReminderField::Expect];
        assert_eq!(left_out, of_process.each_ref(), "every other field is in the record");
    }

    #[test]
    fn no_word_of_a_surface_means_two_things() {
        for surface in Surface::ALL {
            let sources = ReminderSource::ALL.iter().map(|source| source_word(surface, *source));
            let expiries = ExpireReason::ALL.iter().map(|reason| expiry_word(surface, *reason));
            assert_eq!(sources.collect::<BTreeSet<_>>().len(), ReminderSource::ALL.len(), "{surface:?}");
            assert_eq!(expiries.collect::<BTreeSet<_>>().len(), ExpireReason::ALL.len(), "{surface:?}");
        }
        let on_wires = |source| [Surface::Acp, Surface::A2a].map(|surface| source_word(surface, source));
        assert_eq!(on_wires(ReminderSource::StdlibProvider), ["provider"; 2]);
        assert_eq!(on_wires(ReminderSource::Bridge), ["host"; 2]);
        assert_eq!(on_wires(ReminderSource::InPipeline), ["bridge"; 2]);
    }

    #[test]
    fn a_reminder_survives_scripts() {
        let but = [ReminderField::Producer];
        let sent = full_reminder();
        let record = sent.to_data(sent.ttl_turns);
        assert_same(&Reminder::from_data_lenient(&record, || "fresh".into()), &but, "the lenient reader");
        assert_same(&Reminder::from_stored(&record, Surface::Script).unwrap(), &but, "the strict reader");
        let ids = SharedIds::new(IdStream::new(1, "codec"));
        let event = TranscriptEvent::of_reminder(&record, &ids, 0).to_data(0);
        assert_eq!(event.get("metadata"), &record);
        assert_same(&Reminder::from_event(&event, || "fresh".into()).unwrap(), &but, "the event's envelope");
    }

    #[test]
    fn a_reminder_survives_the_log() {
        let (session, ids) = (Arc::from("s"), SharedIds::new(IdStream::new(1, "codec")));
        let at =
            LifecycleContext { session_id: &session, task_id: None, agent_id: None, turn: 3, now_ms: 5, ids: &ids };
        let log = MemoryLog::new();
        log.append(LifecycleRecord::Injected(Arc::new(full_reminder())).to_log(&at));
        let records = log.read(&RecordFilter::default(), 9).unwrap();
        let rebuilt = rebuild(records.iter().map(AsRef::as_ref));
        assert_same(&rebuilt.session("s").unwrap().reminders[0].reminder, &[], "the log");
    }

    #[test]
    fn a_reminder_survives_a_snapshot() {
        let text = serde_json::to_string(&full_reminder()).unwrap();
        assert_same(&serde_json::from_str(&text).unwrap(), &[], "a snapshot");
    }

    #[test]
    fn a_reminder_survives_the_queue_and_its_record() {
        let reminder = Arc::new(full_reminder());
        let queued = Data::dict([
            ("id", Data::from(&reminder.id)),
            ("mode", DeliveryMode::FinishStep.as_str().into()),
            ("reminder", reminder.to_data(reminder.ttl_turns)),
        ]);
        let mut told = RecordedQueue::default();
        told.take("queued", &queued).unwrap();
        let Some(Injection { payload: InjectionPayload::Reminder(back), .. }) = told.items.pop_front() else {
            panic!("one reminder is queued")
        };
        assert_same(&back, &[ReminderField::Producer], "the queue");
    }

    #[test]
    fn a_reminder_survives_a_handoff() {
        let inherited = propagation::to_data(&[Arc::new(full_reminder())]);
        let back = Reminder::list_from_handed(&inherited, None, || "fresh".into()).unwrap();
        assert_same(&back[0], &[ReminderField::Producer, ReminderField::Source], "a handoff");
        assert_eq!(back[0].source, ReminderSource::Inherited);
    }
}
