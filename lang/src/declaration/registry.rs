//! Finding a builtin by namespace and name.

use super::{Builtin, OptionTable};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::OnceLock;

/// The rows of a registry by name, and in order; each is made when it is first asked for.
#[derive(Default)]
pub struct Index {
    /// Every script asks for names, and making this takes a fifth of what sorting takes.
    named: OnceLock<HashTable<&'static Builtin>>,
    sorted: OnceLock<Box<[&'static Builtin]>>,
}

impl Index {
    /// One that is not filled yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { named: OnceLock::new(), sorted: OnceLock::new() }
    }
}

/// Hashes the name of a builtin. The seed is fixed, because scripts cannot add builtins.
fn hash(module: &str, name: &str) -> u64 {
    FixedState::default().hash_one((module, name))
}

/// Registry in which the compiler, the checker and the VM look builtins up.
#[derive(Clone, Copy)]
pub struct Registry {
    builtins: &'static [&'static [&'static [Builtin]]],
    /// Named types of options.
    options: &'static [&'static [&'static OptionTable]],
    /// Names of options that people know from elsewhere, each with one of these tables.
    elsewhere: &'static [(&'static str, &'static str)],
    /// Named types of results.
    results: &'static [&'static OptionTable],
    /// Types of the payloads of events.
    payloads: &'static [(&'static str, &'static str)],
    modules: &'static [&'static str],
    types: &'static [&'static str],
    outcome: &'static [&'static str],
    listed: Option<&'static str>,
    index: Option<&'static Index>,
}

impl Registry {
    /// The rows of these groups of tables.
    #[must_use]
    pub const fn new(builtins: &'static [&'static [&'static [Builtin]]]) -> Self {
        Self {
            builtins,
            options: &[],
            elsewhere: &[],
            results: &[],
            payloads: &[],
            modules: &[],
            types: &[],
            outcome: &[],
            listed: None,
            index: None,
        }
    }

    /// With a place for the index of these tables; without one, every look-up is a walk over them.
    #[must_use]
    pub const fn with_index(self, index: &'static Index) -> Self {
        Self { index: Some(index), ..self }
    }

    /// Returns the place of its index: two registries with one place have the same rows. Nothing where it has none.
    pub(crate) fn place(&self) -> Option<&'static Index> {
        self.index
    }

    /// With the named types of options, which signatures mention.
    #[must_use]
    pub const fn with_options(self, options: &'static [&'static [&'static OptionTable]]) -> Self {
        Self { options, ..self }
    }

    /// With names of options that people know from elsewhere, each with an option that does the same. The first that a builtin
    /// has is suggested.
    #[must_use]
    pub const fn with_options_elsewhere(self, elsewhere: &'static [(&'static str, &'static str)]) -> Self {
        Self { elsewhere, ..self }
    }

    /// Returns the option, of those that `has` accepts, that does what people call `name` elsewhere.
    #[must_use]
    pub fn option_elsewhere(&self, name: &str, has: impl Fn(&str) -> bool) -> Option<&'static str> {
        self.elsewhere.iter().find(|(known, ours)| *known == name && has(ours)).map(|(_, ours)| *ours)
    }

    /// With the named types of what builtins pass to scripts: results, and the arguments of handlers.
    #[must_use]
    pub const fn with_results(self, results: &'static [&'static OptionTable]) -> Self {
        Self { results, ..self }
    }

    /// With the types of the payloads of events, by the names of the events in snake_case.
    #[must_use]
    pub const fn with_payloads(self, payloads: &'static [(&'static str, &'static str)]) -> Self {
        Self { payloads, ..self }
    }

    /// With the paths of the standard modules, `std/` included. What they offer is global.
    #[must_use]
    pub const fn with_modules(self, modules: &'static [&'static str]) -> Self {
        Self { modules, ..self }
    }

    /// With the names of types whose values only the host makes and looks into.
    #[must_use]
    pub const fn with_types(self, types: &'static [&'static str]) -> Self {
        Self { types, ..self }
    }

    /// With the keys by which a dict of the host is known that says how some work ended: `?` raises the error of work that failed.
    #[must_use]
    pub const fn with_outcome(self, outcome: &'static [&'static str]) -> Self {
        Self { outcome, ..self }
    }

    /// With a few words that say where all builtins are listed.
    #[must_use]
    pub const fn with_list(self, listed: &'static str) -> Self {
        Self { listed: Some(listed), ..self }
    }

    /// The types of the host.
    #[must_use]
    pub fn types(&self) -> &'static [&'static str] {
        self.types
    }

    /// The keys of a dict that says how some work ended; none where the host has no such dicts.
    #[must_use]
    pub fn outcome(&self) -> &'static [&'static str] {
        self.outcome
    }

    /// Returns the place that lists all builtins.
    #[must_use]
    pub fn listed(&self) -> Option<&'static str> {
        self.listed
    }

    /// The paths of the standard modules.
    #[must_use]
    pub fn modules(&self) -> &'static [&'static str] {
        self.modules
    }

    /// Returns a named type of dicts.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&'static OptionTable> {
        self.tables().find(|table| table.name == name)
    }

    /// Returns the named types of dicts: those of options, then those of results.
    pub fn tables(&self) -> impl Iterator<Item = &'static OptionTable> + use<> {
        self.options.iter().copied().flatten().chain(self.results).copied()
    }

    /// Returns the module of the methods of a named type, whose name in snake_case is the module's: `RoadMap` has those of
    /// `<road_map>`.
    pub(crate) fn methods_of(&self, name: &str) -> Option<&'static str> {
        let is_its = |row: &&'static Builtin| {
            let own = row.module.strip_prefix('<').and_then(|module| module.strip_suffix('>'));
            own.is_some_and(|own| own.split('_').flat_map(str::chars).eq(name.chars().map(|c| c.to_ascii_lowercase())))
        };
        self.all().find(is_its).map(|row| row.module)
    }

    /// Whether a named type is that of something that builtins hand to scripts.
    pub(crate) fn hands_over(&self, name: &str) -> bool {
        self.results.iter().any(|table| table.name == name)
    }

    /// The types of the payloads of events, by the names of the events.
    pub(crate) fn payloads(&self) -> &'static [(&'static str, &'static str)] {
        self.payloads
    }

    /// Every row.
    pub fn all(&self) -> impl Iterator<Item = &'static Builtin> + use<> {
        self.builtins.iter().flat_map(|group| group.iter()).flat_map(|table| table.iter())
    }

    /// A row by namespace and name.
    #[must_use]
    pub fn find(&self, module: &str, name: &str) -> Option<&'static Builtin> {
        let is_it = |row: &&'static Builtin| row.module == module && row.name == name;
        let Some(index) = self.index else { return self.all().find(is_it) };
        let named = index.named.get_or_init(|| {
            let mut named = HashTable::with_capacity(self.all().count());
            for row in self.all() {
                let same = |other: &&'static Builtin| (other.module, other.name) == (row.module, row.name);
                // Where a row stands twice, the first one counts.
                named.entry(hash(row.module, row.name), same, |row| hash(row.module, row.name)).or_insert(row);
            }
            named
        });
        named.find(hash(module, name), is_it).copied()
    }

    /// The rows of a namespace.
    pub fn module<'m>(&self, module: &'m str) -> impl Iterator<Item = &'static Builtin> + use<'m> {
        let sorted = self.sorted().map(|rows| {
            let from = rows.partition_point(|row| row.module < module);
            rows[from..].iter().copied().take_while(move |row| row.module == module)
        });
        let scanned = if sorted.is_none() { Some(self.all().filter(move |row| row.module == module)) } else { None };
        sorted.into_iter().flatten().chain(scanned.into_iter().flatten())
    }

    fn sorted(&self) -> Option<&'static [&'static Builtin]> {
        self.index.map(|index| {
            &**index.sorted.get_or_init(|| {
                let mut rows: Vec<_> = self.all().collect();
                // Stable: where a row stands twice, the first one counts.
                rows.sort_by_key(|row| (row.module, row.name));
                rows.dedup_by_key(|row| (row.module, row.name));
                rows.into_boxed_slice()
            })
        })
    }
}
