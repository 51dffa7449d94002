//! Expectations of reminders: what decides, after a turn whose prompt carried a reminder, whether the turn followed it.
//! The loop asks ([`crate::agent_loop`]); the lifecycle only keeps the answers, as `heeded` and `ignored` records.

use std::sync::Arc;

use base::data::Data;
use base::words::{nearest, words};

use super::ReminderError;
use super::codec::ReminderField as Field;
use super::condition::is_condition_name;
use super::limits::max_body;
use super::spec::{FieldValues, present, shape, wrong_type};

words! {
    /// The decider of a judgement.
    pub enum JudgedBy {
        /// A function of the script.
        Function = "function",
        /// A model.
        Judge = "judge",
    }
}

/// The part of a reminder that decides whether a turn followed it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Expectation {
    /// The name of a function of the run.
    Function(Arc<str>),
    /// A model.
    Judge(ModelJudge),
}

/// A model that is asked whether a turn followed a reminder.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelJudge {
    /// The question, to be answered with yes or no.
    #[serde(rename = "judge")]
    pub question: Arc<str>,
    /// The provider to ask; `None` means that of the loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Arc<str>>,
    /// The model to ask; `None` means that of the loop, or of the named provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
}

impl ModelJudge {
    /// Its keys in a spec.
    const KEYS: &'static [&'static str] = &["judge", "provider", "model"];

    fn read(value: &Data) -> Result<ModelJudge, ReminderError> {
        const HELP: &str = "write `expect: {judge: \"Did it run the tests?\"}`";
        let mut entries = value.as_dict().into_iter().flatten();
        if let Some((unknown, _)) = entries.find(|(key, _)| !Self::KEYS.contains(&key.as_ref())) {
            let message = format!("unknown key `{unknown}` in `expect` of a reminder");
            return Err(shape(&format!("expect.{unknown}"), message).help(
                match nearest(unknown, Self::KEYS.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "remove it: an expectation has `judge`, `provider` and `model`".to_owned(),
                },
            ));
        }
        let text = |key: &str| match value.get(key) {
            Data::Nil => Ok(None),
            Data::Str(text) if text.trim().is_empty() => {
                Err(shape(&format!("expect.{key}"), format!("`{key}` of an expectation is empty")).help(HELP))
            }
            Data::Str(text) if text.len() > max_body() => {
                let message = format!("`{key}` of an expectation is longer than {} bytes", max_body());
                Err(shape(&format!("expect.{key}"), message).help("shorten it"))
            }
            Data::Str(text) => Ok(Some(text.clone())),
            other => {
                let message = format!("`{key}` of an expectation must be a string, got {}", other.type_name());
                Err(shape(&format!("expect.{key}"), message).help(HELP))
            }
        };
        let question = text("judge")?;
        let question = question.ok_or_else(|| shape("expect", "missing `judge` of an expectation").help(HELP))?;
        Ok(ModelJudge { question, provider: text("provider")?, model: text("model")? })
    }
}

impl Expectation {
    /// Reads the expectation among the fields of a reminder.
    pub(super) fn read(fields: &impl FieldValues) -> Result<Option<Expectation>, ReminderError> {
        match present(fields, Field::Expect) {
            None => Ok(None),
            Some(Data::Str(name)) if is_condition_name(name) => Ok(Some(Expectation::Function(name.clone()))),
            Some(value @ Data::Dict(_)) => ModelJudge::read(value).map(Expectation::Judge).map(Some),
            Some(other) => {
                let help = "write `expect: { turn -> turn.text.contains(\"tests\") }`, or `expect: {judge: \"…\"}`";
                Err(wrong_type("expect", "a function or a dict with `judge`", other).help(help))
            }
        }
    }

    /// Returns the expectation in the words of scripts.
    #[must_use]
    pub fn to_data(&self) -> Data {
        match self {
            Expectation::Function(name) => name.into(),
            Expectation::Judge(ModelJudge { question, provider, model }) => Data::dict_of_present([
                ("judge", Data::from(question)),
                ("provider", provider.as_ref().into()),
                ("model", model.as_ref().into()),
            ]),
        }
    }

    /// Returns who decides.
    #[must_use]
    pub fn judged_by(&self) -> JudgedBy {
        match self {
            Expectation::Function(_) => JudgedBy::Function,
            Expectation::Judge(_) => JudgedBy::Judge,
        }
    }

    /// Returns the size of its texts, in bytes.
    pub(super) fn weight(&self) -> usize {
        match self {
            Expectation::Function(name) => name.len(),
            Expectation::Judge(ModelJudge { question, provider, model }) => {
                let of = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
                question.len() + of(provider) + of(model)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reminder::{ReminderCode, ReminderSpec};

    fn read(json: &str) -> Result<ReminderSpec, ReminderError> {
        ReminderSpec::from_data(&Data::from_json(json).unwrap())
    }

    #[test]
    fn a_judge_is_read_with_its_route_and_written_the_same_way() {
        let written = r#"{"judge":"Did it?","model":"gpt-5-mini","provider":"openai"}"#;
        let spec = read(&format!(r#"{{"body":"b","expect":{written}}}"#)).unwrap();
        let expectation = spec.rules.unwrap().expect.clone().unwrap();
        assert_eq!(expectation.to_data().to_json(), written);
        assert_eq!(expectation.judged_by(), JudgedBy::Judge);
        let named = read(r#"{"body":"b","expect":"condition:1"}"#).unwrap();
        assert_eq!(named.rules.unwrap().expect.clone().unwrap().judged_by(), JudgedBy::Function);
    }

    #[test]
    fn an_invalid_expectation_names_its_field() {
        for (expect, field) in [
            ("true", "expect"),
            (r#""ran the tests""#, "expect"),
            ("{}", "expect"),
            (r#"{"judge":1}"#, "expect.judge"),
            (r#"{"judge":" "}"#, "expect.judge"),
            (r#"{"judge":"q","modle":"m"}"#, "expect.modle"),
            (r#"{"judge":"q","provider":[]}"#, "expect.provider"),
        ] {
            let error = read(&format!(r#"{{"body":"b","expect":{expect}}}"#)).unwrap_err();
            assert_eq!((error.code, error.field.as_str()), (ReminderCode::Shape, field), "{expect}");
            assert!(error.help.is_some(), "{expect}");
        }
    }
}
