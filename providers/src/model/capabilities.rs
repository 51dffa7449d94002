//! Capabilities of each route: the built-in table, overlaid with the rows of a project.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use runtime::capabilities::Capabilities;

use super::row::CapabilityRow;
use super::server::{self, AllowedKeys, Servers};

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
        /// The invalid key, with dots between it and the tables around it (`price.input`), if one key is to blame.
        key: Option<String>,
        /// The problem, and the way to fix it.
        message: String,
    },
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
            let row = CapabilityRow::read(row).map_err(|fault| CapabilityError::Row {
                file: file.to_owned(),
                row: index + 1,
                key: fault.key,
                message: fault.message,
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
            if row.is_for(provider) && row.matches(model) {
                row.lay_over(found);
            }
        }
    }

    /// The real provider that has a row of its own for models of that name.
    fn owner_of(&self, model: &str) -> Option<&str> {
        let fits = |row: &&CapabilityRow| !row.is_for("mock") && row.is_about_a_model() && row.matches(model);
        self.rows.iter().find(fits).map(CapabilityRow::provider)
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

#[cfg(test)]
mod tests;
