//! Reminders that keep their place within the conversation. A reminder that every prompt repeats unchanged is shown
//! after the message at which it first appeared, so the requests that follow begin with the same bytes and a prompt cache
//! serves it. The other ones come after the last message, behind everything that is cached.

use std::sync::Arc;

use crate::capabilities::Capabilities;
use crate::message::{Message, Messages, Role};
use crate::model::{after_last, native_message};
use crate::reminder::lifecycle::SelectedReminder;
use crate::reminder::{Reminder, ReminderRules};
use crate::transcript::Transcript;

use super::{RenderInput, RenderOptions, Rendered, RenderedRole, UserBlock, render};

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

/// The reminders of a prompt, with the places of those that keep one.
#[derive(Debug)]
pub struct PromptReminders<'a> {
    transcript: &'a Transcript,
    selected: Option<&'a [SelectedReminder]>,
    keeps_places: bool,
}

impl<'a> PromptReminders<'a> {
    /// Returns the reminders of a prompt: the selected ones, or all pending ones. They keep places if `keeps_places`;
    /// otherwise all of them move with the end of the conversation.
    #[must_use]
    pub fn new(
        transcript: &'a Transcript,
        selected: Option<&'a [SelectedReminder]>,
        keeps_places: bool,
    ) -> PromptReminders<'a> {
        PromptReminders { transcript, selected, keeps_places }
    }

    /// Returns what to render, oldest first.
    #[must_use]
    pub fn inputs(&self) -> Vec<RenderInput<'a>> {
        let mut inputs: Vec<RenderInput<'a>> = match self.selected {
            Some(selected) => selected.iter().map(RenderInput::from).collect(),
            None => self.transcript.pending().map(|pending| RenderInput::from(pending.reminder.as_ref())).collect(),
        };
        if !self.keeps_places || !inputs.iter().any(|input| is_steady(input.reminder)) {
            return inputs;
        }
        let messages = self.transcript.messages();
        // Both lists are in the order of the events.
        let mut events = self.transcript.events().filter_map(|event| Some((event.pending()?, event.at_message)));
        for input in &mut inputs {
            let at = events.by_ref().find(|(pending, _)| pending.reminder.id == input.reminder.id);
            if is_steady(input.reminder) {
                input.anchor = at.and_then(|(_, at_message)| place_from(messages, at_message));
            }
        }
        inputs
    }
}

/// Sorts the reminders of a prompt into the slots of a route: the selected ones, or all pending ones. On routes that keep
/// places they keep theirs if `keeps_places`.
#[must_use]
pub fn render_pending(
    transcript: &Transcript,
    selected: Option<&[SelectedReminder]>,
    keeps_places: bool,
    capabilities: &Capabilities,
    options: RenderOptions,
) -> Rendered {
    if options.keeps_places(capabilities) {
        return render(PromptReminders::new(transcript, selected, keeps_places).inputs(), capabilities, options);
    }
    match selected {
        Some(selected) => render(selected, capabilities, options),
        None => render(transcript.pending().map(|pending| pending.reminder.as_ref()), capabilities, options),
    }
}

/// Returns whether every further prompt repeats the reminder unchanged until something ends it.
fn is_steady(reminder: &Reminder) -> bool {
    reminder.ttl_turns.is_none() && reminder.rules.as_deref().is_none_or(ReminderRules::is_steady)
}

/// Returns the first place from `at` on at which a reminder may appear: after messages of the user or results of tools,
/// before an answer or at the end. So it never separates calls from their results.
fn place_from(messages: &Messages, at: usize) -> Option<usize> {
    let is_place = |place: &usize| {
        let before = place.checked_sub(1).map(|index| messages[index].role);
        matches!(before, Some(Role::User | Role::Tool))
            && (*place == messages.len() || messages[*place].role == Role::Assistant)
    };
    (at.max(1)..=messages.len()).find(is_place)
}

/// Inserts the anchored reminders into a history. Returns the indexes of the messages in the vendor's own slot.
pub(crate) fn with_anchored(history: &Messages, anchored: &[AnchoredReminder]) -> (Messages, Vec<usize>) {
    let mut messages = Messages::new();
    let mut native = Vec::new();
    let mut rest = anchored.iter().peekable();
    for (index, message) in history.iter().enumerate() {
        messages.append(message.clone());
        let mut blocks = Vec::new();
        let mut own: Vec<Arc<str>> = Vec::new();
        while let Some(next) = rest.next_if(|next| next.after <= index + 1) {
            match next.slot {
                RenderedRole::Native => own.push(next.text.clone()),
                RenderedRole::Developer => {
                    messages.append(Arc::new(Message::new(Role::Developer, next.text.clone())));
                }
                RenderedRole::UserBlock | RenderedRole::EphemeralCache | RenderedRole::System => {
                    blocks.push(UserBlock { text: next.text.clone(), cache_control: false }.to_block());
                }
            }
        }
        if !blocks.is_empty() {
            messages = after_last(&messages, blocks);
        }
        if !own.is_empty() {
            native.push(messages.len());
            messages.append(Arc::new(native_message(&own)));
        }
    }
    (messages, native)
}
