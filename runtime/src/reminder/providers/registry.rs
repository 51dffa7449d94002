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
    /// The ids of the canonical providers, in their order. They may be named in lists whether or not this program has them.
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

    /// The most providers that a program should register; each event asks all that subscribe to it.
    pub const MOST: usize = 4096;

    /// Whether there are as many of a script's own as there should be.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.custom.borrow().len() >= ReminderProviders::MOST
    }

    /// A registry with these canonical providers.
    #[must_use]
    pub fn new(canonical: Vec<Rc<dyn ReminderProvider>>) -> ReminderProviders {
        ReminderProviders { canonical, custom: RefCell::default() }
    }

    /// Registers a script's provider. One with an id that is known takes the place of that one.
    pub fn register(&self, provider: Rc<dyn ReminderProvider>) {
        let mut custom = self.custom.borrow_mut();
        let all = Rc::make_mut(&mut *custom);
        match all.iter_mut().find(|known| known.id() == provider.id()) {
            Some(known) => *known = provider,
            None => all.push(provider),
        }
    }

    /// Forgets the scripts' own providers.
    pub fn clear(&self) {
        *self.custom.borrow_mut() = Rc::default();
    }

    /// Whether a script has registered a provider with this id, in a canonical one's place or not.
    #[must_use]
    pub fn is_custom(&self, id: &str) -> bool {
        self.custom.borrow().iter().any(|provider| provider.id() == id)
    }

    /// All providers in order.
    #[must_use]
    pub fn all(&self) -> Vec<Rc<dyn ReminderProvider>> {
        let custom = self.custom.borrow().clone();
        let own = |id: &str| custom.iter().find(|provider| provider.id() == id);
        let is_canonical = |id: &str| self.canonical.iter().any(|provider| provider.id() == id);
        let first = self.canonical.iter().map(|provider| own(provider.id()).unwrap_or(provider));
        first.chain(custom.iter().filter(|provider| !is_canonical(provider.id()))).cloned().collect()
    }
}
