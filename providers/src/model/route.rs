//! [`Routes`]: which provider and model a call goes to, and the way there.

use std::borrow::Cow;
use std::cell::{LazyCell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use base::call::{Answer, CallError, Outcome, call_error};
use base::codes::Severity;
use base::data::Data;
use reqwest::header::HeaderValue;
use runtime::budget::Quote;
use runtime::capabilities::{Capabilities, WireFormat};
use runtime::model::{Delta, Destination, ModelError, ModelErrorKind, ModelReply, Request, THOUGHTS_LEFT_OUT};
use runtime::note::Note;
use runtime::seam::{Model, Turn};
use serde_json::Value;

use super::anthropic::{BoundThoughts, PrefixCheck};
use super::capabilities::KnownCapabilities;
use super::choice::{ToolChoice, bad, call_id, unreadable};
use super::history::{self, HistoryRoute, HistoryRule};
use super::http::{self, Client, Endpoint, Post, client::Proxies};
use super::location::ServerLocation;
use super::provider::{Env, Provider, RouteError, set};
use super::server::origin;
use super::{CapabilityTable, Mock, ToolCode, anthropic, gemini, ollama, openai, responses, stream, tool_schema};

/// The route of a call.
#[derive(Debug, Clone)]
pub struct Route {
    /// The provider.
    pub provider: Provider,
    /// The model.
    pub model: Arc<str>,
    /// Its capabilities.
    pub capabilities: Capabilities,
    /// The wire format: the one of its capabilities, if the provider supports it.
    pub wire: WireFormat,
    /// Whether this is the mock because no provider was named and no key is set. The runner of
    /// scripts reports that once, on stderr.
    pub fell_back_to_mock: bool,
    pub(super) endpoint: Option<Endpoint>,
}

impl Route {
    /// The variable whose key this route sends to another server than the vendor's own, and the origin of that server.
    /// Servers on this machine are not reported.
    #[must_use]
    pub fn key_sent_elsewhere(&self) -> Option<(&str, String)> {
        let endpoint = self.endpoint.as_ref().filter(|endpoint| endpoint.sent_elsewhere)?;
        Some((&endpoint.key_variable, origin(&endpoint.url)))
    }

    /// Returns the JSON document that sends `request` on this route. The mock has the wire format
    /// of the model whose name it has.
    ///
    /// # Errors
    /// An option that the wire cannot express, or no message at all.
    pub fn body(&self, request: &Request) -> Result<Value, ModelError> {
        self.question(request, false).map(|question| question.body)
    }

    /// Returns the rules that change the document of a request.
    #[must_use]
    pub fn applied_rules(&self, request: &Request) -> Vec<&'static HistoryRule> {
        history::applied(request, &self.history_route(false))
    }

    /// Returns what is sent; `has_refused` says that the server has refused the order of roles.
    fn question(&self, request: &Request, has_refused: bool) -> Result<RouteRequest, ModelError> {
        let (request, unfit) = tool_schema::without_unfit(request);
        if let Ok(ToolChoice::Tool(forced)) = ToolChoice::read(&request.tool_choice)
            && let Some(tool) = unfit.iter().find(|tool| tool.name == forced)
        {
            let message = format!("`tool_choice` names the tool `{forced}`, which cannot be offered: {}", tool.why);
            return Err(self.named(bad(message)));
        }
        let history = self.history_route(has_refused);
        let (request, _) = history::fitted(&request, &history);
        let request = &*request;
        let body = match self.wire {
            WireFormat::Anthropic => anthropic::body(request, &self.model, &self.capabilities),
            WireFormat::OpenaiChat => openai::body(request, &self.model, &self.capabilities),
            WireFormat::OpenaiResponses => responses::body(request, &self.model, &self.capabilities),
            WireFormat::Gemini => gemini::body(request, &self.model),
            WireFormat::Ollama => ollama::body(request, &self.model, &self.capabilities),
        };
        let mut body = body.map_err(|error| self.named(error))?;
        let thoughts = match self.wire {
            WireFormat::Anthropic => anthropic::bind(&mut body, self.prefix_check()),
            _ => BoundThoughts::default(),
        };
        if history::keeps_roles(&history)
            && let Some(Value::Array(messages)) = body.get_mut("messages")
        {
            *messages = history::roles::alternating(std::mem::take(messages));
        }
        let pieces = request.stream.then(|| stream::ask_for_pieces(self.wire, &mut body));
        Ok(RouteRequest { body, pieces, thoughts })
    }

    /// Returns what the server does with a thought whose prefix has changed. Without a server, it is the vendor's.
    fn prefix_check(&self) -> PrefixCheck {
        match &self.endpoint {
            _ if !self.capabilities.bound_thinking => PrefixCheck::None,
            Some(endpoint) if !endpoint.is_own => PrefixCheck::Refusing,
            _ => PrefixCheck::Dropping,
        }
    }

    fn history_route(&self, has_refused: bool) -> HistoryRoute {
        HistoryRoute {
            provider: self.provider,
            wire: self.wire,
            bound_thinking: self.capabilities.bound_thinking,
            alternating_roles: self.capabilities.alternating_roles || has_refused,
            call_id_length: self.capabilities.call_id_length.and_then(|length| usize::try_from(length).ok()),
        }
    }

    /// Returns the function that finds a failure in a document with a status of success.
    fn failure(&self) -> fn(&Value) -> Option<ModelError> {
        if self.wire == WireFormat::OpenaiResponses { responses::failure } else { |_| None }
    }

    /// The answer that a body holds.
    fn reply(&self, answer: Value, endpoint: &Endpoint) -> Result<ModelReply, ModelError> {
        let reply = match self.wire {
            WireFormat::Anthropic => anthropic::reply(answer, &self.model),
            WireFormat::OpenaiChat => openai::reply(answer, &self.model),
            WireFormat::OpenaiResponses => responses::reply(answer, &self.model),
            WireFormat::Gemini => gemini::reply(answer, &self.model),
            WireFormat::Ollama => ollama::reply(answer, &self.model),
        };
        let reply = reply.map_err(|problem| self.named(http::failure::wrong_shape(endpoint, &problem)))?;
        Ok(ModelReply { provider: self.provider.as_str().into(), ..reply })
    }

    /// The reply with what it cost, where the price is known. Where the server reports no tokens, the cost is unknown.
    fn priced(&self, mut reply: ModelReply) -> ModelReply {
        let price = self.capabilities.price.filter(|_| reply.usage.is_reported());
        reply.usage.cost_nano_usd = price.map(|price| price.of(&reply.usage));
        reply
    }

    fn named(&self, error: ModelError) -> ModelError {
        ModelError { provider: Some(self.provider.as_str().into()), model: Some(self.model.clone()), ..error }
    }
}

/// A document for a server.
struct RouteRequest {
    body: Value,
    /// The reader of a streamed answer, if it is streamed.
    pieces: Option<http::Pieces>,
    thoughts: BoundThoughts,
}

/// The routes of a worker. As a `Model` it sends each request to its `provider` and `model`.
///
/// Chosen is the provider that the request names, else that of `HARN_LLM_PROVIDER`, else the one whose key is set, else the
/// mock. The model is the one that the request names, else `HARN_LLM_MODEL` (unless the request names another provider than
/// the environment would choose), else the provider's usual one.
pub struct Routes {
    env: Box<Env>,
    /// Read on the first question: most scripts ask none.
    table: LazyCell<CapabilityTable, Box<dyn FnOnce() -> CapabilityTable>>,
    known: RefCell<KnownCapabilities>,
    mock: Rc<Mock>,
    pub(super) client: Client,
    /// Whether routes lead to servers. Without, they need neither keys nor base URLs.
    has_servers: bool,
    /// The last request for a route and its result: a loop calls several times a turn.
    chosen: RefCell<Option<(RequestedModel, Route)>>,
    /// The models whose servers have refused an order of roles.
    refused_roles: RefCell<HashSet<(Provider, Arc<str>)>>,
    /// The warnings about tools that were reported, by their sessions.
    reported: RefCell<BTreeSet<(Arc<str>, String)>>,
}

/// Provider and model, where they were named.
type RequestedModel = (Option<Box<str>>, Option<Box<str>>);

impl Routes {
    /// The routes that an environment describes. Nothing is opened or read before the first call.
    pub fn new(
        table: impl FnOnce() -> CapabilityTable + 'static,
        env: impl Fn(&str) -> Option<String> + 'static,
    ) -> Routes {
        let client = Client::new(Proxies::from_env(&env));
        let table = LazyCell::new(Box::new(table) as Box<_>);
        Routes {
            env: Box::new(env),
            table,
            known: RefCell::default(),
            mock: Rc::default(),
            client,
            has_servers: true,
            chosen: RefCell::default(),
            refused_roles: RefCell::default(),
            reported: RefCell::default(),
        }
    }

    /// Returns the routes for looking at requests that are not sent: they need neither keys nor base URLs.
    #[must_use]
    pub fn without_servers(self) -> Routes {
        Routes { has_servers: false, ..self }
    }

    /// The mock, for scripting it and for seeing what it was sent.
    #[must_use]
    pub fn mock(&self) -> &Rc<Mock> {
        &self.mock
    }

    /// Returns the table of models and servers.
    #[must_use]
    pub fn table(&self) -> &CapabilityTable {
        &self.table
    }

    /// Chooses the route of a call. Ask before rendering: the slots of reminders depend on what the route can take.
    ///
    /// # Errors
    /// The provider is unknown, its key is missing, or its base URL is none.
    pub fn choose(&self, provider: Option<&str>, model: Option<&str>) -> Result<Route, RouteError> {
        if let Some(((of, named), route)) = &*self.chosen.borrow()
            && (of.as_deref(), named.as_deref()) == (provider, model)
        {
            return Ok(route.clone());
        }
        let route = self.find(provider, model)?;
        *self.chosen.borrow_mut() = Some(((provider.map(Box::from), model.map(Box::from)), route.clone()));
        Ok(route)
    }

    /// The environment does not change while a process runs.
    fn find(&self, provider: Option<&str>, model: Option<&str>) -> Result<Route, RouteError> {
        let named = provider.map(str::parse::<Provider>).transpose()?;
        let of_environment = match set(&self.env, "HARN_LLM_PROVIDER") {
            Some(name) => Provider::parse(&name, " in HARN_LLM_PROVIDER").map(Some),
            None => Ok(Provider::with_key(&self.env, self.table.servers())),
        };
        let (provider, fell_back_to_mock, is_usual) = match named {
            // An invalid variable does not matter to calls that do not use it.
            Some(named) => (named, false, of_environment.is_ok_and(|usual| usual.is_none_or(|usual| usual == named))),
            None => match of_environment? {
                Some(usual) => (usual, false, true),
                None => (Provider::Mock, true, true),
            },
        };
        let usual_model = || set(&self.env, "HARN_LLM_MODEL").filter(|_| is_usual);
        let model: Arc<str> = match model {
            Some(model) => model.into(),
            None => usual_model().map_or_else(|| provider.default_model().into(), Into::into),
        };
        let capabilities = self.known.borrow_mut().get(&self.table, provider.as_str(), &model);
        let wire = spoken(provider, &capabilities);
        let place = ServerLocation::of(provider).filter(|_| self.has_servers);
        let mut endpoint =
            place.map(|place| place.endpoint(provider, wire, &model, &self.env, &self.table)).transpose()?;
        if let Some(endpoint) = endpoint.as_mut().filter(|endpoint| endpoint.is_own && capabilities.bound_thinking) {
            endpoint.headers.push(("anthropic-beta", HeaderValue::from_static(anthropic::BETA)));
        }
        Ok(Route { provider, model, capabilities, wire, fell_back_to_mock, endpoint })
    }

    /// Asks the mock, whatever the environment would choose.
    ///
    /// # Errors
    /// Returns the scripted answer.
    pub async fn ask_mock(&self, turn: Turn<'_>, request: &Request, model: &Arc<str>) -> Outcome<ModelReply> {
        self.mock.call(turn, request, model, &|_| {}).get().await
    }

    async fn ask(
        &self,
        turn: Turn<'_>,
        request: &Request,
        route: &Route,
        endpoint: &Endpoint,
        live: &dyn Fn(Delta<'_>),
    ) -> Outcome<ModelReply> {
        self.report_unfit(turn, request);
        let key = (route.provider, route.model.clone());
        let mut has_refused = self.refused_roles.borrow().contains(&key);
        let mut request = Cow::Borrowed(request);
        let mut lost = 0;
        // Each of the two changes is made once, so this ends.
        let (question, mut reply) = loop {
            let question = route.question(&request, has_refused).map_err(call_error)?;
            let error = match self.send(turn, &request, route, endpoint, &question, live).await {
                Ok(reply) => break (question, reply),
                Err(error) => error,
            };
            if refuses(error.as_ref(), http::failure::is_about_a_signature)
                && let Some(without) = history::without_thoughts(&request)
            {
                lost += anthropic::thoughts(&question.body);
                request = Cow::Owned(without);
            } else if !has_refused
                && route.wire == WireFormat::OpenaiChat
                && refuses(error.as_ref(), history::roles::is_about_roles)
            {
                has_refused = true;
                self.refused_roles.borrow_mut().insert(key.clone());
            } else {
                return Err(error);
            }
        };
        let lost = lost + question.thoughts.left_out;
        if let Some(prefix) = &question.thoughts.prefix {
            anthropic::stamp(&mut reply.blocks, prefix);
        }
        if lost > 0 {
            reply.extra.insert(THOUGHTS_LEFT_OUT.into(), Data::from(lost));
        }
        Ok(reply)
    }

    async fn send(
        &self,
        turn: Turn<'_>,
        request: &Request,
        route: &Route,
        endpoint: &Endpoint,
        question: &RouteRequest,
        live: &dyn Fn(Delta<'_>),
    ) -> Outcome<ModelReply> {
        let timeout_ms = request.timeout_ms.unwrap_or(http::DEFAULT_TIMEOUT_MS);
        let post = Post {
            endpoint,
            body: question.body.to_string().into_bytes(),
            pieces: question.pieces,
            timeout_ms,
            stall: http::stall(timeout_ms),
            retries: request.retries.unwrap_or(http::DEFAULT_RETRIES),
            failure: route.failure(),
        };
        let own_ids = OwnCallIds::new(turn.number, request);
        let named = |delta: Delta<'_>| match delta {
            Delta::ToolCallStart { index, id, name } => {
                live(Delta::ToolCallStart { index, id: &own_ids.of(index, id), name });
            }
            other => live(other),
        };
        let live: &dyn Fn(Delta<'_>) = &named;
        let answer = http::post(&self.client, turn, &post, live).await.map_err(|failure| {
            match failure.as_any().downcast_ref::<ModelError>() {
                Some(error) => call_error(route.named(error.clone())),
                None => failure,
            }
        })?;
        let reply = route.reply(answer.document, endpoint).map_err(call_error)?;
        report_unreadable(turn, route, &reply);
        let mut reply = route.priced(reply);
        if !answer.was_told {
            show(&reply, live);
        }
        for (index, call) in reply.tool_calls.iter_mut().enumerate() {
            call.id = own_ids.of(index, &call.id).as_ref().into();
            if route.wire == WireFormat::Anthropic {
                tool_schema::rename_back(call, &request.tools);
            }
        }
        Ok(reply)
    }
}

/// Returns whether a server refused a request, with a message about something.
fn refuses(error: &dyn CallError, is_about: fn(&str) -> bool) -> bool {
    let error = error.as_any().downcast_ref::<ModelError>();
    error.is_some_and(|error| error.kind == ModelErrorKind::BadRequest && is_about(&error.message))
}

impl Routes {
    /// Reports the tools that are left out, each once in a session.
    fn report_unfit(&self, turn: Turn<'_>, request: &Request) {
        for tool in tool_schema::without_unfit(request).1 {
            let message = format!("the tool `{}` is left out: {}", tool.name, tool.why);
            if self.reported.borrow_mut().insert((turn.session.id().clone(), message.clone())) {
                turn.scope.note(Note {
                    code: Some(ToolCode::Skipped.into()),
                    severity: Severity::Warning,
                    message,
                    about: Some(tool.name),
                    fault: None,
                });
            }
        }
    }
}

/// The ids of an answer's calls that the vendor did not provide, or that another call has: some servers number the calls of
/// each answer from the beginning. They contain the turn as well as the position, since vendors require ids to be unique in a
/// conversation.
struct OwnCallIds<'a> {
    turn: u32,
    request: &'a Request,
    /// The part before the position.
    stem: OnceCell<String>,
    /// The vendor's ids in this answer, by position.
    answered: RefCell<BTreeMap<usize, Box<str>>>,
}

impl<'a> OwnCallIds<'a> {
    fn new(turn: u32, request: &'a Request) -> OwnCallIds<'a> {
        OwnCallIds { turn, request, stem: OnceCell::new(), answered: RefCell::default() }
    }
}

impl OwnCallIds<'_> {
    /// Returns the id of the call at a position.
    fn of<'a>(&self, index: usize, id: &'a str) -> Cow<'a, str> {
        if id == call_id(index) || self.is_taken(index, id) {
            format!("{}{index}", self.stem.get_or_init(|| self.free_stem())).into()
        } else {
            id.into()
        }
    }

    /// Returns whether a call of the history, or an earlier one of this answer, has an id.
    fn is_taken(&self, index: usize, id: &str) -> bool {
        let mut answered = self.answered.borrow_mut();
        answered.entry(index).or_insert_with(|| id.into());
        let mut known = self.request.messages.iter().flat_map(|message| &message.tool_calls);
        answered.range(..index).any(|(_, other)| **other == *id) || known.any(|call| *call.id == *id)
    }

    /// Returns a stem that no call of the history has: a loop that was resumed may count its turns anew.
    fn free_stem(&self) -> String {
        let is_free = |stem: &String| {
            let mut calls = self.request.messages.iter().flat_map(|message| &message.tool_calls);
            !calls.any(|call| call.id.starts_with(stem.as_str()))
        };
        let first = format!("call_{}_", self.turn);
        if is_free(&first) {
            return first;
        }
        (2_usize..).map(|again| format!("call_{}_{again}_", self.turn)).find(is_free).unwrap_or(first)
    }
}

impl Model for Routes {
    fn ready(&self, request: &Request) -> Outcome<()> {
        let route = self.choose(request.provider.as_deref(), request.model.as_deref());
        route.map(drop).map_err(|error| call_error(ModelError::from(error)))
    }

    fn destination(&self, request: &Request) -> Destination {
        match self.choose(request.provider.as_deref(), request.model.as_deref()) {
            Ok(route) => Destination { provider: Some(route.provider.as_str().into()), model: Some(route.model) },
            Err(_) => Destination { provider: request.provider.clone(), model: request.model.clone() },
        }
    }

    fn quote(&self, request: &Request) -> Outcome<Quote> {
        let route = self.choose(request.provider.as_deref(), request.model.as_deref());
        let route = route.map_err(|error| call_error(ModelError::from(error)))?;
        route.quote(request).map_err(call_error)
    }

    fn call<'a>(
        &'a self,
        turn: Turn<'a>,
        request: &'a Request,
        live: &'a dyn Fn(Delta<'_>),
    ) -> Answer<'a, Outcome<ModelReply>> {
        let route = match self.choose(request.provider.as_deref(), request.model.as_deref()) {
            Ok(route) => route,
            Err(error) => return Answer::Now(Err(call_error(ModelError::from(error)))),
        };
        match route.endpoint.clone() {
            None if request.stream => {
                let answer = self.mock.call(turn, request, &route.model, live);
                Answer::later(async move { answer.get().await.map(|reply| route.priced(reply)) })
            }
            None => match self.mock.call(turn, request, &route.model, live) {
                Answer::Now(outcome) => {
                    Answer::Now(outcome.map(|reply| route.priced(reply)).inspect(|reply| show(reply, live)))
                }
                Answer::Later(outcome) => Answer::later(async move {
                    outcome.await.map(|reply| route.priced(reply)).inspect(|reply| show(reply, live))
                }),
            },
            Some(endpoint) => Answer::later(async move { self.ask(turn, request, &route, &endpoint, live).await }),
        }
    }
}

impl Route {
    /// Returns a route that leads to no server: only its documents and quotes are of use.
    pub(crate) fn without_server(provider: Provider, model: Arc<str>, capabilities: Capabilities) -> Route {
        let wire = spoken(provider, &capabilities);
        Route { provider, model, capabilities, wire, fell_back_to_mock: false, endpoint: None }
    }
}

/// The wire of a route. A project's table may err, but a server speaks what it speaks.
fn spoken(provider: Provider, capabilities: &Capabilities) -> WireFormat {
    match (provider, capabilities.wire) {
        (Provider::Mock, wire) => wire,
        (Provider::Anthropic, _) => WireFormat::Anthropic,
        (Provider::Gemini, _) => WireFormat::Gemini,
        (Provider::Ollama, _) => WireFormat::Ollama,
        (Provider::Openai | Provider::OpenaiCompatible, WireFormat::OpenaiResponses) => WireFormat::OpenaiResponses,
        (Provider::Openai | Provider::OpenaiCompatible, _) => WireFormat::OpenaiChat,
    }
}

/// An answer that came in one piece is shown in one.
fn show(reply: &ModelReply, live: &dyn Fn(Delta<'_>)) {
    if let Some(reasoning) = &reply.reasoning {
        live(Delta::Reasoning(reasoning));
    }
    if !reply.text.is_empty() {
        live(Delta::Text(&reply.text));
    }
    for (index, call) in reply.tool_calls.iter().enumerate() {
        live(Delta::ToolCallStart { index, id: &call.id, name: &call.name });
        live(Delta::ToolCallArguments { index, json: &call.arguments.to_json() });
    }
}

/// Arguments that cannot be read are kept as text; the person should hear of it as well as the model.
fn report_unreadable(turn: Turn<'_>, route: &Route, reply: &ModelReply) {
    for call in reply.tool_calls.iter().filter(|call| matches!(call.arguments, Data::Str(_))) {
        turn.scope.note(Note {
            code: None,
            severity: Severity::Warning,
            message: format!(
                "{} ({}) called the tool `{}` with arguments that {}: {}",
                route.provider,
                route.model,
                call.name,
                unreadable(&call.arguments.to_text()),
                call.arguments.to_text().chars().take(200).collect::<String>()
            ),
            about: Some(route.provider.as_str().into()),
            fault: None,
        });
    }
}

#[cfg(test)]
mod tests;
