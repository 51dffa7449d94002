//! [`McpServer`]: answers requests, in both forms of the protocol.

use std::sync::Arc;
use std::time::Duration;

use base::data::{Data, Entries};
use mcp::{Era, LEGACY, LEGACY_VERSIONS, REMINDERS, STATELESS};
use stdlib::{ServedCall, ServedKind};

use super::calls::{CallError, CallStep, Calls, RunningCall};
use super::catalog::{Catalog, Offered, is_prompt, is_resource, is_tool};
use super::client::{ClientSession, McpClient, extensions};
use super::fault::{McpFault, UNSUPPORTED_VERSION, shortened};
use super::peer::CallFeed;
use super::reminders::{self, ReminderEvents};
use super::suspended::{Resumed, SuspendedCalls};
use super::tasks::McpTasks;
use crate::metrics::Exposition;
use crate::probe::Probed;

/// The time for which clients may keep lists, which do not change while the server runs, in milliseconds.
const LIST_TTL_MS: i64 = 300_000;
/// The key of the server's description in results.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The key of the version of a request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// A server of the public functions of a script.
pub(super) struct McpServer {
    pub(super) calls: Calls,
    pub(super) catalog: Catalog,
    pub(super) tasks: McpTasks,
    pub(super) suspended: SuspendedCalls,
    /// The name, the title and the version.
    pub(super) info: Data,
    pub(super) instructions: Option<Arc<str>>,
    /// The time after which a call becomes a task, for clients that take tasks.
    pub(super) task_after: Duration,
    /// Whether a cache may share results among users.
    pub(super) is_public: bool,
}

/// Returns the form that a request is written in.
pub(super) fn era_of(method: &str, params: &Data) -> Era {
    let is_stateless = method == "server/discover" || !params.get("_meta").get(VERSION).is_nil();
    if is_stateless { Era::Stateless } else { Era::Sessions }
}

/// Checks the description that a request without a session has of itself.
pub(super) fn check_envelope(params: &Data) -> Result<(), McpFault> {
    let meta = params.get("_meta");
    if meta.get("io.modelcontextprotocol/clientCapabilities").as_dict().is_none() {
        return Err(McpFault::params("`_meta` has no `io.modelcontextprotocol/clientCapabilities`"));
    }
    match meta.get(VERSION) {
        Data::Str(version) if &**version == STATELESS => Ok(()),
        Data::Str(version) => Err(unsupported(version)),
        _ => Err(McpFault::params(format!("`_meta` has no `{VERSION}`"))),
    }
}

/// Returns the error for a version without sessions that the server does not know.
pub(super) fn unsupported(version: &str) -> McpFault {
    let message = format!("unsupported protocol version `{}`", shortened(version));
    McpFault::new(UNSUPPORTED_VERSION, message)
        .with("supported", Data::list([Data::from(STATELESS)]))
        .with("requested", shortened(version))
}

impl McpServer {
    /// Answers `initialize`.
    ///
    /// # Errors
    /// The parameters name no version.
    pub(super) fn initialize(&self, params: &Data) -> Result<(ClientSession, Data), McpFault> {
        let Some(wanted) = params.get("protocolVersion").as_str() else {
            return Err(McpFault::params("`protocolVersion` is missing"));
        };
        let version = LEGACY_VERSIONS.iter().copied().find(|known| *known == wanted).unwrap_or(LEGACY);
        let session = ClientSession::new(params.get("capabilities").clone());
        let result = Data::dict_of_present([
            ("protocolVersion", Data::from(version)),
            ("capabilities", self.capabilities(Era::Sessions, version)),
            ("serverInfo", self.info.clone()),
            ("instructions", self.instructions.clone().into()),
        ]);
        Ok((session, result))
    }

    fn capabilities(&self, era: Era, version: &str) -> Data {
        let mut capabilities = Data::dict([("completions", Data::empty_dict()), ("logging", Data::empty_dict())]);
        for (key, is_kind) in
            [("tools", is_tool as fn(&ServedKind) -> bool), ("resources", is_resource), ("prompts", is_prompt)]
        {
            if self.catalog.has(is_kind) {
                capabilities.set(key, Data::empty_dict());
            }
        }
        match era {
            Era::Stateless => capabilities.set("extensions", extensions()),
            Era::Sessions => {
                capabilities.set("experimental", Data::dict([(REMINDERS, Data::empty_dict())]));
                if version == LEGACY && self.catalog.has(is_tool) {
                    let call = Data::dict([("call", Data::empty_dict())]);
                    let requests = Data::dict([("tools", call)]);
                    let tasks = [("list", Data::empty_dict()), ("cancel", Data::empty_dict()), ("requests", requests)];
                    capabilities.set("tasks", Data::dict(tasks));
                }
            }
        }
        capabilities
    }

    /// Answers a request.
    pub(super) async fn answer(&self, method: &str, params: &Data, client: &McpClient) -> Result<Data, McpFault> {
        let cacheable = matches!(
            method,
            "server/discover"
                | "tools/list"
                | "resources/list"
                | "resources/templates/list"
                | "prompts/list"
                | "resources/read"
        );
        let mut result = match client.era {
            Era::Sessions => self.answer_in_session(method, params, client).await?,
            Era::Stateless => {
                check_envelope(params)?;
                self.answer_alone(method, params, client).await?
            }
        };
        if client.era == Era::Stateless {
            if result.get("resultType").is_nil() {
                result.set("resultType", "complete".into());
            }
            if cacheable && result.get("resultType").as_str() == Some("complete") {
                let (ttl, scope) = match method {
                    "resources/read" => (0, "private"),
                    _ if self.is_public => (LIST_TTL_MS, "public"),
                    _ => (LIST_TTL_MS, "private"),
                };
                result.set("ttlMs", ttl.into());
                result.set("cacheScope", scope.into());
            }
            let meta = result.get("_meta").clone();
            let meta = if meta.is_nil() { Data::empty_dict() } else { meta };
            result.set("_meta", meta.with(SERVER_INFO, self.info.clone()));
        }
        Ok(result)
    }

    async fn answer_in_session(&self, method: &str, params: &Data, client: &McpClient) -> Result<Data, McpFault> {
        let owner = client.session.as_ref().map(|session| &session.id);
        match method {
            "ping" => Ok(Data::empty_dict()),
            "logging/setLevel" => {
                let level = params.get("level").as_str().unwrap_or_default();
                match client.session.as_ref().is_some_and(|session| session.set_level(level)) {
                    true => Ok(Data::empty_dict()),
                    false => Err(McpFault::params(format!("unknown level `{}`", shortened(level)))),
                }
            }
            "tasks/get" => Ok(self.tasks.find(params, owner)?.to_data(Era::Sessions)),
            "tasks/result" => self.tasks.find(params, owner)?.result(client).await,
            "tasks/list" => Ok(self.tasks.list(owner)),
            "tasks/cancel" => {
                let task = self.tasks.find(params, owner)?;
                task.cancel(Era::Sessions).await?;
                Ok(task.to_data(Era::Sessions))
            }
            _ => self.answer_either(method, params, client).await,
        }
    }

    async fn answer_alone(&self, method: &str, params: &Data, client: &McpClient) -> Result<Data, McpFault> {
        match method {
            "server/discover" => Ok(Data::dict_of_present([
                ("supportedVersions", Data::list([Data::from(STATELESS)])),
                ("capabilities", self.capabilities(Era::Stateless, STATELESS)),
                ("instructions", self.instructions.clone().into()),
            ])),
            "subscriptions/listen" => reminders::listen(client).await,
            "events/list" => Ok(ReminderEvents::list()),
            "events/poll" => self.calls.peer.events.poll(params),
            "events/stream" => self.calls.peer.events.stream(params, client).await,
            "tasks/get" | "tasks/cancel" | "tasks/update" if !client.takes_tasks() => {
                let wanted = Data::dict([("extensions", Data::dict([(super::client::TASKS, Data::empty_dict())]))]);
                let message = "the request needs the tasks extension, which it does not declare";
                Err(McpFault::new(super::fault::MISSING_CAPABILITY, message).with("requiredCapabilities", wanted))
            }
            "tasks/get" => Ok(self.tasks.find(params, None)?.to_data(Era::Stateless)),
            "tasks/cancel" => {
                self.tasks.find(params, None)?.cancel(Era::Stateless).await?;
                Ok(Data::empty_dict())
            }
            "tasks/update" => {
                self.tasks.find(params, None)?.update(params.get("inputResponses"));
                Ok(Data::empty_dict())
            }
            _ => self.answer_either(method, params, client).await,
        }
    }

    async fn answer_either(&self, method: &str, params: &Data, client: &McpClient) -> Result<Data, McpFault> {
        let cursor = params.get("cursor");
        match method {
            "tools/list" => self.catalog.tools(cursor, client.era),
            "resources/list" => self.catalog.resources(cursor),
            "resources/templates/list" => self.catalog.templates(cursor),
            "prompts/list" => self.catalog.prompts(cursor),
            "tools/call" => self.call_tool(params, client).await,
            "resources/read" => self.read(params, client).await,
            "prompts/get" => self.prompt(params, client).await,
            "completion/complete" => self.complete(params),
            _ => Err(McpFault::method(method)),
        }
    }

    async fn call_tool(&self, params: &Data, client: &McpClient) -> Result<Data, McpFault> {
        let tool = self.catalog.tool(params.get("name"))?;
        let call = match tool.call(params.get("arguments")) {
            Ok(call) => call,
            Err(why) => return Ok(failed(&format!("invalid arguments: {why}"))),
        };
        let owner = client.session.as_ref().map(|session| session.id.clone());
        let task = params.get("task");
        let is_task = client.era == Era::Sessions && task.as_dict().is_some();
        let (running, feed) = if is_task {
            let feed = Arc::new(CallFeed::new(client.clone()));
            (self.calls.start(&tool.entry.name, call, feed.clone())?, feed)
        } else {
            let limit =
                if client.takes_tasks() && client.era == Era::Stateless { self.task_after } else { Duration::MAX };
            match self.follow(tool, call, params, client, limit).await? {
                Followed::Ended(ended) => return Ok(to_result(tool, ended)),
                Followed::InputRequired(result) => return Ok(result),
                Followed::Running(running, feed) => (running, feed),
            }
        };
        let tool = tool.clone();
        let work = client.session.as_ref().map(|session| session.begin_work());
        let convert = move |ended| {
            drop(work);
            to_result(&tool, ended)
        };
        let task = self.tasks.begin(running, feed, owner, task.get("ttl"), convert)?;
        let state = task.to_data(client.era);
        Ok(match client.era {
            Era::Sessions => Data::dict([("task", state)]),
            Era::Stateless => state.with("resultType", "task".into()),
        })
    }

    /// Begins a call, or continues the one that the request answers, until it ends, needs an answer of a client without
    /// a session, or has run for `limit`. Clients with a session are asked meanwhile.
    async fn follow(
        &self,
        offered: &Offered,
        call: ServedCall,
        params: &Data,
        client: &McpClient,
        limit: Duration,
    ) -> Result<Followed, McpFault> {
        let (mut running, feed) = if client.era == Era::Stateless && !params.get("requestState").is_nil() {
            match self.suspended.resume(params, &call, client)? {
                Resumed::Running(running, feed) => (running, feed),
                Resumed::Unanswered(result) => return Ok(Followed::InputRequired(result)),
            }
        } else {
            let feed = Arc::new(CallFeed::new(client.clone()));
            (self.calls.start(&offered.entry.name, call.clone(), feed.clone())?, feed)
        };
        loop {
            let Ok(step) = tokio::time::timeout(limit, running.next()).await else {
                return Ok(Followed::Running(running, feed));
            };
            let mut question = match step {
                CallStep::Ended(ended) => return Ok(Followed::Ended(ended)),
                CallStep::Asked(question) => question,
            };
            if client.era == Era::Stateless && client.takes_forms() {
                return Ok(Followed::InputRequired(self.suspended.suspend(running, feed, call, question)));
            }
            let text = question.text.clone();
            let answer = tokio::select! {
                answer = client.ask(&text, Data::Nil) => answer,
                () = question.withdrawn() => continue,
            };
            // Dropping the question ends the call.
            if let Ok(answer) = answer {
                question.answer(answer);
            }
        }
    }

    /// Calls the function of a resource or prompt.
    async fn call(
        &self,
        offered: &Offered,
        arguments: &Data,
        params: &Data,
        client: &McpClient,
    ) -> Result<Called, McpFault> {
        let call = offered
            .call(&offered.typed(arguments))
            .map_err(|why| McpFault::params(format!("invalid arguments: {why}")))?;
        let failed = |why: String| McpFault::new(jsonrpc::code::INTERNAL_ERROR, why);
        match self.follow(offered, call, params, client, Duration::MAX).await? {
            Followed::Ended(Ok(value)) => Ok(Called::Value(value)),
            Followed::Ended(Err(CallError::Failed(why))) => Err(failed(why)),
            Followed::InputRequired(result) => Ok(Called::InputRequired(result)),
            Followed::Ended(Err(CallError::Cancelled)) | Followed::Running(..) => {
                Err(failed("the request was cancelled".to_owned()))
            }
        }
    }

    async fn read(&self, params: &Data, client: &McpClient) -> Result<Data, McpFault> {
        let Some(uri) = params.get("uri").as_str() else { return Err(McpFault::params("`uri` is missing")) };
        let (resource, arguments) = self.catalog.resource(uri, client.era)?;
        let value = match self.call(resource, &arguments, params, client).await? {
            Called::Value(value) => value,
            Called::InputRequired(result) => return Ok(result),
        };
        let mime_type = match &resource.entry.kind {
            ServedKind::Resource { mime_type, .. } => mime_type.clone(),
            _ => None,
        };
        let blob = value.get("blob").as_shared_str().filter(|_| value.as_dict().is_some_and(|dict| dict.len() == 1));
        let usual = if matches!(value, Data::Str(_)) { "text/plain" } else { "application/json" };
        let text = if blob.is_none() { text_of_value(&value).into() } else { Data::Nil };
        let mime_type = match blob {
            Some(_) => mime_type.into(),
            None => mime_type.map_or_else(|| Data::from(usual), Data::from),
        };
        let contents = Data::dict_of_present([
            ("uri", Data::from(uri)),
            ("mimeType", mime_type),
            ("text", text),
            ("blob", blob.into()),
        ]);
        Ok(Data::dict([("contents", Data::list([contents]))]))
    }

    async fn prompt(&self, params: &Data, client: &McpClient) -> Result<Data, McpFault> {
        let prompt = self.catalog.prompt(params.get("name"))?;
        let value = match self.call(prompt, params.get("arguments"), params, client).await? {
            Called::Value(value) => value,
            Called::InputRequired(result) => return Ok(result),
        };
        let description =
            if prompt.entry.description.is_empty() { Data::Nil } else { (&prompt.entry.description).into() };
        Ok(Data::dict_of_present([("description", description), ("messages", messages(&value))]))
    }

    fn complete(&self, params: &Data) -> Result<Data, McpFault> {
        let reference = params.get("ref");
        let offered = match reference.get("type").as_str() {
            Some("ref/prompt") => Some(self.catalog.prompt(reference.get("name"))?),
            Some("ref/resource") => self.catalog.template(reference.get("uri").as_str().unwrap_or_default()),
            _ => return Err(McpFault::params("`ref` must name a prompt or a resource")),
        };
        let argument = params.get("argument");
        let text = |key: &str| argument.get(key).as_str().unwrap_or_default();
        let mut values = offered.map(|offered| offered.completions(text("name"), text("value"))).unwrap_or_default();
        let total = values.len();
        values.truncate(MAX_COMPLETIONS);
        let completion = Data::dict([
            ("values", Data::list(values)),
            ("total", i64::try_from(total).unwrap_or(i64::MAX).into()),
            ("hasMore", (total > MAX_COMPLETIONS).into()),
        ]);
        Ok(Data::dict([("completion", completion)]))
    }
}

/// The end of following a call.
enum Followed {
    Ended(Result<Data, CallError>),
    /// The result that asks the client.
    InputRequired(Data),
    /// The call has run for the given time.
    Running(RunningCall, Arc<CallFeed>),
}

/// The outcome of the function of a resource or prompt.
enum Called {
    Value(Data),
    /// The result that asks the client.
    InputRequired(Data),
}

/// The maximum number of values in one completion, as the protocol sets it.
const MAX_COMPLETIONS: usize = 100;

impl Probed for McpServer {
    fn readiness(&self) -> Result<(), &'static str> {
        self.calls.host.readiness()?;
        if self.calls.limit.taken() >= self.calls.limit.most() { Err("call limit reached") } else { Ok(()) }
    }

    fn expose(&self, to: &mut Exposition) {
        self.calls.host.expose(to);
        to.value("harn_mcp_calls_running", "gauge", "Calls that are running.", self.calls.limit.taken());
        to.value("harn_mcp_calls_running_limit", "gauge", "Maximum number of running calls.", self.calls.limit.most());
        to.value(
            "harn_mcp_calls_waiting",
            "gauge",
            "Calls that wait for an answer of a user.",
            self.suspended.waiting(),
        );
        to.value("harn_mcp_tasks_open", "gauge", "Calls that run as tasks.", self.tasks.open());
    }
}

/// Returns the result of a tool from the end of its call.
pub(super) fn to_result(tool: &Offered, ended: Result<Data, CallError>) -> Data {
    match ended {
        Ok(value) => match tool.structured(&value) {
            Ok(structured) => completed(&value, structured),
            Err(why) => {
                tracing::error!(tool = &*tool.entry.name, "the result does not match the type of the tool: {why}");
                failed(&format!("the result of `{}` does not match its type", tool.entry.name))
            }
        },
        Err(CallError::Failed(why)) => failed(&why),
        Err(CallError::Cancelled) => failed(&format!("`{}` was cancelled", tool.entry.name)),
    }
}

fn completed(value: &Data, structured: Data) -> Data {
    let content = match value {
        Data::Nil => Vec::new(),
        // A list of content blocks is the content.
        Data::List(blocks) if !blocks.is_empty() && blocks.iter().all(is_block) => blocks.to_vec(),
        value => vec![text_block(&text_of_value(value))],
    };
    Data::dict_of_present([
        ("content", Data::list(content)),
        ("structuredContent", structured),
        ("isError", false.into()),
    ])
}

fn failed(why: &str) -> Data {
    Data::dict([("content", Data::list([text_block(why)])), ("isError", true.into())])
}

fn text_block(text: &str) -> Data {
    Data::dict([("type", Data::from("text")), ("text", text.into())])
}

fn text_of_value(value: &Data) -> String {
    value.as_str().map_or_else(|| value.to_json(), str::to_owned)
}

/// Returns whether a value of the script is a block of content.
fn is_block(value: &Data) -> bool {
    let has = |key: &str| value.get(key).as_str().is_some();
    match value.get("type").as_str() {
        Some("text") => has("text"),
        Some("image" | "audio") => has("data") && has("mimeType"),
        Some("resource_link") => has("uri") && has("name"),
        Some("resource") => value.get("resource").as_dict().is_some(),
        _ => false,
    }
}

/// Returns the messages of a prompt: a text is what the user says.
fn messages(value: &Data) -> Data {
    let message = |role: &str, content: &Data| {
        let block = if is_block(content) { content.clone() } else { text_block(&text_of_value(content)) };
        Data::dict([("role", Data::from(role)), ("content", block)])
    };
    let one = |value: &Data| match value.as_dict() {
        Some(dict) if Entries::contains_key(dict, "content") => {
            let role = if value.get("role").as_str() == Some("assistant") { "assistant" } else { "user" };
            message(role, value.get("content"))
        }
        _ => message("user", value),
    };
    match value {
        Data::List(all) => Data::list(all.iter().map(one)),
        value => Data::list([one(value)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result_text(result: &Data) -> String {
        mcp::text_of(result.get("content").as_list().unwrap_or_default())
    }

    #[test]
    fn prompts_are_texts_or_messages() {
        for (value, wanted) in [
            (r#""Hi.""#, r#"[{"content":{"text":"Hi.","type":"text"},"role":"user"}]"#),
            (
                r#"[{"role": "assistant", "content": "Yes?"}, "No."]"#,
                r#"[{"content":{"text":"Yes?","type":"text"},"role":"assistant"},{"content":{"text":"No.","type":"text"},"role":"user"}]"#,
            ),
        ] {
            assert_eq!(messages(&Data::from_json(value).unwrap()).to_json(), wanted, "{value}");
        }
    }

    #[test]
    fn content_blocks_of_a_script_are_kept() {
        let image = r#"[{"type":"image","data":"AAAA","mimeType":"image/png"}]"#;
        let result = completed(&Data::from_json(image).unwrap(), Data::Nil);
        assert_eq!(result_text(&result), "[image of type image/png, 3 bytes]");
        let list = completed(&Data::from_json("[1, 2]").unwrap(), Data::Nil);
        assert_eq!(result_text(&list), "[1,2]");
        assert_eq!(completed(&Data::Nil, Data::Nil).get("content").as_list().map(<[Data]>::len), Some(0));
    }

    #[test]
    fn a_request_says_its_version() {
        let params = |meta: &str| Data::from_json(&format!(r#"{{"_meta": {meta}}}"#)).unwrap();
        let good = r#"{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}"#;
        assert_eq!(check_envelope(&params(good)), Ok(()));
        let later = check_envelope(&params(&good.replace("2026-07-28", "2027-01-01"))).unwrap_err();
        assert_eq!((later.code, later.data.get("requested").as_str()), (UNSUPPORTED_VERSION, Some("2027-01-01")));
        assert!(check_envelope(&params("{}")).is_err());
        assert_eq!(era_of("tools/list", &params(good)), Era::Stateless);
        assert_eq!(era_of("tools/list", &Data::Nil), Era::Sessions);
        assert_eq!(era_of("server/discover", &Data::Nil), Era::Stateless);
    }
}
