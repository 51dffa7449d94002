//! The registered providers and their order.

use std::cell::RefCell;
use std::rc::Rc;

use super::ReminderProvider;

/// All reminder providers of a program: the canonical ones, then a script's own in the order of registration.
#[derive(Default)]
pub struct ReminderProviders {
    canonical: Vec<Rc<dyn ReminderProvider>>,
    custom: RefCell<Rc<Vec<Rc<dyn ReminderProvider>>>>,
}

impl ReminderProviders {
    /// The ids of the canonical providers, in their order. Lists may name them even if this program does not include
    /// them.
    pub const CANONICAL: &'static [&'static str] = &[
        "token_pressure",
        "idle_nudge",
        "tool_output_truncated",
        "post_compact_recap",
        "resume_continuity",
        "project_facts",
        "workspace_anchor",
        "grounded_review",
    ];

    /// Maximum number of providers that a program should register; each event calls all that subscribe to it.
    pub const MOST: usize = 4096;

    /// Returns whether the limit of a script's providers is reached.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.custom.borrow().len() >= ReminderProviders::MOST
    }

    /// Creates a registry with these canonical providers.
    #[must_use]
    pub fn new(canonical: Vec<Rc<dyn ReminderProvider>>) -> ReminderProviders {
        ReminderProviders { canonical, custom: RefCell::default() }
    }

    /// Registers a script's provider. It replaces a provider with the same id.
    pub fn register(&self, provider: Rc<dyn ReminderProvider>) {
        let mut custom = self.custom.borrow_mut();
        let all = Rc::make_mut(&mut *custom);
        match all.iter_mut().find(|known| known.id() == provider.id()) {
            Some(known) => *known = provider,
            None => all.push(provider),
        }
    }

    /// Removes the scripts' own providers.
    pub fn clear(&self) {
        *self.custom.borrow_mut() = Rc::default();
    }

    /// Returns whether a script has registered a provider with this id, replacing a canonical one or not.
    #[must_use]
    pub fn is_custom(&self, id: &str) -> bool {
        self.custom.borrow().iter().any(|provider| provider.id() == id)
    }

    /// Returns all providers in order.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<dyn ReminderProvider>> {
        let custom = self.custom.borrow().clone();
        let own = |id: &str| custom.iter().find(|provider| provider.id() == id);
        let is_canonical = |id: &str| self.canonical.iter().any(|provider| provider.id() == id);
        let first = self.canonical.iter().map(|provider| own(provider.id()).unwrap_or(provider));
        first.chain(custom.iter().filter(|provider| !is_canonical(provider.id()))).cloned().collect()
    }
}
