//! Bodies that are read as they come: whole, in pieces, or line by line.

use super::request::failed;
use crate::clock::RunClock;
use crate::lines::LineBuffer;
use crate::values::{ItemSource, NextItem};
use lang::value::Value;
use lang::vm::Raise;
use providers::web::{Failure, Opened, Question};
use std::rc::Rc;

/// The largest body that is kept whole, in bytes.
const MOST_BODY: usize = 32 << 20;

/// A body that is still to be read. Dropping it ends the connection.
pub(crate) enum BodySource {
    /// The body of a server.
    Network(Opened),
    /// The body of the mock, until it was read.
    Mock(Option<Vec<u8>>),
}

impl BodySource {
    /// Returns all of it.
    pub(crate) async fn whole(self) -> Result<Vec<u8>, Failure> {
        match self {
            Self::Network(opened) => opened.body(MOST_BODY).await,
            Self::Mock(body) => Ok(body.unwrap_or_default()),
        }
    }
}

/// A body that a stream reads.
struct Incoming {
    body: BodySource,
    question: Question,
    clock: Rc<RunClock>,
}

impl Incoming {
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Box<Raise>> {
        let _outside = self.clock.outside();
        match &mut self.body {
            BodySource::Mock(body) => Ok(body.take().filter(|body| !body.is_empty())),
            BodySource::Network(opened) => {
                let chunk = opened.chunk().await.map_err(|failure| failed(&self.question, &failure))?;
                Ok(chunk.map(|chunk| chunk.to_vec()))
            }
        }
    }
}

/// The pieces of a body, as bytes.
pub(crate) struct BodyPieces {
    body: Incoming,
}

impl BodyPieces {
    pub(crate) fn new(body: BodySource, question: Question, clock: Rc<RunClock>) -> Self {
        Self { body: Incoming { body, question, clock } }
    }
}

impl ItemSource for BodyPieces {
    async fn next(&mut self) -> NextItem {
        let chunk = self.body.chunk().await?;
        Ok(chunk.map(|chunk| Value::Bytes(Rc::new(chunk))))
    }
}

/// The lines of a body.
pub(crate) struct BodyLines {
    body: Incoming,
    lines: LineBuffer,
    /// The body, for errors.
    name: String,
}

impl BodyLines {
    pub(crate) fn new(body: BodySource, question: Question, clock: Rc<RunClock>) -> Self {
        let name = "the response".to_owned();
        Self { body: Incoming { body, question, clock }, lines: LineBuffer::default(), name }
    }
}

impl ItemSource for BodyLines {
    fn ready(&mut self) -> Option<NextItem> {
        match self.lines.next(&self.name) {
            Ok(None) => self.lines.is_over().then_some(Ok(None)),
            found => Some(found.map(|line| line.map(Value::from))),
        }
    }

    async fn next(&mut self) -> NextItem {
        loop {
            if let Some(next) = self.ready() {
                return next;
            }
            match self.body.chunk().await? {
                Some(chunk) => self.lines.push(&chunk),
                None => self.lines.end(),
            }
        }
    }
}
