//! The lenient reader, for pipelines that hold a dict which was a reminder once: what does not fit falls back to its
//! default instead of failing.

use std::sync::Arc;

use crate::data::Data;

use super::{Propagate, Reminder, RoleHint, Source};

impl Reminder {
    /// Reads a reminder leniently; `fresh_id` is asked where the dict has no id. An event envelope is read by its `reminder`
    /// slot.
    pub fn from_data_lenient(data: &Data, fresh_id: impl FnOnce() -> Arc<str>) -> Reminder {
        let data = if data.get("reminder").as_dict().is_some() { data.get("reminder") } else { data };
        let text = |key: &str| {
            let given = data.get(key).as_str().map(str::trim).filter(|text| !text.is_empty());
            given.map(Arc::<str>::from)
        };
        let mut tags: Vec<Arc<str>> = Vec::new();
        for tag in data.get("tags").as_list().unwrap_or_default().iter().filter_map(Data::as_str).map(str::trim) {
            if !tag.is_empty() && !tags.iter().any(|known| known.as_ref() == tag) {
                tags.push(tag.into());
            }
        }
        let word = |key: &str| data.get(key).as_str().unwrap_or_default();
        Reminder {
            id: text("id").unwrap_or_else(fresh_id),
            body: data.get("body").to_text(),
            tags,
            dedupe_key: text("dedupe_key"),
            ttl_turns: count(data.get("ttl_turns")).filter(|ttl| *ttl > 0),
            preserve_on_compact: data.get("preserve_on_compact").as_bool().unwrap_or(false),
            propagate: word("propagate").parse().unwrap_or(Propagate::Session),
            role_hint: word("role_hint").parse().unwrap_or(RoleHint::System),
            source: word("source").parse().unwrap_or(Source::InPipeline),
            fired_at_turn: count(data.get("fired_at_turn")).unwrap_or(0),
            originating_agent_id: text("originating_agent_id"),
            producer: None,
        }
    }
}

fn count(data: &Data) -> Option<u32> {
    data.as_int().and_then(|number| u32::try_from(number).ok())
}
