//! The one table of names and words, inside and on each wire. Whoever writes to a wire asks it, so that no adapter has a
//! spelling of its own.

use runtime::reminder::Source;
use runtime::reminder::lifecycle::ExpireReason;

/// A wire that tells of reminders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// The Agent Client Protocol: an editor and its agent.
    Acp,
    /// Agent to agent.
    A2a,
    /// The guide's bridge JSON.
    Bridge,
}

impl Wire {
    /// All of them.
    pub const ALL: [Wire; 3] = [Wire::Acp, Wire::A2a, Wire::Bridge];
}

/// What a row of the table names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A field of a reminder, or of the message that carries one.
    Field,
    /// Who made a reminder.
    Source,
    /// Why a reminder expired.
    Expiry,
}

/// One name or word, inside and on each wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// What it names.
    pub sort: Sort,
    /// As it is inside.
    pub inside: &'static str,
    /// In ACP.
    pub acp: &'static str,
    /// In A2A.
    pub a2a: &'static str,
    /// In the guide's bridge JSON.
    pub bridge: &'static str,
}

impl Row {
    /// As a wire writes it.
    #[must_use]
    pub fn on(&self, wire: Wire) -> &'static str {
        match wire {
            Wire::Acp => self.acp,
            Wire::A2a => self.a2a,
            Wire::Bridge => self.bridge,
        }
    }
}

const fn row(sort: Sort, inside: &'static str, acp: &'static str, a2a: &'static str, bridge: &'static str) -> Row {
    Row { sort, inside, acp, a2a, bridge }
}

/// The table. An inside word may be another one's word on a wire: the host of ACP is the `bridge` inside.
pub const TABLE: &[Row] = &[
    // sort, inside, ACP, A2A, bridge
    row(Sort::Field, "id", "reminderId", "id", "id"),
    row(Sort::Field, "body", "body", "body", "body"),
    row(Sort::Field, "tags", "tags", "tags", "tags"),
    row(Sort::Field, "dedupe_key", "dedupeKey", "dedupeKey", "dedupe_key"),
    row(Sort::Field, "ttl_turns", "ttlTurns", "ttlTurns", "ttl_turns"),
    row(Sort::Field, "preserve_on_compact", "preserveOnCompact", "preserveOnCompact", "preserve_on_compact"),
    row(Sort::Field, "propagate", "propagate", "propagate", "propagate"),
    row(Sort::Field, "role_hint", "roleHint", "roleHint", "role_hint"),
    row(Sort::Field, "source", "source", "source", "source"),
    row(Sort::Field, "fired_at_turn", "firedAtTurn", "firedAtTurn", "fired_at_turn"),
    row(Sort::Field, "originating_agent_id", "originatingAgentId", "originatingAgentId", "originating_agent_id"),
    row(Sort::Field, "mode", "mode", "mode", "mode"),
    row(Sort::Field, "session_id", "sessionId", "sessionId", "session_id"),
    row(Sort::Source, "stdlib_provider", "provider", "provider", "stdlib_provider"),
    row(Sort::Source, "hook", "hook", "hook", "hook"),
    row(Sort::Source, "bridge", "host", "host", "bridge"),
    row(Sort::Source, "in_pipeline", "bridge", "bridge", "in_pipeline"),
    row(Sort::Source, "inherited", "inherited", "inherited", "inherited"),
    row(Sort::Expiry, "ttl", "ttl_expired", "ttl_expired", "ttl"),
    row(Sort::Expiry, "cleared", "cleared", "cleared", "cleared"),
    row(Sort::Expiry, "compaction", "compacted_out", "compacted_out", "compaction"),
];

fn rows(sort: Sort) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| row.sort == sort)
}

fn outward(sort: Sort, inside: &str, wire: Wire) -> Option<&'static str> {
    rows(sort).find(|row| row.inside == inside).map(|row| row.on(wire))
}

fn inward(sort: Sort, word: &str, wire: Wire) -> Option<&'static str> {
    rows(sort).find(|row| row.on(wire) == word).map(|row| row.inside)
}

/// How a wire calls a field; nothing for a field that no wire has.
#[must_use]
pub fn field_to(wire: Wire, inside: &str) -> Option<&'static str> {
    outward(Sort::Field, inside, wire)
}

/// The field that a wire means. Every spelling is taken from every wire, as hosts mix them.
#[must_use]
pub fn field_from(name: &str) -> Option<&'static str> {
    rows(Sort::Field).find(|row| Wire::ALL.iter().any(|wire| row.on(*wire) == name)).map(|row| row.inside)
}

/// How a wire calls a source.
#[must_use]
pub fn source_to(wire: Wire, source: Source) -> &'static str {
    outward(Sort::Source, source.as_str(), wire).unwrap_or(source.as_str())
}

/// The source that a wire means; nothing for a word that it does not have. A peer of A2A writes what it likes there, and
/// whatever that is, the reminder came from outside: over the bridge.
#[must_use]
pub fn source_from(wire: Wire, word: &str) -> Option<Source> {
    match wire {
        Wire::A2a => Some(Source::Bridge),
        Wire::Acp | Wire::Bridge => inward(Sort::Source, word, wire)?.parse().ok(),
    }
}

/// How a wire calls the end of a reminder.
#[must_use]
pub fn expiry_to(wire: Wire, reason: ExpireReason) -> &'static str {
    outward(Sort::Expiry, reason.as_str(), wire).unwrap_or(reason.as_str())
}

/// The end that a wire means; nothing for a word that it does not have.
#[must_use]
pub fn expiry_from(wire: Wire, word: &str) -> Option<ExpireReason> {
    inward(Sort::Expiry, word, wire)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use runtime::reminder::{Reminder, ReminderSpec};

    use super::*;

    #[test]
    fn every_row_comes_back_from_every_wire() {
        for row in TABLE {
            for wire in Wire::ALL {
                let word = row.on(wire);
                let back = match row.sort {
                    Sort::Field => {
                        assert_eq!(field_to(wire, row.inside), Some(word), "{row:?}");
                        field_from(word)
                    }
                    Sort::Source => {
                        assert_eq!(source_to(wire, row.inside.parse().unwrap()), word, "{row:?}");
                        source_from(wire, word).map(Source::as_str)
                    }
                    Sort::Expiry => {
                        assert_eq!(expiry_to(wire, row.inside.parse().unwrap()), word, "{row:?}");
                        expiry_from(wire, word).map(ExpireReason::as_str)
                    }
                };
                // On A2A a source is free text, so it does not come back as it went.
                let expected = if (row.sort, wire) == (Sort::Source, Wire::A2a) { "bridge" } else { row.inside };
                assert_eq!(back, Some(expected), "{row:?} on {wire:?}");
            }
        }
    }

    #[test]
    fn no_word_means_two_things_on_a_wire() {
        for sort in [Sort::Field, Sort::Source, Sort::Expiry] {
            for wire in Wire::ALL {
                let mut words: Vec<_> = rows(sort).map(|row| row.on(wire)).collect();
                let all = words.len();
                words.sort_unstable();
                words.dedup();
                assert_eq!(words.len(), all, "{sort:?} on {wire:?}");
            }
        }
    }

    #[test]
    fn the_table_lacks_nothing_that_the_core_has() {
        let inside = |sort: Sort| rows(sort).map(|row| row.inside).collect::<Vec<_>>();
        assert_eq!(inside(Sort::Source), Source::WORDS);
        for reason in ExpireReason::WORDS {
            assert!(inside(Sort::Expiry).contains(reason), "{reason}");
        }
        let spec = ReminderSpec { dedupe_key: Some("k".into()), ttl_turns: Some(1), ..ReminderSpec::new("b") };
        let inherited = Reminder {
            originating_agent_id: Some("parent".into()),
            ..spec.into_reminder("id".into(), Source::Inherited, 1)
        };
        let record = inherited.to_data(Some(1));
        let fields = record.as_dict().unwrap();
        assert_eq!(fields.len(), 11, "all of the guide's");
        for field in fields.keys() {
            assert!(field_to(Wire::Acp, field).is_some(), "{field}");
        }
    }

    #[test]
    fn words_of_another_wire_mean_nothing() {
        assert_eq!(source_from(Wire::Acp, "in_pipeline"), None);
        assert_eq!(source_from(Wire::Bridge, "host"), None);
        assert_eq!(expiry_from(Wire::Acp, "ttl"), None);
        assert_eq!(
            (source_from(Wire::A2a, "coordinator-agent"), field_from("dedupekey")),
            (Some(Source::Bridge), None)
        );
    }
}
