//! Rendering: input is the pending reminders and a route's capabilities, output provider-neutral slots. A pure
//! function; the routes turn slots into wire JSON. [`quote`] marks all other text in a request that looks like a
//! reminder.

use std::borrow::Cow;
use std::sync::Arc;

use crate::capabilities::{Capabilities, Placement, WireFormat};
use crate::data::Data;
use crate::message::Block;
use crate::note::{Note, Severity};
use crate::reminder::lifecycle::{BodyChoice, SelectedReminder};
use crate::reminder::{Reminder, ReminderCode, ReminderError, RoleHint};
use crate::seam::call_error;
use crate::words::words;

pub mod quote;
#[cfg(test)]
mod tests;

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
    /// The body, if it was chosen among several.
    pub choice: Option<Arc<BodyChoice>>,
}

/// A reminder to be rendered: its body may be one of several.
#[derive(Debug, Clone, Copy)]
pub struct RenderInput<'a> {
    reminder: &'a Reminder,
    body: &'a str,
    choice: Option<&'a Arc<BodyChoice>>,
}

impl<'a> From<&'a Reminder> for RenderInput<'a> {
    fn from(reminder: &'a Reminder) -> RenderInput<'a> {
        RenderInput { reminder, body: &reminder.body, choice: None }
    }
}

impl<'a> From<&'a SelectedReminder> for RenderInput<'a> {
    fn from(selected: &'a SelectedReminder) -> RenderInput<'a> {
        RenderInput { reminder: &selected.reminder, body: &selected.body, choice: selected.choice.as_ref() }
    }
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
    /// Position of messages and blocks.
    pub placement: Placement,
    /// The rendered reminders, oldest first.
    pub fired: Vec<RenderedReminder>,
    /// Ids of the reminders for which this route has no slot at all.
    pub dropped: Vec<Arc<str>>,
    /// Ids of the reminders that requested a user block on a route without such blocks (`HARN-RMD-003`); they were
    /// rendered otherwise.
    pub demoted: Vec<Arc<str>>,
}

impl Default for Rendered {
    fn default() -> Rendered {
        Rendered {
            system_sections: Vec::new(),
            developer_messages: Vec::new(),
            user_blocks: Vec::new(),
            placement: Placement::Head,
            fired: Vec::new(),
            dropped: Vec::new(),
            demoted: Vec::new(),
        }
    }
}

/// The options of a call for rendering.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RenderOptions {
    /// Overrides the route's placement.
    pub placement: Option<Placement>,
}

/// Sorts pending reminders, oldest first, into the slots of a route.
#[must_use]
pub fn render<'a>(
    pending: impl IntoIterator<Item: Into<RenderInput<'a>>>,
    capabilities: &Capabilities,
    options: RenderOptions,
) -> Rendered {
    let placement = options.placement.unwrap_or(capabilities.placement);
    let mut out = Rendered { placement, ..Rendered::default() };
    for reminder in pending {
        place(reminder.into(), capabilities, &mut out);
    }
    // Vendors allow few cache marks, and the last one covers all content before it.
    let last = out.fired.iter().filter(|fired| is_block(fired.rendered_role)).map(|fired| fired.rendered_role);
    let last_cached = last.collect::<Vec<_>>().iter().rposition(|role| *role == RenderedRole::EphemeralCache);
    for (index, block) in out.user_blocks.iter_mut().enumerate() {
        block.cache_control = capabilities.prompt_caching && Some(index) == last_cached;
    }
    out
}

fn is_block(role: RenderedRole) -> bool {
    matches!(role, RenderedRole::UserBlock | RenderedRole::EphemeralCache)
}

fn place(input: RenderInput<'_>, capabilities: &Capabilities, out: &mut Rendered) {
    let RenderInput { reminder, body, choice } = input;
    let wants_block = matches!(reminder.role_hint, RoleHint::UserBlock | RoleHint::EphemeralCache);
    if reminder.role_hint == RoleHint::UserBlock && capabilities.wire != WireFormat::Anthropic {
        out.demoted.push(reminder.id.clone());
    }
    let role = if capabilities.prefers_role_developer {
        push(&mut out.developer_messages, plain(body));
        RenderedRole::Developer
    } else if capabilities.wire == WireFormat::Anthropic && wants_block {
        push_block(out, xml(body));
        if reminder.role_hint == RoleHint::UserBlock { RenderedRole::UserBlock } else { RenderedRole::EphemeralCache }
    } else if !capabilities.system_text {
        out.dropped.push(reminder.id.clone());
        return;
    } else {
        let section = if capabilities.prefers_xml_scaffolding { xml(body) } else { plain(body) };
        match out.placement {
            Placement::Head => {
                push(&mut out.system_sections, section);
                RenderedRole::System
            }
            Placement::Tail => {
                push_block(out, section);
                RenderedRole::UserBlock
            }
        }
    };
    push(&mut out.fired, RenderedReminder { id: reminder.id.clone(), rendered_role: role, choice: choice.cloned() });
}

/// Appends an item. Most prompts carry one or two reminders, and a request may be stored, so the first reserves only
/// the room it needs.
fn push<T>(list: &mut Vec<T>, item: T) {
    if list.is_empty() {
        list.reserve_exact(1);
    }
    list.push(item);
}

fn push_block(out: &mut Rendered, text: Arc<str>) {
    push(&mut out.user_blocks, UserBlock { text, cache_control: false });
}

/// Returns the body with markers quoted, so that it does not read as a second reminder.
fn plain(body: &str) -> Arc<str> {
    let body: &str = &quote::quoted(body);
    let mut text = String::with_capacity(body.len() + 20);
    text.push_str("System reminder:\n");
    if may_hide(body) {
        text.extend(body.chars().map(visible));
    } else {
        text.push_str(body);
    }
    text.into()
}

fn xml(body: &str) -> Arc<str> {
    let body = escaped(body);
    // All tags are removed, but the plain header may remain.
    let body: &str = &quote::quoted(&body);
    let mut text = String::with_capacity(body.len() + 40);
    text.push_str("<system-reminder>\n");
    text.push_str(body);
    text.push_str("\n</system-reminder>");
    text.into()
}

/// Returns the body with `&`, `<` and `>` escaped, so that it cannot close its tag.
fn escaped(body: &str) -> Cow<'_, str> {
    if !may_hide(body) && !body.bytes().any(|byte| matches!(byte, b'&' | b'<' | b'>')) {
        return Cow::Borrowed(body);
    }
    let mut text = String::with_capacity(body.len() + 40);
    for c in body.chars().map(visible) {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            other => text.push(other),
        }
    }
    Cow::Owned(text)
}

/// Returns whether the body may need changes: most bodies are plain, which is detected in one pass.
fn may_hide(body: &str) -> bool {
    body.bytes().fold(false, |found, byte| found | !(byte == b'\n' || (0x20..0x7f).contains(&byte)))
}

/// Returns whether a character is removed. NUL and similar ones mean nothing to a model, and some routes refuse
/// requests with them.
fn is_hidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t')
}

fn visible(c: char) -> char {
    if is_hidden(c) { char::REPLACEMENT_CHARACTER } else { c }
}

/// Returns the warning that a route shows a reminder in another slot than requested.
#[must_use]
pub fn demotion(reminder: &Reminder, route: Option<&str>) -> Note {
    let route = route.map_or_else(|| "this route".to_owned(), |name| format!("the route `{name}`"));
    let from = reminder.producer.as_deref().unwrap_or(reminder.source.as_str());
    let message = format!(
        "a reminder from `{from}` requests `user_block`, which {route} does not support; it is shown in another slot"
    );
    let error = ReminderError::new(ReminderCode::UserBlock, "role_hint", message)
        .help("write `role_hint: \"system\"` or `\"developer\"`, which every route supports");
    Note { severity: Severity::Warning, about: None, ..Note::of_fault(from, call_error(error)) }
}
