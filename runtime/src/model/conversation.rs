//! Putting the rendered reminders among the messages: one place for every wire.

use std::sync::Arc;

use crate::capabilities::Placement;
use crate::message::{Block, Content, Message, Messages, Role};

use super::Request;

impl Request {
    /// The whole system text, reminders in their place; nothing where there is none.
    #[must_use]
    pub fn system_text(&self) -> Option<String> {
        self.system.text(&self.reminders.system_sections)
    }

    /// Returns the messages to send: the history with developer messages and user blocks of reminders in their places.
    /// Text of the history that looks like a reminder is quoted ([`crate::render::quote`]). Without either, returns the
    /// shared history.
    ///
    /// A wire format that puts tool results into user messages (Anthropic) merges neighbours of one role, so a trailing
    /// block follows every tool result.
    #[must_use]
    pub fn conversation(&self) -> Messages {
        let rendered = &self.reminders;
        let history = self.messages.quoted();
        let blocks: Vec<Block> = rendered.user_blocks.iter().map(super::super::render::UserBlock::to_block).collect();
        let developer = rendered.developer_messages.iter();
        let developer = developer.map(|text| Arc::new(Message::new(Role::Developer, text.clone())));
        match rendered.placement {
            _ if rendered.user_blocks.is_empty() && rendered.developer_messages.is_empty() => history,
            Placement::Head => {
                let mut messages = Messages::new();
                developer.chain(before_first_user(&history, blocks)).for_each(|message| messages.append(message));
                messages
            }
            Placement::Tail => {
                let mut messages = behind_last(&history, blocks);
                developer.for_each(|message| messages.append(message));
                messages
            }
        }
    }
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

fn behind_last(messages: &Messages, blocks: Vec<Block>) -> Messages {
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
