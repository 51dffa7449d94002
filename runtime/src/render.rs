//! Rendering: input is the pending reminders and a route's capabilities, output provider-neutral slots. A pure
//! function; the routes turn slots into wire JSON. [`crate::message::quote`] marks all other text in a request that looks like a
//! reminder.

use std::sync::Arc;

use base::call::call_error;
use base::codes::Severity;

use crate::capabilities::{Capabilities, Placement, PlacementPolicy, WireFormat};
use crate::lifecycle::SelectedReminder;
use crate::message::{Messages, Role};
use crate::note::Note;
use crate::reminder::slots::{AnchoredReminder, BodyChoice, Rendered, RenderedReminder, RenderedRole, UserBlock};
use crate::reminder::{Frame, Reminder, ReminderCode, ReminderError, RoleHint, policy};

mod anchor;
pub mod fallback;
#[cfg(test)]
mod tests;

pub use anchor::{PromptReminders, render_pending};

/// A reminder to be rendered: its body may be one of several.
#[derive(Debug, Clone, Copy)]
pub struct RenderInput<'a> {
    reminder: &'a Reminder,
    body: &'a str,
    choice: Option<&'a Arc<BodyChoice>>,
    /// Number of messages before it, if it keeps its place in the conversation.
    anchor: Option<usize>,
}

impl<'a> From<&'a Reminder> for RenderInput<'a> {
    fn from(reminder: &'a Reminder) -> RenderInput<'a> {
        RenderInput { reminder, body: &reminder.body, choice: None, anchor: None }
    }
}

impl<'a> From<&'a SelectedReminder> for RenderInput<'a> {
    fn from(selected: &'a SelectedReminder) -> RenderInput<'a> {
        let SelectedReminder { reminder, body, choice } = selected;
        RenderInput { reminder, body, choice: choice.as_ref(), anchor: None }
    }
}

/// The options of a call for rendering.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RenderOptions {
    /// Overrides the route's placement.
    pub placement: Option<PlacementPolicy>,
    /// Whether the vendor's own slot is used where there is one. With `None` it is if reminders go after the
    /// conversation.
    pub native: Option<bool>,
    /// The conversation ends with a message of the assistant, or has none: the vendor's own slot cannot follow.
    pub is_native_barred: bool,
}

/// The decisions for one route that hold for all reminders of a request.
struct SlotRules<'a> {
    capabilities: &'a Capabilities,
    /// The vendor's own slot takes reminders.
    native: bool,
    /// Cache marks of reminders have a use.
    marks: bool,
}

impl RenderOptions {
    /// Returns whether reminders that stay the same keep their places in the conversation.
    #[must_use]
    pub fn keeps_places(self, capabilities: &Capabilities) -> bool {
        placement(capabilities, self).1
    }
}

/// Returns whether a message of the vendor's own slot must not follow the conversation, which ends with an answer or has
/// no message.
#[must_use]
pub fn bars_native(messages: &Messages) -> bool {
    !messages.last().is_some_and(|last| matches!(last.role, Role::User | Role::Tool))
}

/// Returns the placement of a request, and whether it follows the route.
fn placement(capabilities: &Capabilities, options: RenderOptions) -> (Placement, bool) {
    match options.placement.or(capabilities.placement).unwrap_or(PlacementPolicy::Head) {
        PlacementPolicy::Auto if capabilities.has_native_slot() || capabilities.caches_prompts() => {
            (Placement::Tail, true)
        }
        PlacementPolicy::Head | PlacementPolicy::Auto => (Placement::Head, false),
        PlacementPolicy::Tail => (Placement::Tail, false),
    }
}

/// Sorts pending reminders, oldest first, into the slots of a route.
#[must_use]
pub fn render<'a>(
    pending: impl IntoIterator<Item: Into<RenderInput<'a>>>,
    capabilities: &Capabilities,
    options: RenderOptions,
) -> Rendered {
    render_each(&mut pending.into_iter().map(Into::into), capabilities, options)
}

fn render_each(
    pending: &mut dyn Iterator<Item = RenderInput<'_>>,
    capabilities: &Capabilities,
    options: RenderOptions,
) -> Rendered {
    let (placement, follows_route) = placement(capabilities, options);
    let is_cached = capabilities.caches_prompts();
    let mut out = Rendered { placement, is_cached, ..Rendered::default() };
    let wants_native = options.native.unwrap_or(placement == Placement::Tail);
    let rules = SlotRules {
        capabilities,
        native: wants_native && !options.is_native_barred && capabilities.has_native_slot(),
        // A cached block that the next request does not repeat costs more than one that is not cached.
        marks: capabilities.prompt_caching && !follows_route,
    };
    for reminder in pending {
        place(reminder, &rules, &mut out);
    }
    out.anchored.sort_by_key(|anchored| anchored.after);
    // Vendors allow few cache marks, and the last one covers all content before it.
    let last_marked = out.user_blocks.iter().rposition(|block| block.cache_control);
    for (index, block) in out.user_blocks.iter_mut().enumerate() {
        block.cache_control = Some(index) == last_marked;
    }
    out
}

fn place(input: RenderInput<'_>, rules: &SlotRules<'_>, out: &mut Rendered) {
    let RenderInput { reminder, body, choice, anchor } = input;
    let capabilities = rules.capabilities;
    let hint = reminder.role_hint;
    let wants_block = matches!(hint, RoleHint::UserBlock | RoleHint::EphemeralCache);
    if hint == RoleHint::UserBlock && capabilities.wire != WireFormat::Anthropic {
        out.demoted.push(reminder.id.clone());
    }
    let marked;
    let body = match policy::untrusted_source(reminder.producer.as_deref()) {
        Some(source) => {
            marked = format!("[untrusted origin: {source}]\n{body}");
            marked.as_str()
        }
        None => body,
    };
    let section = if capabilities.prefers_xml_scaffolding { Frame::Tag } else { Frame::Header };
    let (role, frame) = if capabilities.prefers_role_developer {
        (RenderedRole::Developer, Frame::Header)
    } else if rules.native && hint != RoleHint::UserBlock {
        (RenderedRole::Native, section)
    } else if capabilities.wire == WireFormat::Anthropic && wants_block {
        let is_mark = hint == RoleHint::EphemeralCache;
        (if is_mark { RenderedRole::EphemeralCache } else { RenderedRole::UserBlock }, Frame::Tag)
    } else if !capabilities.system_text {
        out.dropped.push(reminder.id.clone());
        return;
    } else {
        let role = if out.placement == Placement::Head { RenderedRole::System } else { RenderedRole::UserBlock };
        (role, section)
    };
    let is_own = std::ptr::eq(body, reminder.body.as_ref());
    let text = if is_own { reminder.framed.get(frame, body) } else { frame.around(body) };
    let (id, shown) = (&reminder.id, text.clone());
    match (role, anchor) {
        (RenderedRole::System, _) => push(&mut out.system_sections, text),
        (slot, Some(after)) => push(&mut out.anchored, AnchoredReminder { id: id.clone(), after, slot, text }),
        (RenderedRole::Developer, None) => push(&mut out.developer_messages, text),
        (RenderedRole::Native, None) => push(&mut out.native, text),
        (RenderedRole::UserBlock | RenderedRole::EphemeralCache, None) => {
            let cache_control = role == RenderedRole::EphemeralCache && rules.marks;
            push(&mut out.user_blocks, UserBlock { text, cache_control });
        }
    }
    let (id, source) = (id.clone(), reminder.source);
    push(&mut out.fired, RenderedReminder { id, rendered_role: role, source, text: shown, choice: choice.cloned() });
}

/// Appends an item. Most prompts carry one or two reminders, and a request may be stored, so the first reserves only
/// the room it needs.
fn push<T>(list: &mut Vec<T>, item: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(item);
}

/// Returns the warning that a route shows a reminder in another slot than requested, or in none.
#[must_use]
pub fn demotion(reminder: &Reminder, is_dropped: bool, route: Option<&str>) -> Note {
    let route = route.map_or_else(|| "this route".to_owned(), |name| format!("the route `{name}`"));
    let from = reminder.producer.as_deref().unwrap_or(reminder.source.as_str());
    let (outcome, help) = match is_dropped {
        false => (
            "it is shown in another slot",
            "write `role_hint: \"system\"` or `\"developer\"`, which every route supports",
        ),
        true => (
            "the route has no slot for reminders, so it is dropped",
            "use a route with system text, or with messages of the role `developer`",
        ),
    };
    let message = format!("a reminder from `{from}` requests `user_block`, which {route} does not support; {outcome}");
    let error = ReminderError::new(ReminderCode::UserBlock, "role_hint", message).help(help);
    Note { severity: Severity::Warning, about: None, ..Note::of_fault(from, call_error(error)) }
}
