//! Reminders that keep their place within the conversation. A reminder that every prompt repeats unchanged is shown
//! after the message at which it first appeared, so the requests that follow begin with the same bytes and a prompt cache
//! serves it. The other ones come after the last message, behind everything that is cached.

use crate::capabilities::Capabilities;
use crate::lifecycle::SelectedReminder;
use crate::message::{Messages, Role};
use crate::reminder::slots::Rendered;
use crate::reminder::{Reminder, ReminderRules};
use crate::transcript::Transcript;

use super::{RenderInput, RenderOptions, render};

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
