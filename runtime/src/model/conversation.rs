//! Inserting the rendered reminders among the messages, once for all wire formats.

use std::sync::Arc;

use base::data::Data;

use crate::capabilities::Placement;
use crate::message::{Block, Content, Message, Messages, Role};
use crate::reminder::slots::{AnchoredReminder, RenderedRole, UserBlock};

use super::Request;

impl Request {
    /// Returns the whole system text, reminders included; `None` if it is empty. Its parts after the reminders follow
    /// developer messages as another one.
    #[must_use]
    pub fn system_text(&self) -> Option<String> {
        let sections = &self.reminders.system_sections;
        match self.text_after_developer_messages() {
            Some(_) => self.system.without_after().text(sections),
            None => self.system.text(sections),
        }
    }

    /// Returns the parts of the system text that come after developer messages; `None` if there are no such parts, or no
    /// such messages before the conversation.
    pub(crate) fn text_after_developer_messages(&self) -> Option<Arc<str>> {
        let rendered = &self.reminders;
        let is_between = rendered.placement == Placement::Head && !rendered.developer_messages.is_empty();
        is_between.then(|| self.system.text_after()).flatten()
    }

    /// Returns the messages to send: the history with developer messages and user blocks of reminders in their places.
    /// Text of the history that looks like a reminder is quoted ([`crate::message::quote`]). Without either, returns the
    /// shared history.
    ///
    /// A wire format that puts tool results into user messages (Anthropic) merges neighbours of one role, so a trailing
    /// block follows every tool result.
    #[must_use]
    pub fn conversation(&self) -> Messages {
        self.conversation_with_native().0
    }

    /// Returns the messages to send, and the indexes of those for the vendor's own slot, in ascending order. Only these
    /// may become messages of role `system` in the middle of a conversation.
    #[must_use]
    pub fn conversation_with_native(&self) -> (Messages, Vec<usize>) {
        let rendered = &self.reminders;
        let (history, mut native, texts) = self.parted_history();
        if rendered.user_blocks.is_empty() && rendered.developer_messages.is_empty() && rendered.native.is_empty() {
            return (history, native);
        }
        let blocks: Vec<Block> = rendered.user_blocks.iter().map(UserBlock::to_block).collect();
        let after = self.text_after_developer_messages();
        let developer = rendered.developer_messages.iter().chain(&after);
        let developer = developer.map(|text| Arc::new(Message::new(Role::Developer, text.clone())));
        let mut messages = match rendered.placement {
            Placement::Head => {
                let mut messages = Messages::new();
                developer.chain(before_first_user(&history, blocks)).for_each(|message| messages.append(message));
                messages
            }
            Placement::Tail => {
                let mut messages = after_last(&history, blocks);
                developer.for_each(|message| messages.append(message));
                messages
            }
        };
        if !texts.is_empty() {
            native.push(messages.len());
            messages.append(Arc::new(native_message(&texts)));
        }
        (messages, native)
    }

    /// Returns the request that continues an answer which the vendor has paused: the same one with the answer at its end,
    /// and every reminder where it was. The reminders do not count as shown again.
    #[must_use]
    pub fn continued(&self, answer: Message) -> Request {
        let mut rendered = self.reminders.as_ref().clone();
        let after = self.messages.len();
        let mut messages = self.messages.clone();
        messages.append(Arc::new(answer));
        if rendered.placement == Placement::Tail {
            let blocks = std::mem::take(&mut rendered.user_blocks).into_iter().map(|block| block.text);
            let blocks = blocks.map(|text| (RenderedRole::UserBlock, text));
            let developer = std::mem::take(&mut rendered.developer_messages).into_iter();
            let developer = developer.map(|text| (RenderedRole::Developer, text));
            let native = std::mem::take(&mut rendered.native).into_iter().map(|text| (RenderedRole::Native, text));
            for (slot, text) in blocks.chain(developer).chain(native) {
                rendered.anchored.push(AnchoredReminder { id: Arc::default(), after, slot, text });
            }
        }
        rendered.fired.clear();
        Request { messages, reminders: Arc::new(rendered), ..self.clone() }
    }

    /// Returns the history as sent, like [`Self::placed_history`], and the texts of the message in the vendor's own slot
    /// that comes after everything else. Two such messages in a row are invalid, so if other reminders follow the
    /// history, its last one becomes a part of that message.
    pub(crate) fn parted_history(&self) -> (Messages, Vec<usize>, Vec<Arc<str>>) {
        let rendered = &self.reminders;
        let (history, mut native) = self.placed_history();
        let is_last =
            rendered.user_blocks.is_empty() && rendered.developer_messages.is_empty() && rendered.native.is_empty();
        if is_last || native.pop_if(|last| *last + 1 == history.len()).is_none() {
            return (history, native, rendered.native.clone());
        }
        let before = history.last().map(|message| message.content.to_blocks()).unwrap_or_default();
        let texts = before.into_iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(text),
            Block::Other(_) => None,
        });
        let texts = texts.chain(rendered.native.iter().cloned()).collect();
        (history.take(history.len() - 1), native, texts)
    }

    /// Returns the history as sent, with the reminders that keep their places, and the indexes of the messages in the
    /// vendor's own slot. Without such reminders, the history is shared.
    pub(crate) fn placed_history(&self) -> (Messages, Vec<usize>) {
        let history = self.messages.quoted();
        if self.reminders.anchored.is_empty() {
            return (history, Vec::new());
        }
        with_anchored(&history, &self.reminders.anchored)
    }
}

/// Returns the message for the vendor's own slot, a block for each text.
pub(crate) fn native_message(texts: &[Arc<str>]) -> Message {
    let block = |text: &Arc<str>| Block::Text { text: text.clone(), cache_control: Data::Nil };
    Message::new(Role::System, Content::Blocks(Arc::new(texts.iter().map(block).collect())))
}

fn before_first_user(messages: &Messages, mut blocks: Vec<Block>) -> Vec<Arc<Message>> {
    let mut all: Vec<Arc<Message>> = messages.iter().cloned().collect();
    if blocks.is_empty() {
        return all;
    }
    match all.iter_mut().find(|message| message.role == Role::User) {
        Some(first) => {
            blocks.extend(first.content.to_blocks());
            Arc::make_mut(first).content = Content::Blocks(Arc::new(blocks));
        }
        None => all.insert(0, Arc::new(Message::new(Role::User, Content::Blocks(Arc::new(blocks))))),
    }
    all
}

/// Returns the messages with blocks after the last one.
pub(crate) fn after_last(messages: &Messages, blocks: Vec<Block>) -> Messages {
    if blocks.is_empty() {
        return messages.clone();
    }
    match messages.last().filter(|message| message.role == Role::User) {
        Some(last) => {
            let mut all = last.content.to_blocks();
            all.extend(blocks);
            let content = Content::Blocks(Arc::new(all));
            let mut changed = messages.take(messages.len() - 1);
            changed.append(Arc::new(Message { content, ..last.as_ref().clone() }));
            changed
        }
        None => {
            let mut changed = messages.clone();
            changed.append(Arc::new(Message::new(Role::User, Content::Blocks(Arc::new(blocks)))));
            changed
        }
    }
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
