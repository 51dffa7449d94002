//! Capabilities of each route: the built-in table, overlaid with the rows of a project.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use globset::{Glob, GlobMatcher};
use runtime::capabilities::{Capabilities, PlacementPolicy, WireFormat};
use runtime::words::nearest;
use serde::Deserialize;

use super::price;
use super::provider::Provider;
use super::server::{self, AllowedKeys, Servers};

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
    "native_tools",
    "system_text",
    "placement",
    "price",
];

/// An error in a table of capabilities.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CapabilityError {
    /// The file is not valid TOML.
    #[error("{file} is not valid TOML: {message}")]
    Toml {
        /// The file's name.
        file: String,
        /// The parser's message, with the line.
        message: String,
    },
    /// `capabilities` is not a list of tables.
    #[error("`capabilities` in {file} must be a list of tables; write `[[capabilities]]` above each")]
    NotRows {
        /// The file's name.
        file: String,
    },
    /// The description of a provider's server is invalid.
    #[error("[providers.{name}] in {file}: {message}")]
    Server {
        /// The file's name.
        file: String,
        /// The provider, as it is written there.
        name: String,
        /// The invalid key, if one key is to blame.
        key: Option<String>,
        /// The problem, and the way to fix it.
        message: String,
    },
    /// A row has a fault.
    #[error("row {row} of `[[capabilities]]` in {file}: {message}")]
    Row {
        /// The file's name.
        file: String,
        /// The number of the row, from 1.
        row: usize,
        /// The problem, and the way to fix it.
        message: String,
    },
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
    native_tools: Option<bool>,
    system_text: Option<bool>,
    placement: Option<PlacementPolicy>,
    price: Option<price::Written>,
}

fn any_model() -> String {
    "*".to_owned()
}

#[derive(Debug, Clone)]
struct CapabilityRow {
    fields: Fields,
    model: GlobMatcher,
}

impl CapabilityRow {
    fn lay_over(&self, below: &mut Capabilities) {
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
        put(&mut below.native_tools, fields.native_tools);
        put(&mut below.system_text, fields.system_text);
        put(&mut below.placement, fields.placement.map(Some));
        put(&mut below.price, fields.price.map(|price| Some(price.into())));
    }

    fn is_about_a_model(&self) -> bool {
        self.fields.model != "*"
    }
}

/// The table of capabilities.
#[derive(Debug, Clone, Default)]
pub struct CapabilityTable {
    rows: Arc<Vec<CapabilityRow>>,
    servers: Arc<Servers>,
    allowed_keys: Arc<AllowedKeys>,
}

impl CapabilityTable {
    /// The table that is built in.
    ///
    /// # Errors
    /// None, unless the data file of this crate is broken, which its tests would show.
    pub fn built_in() -> Result<CapabilityTable, CapabilityError> {
        // Many sessions of one process share it.
        static READ: OnceLock<CapabilityTable> = OnceLock::new();
        if let Some(table) = READ.get() {
            return Ok(table.clone());
        }
        let table = CapabilityTable::default().with_toml("capabilities.toml", include_str!("capabilities.toml"))?;
        Ok(READ.get_or_init(|| table).clone())
    }

    /// Returns the table overlaid with the `[[capabilities]]` rows of a TOML file (`harn.toml`).
    /// Other sections of the file are ignored.
    ///
    /// # Errors
    /// Fails if the file is not valid TOML, or one of its rows is invalid; the error names file and
    /// row.
    pub fn with_toml(&self, file: &str, text: &str) -> Result<CapabilityTable, CapabilityError> {
        let table = parse(file, text)?;
        let rows = match table.get("capabilities") {
            None => return Ok(self.clone()),
            Some(toml::Value::Array(rows)) => rows,
            Some(_) => return Err(CapabilityError::NotRows { file: file.to_owned() }),
        };
        let mut all = self.rows.as_ref().clone();
        for (index, row) in rows.iter().enumerate() {
            let row = read_row(row).map_err(|message| CapabilityError::Row {
                file: file.to_owned(),
                row: index + 1,
                message,
            })?;
            all.push(row);
        }
        Ok(CapabilityTable { rows: Arc::new(all), ..self.clone() })
    }

    /// Returns the table with the `[providers.NAME]` tables of a TOML file (`harn.toml`), which
    /// locate the providers' servers. Other sections of the file are ignored.
    ///
    /// # Errors
    /// Fails if the file is not valid TOML, or one of these tables is invalid; the error names it.
    pub fn with_servers(&self, file: &str, text: &str) -> Result<CapabilityTable, CapabilityError> {
        let whole = parse(file, text)?;
        let mut servers = self.servers.as_ref().clone();
        let tables = whole.get("providers").and_then(toml::Value::as_table).into_iter().flatten();
        // `packs` is not a provider of models, but a list of files with reminder providers.
        for (name, table) in tables.filter(|(name, _)| *name != "packs") {
            let (provider, server) = server::read(name, table).map_err(|fault| CapabilityError::Server {
                file: file.to_owned(),
                name: name.clone(),
                key: fault.key,
                message: fault.message,
            })?;
            servers.insert(provider, server);
        }
        Ok(CapabilityTable { servers: Arc::new(servers), ..self.clone() })
    }

    /// Returns the same table with the keys that the user lets go to other origins than the vendor's own.
    #[must_use]
    pub fn allowing_keys(&self, allowed: AllowedKeys) -> CapabilityTable {
        CapabilityTable { allowed_keys: Arc::new(allowed), ..self.clone() }
    }

    /// The keys that the user allows.
    pub(super) fn allowed_keys(&self) -> &AllowedKeys {
        &self.allowed_keys
    }

    /// Whether a variable holds the key of a provider, because a project says so.
    #[must_use]
    pub fn is_key(&self, variable: &str) -> bool {
        self.servers.values().any(|server| server.key_env.as_deref() == Some(variable))
    }

    /// Returns the providers' servers that the project names.
    pub(super) fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Returns the capabilities of the route to `model` at `provider`. The mock has those of the
    /// model name that it is called with.
    #[must_use]
    pub fn lookup(&self, provider: &str, model: &str) -> Capabilities {
        let mut found = Capabilities::default();
        if provider == "mock"
            && let Some(owner) = self.owner_of(model)
        {
            self.lay(owner, model, &mut found);
        }
        self.lay(provider, model, &mut found);
        found
    }

    fn lay(&self, provider: &str, model: &str, found: &mut Capabilities) {
        for row in self.rows.iter() {
            if row.fields.provider == provider && row.model.is_match(model) {
                row.lay_over(found);
            }
        }
    }

    /// The real provider that has a row of its own for models of that name.
    fn owner_of(&self, model: &str) -> Option<&str> {
        let fits =
            |row: &&CapabilityRow| row.fields.provider != "mock" && row.is_about_a_model() && row.model.is_match(model);
        self.rows.iter().find(fits).map(|row| row.fields.provider.as_str())
    }
}

/// Capabilities that were looked up before: a loop asks for the same few every turn.
#[derive(Debug, Default)]
pub(super) struct KnownCapabilities(BTreeMap<&'static str, BTreeMap<Arc<str>, Capabilities>>);

impl KnownCapabilities {
    pub(super) fn get(&mut self, table: &CapabilityTable, provider: &'static str, model: &Arc<str>) -> Capabilities {
        let of_provider = self.0.entry(provider).or_default();
        if let Some(known) = of_provider.get(model) {
            return known.clone();
        }
        let found = table.lookup(provider, model);
        of_provider.insert(model.clone(), found.clone());
        found
    }
}

fn parse(file: &str, text: &str) -> Result<toml::Table, CapabilityError> {
    text.parse().map_err(|error: toml::de::Error| CapabilityError::Toml {
        file: file.to_owned(),
        message: error.to_string().trim().to_owned(),
    })
}

fn read_row(row: &toml::Value) -> Result<CapabilityRow, String> {
    let Some(table) = row.as_table() else { return Err(format!("expected a table, got {}", row.type_str())) };
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(match nearest(unknown, KEYS.iter().copied()) {
            Some(near) => format!("unknown key `{unknown}`; did you mean `{near}`?"),
            None => format!("unknown key `{unknown}`; the keys are {}", KEYS.join(", ")),
        });
    }
    let fields: Fields = table.clone().try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
    let providers = Provider::ALL.map(Provider::as_str);
    if !providers.contains(&fields.provider.as_str()) {
        let got = &fields.provider;
        return Err(match nearest(got, providers) {
            Some(near) => format!("unknown provider {got:?}; did you mean {near:?}?"),
            None => format!("unknown provider {got:?}; the providers are {}", providers.join(", ")),
        });
    }
    if fields.context_window == Some(0) {
        return Err("`context_window` must be above 0".to_owned());
    }
    if fields.call_id_length.is_some_and(|length| !(4..=32).contains(&length)) {
        return Err("`call_id_length` must be from 4 to 32".to_owned());
    }
    if fields.wire == Some(WireFormat::Anthropic) && fields.prefers_role_developer == Some(true) {
        return Err("the wire \"anthropic\" has no role `developer`; remove `prefers_role_developer`".to_owned());
    }
    if fields.mid_conversation_system == Some(true) && fields.wire.is_some_and(|wire| wire != WireFormat::Anthropic) {
        return Err("only the wire \"anthropic\" has `mid_conversation_system`; remove it".to_owned());
    }
    if let Some(price) = &fields.price {
        price.check()?;
    }
    let model = Glob::new(&fields.model).map_err(|error| format!("invalid glob in `model`: {}", error.kind()))?;
    Ok(CapabilityRow { model: model.compile_matcher(), fields })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in() -> CapabilityTable {
        CapabilityTable::built_in().unwrap()
    }

    #[test]
    fn the_o_series_and_gpt_5_and_later_read_developer_messages() {
        for (model, developer) in [
            ("o1", true),
            ("o3-mini", true),
            ("o4-mini", true),
            ("gpt-5", true),
            ("gpt-5.1-codex", true),
            ("gpt-6-turbo", true),
            ("gpt-10", true),
            ("gpt-4o", false),
            ("gpt-4.1-mini", false),
            ("gpt-3.5-turbo", false),
            ("chatgpt-4o-latest", false),
            ("omni-something", false),
        ] {
            let found = built_in().lookup("openai", model);
            assert_eq!(found.prefers_role_developer, developer, "{model}");
            let wire = if model.contains("codex") { WireFormat::OpenaiResponses } else { WireFormat::OpenaiChat };
            assert_eq!(found.wire, wire, "{model}");
            assert!(!found.prefers_xml_scaffolding && !found.prompt_caching, "{model}");
        }
    }

    #[test]
    fn windows_are_those_of_the_models_and_not_of_their_family() {
        for (model, window) in [
            ("gpt-4", 8_192),
            ("gpt-4-0613", 8_192),
            ("gpt-4-32k", 32_768),
            ("gpt-4o", 128_000),
            ("gpt-4-turbo", 128_000),
            ("gpt-4.1-mini", 1_047_576),
            ("gpt-5-mini", 400_000),
            ("gpt-5-chat-latest", 128_000),
            ("gpt-5.1-chat-latest", 128_000),
        ] {
            assert_eq!(built_in().lookup("openai", model).context_window, Some(window), "{model}");
        }
    }

    #[test]
    fn claude_and_gemini_read_xml() {
        let claude = built_in().lookup("anthropic", "claude-sonnet-4-5");
        assert_eq!(claude.wire, WireFormat::Anthropic);
        assert!(claude.prefers_xml_scaffolding && claude.prompt_caching && !claude.prefers_role_developer);
        assert_eq!(claude.context_window, Some(200_000));
        let gemini = built_in().lookup("gemini", "gemini-2.5-pro");
        assert!(gemini.prefers_xml_scaffolding && gemini.wire == WireFormat::Gemini);
    }

    #[test]
    fn an_unknown_model_gets_what_its_provider_can() {
        assert_eq!(built_in().lookup("anthropic", "something-new").wire, WireFormat::Anthropic);
        assert_eq!(built_in().lookup("openai", "something-new").context_window, Some(128_000));
        assert_eq!(built_in().lookup("nobody", "x"), Capabilities::default());
    }

    #[test]
    fn the_mock_takes_those_of_the_model_name() {
        let table = built_in();
        for (provider, model) in [
            ("anthropic", "claude-opus-4-1"),
            ("openai", "gpt-5-mini"),
            ("openai", "gpt-4o"),
            ("gemini", "gemini-3-pro"),
        ] {
            assert_eq!(table.lookup("mock", model), table.lookup(provider, model), "{model}");
        }
        assert_eq!(table.lookup("mock", "mock"), Capabilities::default());
    }

    #[test]
    fn rows_of_a_project_lie_over_the_built_in_ones() {
        let table = built_in()
            .with_toml(
                "harn.toml",
                r#"
                [package]
                name = "x"
                [[capabilities]]
                provider = "openai"
                model = "gpt-5-nano"
                prefers_role_developer = false
                placement = "tail"
                [[capabilities]]
                provider = "mock"
                model = "tiny"
                context_window = 1000
                system_text = false
                "#,
            )
            .unwrap();
        let nano = table.lookup("openai", "gpt-5-nano");
        assert!(!nano.prefers_role_developer);
        assert_eq!((nano.placement, nano.context_window), (Some(PlacementPolicy::Tail), Some(400_000)));
        assert!(table.lookup("openai", "gpt-5").prefers_role_developer);
        let tiny = table.lookup("mock", "tiny");
        assert_eq!((tiny.context_window, tiny.system_text), (Some(1000), false));
        assert!(built_in().with_toml("harn.toml", "").is_ok());
    }

    #[test]
    fn a_project_says_where_providers_live() {
        let text = "[providers.openai]\nbase_url = \"https://x/v1\"\nkey_env = \"MY_KEY\"\n[providers.ollama]\n";
        let table = built_in().with_servers("harn.toml", text).unwrap();
        let server = table.servers().get(&crate::model::Provider::Openai).unwrap();
        assert_eq!((server.base_url.as_deref(), server.key_env.as_deref()), (Some("https://x/v1"), Some("MY_KEY")));
        for (text, parts) in [
            ("[providers.opena]", &["[providers.opena] in harn.toml", "did you mean \"openai\"?"][..]),
            ("[providers.mock]", &["has no server"]),
            ("[providers]\nopenai = 3", &["must be a table", "got integer"]),
            ("[providers.openai]\nbase_ulr = \"x\"", &["`base_ulr`", "did you mean `base_url`?"]),
            ("[providers.openai]\nbase_url = \"localhost:1\"", &["`base_url` has the scheme \"localhost\""]),
            ("[providers.openai]\nbase_url = \"https://a:b@x\"", &["password", "key_env"]),
            ("[providers.openai]\nbase_url = 3", &["`base_url` must be a string, got integer"]),
            ("[providers.openai]\nkey_env = \"sk-abc\"", &["`key_env` must be the name of the environment variable"]),
        ] {
            let error = built_in().with_servers("harn.toml", text).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{text}: {error}");
            }
            assert!(!error.contains("sk-abc"), "{error}");
        }
    }

    #[test]
    fn a_bad_file_says_where_and_what() {
        for (text, parts) in [
            ("[[capabilities]\n", &["harn.toml is not valid TOML", "line 1"][..]),
            ("capabilities = 3", &["must be a list of tables"]),
            ("capabilities = [3]", &["row 1", "expected a table, got integer"]),
            (
                "[[capabilities]]\nprovider = \"openai\"\n[[capabilities]]\nprovider = \"openai\"\ncontext_windw = 3",
                &["row 2", "`context_windw`", "did you mean `context_window`?"],
            ),
            ("[[capabilities]]\nmodel = \"x\"", &["row 1", "missing field `provider`"]),
            ("[[capabilities]]\nprovider = \"opnai\"", &["did you mean \"openai\"?"]),
            ("[[capabilities]]\nprovider = \"openai\"\nwire = \"smoke\"", &["smoke", "openai_chat"]),
            ("[[capabilities]]\nprovider = \"openai\"\nmodel = \"a[\"", &["invalid glob in `model`"]),
            ("[[capabilities]]\nprovider = \"openai\"\ncontext_window = -1", &["row 1"]),
            ("[[capabilities]]\nprovider = \"openai\"\ncontext_window = 0", &["above 0"]),
            ("[[capabilities]]\nprovider = \"openai\"\nprice = {input = -1, output = 2}", &["`price.input` must be"]),
            ("[[capabilities]]\nprovider = \"openai\"\nprice = {input = 1}", &["row 1", "output"]),
            ("[[capabilities]]\nprovider = \"openai\"\nprice = {input = 1, outptu = 2}", &["outptu"]),
            (
                "[[capabilities]]\nprovider = \"mock\"\nwire = \"anthropic\"\nprefers_role_developer = true",
                &["has no role `developer`"],
            ),
        ] {
            let error = built_in().with_toml("harn.toml", text).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{text}: {error}");
            }
        }
    }
}
