//! Asking a model once.

use crate::answer::AnswerType;
use crate::arguments::find_session;
use crate::capability::Capability;
use crate::convert::{TranscriptValue, to_data, to_value};
use crate::fault::to_raise;
use crate::here;
use crate::lint;
use crate::loops::announce;
use crate::options::{BudgetOptions, LlmOptions, OptionReader, OptionSet, reminder_options};
use crate::tool_value::tools_from;
use crate::values::{Pieces, TextStream, ValueStream};
use crate::world::World;
use base::call::call_error;
use base::data::Data;
use lang::builtins::{TypedBy, args};
use lang::value::{Str, Value};
use lang::vm::{Cx, Raise, RunCode, Wait};
use runtime::agent_loop::close_open_calls;
use runtime::budget::{Budget, BudgetOwner, Ledger, Purpose};
use runtime::lifecycle::check_slots;
use runtime::lifecycle::{SelectInput, drop_unrenderable};
use runtime::message::{Message, Messages, ToolCall};
use runtime::model::{Delta, ModelReply, Request, THOUGHTS_LEFT_OUT};
use runtime::model_step::ModelStep;
use runtime::reminder_providers::ReminderOptions;
use runtime::render::{RenderOptions, bars_native, demotion, render_pending};
use runtime::schema::correction;
use runtime::scope::Scope;
use runtime::seam::{Model, Turn};
use runtime::session::Session;
use runtime::text_tools::TextTools;
use runtime::transcript::Transcript;
use runtime::usage::Usage;
use std::rc::Rc;
use std::sync::Arc;

lang::builtins! { "" =>
    /// Asks a model once: `{text, tool_calls, model, provider, input_tokens, output_tokens, stop_reason, …}`. Shows it the
    /// pending reminders of the session or transcript; evaluates no provider, charges nothing, and writes nothing into the session.
    /// Without `session_id` the call has a session of its own; `"current"` names the one at hand. With `transcript` the result has
    /// `transcript`: the given one with the prompt and the answer.
    ///
    /// ```harn
    /// llm_mock("Paris.")
    /// llm_call("What is the capital of France?", nil, {provider: "mock"}).text // => "Paris."
    /// ```
    waits "llm_call(prompt: string, system: string? = nil, options: LlmOptions = nil) -> LlmResult" [caps = &[Capability::Llm.right()], lint = lint::llm_call, typed_by = &[TypedBy::key("output_schema", "data"), TypedBy::whole("returns")]] llm_call;
    /// Asks like `llm_call`, and yields the text as it arrives: `for piece in llm_stream(…)`. The
    /// request is sent with the first read, and cancelled when the stream is dropped. A failure is
    /// raised by the next read.
    ///
    /// ```harn
    /// llm_mock("Paris.")
    /// llm_stream("What is the capital of France?", nil, {provider: "mock"}).to_list().join("") // => "Paris."
    /// ```
    plain "llm_stream(prompt: string, system: string? = nil, options: LlmOptions = nil) -> stream" [caps = &[Capability::Llm.right()], lint = lint::llm_call, typed_by = &[TypedBy::items("returns")]] llm_stream;
}

/// A question to a model, before it is rendered.
#[derive(Clone)]
struct Asking {
    world: Rc<World>,
    session: Rc<Session>,
    scope: Scope,
    request: Request,
    reminders: ReminderOptions,
    /// Whether tools are written into the text.
    text_tools: bool,
    /// Whether the answer is added to the transcript, which is the call's own.
    keeps: bool,
    /// Whether the messages are those of the session.
    is_whole: bool,
}

/// An answer, and the transcript that it was added to.
struct Answered {
    reply: ModelReply,
    transcript: Option<Transcript>,
}

fn llm_call(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let reader = OptionReader::new::<LlmOptions>(args, 2)?;
    let options = LlmOptions::of(cx, &reader)?;
    let asking = asking(cx, args, &reader, &options, "llm_call")?;
    let retries = options.schema_retries.unwrap_or(0);
    let returned = options.returns.map(|ty| AnswerType::of(cx, ty));
    let beside = options.model.output_schema.map(|ty| AnswerType::of(cx, ty));
    Ok(Wait::new(async move {
        let answered = match returned.as_ref().or(beside.as_ref()) {
            Some(ty) if retries > 0 => asking.ask_until_fit(ty, retries).await?,
            _ => asking.ask(&|_| {}).await?,
        };
        match returned {
            Some(ty) => ty.read(&answered.reply.text).await,
            None => reply_value(&answered, beside.as_ref()).await,
        }
    }))
}

fn llm_stream(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let reader = OptionReader::new::<LlmOptions>(args, 2)?;
    let options = LlmOptions::of(cx, &reader)?;
    let mut asking = asking(cx, args, &reader, &options, "llm_stream")?;
    if options.model.stream.is_none() {
        asking.request.stream = true;
    }
    if options.schema_retries.is_some() {
        let message = "`schema_retries` cannot be used with a stream";
        return Err(Raise::error(RunCode::Value, message)
            .about(2, "has `schema_retries`")
            .help("remove it, or use `llm_call`"));
    }
    let pieces = Pieces::default();
    let coming = pieces.clone();
    let returned = options.returns.map(|ty| AnswerType::of(cx, ty));
    let request = async move { asking.ask(&|delta| coming.take_in(delta)).await.map(drop) };
    if let Some(ty) = returned {
        return Ok(ValueStream::value(pieces, ty, request));
    }
    Ok(TextStream::value(pieces, request))
}

/// Reads what the call wants to know, and from whom.
fn asking(
    cx: &Cx<'_>,
    args: &[Value],
    reader: &OptionReader<'_>,
    options: &LlmOptions,
    caller: &'static str,
) -> Result<Asking, Box<Raise>> {
    let world = here::world(cx)?;
    let prompt: Arc<str> = Arc::from(args::str(args, 0)?.as_str());
    let mut request = options.request(reader, args::opt_str(args, 1)?.map(Str::as_str))?;
    let model = &options.model;
    let reminders = reminder_options(model.reminders.as_ref().unwrap_or(&Data::Nil), &world, 2)?;
    let mut scope = here::scope(cx, &world);
    let budget = model.budget.as_ref().map(BudgetOptions::limits);
    reader.check_price(&world, budget, scope.budget.as_ref(), &request)?;
    if let Some(limits) = budget {
        scope.budget = Some(Budget::new(BudgetOwner::Call, limits, scope.budget.take(), Ledger::default()));
    }
    let given = reader.transcript(options.transcript.as_ref(), &world, &scope)?;
    let detached = |id: &Arc<str>| world.agents.sessions.detached(id, scope.clock.now_ms());
    let session = match (&given, &model.session_id) {
        (Some(given), _) => detached(given.id()),
        (None, Some(id)) => {
            let found = if id.as_ref() == CURRENT { current(cx, &world) } else { find_session(id, &world, caller) };
            found.map_err(|raise| raise.about(2, "invalid `session_id`"))?
        }
        (None, None) => detached(&Arc::from(caller)),
    };
    let keeps = given.is_some();
    if let Some(given) = given {
        session.with(|state| state.transcript = given);
    }
    let mut tools = Vec::new();
    tools_from(cx, model.tools.as_ref().unwrap_or(&Value::Nil), &mut tools)
        .map_err(|raise| raise.about(2, "invalid `tools`"))?;
    request.tools = Arc::new(tools.iter().map(|t| t.spec().clone()).collect());
    let is_whole = model.messages.is_none();
    request.messages = match &model.messages {
        None => session.transcript().messages().clone(),
        Some(messages) => read_messages(messages)?,
    };
    // A loop may be at work in the session: vendors refuse a call without its result.
    close_open_calls(&mut request.messages);
    if !prompt.is_empty() {
        let prompt = Arc::new(Message::user(prompt));
        if keeps {
            session.with(|state| state.transcript.push_message(prompt.clone()));
        }
        request.messages.push_back(prompt);
    }
    let route = world.services.routes.choose(request.provider.as_deref(), request.model.as_deref());
    // A route that cannot be chosen fails when it is asked.
    let text_tools = model.wants_text_tools(route.map_or(true, |route| route.capabilities.native_tools));
    Ok(Asking { world, session, scope, request, reminders, text_tools, keeps, is_whole })
}

/// The word for the session at hand, in place of an id.
const CURRENT: &str = "current";

/// The session of the hook, tool or provider at hand; elsewhere the one that the script is served in.
fn current(cx: &Cx<'_>, world: &World) -> Result<Rc<Session>, Box<Raise>> {
    here::session(cx).or_else(|| world.current_session()).ok_or_else(|| {
        Raise::error(crate::codes::AgentCode::Session, "no current session").help(
            "`\"current\"` works only in hooks, tools and providers; elsewhere name a session, or omit `session_id`",
        )
    })
}

impl Asking {
    /// Asks until an answer fits the type, and sends each that does not fit back with the reason. Returns the last answer, with
    /// the tokens of all.
    async fn ask_until_fit(mut self, ty: &AnswerType, retries: u32) -> Result<Answered, Box<Raise>> {
        let mut usage = Usage::default();
        let mut left = retries;
        loop {
            let mut answered = self.clone().ask(&|_| {}).await?;
            usage.add(answered.reply.usage);
            answered.reply.usage = usage;
            let misfit = ty.attempt(&answered.reply.text).await?.err();
            let Some(misfit) = misfit.filter(|_| left > 0) else { return Ok(answered) };
            left -= 1;
            let asked = Arc::new(Message::user(correction(&misfit.why)));
            if self.keeps {
                self.session.with(|state| state.transcript.push_message(asked.clone()));
            }
            self.request.messages.push_back(Arc::new(answered.reply.to_message()));
            self.request.messages.push_back(asked);
        }
    }

    /// Renders the pending reminders and asks; pieces of the answer go to `live`.
    async fn ask(self, live: &dyn Fn(Delta<'_>)) -> Result<Answered, Box<Raise>> {
        let Asking { world, session, scope, mut request, reminders, text_tools, keeps, is_whole } = self;
        announce(&world, &request);
        let route = world.services.routes.choose(request.provider.as_deref(), request.model.as_deref());
        let capabilities = route.map_err(|e| to_raise(&call_error(e)))?.capabilities;
        session.apply(&scope, |t, _| drop_unrenderable(t), std::mem::take);
        // Nothing is counted, and conditions are not evaluated.
        let input = SelectInput { model: request.model.as_deref(), ..SelectInput::default() };
        let selected = session.select_reminders(&scope, &input);
        let transcript = session.transcript();
        let options = RenderOptions {
            placement: reminders.placement.or(capabilities.placement).or(world.reminder_placement.get()),
            native: reminders.native,
            is_native_barred: bars_native(&request.messages),
        };
        let routes: Rc<dyn Model> = world.services.routes.clone();
        let slots = &world.agents.slots;
        let rendered = render_pending(&transcript, selected.as_deref(), is_whole, &capabilities, options);
        let rendered = slots.limited(rendered, || routes.destination(&request));
        check_slots(&transcript, &rendered, &routes.destination(&request))
            .map_err(|unshown| to_raise(&call_error(unshown)))?;
        if let Some((id, is_dropped)) = rendered.first_demoted()
            && let Some(demoted) = transcript.find(id)
        {
            scope.note(demotion(
                &demoted.reminder,
                is_dropped,
                request.model.as_deref().or(request.provider.as_deref()),
            ));
        }
        request.reminders = Arc::new(rendered);
        let model = if text_tools { Rc::new(TextTools::new(routes)) } else { routes };
        let answered = loop {
            let step = ModelStep::begin(&scope, model.as_ref(), &request, Purpose::Answer).map_err(|e| to_raise(&e))?;
            session.sent(&scope, &request, false, model.destination(&request));
            let around = Turn { session: &session, number: session.with(|s| s.turns), scope: &scope };
            let turn = step.send(around, &request);
            let answered = model.call(turn, &request, live).get().await;
            step.settle_and_end(turn, &answered);
            match &answered {
                Err(thrown) => match slots.after_failure(turn, model.as_ref(), &request, thrown.as_ref()) {
                    Some(next) => request = next,
                    None => break answered,
                },
                Ok(_) => break answered,
            }
        };
        let reply = answered.map_err(|e| to_raise(&e))?;
        session.answered(&scope, &reply);
        for note in &scope.notes.all() {
            world.console.show(note);
        }
        let transcript = keeps.then(|| {
            session.with(|state| {
                state.transcript.push_message(Arc::new(reply.to_message()));
                state.transcript.clone()
            })
        });
        Ok(Answered { reply, transcript })
    }
}

fn read_messages(messages: &[Value]) -> Result<Messages, Box<Raise>> {
    let wrong = |why: String| Raise::error(lang::check::CheckCode::Type, why).about(2, "invalid `messages`");
    messages.iter().map(|m| Message::from_data(&to_data(m)?).map(Arc::new).map_err(|e| wrong(e.to_string()))).collect()
}

async fn reply_value(answered: &Answered, ty: Option<&AnswerType>) -> Result<Value, Box<Raise>> {
    let Answered { reply, transcript } = answered;
    let mut data = Data::dict([
        ("text", Data::from(&reply.text)),
        ("visible_text", (&reply.text).into()),
        ("model", (&reply.model).into()),
        ("provider", (&reply.provider).into()),
        ("input_tokens", reply.usage.input_tokens.into()),
        ("output_tokens", reply.usage.output_tokens.into()),
        ("cache_read_tokens", reply.usage.cache_read_tokens.into()),
        ("cache_write_tokens", reply.usage.cache_write_tokens.into()),
        ("tool_calls", reply.tool_calls.iter().map(ToolCall::to_data).collect()),
        ("blocks", reply.blocks.iter().map(runtime::message::Block::to_data).collect()),
        ("stop_reason", reply.stop_reason.as_ref().into()),
        ("answer_end", reply.end().as_str().into()),
        ("reasoning", reply.reasoning.as_ref().into()),
    ]);
    if let Some(cost) = reply.usage.cost_usd() {
        data.set("cost_usd", cost.into());
    }
    if reply.thoughts_left_out() > 0 {
        data.set(THOUGHTS_LEFT_OUT, reply.thoughts_left_out().into());
    }
    let Value::Dict(read) = to_value(&data) else { return Ok(Value::Nil) };
    let mut dict = read.dict.clone();
    // One call asks once: what to do about an answer that does not fit is the script's business.
    if let Some(ty) = ty {
        match ty.attempt(&reply.text).await? {
            Ok(value) => dict.insert(Str::new("data"), value),
            Err(misfit) => dict.insert(Str::new("schema_error"), Value::from(misfit.why)),
        };
    }
    if let Some(transcript) = transcript {
        dict.insert(Str::new("transcript"), TranscriptValue::value(transcript.clone()));
    }
    Ok(Value::dict(dict))
}
