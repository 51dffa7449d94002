//! `transcript.…`: reminders of a transcript. Pure: the input is unchanged, the result is a new transcript.

use crate::arguments::{read_transcript, take_transcript};
use crate::convert::{TranscriptValue, to_data, to_value};
use crate::fault::{of_policy, of_reminder};
use crate::here;
use crate::lint;
use crate::options::label_of;
use lang::value::Value;
use lang::vm::{Cx, Raise};
use runtime::lifecycle::{self, Selector};
use runtime::reminder::policy::{self, PolicySource};
use runtime::reminder::{ReminderSource, ReminderSpec};

lang::builtins! { "transcript" =>
    /// Adds a pending reminder: `{transcript, reminder_id, deduped_count}`. Pending ones with the same key go.
    ///
    /// ```harn
    /// let added = transcript.inject_reminder(transcript(), {body: "Be brief.", dedupe_key: "style"})
    /// transcript.reminders(added.transcript).map({ reminder -> reminder.body }) // => ["Be brief."]
    /// ```
    plain "inject_reminder(transcript: any, spec: ReminderSpec) -> ReminderAddedTo" [lint = lint::inject_reminder] inject_reminder;
    /// Removes the pending reminders that fit all given selectors: `{transcript, removed_count}`.
    ///
    /// ```harn
    /// let t = transcript.inject_reminder(transcript(), {body: "Be brief.", tags: ["style"]}).transcript
    /// transcript.clear_reminders(t, {tag: "style"}).removed_count // => 1
    /// ```
    plain "clear_reminders(transcript: any, selector: ReminderSelector) -> RemindersRemovedFrom" [lint = lint::clear_reminders] clear_reminders;
    /// The pending reminders, oldest first.
    ///
    /// ```harn
    /// transcript.reminders(transcript()) // => []
    /// ```
    plain "reminders(transcript: any) -> list<Reminder>" reminders;
}

fn inject_reminder(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let scope = here::scope(cx, &world);
    let mut transcript = take_transcript(args, 0, &world, &scope)?;
    // The caller's hold on the old one ends here, so that an inject in a loop changes one transcript in place.
    args[0] = Value::Nil;
    let data = here::reminder_data(cx, &args[1]).map_err(|raise| raise.about(1, ""))?;
    let spec = ReminderSpec::from_data(&data).map_err(|e| of_reminder(&e).about(1, label_of(&e)))?;
    let spec = scope.overridden(spec, None);
    let id = transcript.id().clone();
    let moment = here::moment(&id, &scope, &world);
    if let Err(refusal) = policy::check(&spec, PolicySource::Pipeline, None) {
        here::put_on_record(&[refusal.dropped()], &moment, &scope, &world);
        return Err(of_policy(&refusal).about(1, "this reminder"));
    }
    let admitted = lifecycle::inject(&mut transcript, spec, ReminderSource::InPipeline, None, &moment);
    here::put_on_record(&admitted.records, &moment, &scope, &world);
    Ok(Value::record([
        ("transcript", TranscriptValue::value(transcript)),
        ("reminder_id", Value::str(&admitted.reminder.id)),
        ("deduped_count", Value::from(admitted.replaced.len())),
    ]))
}

fn clear_reminders(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    let scope = here::scope(cx, &world);
    let mut transcript = take_transcript(args, 0, &world, &scope)?;
    args[0] = Value::Nil;
    let data = to_data(&args[1]).map_err(|raise| raise.about(1, ""))?;
    let selector = Selector::from_data(&data).map_err(|e| of_reminder(&e).about(1, label_of(&e)))?;
    let id = transcript.id().clone();
    let moment = here::moment(&id, &scope, &world);
    let records = lifecycle::clear(&mut transcript, &selector);
    here::put_on_record(&records, &moment, &scope, &world);
    Ok(Value::record([
        ("transcript", TranscriptValue::value(transcript)),
        ("removed_count", Value::from(records.len())),
    ]))
}

fn reminders(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let world = here::world(cx)?;
    Ok(to_value(&read_transcript(args, 0, &world)?.reminders_to_data()))
}
