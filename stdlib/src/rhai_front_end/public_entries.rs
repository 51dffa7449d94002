//! The public functions of a script in Rhai: what the constants `TOOLS`, `RESOURCES` and `PROMPTS` at its top describe.

use base::data::Data;

use super::script::{MAX_ARGUMENTS, RhaiScript};
use crate::codes::ServedCode;
use crate::convert::{to_data_lossy, to_value};
use crate::hosting::{ServedEntry, ServedKind};
use crate::schema::{of_parameters, of_returns};
use lang::diagnostic::{Diagnostic, nearest};
use lang::value::{Dict, Str, Value};
use rhai::{Dynamic, Position};

/// A public function and its description.
pub(crate) struct RhaiEntry {
    pub(crate) served: ServedEntry,
    /// The name of the function.
    pub(crate) function: String,
    pub(crate) params: Vec<String>,
}

/// The constants that describe public functions.
const TOOLS: &str = "TOOLS";
const RESOURCES: &str = "RESOURCES";
const PROMPTS: &str = "PROMPTS";
/// The keys of a description.
const KEYS: [&str; 5] = ["description", "parameters", "returns", "mime_type", "handler"];

impl RhaiScript {
    /// Returns the public functions.
    ///
    /// # Errors
    /// A constant is not a map of literals, or describes something that the script does not have.
    pub(crate) fn public_entries(&self) -> Result<Vec<RhaiEntry>, Vec<Diagnostic>> {
        let mut found = Vec::new();
        for constant in [TOOLS, RESOURCES, PROMPTS] {
            let Some((value, at)) = self.constant(constant) else { continue };
            let described = value.and_then(|value| data_of(&value));
            let Some(described @ Data::Dict(_)) = described else {
                let message = format!("`{constant}` must be a map of literals");
                return Err(vec![self.misdescribed(message, at)]);
            };
            for (key, description) in described.as_dict().into_iter().flat_map(base::data::Entries::iter) {
                let entry = self.public_entry(constant, key, description);
                found.push(entry.map_err(|why| vec![self.misdescribed(format!("`{constant}.{key}`: {why}"), at)])?);
            }
        }
        Ok(found)
    }

    fn public_entry(&self, constant: &str, key: &str, description: &Data) -> Result<RhaiEntry, String> {
        let Some(keys) = description.as_dict() else { return Err("a description must be a map".to_owned()) };
        if let Some((unknown, _)) = keys.iter().find(|(key, _)| !KEYS.contains(&&***key)) {
            let near = nearest(unknown, KEYS).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(format!("unknown key `{unknown}`{near}"));
        }
        let text = |key: &str| match description.get(key) {
            Data::Nil => Ok(None),
            Data::Str(text) => Ok(Some(text.clone())),
            other => Err(format!("`{key}` must be a string, not {}", other.type_name())),
        };
        let function = text("handler")?.unwrap_or_else(|| key.into());
        let Some(params) = self.params_of(&function) else {
            return Err(format!("the script has no function `{function}`"));
        };
        if params.len() > MAX_ARGUMENTS {
            return Err(format!("`{function}` has more than {MAX_ARGUMENTS} parameters"));
        }
        let kind = match constant {
            TOOLS => ServedKind::Tool,
            PROMPTS => ServedKind::Prompt,
            _ => ServedKind::Resource { uri: key.into(), mime_type: text("mime_type")? },
        };
        let parameters = match description.get("parameters") {
            // Without a description each parameter is needed; those of prompts and resources are text.
            Data::Nil => to_value(&described_by_names(&params, constant != TOOLS)),
            given => to_value(given),
        };
        let parameters = of_parameters(Some(&parameters)).map_err(|raise| raise.message.clone())?;
        let properties = parameters.as_dict().and_then(|dict| dict.get_str("properties")).and_then(Value::as_dict);
        if let Some((unknown, _)) = properties.into_iter().flat_map(Dict::iter).find(|(key, _)| !has(&params, key)) {
            return Err(format!("`{function}` has no parameter `{unknown}`"));
        }
        let returns = match description.get("returns") {
            Data::Nil => Data::Nil,
            given => to_data_lossy(&of_returns(&to_value(given)).map_err(|raise| raise.message.clone())?),
        };
        let name = if constant == RESOURCES { function.clone() } else { key.into() };
        let description = text("description")?.unwrap_or_default();
        let parameters = to_data_lossy(&parameters);
        let served = ServedEntry { kind, name, description, parameters, returns };
        Ok(RhaiEntry { served, function: function.to_string(), params })
    }

    fn misdescribed(&self, message: String, at: Position) -> Diagnostic {
        let line = at.line().map_or(String::new(), |line| format!(" (line {line})"));
        let help = format!("correct the constant in `{}`{line}", self.source().name());
        Diagnostic::new(ServedCode::Described, message).help(help)
    }
}

fn has(params: &[String], key: &Str) -> bool {
    params.iter().any(|param| param == key.as_str())
}

fn described_by_names(params: &[String], is_text: bool) -> Data {
    let schema = || if is_text { Data::dict([("type", Data::from("string"))]) } else { Data::empty_dict() };
    let named = params.iter().filter(|param| *param != "context");
    Data::dict([
        ("type", Data::from("object")),
        ("properties", Data::dict(named.clone().map(|param| (param.as_str(), schema())))),
        ("required", Data::list(named.map(|param| Data::from(param.as_str())))),
        ("additionalProperties", false.into()),
    ])
}

/// Returns a literal as data; `None` for anything that is not data.
fn data_of(value: &Dynamic) -> Option<Data> {
    if value.is_unit() {
        return Some(Data::Nil);
    }
    if let Ok(flag) = value.as_bool() {
        return Some(flag.into());
    }
    if let Ok(number) = value.as_int() {
        return Some(number.into());
    }
    if let Ok(number) = value.as_float() {
        return Some(number.into());
    }
    if let Ok(text) = value.as_immutable_string_ref() {
        return Some(text.as_str().into());
    }
    if let Ok(list) = value.as_array_ref() {
        return list.iter().map(data_of).collect::<Option<Vec<_>>>().map(Data::list);
    }
    let map = value.as_map_ref().ok()?;
    let entries: Option<Vec<_>> = map.iter().map(|(key, value)| Some((key.as_str(), data_of(value)?))).collect();
    entries.map(Data::dict)
}
