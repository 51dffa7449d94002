//! Transcripts: making, reading, compacting them.

use crate::bind::{ScriptCompactor, ScriptFn};
use crate::convert::{to_data, to_value};
use crate::fault::{of_reminder, to_raise};
use crate::here;
use crate::values::{TranscriptValue, of_transcript, on_record};
use crate::world::World;
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise, Wait, codes};
use runtime::clock::Clock;
use runtime::data::Data;
use runtime::hooks::{Decision, EventKind, HookEvent, fire};
use runtime::ids::Ids;
use runtime::reminder::lifecycle::Charge;
use runtime::reminder::providers::{self, ReminderOptions};
use runtime::seam::{Scope, Summary, Turn};
use runtime::session::Session;
use runtime::transcript::compact::{CompactOptions, Strategy, begin};
use runtime::transcript::{Event, Imported, Transcript, TranscriptError};
use std::rc::Rc;
use std::sync::Arc;

lang::builtins! { "" =>
    /// A transcript; `init` may hold `messages`, `metadata`, `summary`, `assets`; any other key is metadata.
    plain "transcript(init: any = nil) -> transcript" transcript;
    /// A transcript of messages.
    plain "transcript_from_messages(messages: list) -> transcript" transcript_from_messages;
    /// The messages of a transcript.
    plain "transcript_messages(transcript: any) -> list" transcript_messages;
    /// The events of a transcript.
    plain "transcript_events(transcript: any) -> list" transcript_events;
    /// The events of one kind.
    plain "transcript_events_by_kind(transcript: any, kind: string) -> list" transcript_events_by_kind;
    /// The summary of a transcript, else nil.
    plain "transcript_summary(transcript: any) -> string | nil" transcript_summary;
    /// The id of a transcript.
    plain "transcript_id(transcript: any) -> string" transcript_id;
    /// Counts: messages, events, pending reminders, estimated tokens.
    plain "transcript_stats(transcript: any) -> dict" transcript_stats;
    /// The whole of a transcript as an ordinary dict.
    plain "transcript_export(transcript: any) -> dict" transcript_export;
    /// The transcript that an exported dict describes.
    plain "transcript_import(exported: dict) -> transcript" transcript_import;
    /// What a person would see of a transcript.
    plain "transcript_render_visible(transcript: any) -> string" transcript_render_visible;
    /// All of a transcript as text.
    plain "transcript_render_full(transcript: any) -> string" transcript_render_full;
    /// A reminder's event from a dict that is like a reminder; bad enums fall back to defaults.
    plain "transcript_reminder_event(reminder: dict) -> dict" transcript_reminder_event;
    /// Replaces older messages by a summary; reminders expire, collapse and are preserved as they say.
    waits "transcript_compact(transcript: any, options: CompactOptions = nil) -> transcript" transcript_compact;
}

fn read(cx: &Cx<'_>, args: &[Value]) -> Result<Transcript, Box<Raise>> {
    TranscriptValue::read(args, 0, &*here::world(cx)?)
}

fn transcript(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    if let Some(t) = args[0].as_host::<TranscriptValue>() {
        return Ok(TranscriptValue::value(t.transcript.clone()));
    }
    if args[0].is_nil() {
        return Ok(TranscriptValue::value(Transcript::new(world.ids.next_text(world.clock.now_ms()))));
    }
    args::dict(args, 0)?;
    let data = to_data(&args[0]).map_err(|raise| raise.about(0, ""))?;
    made(cx, &world, Transcript::import(&data, &world.ids, world.clock.now_ms()))
}

fn transcript_from_messages(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    args::list(args, 0)?;
    let data = to_data(&args[0]).map_err(|raise| raise.about(0, ""))?;
    made(cx, &world, Transcript::from_messages(&data, &world.ids, world.clock.now_ms()))
}

/// A transcript that was made of data, as a value. The reminders in it are on the log from here.
fn made(cx: &Cx<'_>, world: &World, read: Result<Imported, TranscriptError>) -> Result<Value, Box<Raise>> {
    let imported = read.map_err(|e| of_transcript(&e).about(0, ""))?;
    Ok(TranscriptValue::value(on_record(imported, world, &here::scope(cx, world))))
}

fn transcript_messages(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(to_value(&read(cx, args)?.get("messages")))
}

fn transcript_events(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(to_value(&read(cx, args)?.events_to_data(None)))
}

fn transcript_events_by_kind(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let kind = args::str(args, 1)?.clone();
    Ok(to_value(&read(cx, args)?.events_to_data(Some(&kind))))
}

fn transcript_summary(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(to_value(&read(cx, args)?.get("summary")))
}

fn transcript_id(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::str(read(cx, args)?.id()))
}

fn transcript_stats(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(to_value(&read(cx, args)?.stats()))
}

fn transcript_export(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(to_value(&read(cx, args)?.to_data()))
}

fn transcript_import(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let scope = here::scope(cx, &world);
    Ok(TranscriptValue::value(TranscriptValue::take(args, 0, &world, &scope)?))
}

fn transcript_render_visible(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(read(cx, args)?.render_visible()))
}

fn transcript_render_full(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::from(read(cx, args)?.render_full()))
}

fn transcript_reminder_event(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    args::dict(args, 0)?;
    let data = to_data(&args[0]).map_err(|raise| raise.about(0, ""))?;
    Ok(to_value(&Event::of_reminder(&data, &world.ids, world.clock.now_ms()).to_data(0)))
}

/// How a compaction is summed up.
enum Summariser {
    Custom(ScriptFn),
    Note,
}

fn compact_options(cx: &Cx<'_>, args: &[Value]) -> Result<(CompactOptions, Summariser), Box<Raise>> {
    let mut options = CompactOptions { charge: Charge::All, ..CompactOptions::default() };
    let Some(dict) = args::opt_dict(args, 1)? else { return Ok((options, Summariser::Note)) };
    let mut custom = None;
    let wrong = |key: &str, expected: &str| {
        Raise::error(lang::check::codes::TYPE, format!("`{key}` must be {expected}"))
            .about(1, format!("`{key}` is at fault"))
    };
    let count = |key: &str, v: &Value| {
        v.as_int().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| wrong(key, "a number of at least 0"))
    };
    for (key, value) in dict.iter() {
        match key.as_str() {
            _ if value.is_nil() => {}
            "strategy" => {
                let word = value.as_str().and_then(|s| s.parse::<Strategy>().ok());
                options.strategy =
                    word.ok_or_else(|| wrong("strategy", "\"truncate\", \"llm\", \"observation_mask\" or \"custom\""))?;
            }
            "keep_last" => options.keep_last = Some(count("keep_last", value)?),
            "target_tokens" => options.target_tokens = Some(count("target_tokens", value)?),
            "summary" => {
                options.summary = Some(value.as_str().map(Arc::from).ok_or_else(|| wrong("summary", "a string"))?);
            }
            "custom_compactor" => {
                custom = Some(ScriptFn::of(cx, value).ok_or_else(|| wrong("custom_compactor", "a function"))?);
            }
            other => {
                return Err(Raise::error(lang::check::codes::KEY, format!("there is no option `{other}`")).about(1, ""));
            }
        }
    }
    let summariser = match (options.strategy, custom) {
        (Strategy::Custom, Some(function)) => Summariser::Custom(function),
        (Strategy::Custom, None) => {
            return Err(wrong("custom_compactor", "a function where the strategy is \"custom\""));
        }
        (Strategy::Truncate, _) => Summariser::Note,
        (Strategy::Llm | Strategy::ObservationMask, _) => {
            return Err(Raise::error(
                codes::VALUE,
                format!("the strategy \"{}\" is not supported yet", options.strategy),
            )
            .about(1, "")
            .help("use \"truncate\" or \"custom\""));
        }
    };
    Ok((options, summariser))
}

fn transcript_compact(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let (options, summariser) = compact_options(cx, args)?;
    let scope = here::own_scope(cx, &world);
    let mut transcript = TranscriptValue::take(args, 0, &world, &scope)?;
    let cancel = scope.cancel.clone();
    // Handlers' reminders belong to the agent at hand. Outside of any loop they go into the transcript itself.
    let at_hand = here::session(cx);
    let session = at_hand.clone().unwrap_or_else(|| world.sessions.detached(transcript.id(), scope.clock.now_ms()));
    let is_bare = at_hand.is_none();
    Ok(Wait::new(async move {
        let Some(mut begun) = begin(&transcript, options.clone()) else {
            return Ok(TranscriptValue::value(transcript));
        };
        if is_bare {
            session.with(|s| s.transcript = transcript.clone());
        }
        let decision = tell(&world, &session, &scope, EventKind::PreCompact, &begun.outlook()).await?;
        if is_bare {
            transcript = session.transcript();
            match begin(&transcript, options.clone()) {
                Some(again) => begun = again,
                None => return Ok(TranscriptValue::value(transcript)),
            }
        }
        if matches!(decision, Decision::Block { .. }) {
            return Ok(TranscriptValue::value(transcript));
        }
        let summary = match &summariser {
            Summariser::Custom(function) => {
                let given = function.plain(ScriptCompactor::args(&begun.archived, &begun.survivors)).get().await?;
                ScriptCompactor::read(&given)?
            }
            Summariser::Note => Summary::Text(options.summary.clone().unwrap_or_else(|| begun.truncation_note())),
        };
        let id = transcript.id().clone();
        let moment = here::moment(&id, &scope, &world);
        let compacted = begun.finish(summary, &moment);
        here::put_on_record(&compacted.records, &moment, &scope, &world);
        transcript = compacted.transcript;
        if is_bare {
            session.with(|s| s.transcript = transcript.clone());
        }
        tell(&world, &session, &scope, EventKind::PostCompact, &compacted.report).await?;
        Ok(TranscriptValue::value(if is_bare { session.transcript() } else { transcript }))
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}

/// Tells handlers; inside a loop also the providers that it uses.
async fn tell(
    world: &World,
    session: &Rc<Session>,
    scope: &Scope,
    kind: EventKind,
    payload: &Data,
) -> Result<Decision, Box<Raise>> {
    let turn = Turn { session, number: session.with(|s| s.turns), scope };
    let event = HookEvent::Raw { kind, payload };
    let in_loop = scope.depth > 0;
    let reminders = match ReminderOptions::from_data(scope.options.get("reminders")) {
        Ok(options) if in_loop => options,
        _ => ReminderOptions { enabled: false, ..ReminderOptions::default() },
    };
    let decision = fire::fire(&world.hooks, turn, &event, reminders.strict).await.map_err(|e| to_raise(&e))?;
    if !matches!(decision, Decision::Block { .. }) {
        let selected = reminders.select(&world.providers).map_err(|e| of_reminder(&e))?;
        let evaluated = providers::fire(&selected, turn, &event, &reminders.config, reminders.strict).await;
        evaluated.map_err(|e| to_raise(&e))?;
    }
    for note in scope.notes.borrow().iter() {
        world.show(note);
    }
    Ok(decision)
}
