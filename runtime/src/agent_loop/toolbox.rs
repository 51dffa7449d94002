//! The tools that a loop offers, each with its compiled schema.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use base::data::Data;
use base::words::nearest;

use crate::message::{ToolCall, ToolSpec};
use crate::schema::{Schema, SchemaError, compiled};
use crate::seam::Tool;

use super::validate::fits;

/// Maximum number of tools that are named to a model that called an unknown tool.
const NAMED: usize = 32;

/// Maximum number of characters shown of such a name.
const SHOWN_CHARS: usize = 64;

/// The tools. The later of two with the same name wins.
pub(super) struct Toolbox {
    tools: Vec<OfferedTool>,
    /// The place of the tool that has a name, so that many tools cost a call nothing.
    by_name: HashMap<Arc<str>, usize, foldhash::fast::RandomState>,
}

struct OfferedTool {
    tool: Rc<dyn Tool>,
    /// Compiled at the first call, since most loops call few of their tools.
    schema: OnceCell<Result<Rc<Schema>, SchemaError>>,
}

impl Toolbox {
    pub(super) fn new(tools: Vec<Rc<dyn Tool>>) -> Toolbox {
        let offered = |tool| OfferedTool { tool, schema: OnceCell::new() };
        let tools: Vec<OfferedTool> = tools.into_iter().map(offered).collect();
        let by_name = tools.iter().enumerate().map(|(at, offered)| (offered.tool.spec().name.clone(), at)).collect();
        Toolbox { tools, by_name }
    }

    pub(super) fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|offered| offered.tool.spec().clone()).collect()
    }

    /// Returns the tool for a call whose arguments it accepts, or the reason in words for the model.
    pub(super) fn find(&self, call: &ToolCall) -> Result<Rc<dyn Tool>, String> {
        let Some(offered) = self.offered(&call.name) else { return Err(self.unknown(&call.name)) };
        let parameters = &offered.tool.spec().parameters;
        match offered.schema.get_or_init(|| compiled(parameters)) {
            Ok(schema) => fits(&call.arguments, schema, parameters)?,
            Err(error) => return Err(format!("the tool's own `parameters` are not usable: {error}")),
        }
        Ok(offered.tool.clone())
    }

    /// Returns whether no other tool may run in parallel with this one.
    pub(super) fn is_sequential(&self, name: &str) -> bool {
        self.annotations(name).get("sequential").truthy()
    }

    /// Returns a tool's annotations; nil if the tool is unknown.
    pub(super) fn annotations(&self, name: &str) -> &Data {
        self.offered(name).map_or(&Data::Nil, |offered| &offered.tool.spec().annotations)
    }

    fn offered(&self, name: &str) -> Option<&OfferedTool> {
        self.by_name.get(name).map(|at| &self.tools[*at])
    }

    fn unknown(&self, name: &str) -> String {
        if name.trim().is_empty() {
            return "the call does not name a tool; write {\"name\": \"…\", \"arguments\": {…}}".to_owned();
        }
        let names = self.tools.iter().map(|offered| offered.tool.spec().name.as_ref());
        let hint = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let more = if self.tools.len() > NAMED { ", …" } else { "" };
                format!("the tools are: {}{more}", names.take(NAMED).collect::<Vec<_>>().join(", "))
            }
        };
        let shown: String = name.chars().take(SHOWN_CHARS).collect();
        let cut = if shown.len() < name.len() { "…" } else { "" };
        format!("unknown tool `{shown}{cut}`; {hint}")
    }
}
