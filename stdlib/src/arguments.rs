//! Sessions and transcripts that the arguments of builtins name.

use crate::codes::AgentCode;
use crate::convert::{TranscriptValue, to_data};
use crate::here;
use crate::world::World;
use base::clock::Clock;
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Raise, RunCode};
use runtime::lifecycle::import::{Imported, TranscriptError};
use runtime::scope::Scope;
use runtime::session::Session;
use runtime::transcript::Transcript;
use std::rc::Rc;

/// Returns the transcript of an argument for reading: the value itself, or a dict with its
/// shape.
pub(crate) fn read_transcript(args: &[Value], i: usize, world: &World) -> Result<Transcript, Box<Raise>> {
    Ok(import(args, i, world)?.transcript)
}

/// Returns the transcript of an argument for further work: the reminders of a dict are recorded
/// in the log from here on.
pub(crate) fn take_transcript(
    args: &[Value],
    i: usize,
    world: &World,
    scope: &Scope,
) -> Result<Transcript, Box<Raise>> {
    let imported = import(args, i, world)?;
    Ok(on_record(imported, world, scope))
}

fn import(args: &[Value], i: usize, world: &World) -> Result<Imported, Box<Raise>> {
    match args.get(i) {
        Some(value @ Value::Host(_)) => match value.as_host::<TranscriptValue>() {
            Some(t) => Ok(t.transcript.clone().into()),
            None => Err(args::mismatch(args, i, "a transcript")),
        },
        Some(value @ Value::Dict(_)) => {
            let mut data = to_data(value).map_err(|raise| raise.about(i, ""))?;
            let marked = data.get("_type").as_str() == Some("transcript");
            let has_events = !data.get("events").is_nil();
            if !marked && (!data.get("_type").is_nil() || !has_events && data.get("messages").is_nil()) {
                return Err(Raise::error(RunCode::Type, "this dict is not a transcript")
                    .about(i, "has neither `_type: \"transcript\"` nor `messages`")
                    .help("create one with `transcript()` or `transcript({messages: […]})`"));
            }
            if has_events {
                // A dict with events means a whole transcript.
                data.set("_type", "transcript".into());
            }
            Transcript::import(&data, &world.random.ids, world.clock.now_ms())
                .map_err(|e| of_transcript(&e).about(i, ""))
        }
        _ => Err(args::mismatch(args, i, "a transcript")),
    }
}

/// Returns a transcript that was made of a dict, after recording its reminders, and reporting those that the policy
/// refuses.
pub(crate) fn on_record(imported: Imported, world: &World, scope: &Scope) -> Transcript {
    let Imported { transcript, records, refused } = imported;
    let moment = here::moment(transcript.id(), scope, world);
    here::put_on_record(&records, &moment, scope, world);
    for refusal in refused {
        world.console.show(&refusal.note_of_earlier());
    }
    transcript
}

/// A transcript's error as a raise.
pub(crate) fn of_transcript(error: &TranscriptError) -> Box<Raise> {
    Raise::error(RunCode::Value, error.to_string())
}

/// Returns the session that a builtin's `session_id` argument names.
pub(crate) fn session_arg(args: &[Value], i: usize, world: &World, builtin: &str) -> Result<Rc<Session>, Box<Raise>> {
    let id = match args.get(i) {
        Some(Value::Host(h)) => h.object().get("id"),
        Some(Value::Dict(d)) => d.dict.get_str("id").cloned(),
        _ => Some(Value::Str(args::str(args, i)?.clone())),
    };
    let Some(Value::Str(id)) = id else { return Err(args::mismatch(args, i, "a session id")) };
    find_session(&id, world, builtin).map_err(|raise| raise.about(i, "unknown session"))
}

/// The session of an id; the error says which builtin was asked.
pub(crate) fn find_session(id: &str, world: &World, builtin: &str) -> Result<Rc<Session>, Box<Raise>> {
    world.agents.sessions.get(id).map_err(|error| {
        Raise::error(AgentCode::Session, format!("{builtin}: {error}")).help("`agent_session_open(id)` opens a session")
    })
}
