//! `task.…`: what a script tells the person that it works for, and asks. Where the run is served, the host shows it; elsewhere
//! it is printed, and standard input answers.

use crate::convert::to_data;
use crate::here;
use crate::hosting::{Part, PlanEntry, Priority, Progress, TaskArtifact, TaskUpdate};
use crate::options::{ArtifactOptions, FILE_PART, MESSAGE_PART, OptionSet, PARTIAL_RESULT, PLAN_ENTRY};
use crate::table::input;
use crate::world::World;
use a2a::base64;
use base::data::Data;
use base::words::UnknownWord;
use lang::builtins::{OptionTable, args};
use lang::check::CheckCode;
use lang::diagnostic::code::CodeRef;
use lang::diagnostic::nearest;
use lang::value::Value;
use lang::vm::{Cx, Host, Raise, RunCode, Wait};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

lang::builtins! { "task" =>
    /// Says what the script is at. Where the run is served the person sees it; else it is printed. `partial` says how far the
    /// work has come: `{completed_portion?, data?, can_resume?, resume_token?}`, the portion from 0 to 1.
    waits "status(text: string, partial: PartialResult? = nil) -> nil" status;
    /// Says what the work is called.
    waits "title(text: string) -> nil" title;
    /// Shows what the script means to do: each entry a text, or `{content, priority?, status?}`. Each plan takes the place of
    /// the last.
    waits "plan(entries: list<string | PlanEntry>) -> nil" plan;
    /// Hands over something made for the person. A part is a text, `{text}`, `{data}`, or `{file: {name?, mime_type?, uri}}`
    /// with `bytes` in base64 in place of `uri`. With `append: true` the parts come behind those that the artifact with this `id`
    /// has, and `last_chunk: true` says that it is whole.
    waits "artifact(artifact: TaskArtifact) -> nil" artifact;
    /// Asks the user and returns the answer: in a served run the next prompt, else a line of
    /// standard input. Nil without an answer.
    waits "ask(question: string) -> string | nil" ask;
    /// Refuses the task and ends the pipeline: where the run is served the prompt is refused, else the run ends with exit code 1.
    /// The reason is a sentence, or a word such as `CAPACITY_EXCEEDED` with more of it in `detail`.
    plain "reject(reason: string, detail: string? = nil) -> never" reject;
    /// Sets the closing message: what the task came to, in a sentence. Where the run is served to agents, the final status of the
    /// task has it if the pipeline ends well; in an editor it is shown at the end of the prompt, else it is printed at once. The last
    /// one counts.
    plain "closing(text: string) -> nil" closing;
    /// Returns the mode of the session that the script is served in; nil if it is not served. With
    /// `id` it sets the mode, and the user sees it.
    waits "mode(id: string? = nil) -> string | nil" mode;
}

fn status(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let text = text(args)?;
    let partial = match args.get(1) {
        None => Data::Nil,
        Some(value) => partial(&to_data(value).map_err(|raise| raise.about(1, ""))?)?,
    };
    say(cx, TaskUpdate::Status { text, partial })
}

fn title(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let text = text(args)?;
    say(cx, TaskUpdate::Title(text))
}

fn plan(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let entries = args::list(args, 0)?.iter().enumerate();
    let entries = entries.map(|(i, value)| entry(value, &format!("[{i}]"))).collect::<Result<_, _>>()?;
    say(cx, TaskUpdate::Plan(entries))
}

fn artifact(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    args::dict(args, 0)?;
    let ArtifactOptions { contents: given, name } = ArtifactOptions::read(cx, args, 0)?;
    let parts = given.parts.as_ref().map_or(Ok(Data::Nil), to_data).map_err(|raise| raise.about(0, ""))?;
    let parts = match &parts {
        Data::Nil => return Err(missing("parts")),
        Data::List(parts) => parts.iter().enumerate(),
        other => return Err(wrong("parts", "a list", other)),
    };
    let parts = parts.map(|(i, data)| part(data, &format!("parts[{i}]"))).collect::<Result<_, _>>()?;
    say(
        cx,
        TaskUpdate::Artifact(TaskArtifact {
            name,
            parts,
            id: given.id,
            description: given.description,
            append: given.append == Some(true),
            // What is not said to come in pieces is whole.
            last_chunk: given.last_chunk.unwrap_or(given.append.is_none()),
            metadata: given.metadata.unwrap_or_default(),
        }),
    )
}

/// Returns the script's report of its progress.
fn partial(given: &Data) -> Result<Data, Box<Raise>> {
    if given.is_nil() {
        return Ok(Data::Nil);
    }
    let misfit = |raise: Box<Raise>| raise.about(1, "");
    if given.as_dict().is_none() {
        return Err(misfit(wrong("partial", "a dict", given)));
    }
    known_keys(given, &PARTIAL_RESULT, "").map_err(misfit)?;
    match given.get("completed_portion") {
        Data::Nil => {}
        portion => match portion.as_float() {
            Some(done) if (0.0..=1.0).contains(&done) => {}
            Some(_) => {
                return Err(misfit(at_fault(CheckCode::Values, "`completed_portion` must be from 0 to 1".to_owned())));
            }
            None => return Err(misfit(wrong("completed_portion", "a number", portion))),
        },
    }
    flag(given, "can_resume").map_err(misfit)?;
    if !given.get("resume_token").is_nil() {
        required(given, "resume_token", "").map_err(misfit)?;
    }
    Ok(given.clone())
}

fn flag(data: &Data, key: &str) -> Result<Option<bool>, Box<Raise>> {
    match data.get(key) {
        Data::Nil => Ok(None),
        Data::Bool(flag) => Ok(Some(*flag)),
        other => Err(wrong(key, "a bool", other)),
    }
}

fn ask(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let question = text(args)?;
    let world = here::world(cx)?;
    Ok(match world.hosting.clone() {
        Some(hosting) => Wait::new(async move {
            (hosting.room)().await;
            Ok(hosting.ask(question).await.map_or(Value::Nil, Value::from))
        }),
        None => {
            world.print(&format!("{question}\n"))?;
            input::line(&world)?
        }
    })
}

fn reject(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let reason = match args::opt_str(args, 1)? {
        Some(detail) => {
            let text = text(args)?;
            // What is put together, what is kept of it, and what is printed.
            cx.check_size(Some((text.len() + detail.len()).saturating_mul(3)))?;
            format!("{}: {}", text, detail.as_str()).into()
        }
        None => text(args)?,
    };
    let world = here::world(cx)?;
    match &world.hosting {
        None => world.eprint(&format!("rejected: {reason}\n")),
        Some(hosting) if hosting.refuse(reason) => {}
        Some(_) => {
            let raise = Raise::error(RunCode::Outside, "no prompt is active, so there is nothing to reject");
            return Err(raise.help("call it within the pipeline"));
        }
    }
    Err(Raise::exit(1))
}

fn closing(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = text(args)?;
    if text.trim().is_empty() {
        return Err(Raise::error(RunCode::Value, "a closing message cannot be empty").about(0, "blank"));
    }
    let world: Rc<World> = here::world(cx)?;
    match &world.hosting {
        None => world.print(&format!("{text}\n"))?,
        Some(hosting) if hosting.close_with(text) => {}
        Some(_) => {
            let raise = Raise::error(RunCode::Outside, "no prompt is active, so there is nothing to close");
            return Err(raise.help("call it within the pipeline"));
        }
    }
    Ok(Value::Nil)
}

fn mode(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let Some(hosting) = world.hosting.clone() else { return Ok(Wait::ready(Ok(Value::Nil))) };
    let Some(id) = args::opt_str(args, 0)?.cloned() else { return Ok(Wait::ready(Ok(Value::str(&hosting.mode())))) };
    if !hosting.modes.contains(&id.as_str()) {
        let raise = Raise::error(CheckCode::Values, format!("unknown mode `{id}`")).about(0, "unknown mode");
        return Err(match nearest(id.as_str(), hosting.modes.iter().copied()) {
            Some(near) => raise.help(format!("did you mean `{near}`?")),
            None => raise.help(format!("the modes are {}", hosting.modes.join(", "))),
        });
    }
    Ok(Wait::new(async move {
        if hosting.set_mode(&id) {
            (hosting.room)().await;
            (hosting.say)(TaskUpdate::Mode(Arc::from(id.as_str())));
        }
        Ok(Value::Str(id))
    }))
}

/// Tells the person, once there is room for it.
/// Shows something to the client, or prints it if the run is not served.
pub(super) fn say(cx: &Cx<'_>, said: TaskUpdate) -> Result<Wait, Box<Raise>> {
    let world: Rc<World> = here::world(cx)?;
    Ok(match world.hosting.clone() {
        Some(hosting) => Wait::new(async move {
            (hosting.room)().await;
            (hosting.say)(said);
            Ok(Value::Nil)
        }),
        None => {
            world.print(&said.to_text())?;
            Wait::ready(Ok(Value::Nil))
        }
    })
}

fn text(args: &[Value]) -> Result<Arc<str>, Box<Raise>> {
    Ok(Arc::from(args::str(args, 0)?.as_str()))
}

fn entry(value: &Value, at: &str) -> Result<PlanEntry, Box<Raise>> {
    let given = to_data(value).map_err(|raise| raise.about(0, ""))?;
    if let Some(content) = given.as_shared_str() {
        return Ok(PlanEntry { content, priority: Priority::Medium, status: Progress::Pending });
    }
    if given.as_dict().is_none() {
        return Err(wrong(at, "a string or a dict with `content`", &given));
    }
    known_keys(&given, &PLAN_ENTRY, at)?;
    Ok(PlanEntry {
        content: required(&given, "content", at)?,
        priority: word(&given, "priority", at)?.unwrap_or(Priority::Medium),
        status: word(&given, "status", at)?.unwrap_or(Progress::Pending),
    })
}

pub(super) fn part(data: &Data, at: &str) -> Result<Part, Box<Raise>> {
    if let Some(text) = data.as_shared_str() {
        return Ok(Part::Text(text));
    }
    const EXPECTED: &str = "a string or a dict with one of `text`, `data` and `file`";
    let Some(given) = data.as_dict() else { return Err(wrong(at, EXPECTED, data)) };
    known_keys(data, &MESSAGE_PART, at)?;
    match given.keys().next().map(AsRef::as_ref) {
        Some(_) if given.len() > 1 => {
            Err(at_fault(CheckCode::Type, format!("`{at}` must be {EXPECTED}, but it has several")))
        }
        Some("text") => Ok(Part::Text(required(data, "text", at)?)),
        Some("data") => Ok(Part::Data(data.get("data").clone())),
        Some(_) => file(data.get("file"), &format!("{at}.file")),
        None => Err(at_fault(CheckCode::Type, format!("`{at}` must be {EXPECTED}, but it has none"))),
    }
}

fn file(data: &Data, at: &str) -> Result<Part, Box<Raise>> {
    if data.as_dict().is_none() {
        return Err(wrong(at, "a dict", data));
    }
    known_keys(data, &FILE_PART, at)?;
    let optional = |key: &str| if data.get(key).is_nil() { Ok(None) } else { required(data, key, at).map(Some) };
    let (bytes, uri) = (optional("bytes")?, optional("uri")?);
    let plain = |bytes| {
        let misfit = || {
            at_fault(CheckCode::Values, format!("`{at}.bytes` must be base64")).help(
                "encode it with \
                `base64_encode`",
            )
        };
        base64::plain(bytes).ok_or_else(misfit)
    };
    let bytes = bytes.map(plain).transpose()?;
    if bytes.is_none() && uri.is_none() {
        return Err(at_fault(CheckCode::Missing, format!("`{at}` needs `bytes`, in base64, or `uri`")));
    }
    Ok(Part::File { name: optional("name")?, mime_type: optional("mime_type")?, bytes, uri })
}

fn known_keys(data: &Data, known: &OptionTable, at: &str) -> Result<(), Box<Raise>> {
    let mut keys = data.as_dict().into_iter().flat_map(base::data::Entries::keys);
    let Some(key) = keys.find(|key| !known.has(key)) else { return Ok(()) };
    let raise = at_fault(CheckCode::Key, format!("unknown field `{}`", within(at, key)));
    Err(match nearest(key, known.keys()) {
        Some(near) => raise.help(format!("did you mean `{near}`?")),
        None => raise.help(format!("the fields are {}", known.keys().collect::<Vec<_>>().join(", "))),
    })
}

/// A text that must be there.
fn required(data: &Data, key: &str, at: &str) -> Result<Arc<str>, Box<Raise>> {
    match data.get(key) {
        Data::Nil => Err(missing(&within(at, key))),
        Data::Str(text) => Ok(text.clone()),
        other => Err(wrong(&within(at, key), "a string", other)),
    }
}

fn word<T: FromStr<Err = UnknownWord>>(data: &Data, key: &str, at: &str) -> Result<Option<T>, Box<Raise>> {
    if data.get(key).is_nil() {
        return Ok(None);
    }
    let word = required(data, key, at)?;
    word.parse().map(Some).map_err(|error: UnknownWord| {
        let raise = at_fault(CheckCode::Values, format!("`{}`: {error}", within(at, key)));
        match error.suggestion {
            Some(near) => raise.help(format!("did you mean {near:?}?")),
            None => raise,
        }
    })
}

fn within(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

fn missing(field: &str) -> Box<Raise> {
    at_fault(CheckCode::Missing, format!("`{field}` is missing"))
}

fn wrong(field: &str, expected: &str, found: &Data) -> Box<Raise> {
    at_fault(CheckCode::Type, format!("`{field}` must be {expected}, found {}", found.type_name()))
}

fn at_fault(code: impl Into<CodeRef>, message: String) -> Box<Raise> {
    Raise::error(code, message).about(0, "")
}
