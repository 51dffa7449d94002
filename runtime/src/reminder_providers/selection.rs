//! The `reminders` option: the providers a loop uses, and their configuration.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use base::data::Data;
use base::words::{UnknownWord, nearest};

use crate::capabilities::PlacementPolicy;
use crate::reminder::{ReminderCode, ReminderError};

use super::{ReminderBudget, ReminderProvider, ReminderProviders};

/// The `reminders` option of a loop.
#[derive(Debug, Clone, PartialEq)]
pub struct ReminderOptions {
    /// Whether providers run at all. Reminders themselves are rendered either way.
    pub enabled: bool,
    /// Providers that the list adds and removes.
    pub providers: ProviderList,
    /// Paths of files with more providers, as written; the code that reads the option loads them.
    pub packs: Vec<Arc<str>>,
    /// Providers loaded for these options alone: they come after the registered ones and are selected like them.
    pub brought: OwnProviders,
    /// Configuration by provider id: a dict or nil.
    pub config: Data,
    /// Whether a failing provider or a malformed reminder ends the loop.
    pub strict: bool,
    /// Overrides the route's placement.
    pub placement: Option<PlacementPolicy>,
    /// Whether the vendor's own slot is used where there is one. With `None` it is if reminders go after the
    /// conversation.
    pub native: Option<bool>,
    /// Whether the reminder files of the project are used; `None` means that the project decides.
    pub files: Option<bool>,
    /// The budget of the reminders in a prompt.
    pub budget: ReminderBudget,
}

impl Default for ReminderOptions {
    fn default() -> ReminderOptions {
        ReminderOptions {
            enabled: true,
            providers: ProviderList::default(),
            packs: Vec::new(),
            brought: OwnProviders::default(),
            config: Data::Nil,
            strict: false,
            placement: None,
            files: None,
            native: None,
            budget: ReminderBudget::default(),
        }
    }
}

/// The options that a variant of a run changes in all its loops.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReminderVariation {
    /// Whether providers run at all.
    pub enabled: Option<bool>,
    /// Providers that are added and removed.
    pub providers: ProviderList,
    /// The placement.
    pub placement: Option<PlacementPolicy>,
    /// Whether the native slot is used.
    pub native: Option<bool>,
    /// Whether reminder files are used.
    pub files: Option<bool>,
    /// The budget.
    pub budget: ReminderBudget,
}

impl ReminderVariation {
    /// Reads a variation: `enabled`, `providers`, `placement`, `native`, `files` and the budget of the option
    /// `reminders`.
    ///
    /// # Errors
    /// Returns the error of an unknown key or an invalid value.
    pub fn from_data(data: &Data) -> Result<ReminderVariation, ReminderError> {
        let options = ReminderOptions::from_data(data)?;
        let enabled = data.get("enabled").as_bool().or(data.as_bool());
        let ReminderOptions { providers, placement, native, files, budget, .. } = options;
        Ok(ReminderVariation { enabled, providers, placement, native, files, budget })
    }
}

/// Providers that belong to a single set of options.
#[derive(Clone, Default)]
pub struct OwnProviders(Vec<Rc<dyn ReminderProvider>>);

impl From<Vec<Rc<dyn ReminderProvider>>> for OwnProviders {
    fn from(providers: Vec<Rc<dyn ReminderProvider>>) -> OwnProviders {
        OwnProviders(providers)
    }
}

impl PartialEq for OwnProviders {
    fn eq(&self, other: &OwnProviders) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(one, two)| Rc::ptr_eq(one, two))
    }
}

impl fmt::Debug for OwnProviders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|provider| provider.id())).finish()
    }
}

/// A list of `"id"` (adds) and `"-id"` (removes).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderList(Vec<(bool, Arc<str>)>);

const KEYS: &[&str] =
    &["enabled", "providers", "packs", "config", "strict", "placement", "native", "files", "max_tokens", "max_share"];

impl ReminderOptions {
    /// Reads the option: nil, a bool, a list, or a dict with the keys above.
    pub fn from_data(data: &Data) -> Result<ReminderOptions, ReminderError> {
        let entries = match data {
            Data::Nil => return Ok(ReminderOptions::default()),
            Data::Bool(enabled) => return Ok(ReminderOptions { enabled: *enabled, ..ReminderOptions::default() }),
            Data::List(_) => {
                return Ok(ReminderOptions {
                    providers: ProviderList::from_data(data, "")?,
                    ..ReminderOptions::default()
                });
            }
            Data::Dict(entries) => entries,
            other => {
                return Err(wrong("", "`reminders` must be a bool, a list or a dict", other).help(
                    "write `reminders: false` to turn all providers off, or `reminders: [\"-idle_nudge\"]` for one",
                ));
            }
        };
        if let Some(unknown) = entries.keys().find(|key| !KEYS.contains(&key.as_ref())) {
            let message = format!("unknown key `{unknown}` in `reminders`");
            return Err(ReminderError::new(ReminderCode::Shape, unknown.as_ref(), message)
                .suggest(nearest(unknown, KEYS.iter().copied()))
                .or_help(
                    "remove it: `reminders` has `enabled`, `providers`, `packs`, `config`, `strict`, `placement`, \
                    `native`, `files`, `max_tokens` and `max_share`",
                ));
        }
        let flag = |key: &str, default: bool| match data.get(key) {
            Data::Nil => Ok(default),
            Data::Bool(value) => Ok(*value),
            other => Err(wrong(key, &format!("`{key}` must be a bool"), other)
                .help(format!("write `{key}: true` or `{key}: false`"))),
        };
        let config = match data.get("config") {
            config @ (Data::Nil | Data::Dict(_)) => config.clone(),
            other => {
                return Err(wrong("config", "`config` must be a dict of provider ids", other)
                    .help("write `config: {idle_nudge: {idle_seconds: 120}}`"));
            }
        };
        let placement = match data.get("placement") {
            Data::Nil => None,
            Data::Str(word) => Some(word.parse().map_err(|error: UnknownWord| {
                ReminderError::new(ReminderCode::Shape, "placement", format!("unknown `placement` {:?}", error.got))
                    .help(format!("use one of {}", error.expected))
            })?),
            other => {
                return Err(wrong("placement", "`placement` must be \"head\", \"tail\" or \"auto\"", other)
                    .help("write `placement: \"tail\"`"));
            }
        };
        Ok(ReminderOptions {
            enabled: flag("enabled", true)?,
            providers: ProviderList::from_data(data.get("providers"), "providers")?,
            packs: packs(data.get("packs"))?,
            brought: OwnProviders::default(),
            config,
            strict: flag("strict", false)?,
            placement,
            files: if data.get("files").is_nil() { None } else { Some(flag("files", false)?) },
            native: if data.get("native").is_nil() { None } else { Some(flag("native", false)?) },
            budget: ReminderBudget::from_data(data)?,
        })
    }

    /// Returns whether a loop uses the reminder files of its project, which has `default`. Turning all providers off turns
    /// off the default.
    #[must_use]
    pub fn wants_files(&self, default: bool) -> bool {
        self.files.unwrap_or(default && self.enabled)
    }

    /// Changes the options to those of a variant of the run.
    pub fn vary(&mut self, by: &ReminderVariation) {
        if let Some(enabled) = by.enabled {
            self.enabled = enabled;
        }
        self.providers.0.extend(by.providers.0.iter().cloned());
        self.placement = by.placement.or(self.placement);
        self.native = by.native.or(self.native);
        self.files = by.files.or(self.files);
        self.budget = by.budget.over(self.budget);
    }

    /// Returns the providers to run, in order. Unknown ids and too many are errors, whether or not providers are
    /// enabled.
    pub fn select(&self, known: &ReminderProviders) -> Result<Vec<Rc<dyn ReminderProvider>>, ReminderError> {
        let mut all = known.all();
        all.extend(self.brought.0.iter().cloned());
        let registered: Vec<&str> = all.iter().map(|provider| provider.id()).collect();
        self.providers.check(&registered)?;
        self.check_config_ids(&registered)?;
        for provider in &all {
            provider.check_config(self.config.get(provider.id())).map_err(|error| error.under("config"))?;
        }
        if !self.enabled {
            return Ok(Vec::new());
        }
        Ok(all.into_iter().filter(|provider| !self.providers.removes(provider.id())).collect())
    }
}

impl ReminderOptions {
    /// Checks the ids of configurations. Configuring a disabled provider is allowed; for an unknown one it would
    /// silently have no effect.
    fn check_config_ids(&self, registered: &[&str]) -> Result<(), ReminderError> {
        let known = || ReminderProviders::CANONICAL.iter().chain(registered).copied();
        let mut ids = self.config.as_dict().into_iter().flatten().map(|(id, _)| id.as_ref());
        let Some(id) = ids.find(|id| !known().any(|known| known == *id)) else { return Ok(()) };
        let message = format!("unknown reminder provider `{id}` in `config`");
        Err(ReminderError::new(ReminderCode::Shape, format!("config.{id}"), message)
            .suggest(nearest(id, known()))
            .or_help("register it with register_reminder_provider first, or remove its configuration"))
    }
}

impl ProviderList {
    /// Maximum number of providers that a list may enable.
    pub const MOST: usize = 8;

    fn from_data(data: &Data, field: &str) -> Result<ProviderList, ReminderError> {
        let items = match data {
            Data::Nil => return Ok(ProviderList::default()),
            Data::List(items) => items,
            other => {
                return Err(wrong(field, "`providers` must be a list of ids", other)
                    .help("write `providers: [\"-idle_nudge\"]`"));
            }
        };
        let mut list = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let Some(text) = item.as_str().map(str::trim) else {
                return Err(wrong(&join(field, index), "a provider id must be a string", item)
                    .help("write \"id\" to add a provider, \"-id\" to remove it"));
            };
            match text.strip_prefix('-') {
                Some(id) => list.push((false, id.into())),
                None => list.push((true, text.into())),
            }
        }
        Ok(ProviderList(list))
    }

    /// Returns the probable meaning of an entry with an unknown id. A misspelt removal never suggests an addition.
    pub fn meant<'a>(adds: bool, id: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
        let near = nearest(id.trim_start_matches('-'), known)?;
        Some(if adds { near.to_owned() } else { format!("-{near}") })
    }

    /// Returns its entries: whether each adds, and the id.
    pub fn entries(&self) -> impl Iterator<Item = (bool, &str)> {
        self.0.iter().map(|(adds, id)| (*adds, id.as_ref()))
    }

    /// Returns the ids it names, added and removed ones.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, id)| id.as_ref())
    }

    /// Returns whether the last entry for an id removes it.
    fn removes(&self, id: &str) -> bool {
        self.0.iter().rev().find(|(_, listed)| listed.as_ref() == id).is_some_and(|(adds, _)| !adds)
    }

    /// Checks that every id is known and that the list does not enable more than [`ProviderList::MOST`]: the canonical
    /// ones minus those removed, plus those added. Registered providers that the list does not name do not count.
    pub fn check(&self, registered: &[&str]) -> Result<(), ReminderError> {
        let known = || ReminderProviders::CANONICAL.iter().copied().chain(registered.iter().copied());
        for (index, (adds, id)) in self.0.iter().enumerate() {
            if !known().any(|name| name == id.as_ref()) {
                let message = format!("unknown reminder provider `{id}`");
                let near = Self::meant(*adds, id, known());
                return Err(ReminderError::new(ReminderCode::Shape, join("providers", index), message)
                    .suggest(near.as_deref())
                    .or_help("register it with register_reminder_provider, or remove it from the list"));
            }
        }
        let mut enabled: BTreeSet<&str> = ReminderProviders::CANONICAL.iter().copied().collect();
        enabled.extend(self.0.iter().filter(|(adds, _)| *adds).map(|(_, id)| id.as_ref()));
        enabled.retain(|id| !self.removes(id));
        if enabled.len() > Self::MOST {
            let message =
                format!("too many reminder providers: {} are enabled, and the limit is {}", enabled.len(), Self::MOST);
            return Err(ReminderError::new(ReminderCode::TooMany, "providers", message)
                .help("remove one with \"-id\", for example \"-idle_nudge\""));
        }
        Ok(())
    }
}

/// Returns the files in the list `packs`.
fn packs(data: &Data) -> Result<Vec<Arc<str>>, ReminderError> {
    let wrong = |field: &str, got: &Data| {
        wrong(field, "`packs` must be a list of files", got).help("write `packs: [\"guard.rhai\"]`")
    };
    let items = match data {
        Data::Nil => return Ok(Vec::new()),
        Data::List(items) => items,
        other => return Err(wrong("packs", other)),
    };
    let file = |(index, item): (usize, &Data)| match item {
        Data::Str(file) if !file.trim().is_empty() => Ok(file.clone()),
        other => Err(wrong(&join("packs", index), other)),
    };
    items.iter().enumerate().map(file).collect()
}

fn wrong(field: &str, expected: &str, got: &Data) -> ReminderError {
    ReminderError::new(ReminderCode::Shape, field, format!("{expected}, got {}", got.type_name()))
}

fn join(field: &str, index: usize) -> String {
    if field.is_empty() { index.to_string() } else { format!("{field}.{index}") }
}
