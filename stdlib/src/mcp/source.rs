//! [`ServerTools`]: the tools of a loop that uses servers. They follow what the servers offer while the loop runs.

use super::error::of_mcp;
use super::servers::McpServer;
use super::tool::offered_tools;
use crate::bind::offered;
use crate::fault::Thrown;
use crate::world::World;
use base::call::{LocalFuture, Outcome};
use lang::vm::{Raise, RunCode};
use runtime::agent_loop::{LoadedTools, ToolSource};
use runtime::note::Note;
use runtime::scope::Scope;
use runtime::seam::Tool;
use runtime::session::Session;
use std::any::Any;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The tools of a loop with those of its servers.
pub(crate) struct ServerTools {
    /// A worker keeps this, and the world keeps the worker.
    world: Weak<World>,
    /// The tools that do not change.
    own: Vec<Rc<dyn Tool>>,
    servers: Vec<Rc<McpServer>>,
    /// The argument that names the servers.
    arg: usize,
    /// The warnings about tools that were reported.
    reported: RefCell<Vec<String>>,
}

impl ServerTools {
    pub(crate) fn new(world: &Rc<World>, own: Vec<Rc<dyn Tool>>, servers: Vec<Rc<McpServer>>, arg: usize) -> Self {
        ServerTools { world: Rc::downgrade(world), own, servers, arg, reported: RefCell::default() }
    }

    fn report(&self, scope: &Scope, notes: Vec<Note>) {
        let mut reported = self.reported.borrow_mut();
        for note in notes {
            if !reported.contains(&note.message) {
                reported.push(note.message.clone());
                scope.note(note);
            }
        }
    }
}

impl ToolSource for ServerTools {
    fn used_by(&self, session: &Rc<Session>) -> Box<dyn Any> {
        Box::new(self.servers.iter().map(|server| server.used_by(session)).collect::<Vec<_>>())
    }

    fn revision(&self) -> u64 {
        self.servers.iter().map(|server| server.client.changes()).sum()
    }

    fn load<'a>(&'a self, scope: &'a Scope) -> LocalFuture<'a, Outcome<LoadedTools>> {
        Box::pin(async move {
            let Some(world) = self.world.upgrade() else {
                return Err(Thrown::fault(Raise::error(RunCode::Outside, "the run is over")));
            };
            let (mut tools, mut revision) = (self.own.clone(), 0);
            for server in &self.servers {
                let (more, notes) = offered_tools(server).await.map_err(|error| {
                    let name = &server.spec.name;
                    Thrown::fault(of_mcp(name, &error).about(self.arg, format!("the server `{name}` failed")))
                })?;
                // What has changed since the list was read is not in it.
                revision += server.client.tools_read();
                self.report(scope, notes);
                tools.extend(offered(&world, more));
            }
            Ok(LoadedTools { tools, revision })
        })
    }
}
