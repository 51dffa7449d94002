//! Tools as loops offer them.

use super::room::roomy_tools;
use super::tool::silent_tools;
use crate::world::World;
use runtime::seam::Tool;
use std::rc::Rc;

/// Returns tools as loops of the run offer them: in a preview they do not run, and in a served session they wait until there
/// is room for what they show.
pub(crate) fn offered(world: &World, tools: Vec<Rc<dyn Tool>>) -> Vec<Rc<dyn Tool>> {
    let tools = match world.services.routes.as_preview() {
        Some(preview) => silent_tools(tools, |name| preview.runs(name)),
        None => tools,
    };
    match &world.hosting {
        Some(hosting) => roomy_tools(tools, hosting),
        None => tools,
    }
}
