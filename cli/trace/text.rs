//! The life of each session as text, turn by turn.

use super::Trace;
use super::names::{ShortNames, clean, count, first_line, fit, grouped};
use super::paint::Paint;
use super::timeline::{Item, Turn, turns};
use runtime::lifecycle::rebuild::{
    Biography, BirthKind, Carrier, Evaluation, JudgedTurn, LifeEnd, LifeEndReason, RebuiltPrompt, ReminderCounts,
    SessionLife, Wait,
};
use runtime::lifecycle::{ChargePass, CompactionCharge, UnusualAnswer};
use runtime::model::AnswerEnd;
use runtime::reminder::cost::{ReminderCosts, ReminderTokens};
use runtime::reminder::expectation::JudgedBy;
use runtime::reminder::{DeferReason, ReminderCode, ReminderSource};
use runtime::reminder_providers::ReminderProviders;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The indentation of reminder texts.
const INDENT: usize = 8;

/// The whole trace.
pub(super) fn text(trace: &Trace, verbose: bool, paint: Paint) -> String {
    let mut out = String::new();
    for session in trace.sessions() {
        let writer = Writer { trace, names: &trace.names, paint, columns: super::columns(), verbose };
        writer.session(&mut out, session);
    }
    super::tasks::tasks(&mut out, &trace.hub, paint, super::columns());
    super::peer_tasks::links(&mut out, trace.links.all().iter(), paint);
    if out.is_empty() {
        out = nothing(trace);
    }
    for note in trace.notes() {
        let _ = writeln!(out, "{} at cursor {}: {}", paint.red("note"), note.cursor, clean(&note.message));
    }
    out
}

/// Returns the sentence for a log without reminders.
pub(super) fn nothing(trace: &Trace) -> String {
    match trace.told.records {
        0 => "the log is empty\n".to_owned(),
        records => {
            format!("{}, none of them about reminders\n", count(usize::try_from(records).unwrap_or(0), "record"))
        }
    }
}

/// The line of conservation.
pub(super) fn conservation(tally: &ReminderCounts) -> String {
    let sum = |terms: &[(usize, &str)], zero: &str| {
        let terms: Vec<String> = terms
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(n, word)| format!("{} {word}", grouped(*n as u64)))
            .collect();
        if terms.is_empty() { zero.to_owned() } else { terms.join(" + ") }
    };
    let begun = [(tally.injected, "injected"), (tally.inherited, "inherited"), (tally.forked, "forked")];
    let left = [
        (tally.pending, "pending"),
        (tally.deduped, "replaced"),
        (tally.expired, "expired"),
        (tally.dropped, "dropped"),
        (tally.discarded, "discarded"),
    ];
    let equal = if tally.holds() { "=" } else { "≠" };
    let audited = if tally.audited > 0 { format!("; {} audit only", tally.audited) } else { String::new() };
    format!("{} {equal} {}{audited}", sum(&begun, "no reminders"), sum(&left, "none"))
}

struct Writer<'a> {
    trace: &'a Trace,
    names: &'a ShortNames,
    paint: Paint,
    columns: usize,
    verbose: bool,
}

impl Writer<'_> {
    fn session(&self, out: &mut String, session: &SessionLife) {
        let mut facts: Vec<String> = self.trace.run_of(session).into_iter().collect();
        facts.extend([count(session.turns as usize, "turn"), count(session.prompts.len(), "request")]);
        facts.extend(session.parent_id.iter().map(|parent| format!("parent {}", self.names.short(parent))));
        facts.extend(session.agent_id.iter().map(|agent| format!("agent {}", clean(agent))));
        let name = self.names.short(&session.id);
        let title = self.paint.bold(&format!("session {name}"));
        let _ = writeln!(out, "{title} · {}", facts.join(" · "));
        if name != session.id.as_ref() {
            let _ = writeln!(out, "  {}", self.paint.dim(&clean(&session.id)));
        }
        let tally = session.tally();
        let line = conservation(&tally);
        let _ = writeln!(out, "  {}", if tally.holds() { line } else { self.paint.red(&line) });
        if let Some(left) = self.trace.left_of(session) {
            let _ = writeln!(out, "  {left}");
        }
        if session.branched {
            let _ = writeln!(
                out,
                "  {}",
                self.paint.red("two histories for one id: a script continued from an older version")
            );
        }
        if session.detached > 0 {
            let told = count(session.detached, "record");
            let _ = writeln!(out, "  {}", self.paint.dim(&format!("omitted: {told} of copies that a script changed")));
        }
        for turn in turns(session) {
            self.turn(out, &turn);
        }
        self.costs(out, session);
        self.silent(out, session);
        self.forgettable(out, session);
        out.push('\n');
    }

    fn turn(&self, out: &mut String, turn: &Turn<'_>) {
        let lines: String = turn.items.iter().map(|item| self.item(item)).collect();
        if !lines.is_empty() {
            let title = if turn.number == 0 { "before turn 1".to_owned() } else { format!("turn {}", turn.number) };
            let _ = writeln!(out, "\n  {}", self.paint.bold(&title));
            out.push_str(&lines);
        }
    }

    fn item(&self, item: &Item<'_>) -> String {
        match item {
            Item::Born(life) => self.born(life),
            Item::Sent(prompt, before) => self.sent(prompt, *before),
            Item::Waits(life, wait) => self.waits(life, wait),
            Item::Refreshed(life) => {
                let said = format!("· {} stays, its provider made it again", self.names.short(&life.reminder.id));
                format!("    {}\n", self.paint.dim(&said))
            }
            Item::Ended(life, end) => self.ended(life, end),
            Item::Evaluated(evaluation) => self.evaluated(evaluation),
            Item::ConditionFailed(failure) => format!(
                "    {} `{}` of {} failed: {}\n",
                self.paint.red("!"),
                clean(&failure.condition),
                self.names.short(&failure.reminder_id),
                clean(&failure.error)
            ),
            Item::Judged(life, judged) => self.judged(life, judged),
            Item::Refused(refusal) => {
                let detail = refusal.detail.as_deref().map(|detail| format!(": {}", clean(detail))).unwrap_or_default();
                format!(
                    "    {} dropped before it became a reminder ({}){detail}\n",
                    self.paint.red("!"),
                    refusal.reason
                )
            }
            Item::SlotRejected(it) => {
                let model = it.model.as_deref().map_or("the model".to_owned(), clean);
                format!(
                    "    {} {model} rejected the slot, so reminders are in {} from here on: {}\n",
                    self.paint.red("!"),
                    it.next,
                    clean(&it.error)
                )
            }
            Item::Unqueued(end) => {
                let why = match (&end.replaced_by, end.word) {
                    (Some(by), _) => format!("replaced by {} while queued", self.names.short(by)),
                    (None, "revoked") => "revoked while queued".to_owned(),
                    (None, _) => "cleared while queued, before any loop delivered it".to_owned(),
                };
                format!("    {} {}  {why}\n", self.paint.magenta("×"), self.names.short(&end.id))
            }
            Item::Resumed => format!("    {}\n", self.paint.dim("· the session continues from its stored state")),
            Item::Passed(passage) => match passage.pass {
                ChargePass::PostTurn if !self.verbose => String::new(),
                pass => format!("    {}\n", self.paint.dim(&format!("· {}", passed(pass)))),
            },
        }
    }

    fn born(&self, life: &Biography) -> String {
        let reminder = &life.reminder;
        let sign = if life.birth.by == BirthKind::Audited { self.paint.cyan("o") } else { self.paint.green("+") };
        let mut facts = Vec::new();
        match life.birth.by {
            BirthKind::Injected => {}
            BirthKind::Audited => facts.push("audit only".to_owned()),
            by => facts.push(by.to_string()),
        }
        match &reminder.producer {
            Some(producer) => facts.push(format!("{} {}", reminder.source, clean(producer))),
            None if reminder.source == ReminderSource::Inherited && life.birth.by == BirthKind::Inherited => {}
            None => facts.push(reminder.source.to_string()),
        }
        facts.push(reminder.ttl_turns.map_or("no ttl".to_owned(), |ttl| format!("ttl {ttl}")));
        facts.extend(reminder.dedupe_key.iter().map(|key| format!("key {}", clean(key))));
        if !reminder.tags.is_empty() {
            facts.push(format!("tags {}", reminder.tags.iter().map(|tag| clean(tag)).collect::<Vec<_>>().join(", ")));
        }
        if reminder.preserve_on_compact {
            facts.push("preserved".to_owned());
        }
        facts.extend(reminder.originating_agent_id.iter().map(|origin| format!("from {}", self.names.short(origin))));
        let facts = fit(&facts.join(" · "), self.columns.saturating_sub(20));
        let body = fit(&clean(first_line(&reminder.body)), self.columns.saturating_sub(INDENT));
        format!("    {sign} {}  {facts}\n{:INDENT$}{body}\n", self.names.short(&reminder.id), "")
    }

    fn sent(&self, prompt: &RebuiltPrompt, before: Option<&RebuiltPrompt>) -> String {
        let route = [&prompt.provider, &prompt.model].into_iter().flatten().map(|word| clean(word)).collect::<Vec<_>>();
        let mut facts = vec![if route.is_empty() { "a request".to_owned() } else { route.join("/") }];
        if !prompt.charges {
            facts.push("bare call".to_owned());
        }
        facts.push(count(prompt.message_count, "message"));
        if let Some(total) = prompt.total_bytes {
            facts.push(bytes(total, prompt.shared_prefix_bytes, before.and_then(|before| before.total_bytes)));
        }
        if prompt.void {
            facts.push("not seen by any model, so it charges nothing".to_owned());
        }
        if let Some(answer) = &prompt.answer {
            facts.extend(unusual_end(answer));
            if answer.thoughts_left_out > 0 {
                facts.push(self.lost_thoughts(answer, prompt, before));
            }
        }
        let carried: Vec<String> = prompt
            .carried
            .iter()
            .map(|(id, slot)| format!("{} in {slot}{}", self.names.short(id), body(prompt, id)))
            .collect();
        let mut out = format!("    {} {}\n", self.paint.blue("→"), facts.join(" · "));
        out.push_str(&wrapped(&carried, self.columns));
        out
    }

    /// Says how many of the model's thoughts a request lost, and which reminders differ from the request before.
    fn lost_thoughts(&self, answer: &UnusualAnswer, prompt: &RebuiltPrompt, before: Option<&RebuiltPrompt>) -> String {
        let lost = count(usize::try_from(answer.thoughts_left_out).unwrap_or(usize::MAX), "earlier thought");
        let carries = |prompt: &RebuiltPrompt, id: &str| prompt.carried.iter().any(|(carried, _)| **carried == *id);
        let differ = |these: &RebuiltPrompt, those: &RebuiltPrompt, how: &str| {
            let ids = these.carried.iter().filter(|(id, _)| !carries(those, id));
            ids.map(|(id, _)| format!("{} {how}", self.names.short(id))).collect::<Vec<_>>()
        };
        let changes = before.map_or_else(Vec::new, |before| {
            [differ(before, prompt, "is gone"), differ(prompt, before, "is new")].concat()
        });
        match changes.as_slice() {
            [] => format!("{lost} left out"),
            changes => format!("{lost} left out, since {}", changes.join(" and ")),
        }
    }

    fn judged(&self, life: &Biography, judged: &JudgedTurn) -> String {
        let sign = if judged.heeded { self.paint.green("✓") } else { self.paint.red("✗") };
        let said = fit(&verdict(judged), self.columns.saturating_sub(20));
        format!("    {sign} {}  {said}\n", self.names.short(&life.reminder.id))
    }

    fn waits(&self, life: &Biography, wait: &Wait) -> String {
        let why = match (wait.reason, &wait.outranked_by) {
            (DeferReason::Budget, Some(by)) => format!("waits, the budget is used up by {}", self.names.short(by)),
            (DeferReason::Budget, None) => "waits, the budget is too small for it".to_owned(),
            (DeferReason::Cooldown, _) => "waits, its cooldown is not over".to_owned(),
            (DeferReason::Every, _) => "waits until it is due again".to_owned(),
            (DeferReason::Unchanged, _) => "waits, the model has seen this body".to_owned(),
            (DeferReason::When, _) => "waits, its `when` does not hold".to_owned(),
        };
        format!("    {} {}  {why}\n", self.paint.cyan("~"), self.names.short(&life.reminder.id))
    }

    fn ended(&self, life: &Biography, end: &LifeEnd) -> String {
        let why = match &end.how {
            LifeEndReason::Deduped { by } if *by == life.reminder.id => "replaced by a newer copy of itself".to_owned(),
            LifeEndReason::Deduped { by } => format!("replaced by {}", self.names.short(by)),
            LifeEndReason::Expired(reason) => match reason.as_str() {
                "ttl" => format!("expired, its turns are used up ({})", seen(life)),
                "compaction" => format!("expired in a compaction ({})", seen(life)),
                "max_times" => format!("expired, it was shown as often as it may be ({})", seen(life)),
                "until" => format!("expired, its `until` holds ({})", seen(life)),
                _ => format!("cleared ({})", seen(life)),
            },
            LifeEndReason::Dropped(reason, detail) => {
                let detail = detail.as_deref().map(|detail| format!(": {}", clean(detail))).unwrap_or_default();
                format!("dropped, {reason}{detail}")
            }
            LifeEndReason::Discarded(reason) => format!("discarded, {reason} ({})", seen(life)),
        };
        format!("    {} {}  {why}\n", self.paint.magenta("×"), self.names.short(&life.reminder.id))
    }

    fn evaluated(&self, it: &Evaluation) -> String {
        let (provider, event) = (clean(&it.provider_id), clean(&it.event));
        match &it.error {
            Some(error) => {
                format!("    {} provider {provider} failed at {event}: {}\n", self.paint.red("!"), clean(error))
            }
            None if it.fired => format!("    {}\n", self.paint.dim(&format!("· provider {provider} fired at {event}"))),
            None if self.verbose => {
                format!(
                    "    {}\n",
                    self.paint.dim(&format!(
                        "· provider {provider} was evaluated at {event}, \
                    without a result"
                    ))
                )
            }
            None => String::new(),
        }
    }

    /// Reports the tokens that reminders added to the requests.
    fn costs(&self, out: &mut String, session: &SessionLife) {
        let costs = session.costs();
        let Some(said) = costs_in_words(&costs) else { return };
        let _ = writeln!(out, "\n  {}", self.paint.dim(&format!("· {said}")));
        if let Some(advice) = costs.advice() {
            let _ = writeln!(out, "  {} {advice}", self.paint.cyan("note"));
        }
    }

    /// Names the providers of the script that were evaluated without a result. The built-in ones are, in most turns.
    fn silent(&self, out: &mut String, session: &SessionLife) {
        let mut silent: BTreeMap<String, usize> = BTreeMap::new();
        for item in turns(session).iter().flat_map(|turn| &turn.items) {
            if let Item::Evaluated(it) = item
                && it.error.is_none()
                && !it.fired
                && !ReminderProviders::CANONICAL.contains(&it.provider_id.as_ref())
            {
                *silent.entry(clean(&it.provider_id)).or_default() += 1;
            }
        }
        if self.verbose || silent.is_empty() {
            return;
        }
        let all = count(silent.values().sum(), "evaluation");
        let by = silent.iter().map(|(id, times)| format!("{id} {times}")).collect::<Vec<_>>().join(", ");
        let say = fit(&format!("{all} without a result ({by}): -v lists them"), self.columns.saturating_sub(4));
        let _ = writeln!(out, "\n  {}", self.paint.dim(&format!("· {say}")));
    }

    /// HARN-RMD-004, which only a trace can tell of reminders that were not literals.
    fn forgettable(&self, out: &mut String, session: &SessionLife) {
        let is = |life: &&Biography| is_forgettable(life);
        let names: Vec<String> =
            session.reminders.iter().filter(is).map(|life| self.names.short(&life.reminder.id)).collect();
        if names.is_empty() {
            return;
        }
        let say = format!(
            "without ttl_turns and not preserved, they last until a compaction discards them: {}",
            names.iter().take(12).cloned().collect::<Vec<_>>().join(" ")
        );
        let more = if names.len() > 12 { format!(" and {} more", names.len() - 12) } else { String::new() };
        let head = self.paint.cyan(&format!("info[{}]", ReminderCode::Unbounded));
        let _ = writeln!(out, "\n  {head} {say}{more}");
    }
}

/// Returns the tokens that reminders added to the requests; `None` if no request had a reminder.
pub(super) fn costs_in_words(costs: &ReminderCosts) -> Option<String> {
    if costs.is_empty() {
        return None;
    }
    let cached = |sum: ReminderTokens| match sum.cached {
        0 => String::new(),
        cached => format!(" ({} cached)", grouped(cached)),
    };
    let all = |sum: ReminderTokens| grouped(sum.cached + sum.uncached);
    let source = |(source, sum)| format!("{source} {}{}", all(sum), cached(sum));
    let sources = costs.by_source().map(source).collect::<Vec<_>>().join(", ");
    let total = costs.total();
    Some(format!("reminders took about {} tokens{}: {sources}", all(total), cached(total)))
}

/// Returns whether a turn followed a reminder, in words.
pub(super) fn verdict(judged: &JudgedTurn) -> String {
    let word = if judged.heeded { "heeded" } else { "ignored" };
    let by = if judged.judged_by == JudgedBy::Judge { ", by a judge" } else { "" };
    let reason = judged.reason.as_deref().map(|reason| format!(": {}", clean(first_line(reason)))).unwrap_or_default();
    format!("{word}{by}{reason}")
}

/// Whether a reminder may live for ever in ordinary turns and is gone at the next compaction.
pub(super) fn is_forgettable(life: &Biography) -> bool {
    let reminder = &life.reminder;
    let ends = reminder.rules.as_ref().is_some_and(|rules| rules.max_times.is_some() || rules.until.is_some());
    !ends && life.birth.by == BirthKind::Injected && reminder.ttl_turns.is_none() && !reminder.preserve_on_compact
}

/// Returns in how many requests a reminder was seen.
pub(super) fn seen(life: &Biography) -> String {
    let seen = life.carried.iter().filter(|carried: &&Carrier| !carried.void).count();
    if seen == 0 { "never seen".to_owned() } else { format!("seen in {}", count(seen, "request")) }
}

/// Returns the size of a request and the share that a prompt cache can serve.
pub(super) fn bytes(total: u64, shared: Option<u64>, before: Option<u64>) -> String {
    match (shared, before) {
        (Some(shared), Some(before)) if before > 0 => {
            let percent = shared * 100 / before;
            format!(
                "{} bytes, {} shared with the previous request ({percent} % of it)",
                grouped(total),
                grouped(shared)
            )
        }
        _ => format!("{} bytes", grouped(total)),
    }
}

/// Returns which of its bodies a reminder was shown with, if it has several.
/// Says how an answer ended, if that is unusual.
fn unusual_end(answer: &UnusualAnswer) -> Option<String> {
    let how = match answer.end {
        AnswerEnd::End | AnswerEnd::ToolCalls => return None,
        AnswerEnd::MaxTokens => "the output limit cut the answer off",
        AnswerEnd::ContextWindow => "the context window was full before the answer ended",
        AnswerEnd::Refusal => "the model refused to answer",
        AnswerEnd::ContentFilter => "a filter of the vendor withheld the answer",
        AnswerEnd::Pause => "the vendor paused the answer",
        AnswerEnd::MalformedCall => "the model wrote a call that cannot be read",
        AnswerEnd::Other => "the answer ended for another reason",
    };
    let word = answer.stop_reason.as_deref().map(|word| format!(" ({})", clean(word))).unwrap_or_default();
    Some(format!("{how}{word}"))
}

fn body(prompt: &RebuiltPrompt, id: &str) -> String {
    let Some((_, choice)) = prompt.choices.iter().find(|(known, _)| known.as_ref() == id) else { return String::new() };
    let variant = choice.variant.as_ref().map(|variant| format!("body {}", clean(variant)));
    let escalation = choice.escalation.map(|nth| format!("body {nth}"));
    let words: Vec<String> = escalation.into_iter().chain(variant).collect();
    format!(" ({})", words.join(", "))
}

fn passed(pass: ChargePass) -> String {
    match pass {
        ChargePass::PostTurn => "end of turn: the reminders of its prompt are charged".to_owned(),
        ChargePass::ByHand(turn) => format!("manual pass: all reminders created in turn {turn} or before are charged"),
        ChargePass::Compaction(CompactionCharge::All) => "compaction: all reminders are charged".to_owned(),
        ChargePass::Compaction(CompactionCharge::Carried) => {
            "compaction: the reminders that a prompt has carried are charged".to_owned()
        }
    }
}

/// Words in lines, so that a prompt that carries hundreds stays readable.
fn wrapped(words: &[String], columns: usize) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for word in words {
        if !line.is_empty() && INDENT + line.chars().count() + word.chars().count() + 2 > columns {
            let _ = writeln!(out, "{:INDENT$}{line}", "");
            line.clear();
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        let _ = writeln!(out, "{:INDENT$}{line}", "");
    }
    out
}
