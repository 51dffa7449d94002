//! [`Rendered`]: the reminders of one request, sorted into the slots of its route.

use std::sync::Arc;

use base::data::Data;
use base::words::words;

use crate::capabilities::Placement;
use crate::message::Block;

use super::ReminderSource;

words! {
    /// The slot that a reminder was rendered into, as the log's `rendered_role` names it.
    pub enum RenderedRole {
        /// A message of role `developer`.
        Developer = "developer",
        /// A content block of a user message.
        UserBlock = "user_block",
        /// A content block of a user message, with a cache mark if the route supports it.
        EphemeralCache = "ephemeral_cache",
        /// System text.
        System = "system",
        /// A message of role `system` in the middle of the conversation.
        Native = "native",
    }
}

/// A block that goes into a user message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserBlock {
    /// The text, tags included.
    pub text: Arc<str>,
    /// Whether it carries `cache_control: {"type": "ephemeral"}`.
    pub cache_control: bool,
}

impl UserBlock {
    /// Converts the value to content of a message.
    #[must_use]
    pub fn to_block(&self) -> Block {
        let cache_control =
            if self.cache_control { Data::dict([("type", Data::from("ephemeral"))]) } else { Data::Nil };
        Block::Text { text: self.text.clone(), cache_control }
    }
}

/// A reminder that was rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedReminder {
    /// The reminder's id.
    pub id: Arc<str>,
    /// The slot it was rendered into.
    pub rendered_role: RenderedRole,
    /// The producer of the reminder.
    pub source: ReminderSource,
    /// The text, with its frame.
    pub text: Arc<str>,
    /// The body, if it was chosen among several.
    pub choice: Option<Arc<BodyChoice>>,
}

impl RenderedReminder {
    /// Returns a rough count of the tokens that it adds to a request.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        estimated_tokens(&self.text)
    }
}

/// The body of a reminder that was chosen among several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyChoice {
    /// The glob of the model, or `default`; `None` without bodies by model.
    pub variant: Option<Arc<str>>,
    /// Number of the body, from 1; `None` without `escalate`.
    pub escalation: Option<u32>,
}

/// Returns a rough count of the tokens of a body, as for a message.
#[must_use]
pub fn estimated_tokens(body: &str) -> u64 {
    body.len().div_ceil(4) as u64 + 4
}

/// A reminder that keeps its place within the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnchoredReminder {
    /// The reminder's id.
    pub id: Arc<str>,
    /// Number of messages of the history before it.
    pub after: usize,
    /// The slot: developer message, user block or the vendor's own.
    pub slot: RenderedRole,
    /// The text.
    pub text: Arc<str>,
}

/// The slots of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Sections of system text, one per reminder.
    pub system_sections: Vec<Arc<str>>,
    /// Contents of developer messages, oldest first.
    pub developer_messages: Vec<Arc<str>>,
    /// Blocks for a user message, oldest first.
    pub user_blocks: Vec<UserBlock>,
    /// Texts of one message of role `system` after the conversation, oldest first.
    pub native: Vec<Arc<str>>,
    /// The reminders that keep their place within the conversation, in the order of their places.
    pub anchored: Vec<AnchoredReminder>,
    /// Position of messages and blocks.
    pub placement: Placement,
    /// The rendered reminders, oldest first.
    pub fired: Vec<RenderedReminder>,
    /// Ids of the reminders for which this route has no slot at all.
    pub dropped: Vec<Arc<str>>,
    /// Ids of the reminders that requested a user block on a route without such blocks (`HARN-RMD-003`); they were
    /// rendered otherwise, or are among the dropped ones.
    pub demoted: Vec<Arc<str>>,
    /// Whether a prompt cache can serve the beginning of the request.
    pub is_cached: bool,
}

impl Default for Rendered {
    fn default() -> Rendered {
        Rendered {
            system_sections: Vec::new(),
            developer_messages: Vec::new(),
            user_blocks: Vec::new(),
            native: Vec::new(),
            anchored: Vec::new(),
            placement: Placement::Head,
            fired: Vec::new(),
            dropped: Vec::new(),
            demoted: Vec::new(),
            is_cached: false,
        }
    }
}

words! {
    /// The slots that remain for reminders on a route that has rejected others.
    pub enum SlotLimit {
        /// All but the vendor's own slot: it becomes blocks of user messages.
        UserBlock = "user_block",
        /// System text before the conversation.
        System = "system",
    }
}

impl Rendered {
    /// Returns the first reminder that requested a user block on a route without such blocks, and whether it is dropped.
    #[must_use]
    pub fn first_demoted(&self) -> Option<(&Arc<str>, bool)> {
        let id = self.demoted.first()?;
        Some((id, self.dropped.contains(id)))
    }
}

impl Rendered {
    /// Returns the slots that are left if the route rejects these; `None` if there are none.
    pub(crate) fn next_limit(&self) -> Option<SlotLimit> {
        let is_native = |role: RenderedRole| role == RenderedRole::Native;
        if self.fired.iter().any(|fired| is_native(fired.rendered_role)) {
            return Some(SlotLimit::UserBlock);
        }
        let has_tail = self.placement == Placement::Tail
            && !(self.user_blocks.is_empty() && self.developer_messages.is_empty() && self.anchored.is_empty());
        has_tail.then_some(SlotLimit::System)
    }

    /// Returns the same reminders in the slots that are left. Their texts do not change.
    #[must_use]
    pub fn limited(mut self, limit: SlotLimit) -> Rendered {
        let block = |text: Arc<str>| UserBlock { text, cache_control: false };
        let native = std::mem::take(&mut self.native);
        self.user_blocks.extend(native.into_iter().map(block));
        for anchored in &mut self.anchored {
            if anchored.slot == RenderedRole::Native {
                anchored.slot = RenderedRole::UserBlock;
            }
        }
        if limit == SlotLimit::System {
            self.placement = Placement::Head;
            self.system_sections = self.fired.iter().map(|fired| fired.text.clone()).collect();
            (self.anchored, self.developer_messages, self.user_blocks) = (Vec::new(), Vec::new(), Vec::new());
        }
        for fired in &mut self.fired {
            fired.rendered_role = match (limit, fired.rendered_role) {
                (SlotLimit::System, _) => RenderedRole::System,
                (SlotLimit::UserBlock, RenderedRole::Native) => RenderedRole::UserBlock,
                (SlotLimit::UserBlock, other) => other,
            };
        }
        self
    }
}
