//! Transcripts: making and reading them.
use base::clock::Clock;
use base::ids::Ids;

use crate::arguments::{of_transcript, on_record, read_transcript, take_transcript};
use crate::convert::{TranscriptValue, to_data, to_value};
use crate::here;
use crate::world::World;
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise};
use runtime::lifecycle;
use runtime::lifecycle::import::{Imported, TranscriptError};
use runtime::transcript::{Transcript, TranscriptEvent};

lang::builtins! { "" =>
    /// A transcript; `init` may hold `messages`, `metadata`, `summary`, `assets`; any other key is metadata.
    ///
    /// ```harn
    /// transcript_messages(transcript({messages: [{role: "user", content: "Hello."}]})).count // => 1
    /// ```
    plain "transcript(init: any = nil) -> transcript" transcript;
    /// A transcript of messages.
    ///
    /// ```harn
    /// let t = transcript_from_messages([{role: "user", content: "Hello."}])
    /// transcript_messages(t)[0].content // => "Hello."
    /// ```
    plain "transcript_from_messages(messages: list) -> transcript" transcript_from_messages;
    /// The messages of a transcript.
    ///
    /// ```harn
    /// transcript_messages(transcript()) // => []
    /// ```
    plain "transcript_messages(transcript: any) -> list<Message>" transcript_messages;
    /// The events of a transcript.
    ///
    /// ```harn
    /// let t = transcript.inject_reminder(transcript(), {body: "Be brief."}).transcript
    /// transcript_events(t).map({ event -> event.kind }) // => ["system_reminder"]
    /// ```
    plain "transcript_events(transcript: any) -> list<TranscriptEvent>" transcript_events;
    /// The events of one kind.
    ///
    /// ```harn
    /// let t = transcript.inject_reminder(transcript(), {body: "Be brief."}).transcript
    /// transcript_events_by_kind(t, "system_reminder").count // => 1
    /// ```
    plain "transcript_events_by_kind(transcript: any, kind: string) -> list<TranscriptEvent>" transcript_events_by_kind;
    /// The summary of a transcript, else nil.
    ///
    /// ```harn
    /// [transcript_summary(transcript({summary: "So far."})), transcript_summary(transcript())] // => ["So far.", nil]
    /// ```
    plain "transcript_summary(transcript: any) -> string | nil" transcript_summary;
    /// The id of a transcript.
    ///
    /// ```harn
    /// transcript_id(transcript()) == transcript_id(transcript()) // => false
    /// ```
    plain "transcript_id(transcript: any) -> string" transcript_id;
    /// Counts: messages, events, pending reminders, estimated tokens.
    ///
    /// ```harn
    /// transcript_stats(transcript_from_messages([{role: "user", content: "Hello."}])).message_count // => 1
    /// ```
    plain "transcript_stats(transcript: any) -> TranscriptStats" transcript_stats;
    /// The whole of a transcript as an ordinary dict.
    ///
    /// ```harn
    /// transcript_export(transcript_from_messages([{role: "user", content: "Hello."}]))._type // => "transcript"
    /// ```
    plain "transcript_export(transcript: any) -> ExportedTranscript" transcript_export;
    /// The transcript that an exported dict describes.
    ///
    /// ```harn
    /// let exported = transcript_export(transcript_from_messages([{role: "user", content: "Hello."}]))
    /// transcript_messages(transcript_import(exported))[0].content // => "Hello."
    /// ```
    plain "transcript_import(exported: dict) -> transcript" transcript_import;
    /// Returns a copy of the transcript under a new id, with its pending reminders.
    ///
    /// ```harn
    /// let t = transcript_from_messages([{role: "user", content: "Hello."}])
    /// let fork = transcript_fork(t)
    /// [transcript_messages(fork).count, transcript_id(fork) == transcript_id(t)] // => [1, false]
    /// ```
    plain "transcript_fork(transcript: any) -> transcript" transcript_fork;
    /// An empty transcript of the same id; pending reminders are discarded.
    ///
    /// ```harn
    /// let t = transcript_from_messages([{role: "user", content: "Hello."}])
    /// transcript_messages(transcript_reset(t)) // => []
    /// ```
    plain "transcript_reset(transcript: any) -> transcript" transcript_reset;
    /// Returns the part of a transcript that a person would see.
    ///
    /// ```harn
    /// transcript_render_visible(transcript_from_messages([{role: "user", content: "Hello."}])) // => "user: Hello."
    /// ```
    plain "transcript_render_visible(transcript: any) -> string" transcript_render_visible;
    /// All of a transcript as text.
    ///
    /// ```harn
    /// transcript_render_full(transcript_from_messages([{role: "user", content: "Hello."}])) // => "user: Hello."
    /// ```
    plain "transcript_render_full(transcript: any) -> string" transcript_render_full;
    /// A reminder's event from a dict that is like a reminder; bad enums fall back to defaults.
    ///
    /// ```harn
    /// transcript_reminder_event({body: "Be brief."}).kind // => "system_reminder"
    /// ```
    plain "transcript_reminder_event(reminder: dict) -> TranscriptEvent" transcript_reminder_event;
}

fn read(cx: &Cx<'_>, args: &[Value]) -> Result<Transcript, Box<Raise>> {
    read_transcript(args, 0, &*here::world(cx)?)
}

fn transcript(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    if let Some(t) = args[0].as_host::<TranscriptValue>() {
        return Ok(TranscriptValue::value(t.transcript.clone()));
    }
    if args[0].is_nil() {
        return Ok(TranscriptValue::value(Transcript::new(world.random.ids.next_text(world.clock.now_ms()))));
    }
    args::dict(args, 0)?;
    let data = to_data(&args[0]).map_err(|raise| raise.about(0, ""))?;
    made(cx, &world, Transcript::import(&data, &world.random.ids, world.clock.now_ms()))
}

fn transcript_from_messages(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    args::list(args, 0)?;
    let data = to_data(&args[0]).map_err(|raise| raise.about(0, ""))?;
    made(cx, &world, Transcript::from_messages(&data, &world.random.ids, world.clock.now_ms()))
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
    Ok(TranscriptValue::value(take_transcript(args, 0, &world, &scope)?))
}

fn transcript_fork(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let scope = here::scope(cx, &world);
    let source = take_transcript(args, 0, &world, &scope)?;
    let mut copy = source.renamed(world.random.ids.next_text(world.clock.now_ms()));
    let records = lifecycle::fork(&mut copy);
    here::put_on_record(&records, &here::moment(copy.id(), &scope, &world), &scope, &world);
    Ok(TranscriptValue::value(copy))
}

fn transcript_reset(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let scope = here::scope(cx, &world);
    let mut transcript = take_transcript(args, 0, &world, &scope)?;
    let records = lifecycle::reset(&mut transcript);
    here::put_on_record(&records, &here::moment(transcript.id(), &scope, &world), &scope, &world);
    Ok(TranscriptValue::value(transcript))
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
    Ok(to_value(&TranscriptEvent::of_reminder(&data, &world.random.ids, world.clock.now_ms()).to_data(0)))
}
