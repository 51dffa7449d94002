//! Permissions: the option `permissions` of a loop.
//!
//! A function is asked before every tool. `{ask?: [glob], deny?: [glob], decide?: fn}` asks for
//! some: a tool that matches `deny` is refused, one that matches `ask` (without a list: every tool)
//! is asked for, all others run. The function receives `{tool, args, tool_call_id, reason}` and
//! returns a bool or `{allow, reason?}`. If the script does not decide (no `decide`, nil or
//! `"ask"`), the run's approver does; without one the call is denied.

use crate::bind::{ScriptFn, data_of};
use crate::convert::to_value;
use crate::options::{Handler, PermissionOptions};
use base::call::{Answer, CallError, Outcome, call_error};
use base::data::Data;
use lang::vm::{Raise, RunCode};
use runtime::hooks::Pattern;
use runtime::message::ToolCall;
use runtime::seam::{PermissionOutcome, PermissionRuling, Permissions, Turn};
use runtime::timeout::TimedOut;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

/// The permissions of tools that a script declares.
pub(crate) struct ScriptPermissions {
    ask: Vec<Pattern>,
    deny: Vec<Pattern>,
    decide: Option<ScriptFn>,
}

impl ScriptPermissions {
    /// Makes the permissions that an option describes.
    pub(crate) fn read(option: &Handler<PermissionOptions>) -> Result<Self, Box<Raise>> {
        let options = match option {
            Handler::Function(decide) => {
                return Ok(Self { ask: vec![Pattern::all()], deny: Vec::new(), decide: Some(decide.clone()) });
            }
            Handler::Options(options) => options,
        };
        let deny = globs(&options.deny)?;
        let ask = match &options.ask {
            Some(ask) => globs(ask)?,
            // Who only refuses some tools asks for no other.
            None if options.decide.is_none() && !deny.is_empty() => Vec::new(),
            None => vec![Pattern::all()],
        };
        Ok(Self { ask, deny, decide: options.decide.clone() })
    }
}

fn globs(globs: &[Arc<str>]) -> Result<Vec<Pattern>, Box<Raise>> {
    globs.iter().map(|glob| Pattern::parse(glob).map_err(|e| Raise::error(RunCode::Value, e.to_string()))).collect()
}

impl Permissions for ScriptPermissions {
    fn wanted(&self, call: &ToolCall) -> Option<Arc<str>> {
        let fits = |patterns: &[Pattern]| patterns.iter().find(|pattern| pattern.matches_name(&call.name)).cloned();
        if let Some(pattern) = fits(&self.deny) {
            return Some(format!("`{}` is denied by the pattern `{pattern}`", call.name).into());
        }
        fits(&self.ask).map(|_| format!("`{}` needs permission", call.name).into())
    }

    fn late(&self, ms: u64) -> Rc<dyn CallError> {
        match &self.decide {
            Some(decide) => decide.late("the permission handler", ms),
            None => call_error(TimedOut { ms }),
        }
    }

    fn ask<'a>(
        &'a self,
        turn: Turn<'a>,
        call: &'a ToolCall,
        reason: &'a Arc<str>,
    ) -> Answer<'a, Outcome<PermissionRuling>> {
        if self.deny.iter().any(|pattern| pattern.matches_name(&call.name)) {
            return Answer::Now(Ok(PermissionRuling::Final(PermissionOutcome::deny(reason.clone()))));
        }
        let Some(decide) = &self.decide else {
            return Answer::Now(Ok(PermissionRuling::Open(None)));
        };
        let asked = to_value(&Data::dict([
            ("tool", Data::from(&call.name)),
            ("args", call.arguments.clone()),
            ("tool_call_id", (&call.id).into()),
            ("reason", reason.into()),
        ]));
        decide.call(turn, vec![asked], |value| Ok(read_answer(&data_of(&value)?)))
    }
}

/// Reads an answer; only an explicit approval allows.
fn read_answer(answer: &Data) -> PermissionRuling {
    let reason = answer.get("reason").as_shared_str().filter(|reason| !reason.trim().is_empty());
    let verdict = if answer.as_dict().is_some() { answer.get("allow") } else { answer };
    match verdict {
        Data::Bool(allow) => PermissionRuling::Final(PermissionOutcome { allow: *allow, reason }),
        Data::Nil => PermissionRuling::Open(reason),
        Data::Str(word) if &**word == "ask" => PermissionRuling::Open(reason),
        other => {
            let why = format!("the answer must be a bool, \"ask\" or {{allow, reason?}}, got {}", other.type_name());
            PermissionRuling::Final(PermissionOutcome::deny(why))
        }
    }
}

impl fmt::Debug for ScriptPermissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptPermissions").field("ask", &self.ask).field("deny", &self.deny).finish_non_exhaustive()
    }
}
