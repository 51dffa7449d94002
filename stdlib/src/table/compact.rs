//! Manual compaction of transcripts and sessions.

use crate::arguments::{session_arg, take_transcript};
use crate::capability::Capability;
use crate::convert::{TranscriptValue, to_value};
use crate::fault::to_raise;
use crate::here;
use crate::options::compaction::CompactionSettings;
use crate::options::{CompactionOptions, OptionSet};
use crate::world::World;
use base::data::Data;
use lang::value::Value;
use lang::vm::{Cx, Raise, Wait};
use runtime::compaction::{ByModel, Compaction, Summarisers};
use runtime::lifecycle::CompactionCharge;
use runtime::lifecycle::archive::CompactOptions;
use runtime::listeners::Listeners;
use runtime::model::Request;
use runtime::reminder_providers::files_of;
use runtime::scope::Scope;
use runtime::seam::{Compactor, Turn};
use runtime::session::Session;
use std::rc::Rc;
use std::sync::Arc;

lang::builtins! { "" =>
    /// Replaces older messages by a summary; reminders expire, collapse and are preserved as they say.
    ///
    /// ```harn
    /// let messages = range(1, 21).map({ n -> {role: "user", content: "message ${n}"} })
    /// transcript_messages(transcript_compact(transcript_from_messages(messages), {keep_last: 2})).count // => 3
    /// ```
    waits "transcript_compact(transcript: any, options: CompactOptions = nil) -> transcript" transcript_compact;
    /// Compacts a session like `transcript_compact`; returns the payload of `post_compact`, nil if
    /// nothing happened.
    ///
    /// ```harn
    /// agent_session_open("s")
    /// for n in range(1, 21) {
    ///   agent_session_inject("s", {role: "user", content: "message ${n}"})
    /// }
    /// agent_session_compact("s", {keep_last: 2}) == nil // => false
    /// agent_session_length("s") // => 3
    /// ```
    waits "agent_session_compact(id: any, options: CompactOptions = nil) -> Compaction | nil" agent_session_compact;
}

fn asked(cx: &Cx<'_>, args: &[Value]) -> Result<CompactionSettings, Box<Raise>> {
    let usual = CompactOptions { charge: CompactionCharge::All, ..CompactOptions::default() };
    let label = |raise: Box<Raise>| raise.about(1, "");
    CompactionSettings::read(cx, &CompactionOptions::read(cx, args, 1)?, usual).map_err(label)
}

fn transcript_compact(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let asked = asked(cx, args)?;
    let scope = here::own_scope(cx, &world);
    let transcript = take_transcript(args, 0, &world, &scope)?;
    let may_ask = !cx.isolate.is_denied(Capability::Llm);
    let bare = world.agents.sessions.detached(transcript.id(), scope.clock.now_ms());
    bare.with(|s| s.transcript = transcript);
    // Handlers' reminders belong to the agent at hand. Outside of any loop they go into the transcript itself.
    let told = here::session(cx).unwrap_or_else(|| bare.clone());
    let cancel = scope.cancel.clone();
    Ok(Wait::new(async move {
        compact(&world, &bare, &told, &scope, asked, may_ask).await?;
        Ok(TranscriptValue::value(bare.transcript()))
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}

fn agent_session_compact(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    let session = session_arg(args, 0, &world, "agent_session_compact")?;
    let asked = asked(cx, args)?;
    let scope = here::own_scope(cx, &world);
    let may_ask = !cx.isolate.is_denied(Capability::Llm);
    let cancel = scope.cancel.clone();
    Ok(Wait::new(async move {
        let report = compact(&world, &session, &session, &scope, asked, may_ask).await?;
        Ok(report.map_or(Value::Nil, |report| to_value(&report)))
    })
    .stopped_by(move |reason| cancel.cancel(reason)))
}

/// Compacts and notifies the handlers; inside a loop also the providers that it uses.
async fn compact(
    world: &World,
    session: &Rc<Session>,
    told: &Rc<Session>,
    scope: &Scope,
    asked: CompactionSettings,
    may_ask: bool,
) -> Result<Option<Data>, Box<Raise>> {
    let (reminders, providers) = here::reminders_of_loop(scope, world)?;
    let text = |key: &str| scope.options.get(key).as_str().map(Arc::from);
    // Inside a loop its route is asked, else the one that a bare `llm_call` would take.
    let route = Request { provider: text("provider"), model: text("model"), ..Request::default() };
    let model = ByModel::new(&*world.services.routes, &route, asked.prompt);
    let compaction = Compaction {
        session,
        told: Turn { session: told, number: told.with(|s| s.turns), scope },
        iteration: 0,
        listeners: Listeners {
            hooks: &world.agents.hooks,
            providers: &providers,
            files: files_of(scope),
            config: &reminders.config,
            strict: reminders.strict,
        },
        summarisers: Summarisers {
            custom: asked.custom.as_ref().map(|custom| custom as &dyn Compactor),
            model: may_ask.then_some(&model),
            remember: None,
        },
    };
    let done = compaction.run(asked.options).await.map_err(|e| to_raise(&e));
    for note in &scope.notes.all() {
        world.console.show(note);
    }
    done
}
