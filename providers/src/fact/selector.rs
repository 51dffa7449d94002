//! The selection of facts to invalidate.

use std::sync::Arc;

use base::data::Data;

use super::record::known_keys;
use super::{Fact, FactCode, FactError, FactKind};

/// The selected facts: those that match all conditions, or any of several such selections.
#[derive(Debug, Clone, PartialEq)]
pub struct Selector(Vec<SelectorCondition>);

#[derive(Debug, Clone, PartialEq, Default)]
struct SelectorCondition {
    id: Option<Arc<str>>,
    key: Option<Arc<str>>,
    tag: Option<Arc<str>>,
    kind: Option<FactKind>,
}

const KEYS: &[&str] = &["id", "key", "tag", "kind"];

impl Selector {
    /// Reads an id or key, a record, `{id?, key?, tag?, kind?}` with at least one of them, or a list of any of those.
    ///
    /// # Errors
    /// Fails if the value is not a selection, or has no condition.
    pub fn from_data(data: &Data) -> Result<Selector, FactError> {
        match data {
            Data::List(items) => items.iter().map(one).collect::<Result<_, _>>().map(Selector),
            item => Ok(Selector(vec![one(item)?])),
        }
    }

    /// Whether it means a fact.
    #[must_use]
    pub fn means(&self, fact: &Fact) -> bool {
        self.0.iter().any(|wanted| wanted.fits(fact))
    }
}

fn one(data: &Data) -> Result<SelectorCondition, FactError> {
    let wrong = |message: String| {
        Err(FactError::new(FactCode::Selector, "", message)
            .help("write an id, a key, or `{id, key, tag, kind}` with at least one of them"))
    };
    if let Some(text) = data.as_shared_str() {
        return match text.trim() {
            "" => wrong("an empty text does not select any facts".to_owned()),
            key if key.starts_with("fact:") => {
                Ok(SelectorCondition { key: Some(key.into()), ..SelectorCondition::default() })
            }
            id => Ok(SelectorCondition { id: Some(id.into()), ..SelectorCondition::default() }),
        };
    }
    if data.as_dict().is_none() {
        return wrong(format!("a fact selector must be a text or a dict, got {}", data.type_name()));
    }
    if data.get("_type").as_str() == Some("memory_record") {
        return one(data.get("id"));
    }
    known_keys(data, "a selector", "", KEYS).map_err(|error| FactError { code: FactCode::Selector, ..error })?;
    let text = |key: &str| match data.get(key) {
        Data::Nil => Ok(None),
        Data::Str(text) if !text.trim().is_empty() => Ok(Some(Arc::from(text.trim()))),
        other => {
            Err(FactError { code: FactCode::Selector, ..FactError::wrong(key, "a string that is not blank", other) })
        }
    };
    let kind = match data.get("kind") {
        Data::Nil => None,
        kind => Some(FactKind::read(kind, "kind")?),
    };
    let wanted = SelectorCondition { id: text("id")?, key: text("key")?, tag: text("tag")?, kind };
    if wanted == SelectorCondition::default() {
        return wrong("the selector is empty and would match every fact".to_owned());
    }
    Ok(wanted)
}

impl SelectorCondition {
    fn fits(&self, fact: &Fact) -> bool {
        self.id.as_ref().is_none_or(|id| *id == fact.id)
            && self.key.as_ref().is_none_or(|key| key.as_ref() == fact.key())
            && self.tag.as_ref().is_none_or(|tag| fact.tags().iter().any(|own| own.as_str() == tag.as_ref()))
            && self.kind.is_none_or(|kind| kind == fact.draft.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Draft;

    fn means(json: &str) -> Result<bool, FactError> {
        let draft = r#"{"kind":"claim","claim":"c","confidence":1,"evidence":[{"kind":"user_input","ref":"m1"}]}"#;
        let fact = Fact::new("7".into(), Draft::from_data(&Data::from_json(draft).unwrap()).unwrap(), 0);
        Ok(Selector::from_data(&Data::from_json(json).unwrap())?.means(&fact))
    }

    #[test]
    fn facts_are_meant_by_all_that_is_said() {
        for (json, meant) in [
            (r#""7""#, true),
            (r#""fact:claim:7""#, true),
            (r#""fact:decision:7""#, false),
            (r#"{"id":"7","kind":"Claim"}"#, true),
            (r#"{"id":"7","kind":"decision"}"#, false),
            (r#"{"tag":"fact:evidence:user_input:m1"}"#, true),
            (r#"{"tag":"fact:evidence:user_input:m2"}"#, false),
            (r#"{"_type":"memory_record","id":"7","key":"x","value":{}}"#, true),
            (r#"["8","7"]"#, true),
            ("[]", false),
        ] {
            assert_eq!(means(json), Ok(meant), "{json}");
        }
    }

    #[test]
    fn a_selector_that_says_nothing_is_refused() {
        for json in ["{}", r#"{"id":null}"#, r#"" ""#, "7", "null", r#"{"id":7}"#, r#"{"tags":"x"}"#, "[{}]"] {
            assert_eq!(means(json).unwrap_err().code, FactCode::Selector, "{json}");
        }
    }
}
