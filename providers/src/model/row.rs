//! Rows of the table of capabilities.

use std::sync::OnceLock;

use base::words::nearest;
use globset::{Glob, GlobMatcher};
use runtime::capabilities::{Capabilities, PlacementPolicy, WireFormat};
use serde::Deserialize;

use super::price::WrittenPrice;
use super::provider::Provider;

/// The keys of a row.
pub const KEYS: &[&str] = &[
    "provider",
    "model",
    "wire",
    "prefers_role_developer",
    "prefers_xml_scaffolding",
    "prompt_caching",
    "automatic_caching",
    "mid_conversation_system",
    "adaptive_thinking",
    "always_thinking",
    "bound_thinking",
    "alternating_roles",
    "call_id_length",
    "context_window",
    "output_limit",
    "native_tools",
    "system_text",
    "placement",
    "price",
];

/// The largest context window or output limit that is accepted, in tokens.
const MOST_TOKENS: i64 = 1_000_000_000;

/// A fault of a row.
#[derive(Debug)]
pub(super) struct RowFault {
    /// The invalid key, with dots between it and the tables around it, if one key is to blame.
    pub(super) key: Option<String>,
    /// The problem, and the way to fix it.
    pub(super) message: String,
}

impl RowFault {
    /// Creates the fault of one key.
    pub(super) fn of_key(key: impl Into<String>, message: impl Into<String>) -> RowFault {
        RowFault { key: Some(key.into()), message: message.into() }
    }
}

impl From<String> for RowFault {
    fn from(message: String) -> RowFault {
        RowFault { key: None, message }
    }
}

/// A row as it is written: what is left out says nothing.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    provider: String,
    #[serde(default = "any_model")]
    model: String,
    wire: Option<WireFormat>,
    prefers_role_developer: Option<bool>,
    prefers_xml_scaffolding: Option<bool>,
    prompt_caching: Option<bool>,
    automatic_caching: Option<bool>,
    mid_conversation_system: Option<bool>,
    adaptive_thinking: Option<bool>,
    always_thinking: Option<bool>,
    bound_thinking: Option<bool>,
    alternating_roles: Option<bool>,
    call_id_length: Option<u64>,
    context_window: Option<u64>,
    output_limit: Option<u64>,
    native_tools: Option<bool>,
    system_text: Option<bool>,
    placement: Option<PlacementPolicy>,
    price: Option<WrittenPrice>,
}

fn any_model() -> String {
    "*".to_owned()
}

/// A row of the table.
#[derive(Debug, Clone)]
pub(super) struct CapabilityRow {
    fields: Fields,
    glob: Glob,
    /// The compiled glob. Most rows are about other models than those of a run, and compiling is dear.
    compiled: OnceLock<GlobMatcher>,
}

impl CapabilityRow {
    /// Reads a row.
    ///
    /// # Errors
    /// A key is unknown, or a value is not one that the key takes.
    pub(super) fn read(row: &toml::Value) -> Result<CapabilityRow, RowFault> {
        let Some(table) = row.as_table() else {
            return Err(format!("expected a table, got {}", row.type_str()).into());
        };
        if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(RowFault::of_key(
                unknown,
                match nearest(unknown, KEYS.iter().copied()) {
                    Some(near) => format!("unknown key `{unknown}`; did you mean `{near}`?"),
                    None => format!("unknown key `{unknown}`; the keys are {}", KEYS.join(", ")),
                },
            ));
        }
        for key in ["context_window", "output_limit"] {
            check_tokens(key, table.get(key))?;
        }
        if let Some(price) = table.get("price") {
            super::price::check(price)?;
        }
        let fields: Fields = table.clone().try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
        fields.check()?;
        let glob = Glob::new(&fields.model)
            .map_err(|error| RowFault::of_key("model", format!("invalid glob in `model`: {}", error.kind())))?;
        Ok(CapabilityRow { fields, glob, compiled: OnceLock::new() })
    }

    /// Returns the provider that the row is about.
    pub(super) fn provider(&self) -> &str {
        &self.fields.provider
    }

    /// Returns whether the row is about a provider.
    pub(super) fn is_for(&self, provider: &str) -> bool {
        self.fields.provider == provider
    }

    /// Returns whether the row is about some models only.
    pub(super) fn is_about_a_model(&self) -> bool {
        self.fields.model != "*"
    }

    /// Returns whether the row is about a model.
    pub(super) fn matches(&self, model: &str) -> bool {
        may_match(&self.fields.model, model)
            && self.compiled.get_or_init(|| self.glob.compile_matcher()).is_match(model)
    }

    /// Lays the fields that the row names over `below`.
    pub(super) fn lay_over(&self, below: &mut Capabilities) {
        fn put<T: Copy>(slot: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *slot = value;
            }
        }
        let fields = &self.fields;
        put(&mut below.wire, fields.wire);
        put(&mut below.prefers_role_developer, fields.prefers_role_developer);
        put(&mut below.prefers_xml_scaffolding, fields.prefers_xml_scaffolding);
        put(&mut below.prompt_caching, fields.prompt_caching);
        put(&mut below.automatic_caching, fields.automatic_caching);
        put(&mut below.mid_conversation_system, fields.mid_conversation_system);
        put(&mut below.adaptive_thinking, fields.adaptive_thinking);
        put(&mut below.always_thinking, fields.always_thinking);
        put(&mut below.bound_thinking, fields.bound_thinking);
        put(&mut below.alternating_roles, fields.alternating_roles);
        put(&mut below.call_id_length, fields.call_id_length.map(Some));
        put(&mut below.context_window, fields.context_window.map(Some));
        put(&mut below.output_limit, fields.output_limit.map(Some));
        put(&mut below.native_tools, fields.native_tools);
        put(&mut below.system_text, fields.system_text);
        put(&mut below.placement, fields.placement.map(Some));
        if let Some(price) = &fields.price {
            below.price = Some(price.price());
        }
    }
}

impl Fields {
    fn check(&self) -> Result<(), RowFault> {
        let providers = Provider::ALL.map(Provider::as_str);
        if !providers.contains(&self.provider.as_str()) {
            let got = &self.provider;
            return Err(RowFault::of_key(
                "provider",
                match nearest(got, providers) {
                    Some(near) => format!("unknown provider {got:?}; did you mean {near:?}?"),
                    None => format!("unknown provider {got:?}; the providers are {}", providers.join(", ")),
                },
            ));
        }
        if self.call_id_length.is_some_and(|length| !(4..=32).contains(&length)) {
            return Err(RowFault::of_key("call_id_length", "`call_id_length` must be from 4 to 32"));
        }
        if self.wire == Some(WireFormat::Anthropic) && self.prefers_role_developer == Some(true) {
            let message = "the wire \"anthropic\" has no role `developer`; remove `prefers_role_developer`";
            return Err(RowFault::of_key("prefers_role_developer", message));
        }
        if self.mid_conversation_system == Some(true) && self.wire.is_some_and(|wire| wire != WireFormat::Anthropic) {
            let message = "only the wire \"anthropic\" has `mid_conversation_system`; remove it";
            return Err(RowFault::of_key("mid_conversation_system", message));
        }
        Ok(())
    }
}

/// Checks a number of tokens, if there is one.
pub(super) fn check_tokens(key: &str, value: Option<&toml::Value>) -> Result<(), RowFault> {
    let Some(value) = value else { return Ok(()) };
    if value.as_integer().is_some_and(|tokens| (1..=MOST_TOKENS).contains(&tokens)) {
        return Ok(());
    }
    let message = format!("`{key}` must be a number of tokens from 1 to {MOST_TOKENS}, found {}", shown(value));
    Err(RowFault::of_key(key, message))
}

/// Returns a value as an error names it: numbers and texts as written, anything else by its type.
pub(super) fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::Integer(whole) => whole.to_string(),
        toml::Value::Float(float) => float.to_string().to_lowercase(),
        toml::Value::String(text) => format!("{text:?}"),
        toml::Value::Datetime(date) => date.to_string(),
        other => other.type_str().to_owned(),
    }
}

/// Returns whether a glob can match a model, by the text before its first special character. A list of alternatives can
/// match if one of them can.
fn may_match(glob: &str, model: &str) -> bool {
    let begins = |part: &str| model.starts_with(part.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default());
    match glob.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((list, _)) if !list.contains(['{', '[', '\\']) => list.split(',').any(begins),
        Some(_) => true,
        None => begins(glob),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_is_compiled_only_for_models_that_begin_like_it() {
        for (glob, model, may) in [
            ("gpt-5*", "gpt-5-mini", true),
            ("gpt-5*", "gpt-4o", false),
            ("gpt-5", "gpt-5", true),
            ("{gpt-5,gpt-5-20*}", "gpt-5-mini", true),
            ("{gpt-5,gpt-5-20*}", "o3", false),
            ("{gpt-[1-9]*,o[1-9]*}", "claude", true),
            ("*-pro", "gpt-5-pro", true),
            ("[ab]c", "bc", true),
            ("", "", true),
        ] {
            assert_eq!(may_match(glob, model), may, "{glob} {model}");
        }
    }
}
