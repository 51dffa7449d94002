//! [`Shown`]: what a session shows, as [`Event`]s for its peer.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use runtime::agent_loop::{Seen, Sight};
use runtime::data::Data;
use runtime::ids::{IdStream, Ids, SharedIds};
use runtime::model::Delta;
use stdlib::Live;

use super::{Event, Peer};

/// What a session shows.
pub(super) struct Shown {
    id: Arc<str>,
    peer: Arc<dyn Peer>,
    ids: SharedIds,
    /// The message that the model writes now.
    message: RefCell<Option<Arc<str>>>,
}

impl Shown {
    pub(super) fn new(id: Arc<str>, peer: Arc<dyn Peer>) -> Shown {
        let ids = SharedIds::new(IdStream::new(0, &id));
        Shown { id, peer, ids, message: RefCell::default() }
    }

    /// Shows something.
    pub(super) fn show(&self, event: Event) {
        self.peer.show(&self.id, event);
    }

    /// Shows text of the script's own, a message by itself.
    pub(super) fn say(&self, text: Arc<str>) {
        let message_id = self.ids.next_text(0);
        self.show(Event::Text { message_id, text });
    }

    /// What the session's loops are shown to.
    pub(super) fn live(self: Rc<Self>) -> Live {
        Rc::new(move |sight| self.see(&sight))
    }

    fn see(&self, sight: &Sight<'_>) {
        // Loops of sub-agents and workers are not the agent's own.
        if sight.turn.scope.agent_id.is_some() {
            return;
        }
        match sight.seen {
            Seen::Asked => *self.message.borrow_mut() = None,
            Seen::Piece(Delta::Text(text)) => {
                let message_id = self.message_id();
                self.show(Event::Text { message_id, text: text.into() });
            }
            Seen::ToolBegan(call) => {
                self.show(Event::ToolCall { call: call.clone(), annotations: Data::Nil });
                self.show(Event::ToolBegan { id: call.id.clone() });
            }
            _ => {}
        }
    }

    fn message_id(&self) -> Arc<str> {
        self.message.borrow_mut().get_or_insert_with(|| self.ids.next_text(0)).clone()
    }
}
