//! [`ToolSource`]: tools that are not known before the loop runs, or that change while it does.

use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

use base::call::{LocalFuture, Outcome};

use crate::message::ToolSpec;
use crate::note::Note;
use crate::scope::Scope;
use crate::seam::Tool;
use crate::session::Session;
use crate::stop::stopped;

use super::RunningLoop;
use super::park::{AwaitResumption, Parking};
use super::toolbox::Toolbox;

/// Tools from elsewhere, such as those of MCP servers.
pub trait ToolSource {
    /// Notes that a session's loop uses the tools, until the result is dropped.
    fn used_by(&self, session: &Rc<Session>) -> Box<dyn Any>;

    /// Returns a number that grows when the tools change.
    fn revision(&self) -> u64;

    /// Returns all tools of the loop, those that never change too.
    fn load<'a>(&'a self, scope: &'a Scope) -> LocalFuture<'a, Outcome<LoadedTools>>;
}

/// The tools of a [`ToolSource`] at one time.
pub struct LoadedTools {
    /// All tools of the loop.
    pub tools: Vec<Rc<dyn Tool>>,
    /// Their revision.
    pub revision: u64,
}

/// A source, and whether its tools are among those of the loop already.
#[derive(Clone)]
pub struct SourcedTools {
    /// The source.
    pub source: Rc<dyn ToolSource>,
    /// The revision of the tools that the loop has; `None` loads them before the first turn.
    pub loaded: Option<u64>,
}

/// The tools on offer, as the loop calls them and as the model sees them.
pub(super) struct ToolOffer {
    pub(super) tools: Toolbox,
    /// Shared by the requests of all turns.
    pub(super) specs: Arc<Vec<ToolSpec>>,
}

impl ToolOffer {
    /// Returns the offer of a loop: its tools, and the one by which the model suspends it if it can go on later.
    pub(super) fn new(tools: &[Rc<dyn Tool>], parking: Option<&Rc<Parking>>) -> ToolOffer {
        let tools = Toolbox::new(match parking {
            Some(parking) => AwaitResumption::beside(tools, parking),
            None => tools.to_vec(),
        });
        let specs = Arc::new(tools.specs());
        ToolOffer { tools, specs }
    }
}

impl RunningLoop<'_> {
    /// Returns the tools of this turn.
    pub(super) fn offer(&self) -> Rc<ToolOffer> {
        self.offer.borrow().clone()
    }

    /// Loads the tools again if they have changed since the last turn.
    pub(super) async fn refresh_tools(&self) -> Outcome<()> {
        let Some(sourced) = &self.parts.source else { return Ok(()) };
        let is_used = self.tool_use.borrow().is_some();
        if is_used && self.revision.get() == Some(sourced.source.revision()) {
            return Ok(());
        }
        // Boxed: most turns load nothing.
        Box::pin(async {
            self.load_tools(sourced).await?;
            // The conversation may need more of them.
            if self.revision.get() == Some(sourced.source.revision()) { Ok(()) } else { self.load_tools(sourced).await }
        })
        .await
    }

    async fn load_tools(&self, sourced: &SourcedTools) -> Outcome<()> {
        let source = &sourced.source;
        if self.revision.get() != Some(source.revision()) {
            let loaded = tokio::select! {
                biased;
                // The next check ends the loop.
                _ = stopped(&self.scope) => return Ok(()),
                loaded = source.load(&self.scope) => loaded,
            };
            match loaded {
                Ok(loaded) => {
                    self.revision.set(Some(loaded.revision));
                    let mut offer = ToolOffer::new(&loaded.tools, self.own_parking());
                    let before = self.offer();
                    if offer.specs == before.specs {
                        offer.specs = before.specs.clone();
                    }
                    *self.offer.borrow_mut() = Rc::new(offer);
                }
                Err(fault) if self.revision.get().is_none() => return Err(fault),
                // The tools of before stay.
                Err(fault) => {
                    self.revision.set(Some(source.revision()));
                    self.note(Note::of_fault("tools", fault));
                }
            }
        }
        let used = source.used_by(self.session);
        *self.tool_use.borrow_mut() = Some(used);
        Ok(())
    }
}
