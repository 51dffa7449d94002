//! Putting the rendered reminders among the messages: one place for every wire.

use std::sync::Arc;

use imbl::Vector;

use crate::capabilities::Placement;
use crate::message::{Block, Content, Message, Role};

use super::Request;

impl Request {
    /// The whole system text, reminders in their place; nothing where there is none.
    #[must_use]
    pub fn system_text(&self) -> Option<String> {
        self.system.text(&self.reminders.system_sections)
    }

    /// The messages to send: the history with developer messages and user blocks of reminders in their places. Where there
    /// are none this is the shared history itself.
    ///
    /// A wire that puts tool results into user messages (Anthropic) merges neighbours of one role, which leaves a trailing
    /// block behind every tool result.
    #[must_use]
    pub fn conversation(&self) -> Vector<Arc<Message>> {
        let mut messages = self.messages.clone();
        let rendered = &self.reminders;
        let blocks: Vec<Block> = rendered.user_blocks.iter().map(super::super::render::UserBlock::to_block).collect();
        let developer = rendered.developer_messages.iter();
        let developer = developer.map(|text| Arc::new(Message::new(Role::Developer, text.clone())));
        match rendered.placement {
            Placement::Head => {
                if !blocks.is_empty() {
                    put_before_first_user(&mut messages, blocks);
                }
                for message in developer.rev() {
                    messages.push_front(message);
                }
            }
            Placement::Tail => {
                if !blocks.is_empty() {
                    put_behind_last(&mut messages, blocks);
                }
                messages.extend(developer);
            }
        }
        messages
    }
}

fn put_before_first_user(messages: &mut Vector<Arc<Message>>, mut blocks: Vec<Block>) {
    match messages.iter().position(|message| message.role == Role::User) {
        Some(index) => {
            let mut message = messages[index].as_ref().clone();
            blocks.extend(message.content.to_blocks());
            message.content = Content::Blocks(Arc::new(blocks));
            messages.set(index, Arc::new(message));
        }
        None => messages.push_front(Arc::new(Message::new(Role::User, Content::Blocks(Arc::new(blocks))))),
    }
}

fn put_behind_last(messages: &mut Vector<Arc<Message>>, blocks: Vec<Block>) {
    match messages.last().filter(|message| message.role == Role::User) {
        Some(last) => {
            let mut message = last.as_ref().clone();
            let mut all = message.content.to_blocks();
            all.extend(blocks);
            message.content = Content::Blocks(Arc::new(all));
            let index = messages.len() - 1;
            messages.set(index, Arc::new(message));
        }
        None => messages.push_back(Arc::new(Message::new(Role::User, Content::Blocks(Arc::new(blocks))))),
    }
}
