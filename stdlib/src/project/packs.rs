//! `packs` under `[providers]` of `harn.toml`.

use super::settings::{SettingsReader, not_text};
use crate::capability::Capability;
use crate::codes::ProjectCode;
use crate::rhai_front_end::packs::{Budget, PackSpec};
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The key under `[providers]`.
pub(super) const PACKS: &str = "packs";

/// The keys of a pack.
pub(super) const KEYS: &[&str] = &[
    "file",
    "allow",
    "timeout_ms",
    "max_operations",
    "max_depth",
    "max_string",
    "max_elements",
    "max_memory",
    "max_reminders",
];

/// Capabilities of builtins that answer immediately. A pack cannot wait, so the others would be
/// useless to it.
const GRANTABLE: [Capability; 3] = [Capability::FsRead, Capability::FsWrite, Capability::Env];

/// The largest depth and the most elements: the stack is made for them.
const DEEPEST: u64 = 256;
const MOST_ELEMENTS: u64 = 200_000;

impl SettingsReader<'_> {
    pub(super) fn packs(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(packs) = value.get_ref().as_array() else {
            let help = "write `packs = [\"guard.rhai\", {file = \"repo.rhai\", allow = [\"fs.read\"]}]`";
            return self.wrong(ProjectCode::Value, value.span(), "`packs` must be a list of files".to_owned(), help);
        };
        for pack in packs {
            match pack.get_ref() {
                DeValue::String(file) => {
                    let spec = PackSpec::plain(self.folder.join(file.as_ref()));
                    self.add(pack, file, spec);
                }
                DeValue::Table(table) => self.pack(pack, table),
                _ => {
                    self.good::<()>(pack, Err(not_text(pack)));
                }
            }
        }
    }

    fn pack(&mut self, whole: &Spanned<DeValue<'_>>, table: &DeTable<'_>) {
        let mut spec = PackSpec::plain("");
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "file" => match value.get_ref().as_str() {
                    Some(file) => spec.file = self.folder.join(file),
                    None => {
                        self.good::<()>(value, Err(not_text(value)));
                    }
                },
                "allow" => spec.allow = self.grants(value),
                known if KEYS.contains(&known) => self.limit(known, value, &mut spec.budget),
                unknown => self.unknown(unknown, key.span(), KEYS, "packs"),
            }
        }
        if spec.file.as_os_str().is_empty() {
            let help = "write `{file = \"guard.rhai\", …}`";
            return self.wrong(ProjectCode::Value, whole.span(), "this pack does not name a file".to_owned(), help);
        }
        let name = spec.file.strip_prefix(self.folder).unwrap_or(&spec.file).display().to_string();
        self.add(whole, &name, spec);
    }

    fn add(&mut self, place: &Spanned<DeValue<'_>>, name: &str, spec: PackSpec) {
        let rights: Vec<&str> = spec.allow.iter().map(|right| right.name()).collect();
        let with = if rights.is_empty() { String::new() } else { format!(" (may: {})", rights.join(", ")) };
        if self.guard("providers.packs", place.span(), &format!("{name}{with}")) {
            self.project.packs.push(spec);
        }
    }

    fn grants(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<Capability> {
        let rights = self.list_of_rights("allow", value);
        if let Some(right) = rights.iter().find(|right| !GRANTABLE.contains(right)) {
            let message =
                format!("the capability `{}` cannot be granted to a pack, because packs cannot wait", right.name());
            let names = GRANTABLE.map(Capability::name).join("`, `");
            self.wrong(ProjectCode::Value, value.span(), message, &format!("you can grant {names}"));
        }
        rights
    }

    fn limit(&mut self, key: &str, value: &Spanned<DeValue<'_>>, budget: &mut Budget) {
        let most = match key {
            "max_depth" => DEEPEST,
            "max_elements" => MOST_ELEMENTS,
            _ => u64::MAX,
        };
        let read = if matches!(key, "max_string" | "max_memory") { self.memory(value) } else { self.count(value) };
        let Some(number) = read else { return };
        if number > most {
            self.good::<()>(value, Err(format!("this must be at most {most}")));
            return;
        }
        let size = usize::try_from(number).unwrap_or(usize::MAX);
        match key {
            "timeout_ms" => budget.time = Duration::from_millis(number),
            "max_operations" => budget.operations = number,
            "max_depth" => budget.depth = size,
            "max_string" => budget.string = size,
            "max_elements" => budget.elements = size,
            "max_memory" => budget.memory = number,
            _ => budget.reminders = size,
        }
    }
}
