//! [`McpServers`]: the servers of a run by name.

use super::access::{allowed, variable};
use super::bridge::{ReminderBridge, UseGuard};
use super::error::of_spec;
use super::events::{self, EventCursor};
use super::launch::ProgramLauncher;
use super::oauth::token_store;
use super::spec::{FUNCTIONS, McpServerSpec, ServerTransport, SpecError, shown_name};
use super::user::ServerUser;
use crate::codes::McpCode;
use crate::convert::to_data;
use crate::world::World;
use base::data::Data;
use lang::diagnostic::nearest;
use lang::value::{Dict, Str, Value, article};
use lang::vm::{Cx, Function, Isolate, Raise};
use mcp::{Authorizer, Client, ClientSettings, Endpoint, Era, HttpEndpoint, McpError};
use providers::web::Web;
use runtime::session::Session;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::spawn_local;

/// The servers of a run.
#[derive(Default)]
pub(crate) struct McpServers {
    /// Descriptions of `harn.toml` and of the host.
    described: RefCell<Vec<McpServerSpec>>,
    servers: RefCell<BTreeMap<Arc<str>, Rc<McpServer>>>,
    web: OnceCell<Rc<Web>>,
}

/// A server of a run. Nothing is started or contacted before its first use.
pub(crate) struct McpServer {
    pub(crate) spec: McpServerSpec,
    pub(crate) client: Client,
    pub(super) user: ServerUser,
    bridge: Rc<ReminderBridge>,
    /// The position in the reminders that the server offers as events.
    pub(super) events: Mutex<EventCursor>,
}

impl McpServer {
    /// Sends the server's reminders to a session until the guard is dropped.
    pub(crate) fn used_by(self: &Rc<Self>, session: &Rc<Session>) -> UseGuard {
        let guard = self.bridge.used_by(session);
        self.poll_events();
        guard
    }

    /// Begins to poll the reminders of the server if it offers them as events and a loop uses it. Returns whether they are
    /// polled.
    fn poll_events(self: &Rc<Self>) -> bool {
        let has_events = || self.client.info().is_some_and(|info| info.era == Era::Stateless && info.has_events());
        let is_polled = self.spec.reminders.enabled && self.bridge.is_used() && has_events();
        if is_polled && !self.bridge.is_polled() {
            self.bridge.polled_by(&spawn_local(events::poll(Rc::downgrade(self))));
        }
        is_polled
    }

    /// Makes a call of a tool, and takes the reminders of the tool before its result is used.
    pub(super) async fn with_reminders<T>(
        self: &Rc<Self>,
        call: impl Future<Output = Result<T, McpError>>,
    ) -> Result<T, McpError> {
        if self.spec.reminders.enabled && self.bridge.is_used() {
            // A server whose tools are stored in the project may not run yet.
            self.client.connect().await?;
        }
        if !self.poll_events() {
            return call.await;
        }
        events::begin(self).await;
        let result = call.await;
        events::catch_up(self).await;
        result
    }

    /// Takes a reminder of the server.
    pub(super) fn remind(&self, reminder: &Data) {
        self.bridge.remind(reminder);
    }

    /// Returns the user of the server.
    pub(crate) fn user(&self) -> &dyn mcp::CallObserver {
        &self.user
    }
}

impl McpServers {
    /// Returns the servers of a run.
    pub(crate) fn of(world: &World) -> Rc<McpServers> {
        world.part(McpServers::default)
    }

    /// Describes the servers of a run: those of its project, and those of its host.
    pub(crate) fn describe(world: &World, mut described: Vec<McpServerSpec>) {
        // The client of ACP is the user's own editor. Any other peer must not make this machine start programs.
        if let Some(hosting) = world.hosting.as_ref().filter(|hosting| hosting.protocol == "acp") {
            let named = McpServerSpec::of_client(&hosting.mcp_servers);
            described.retain(|known| named.iter().all(|spec| spec.name != known.name));
            described.extend(named);
        }
        *McpServers::of(world).described.borrow_mut() = described;
    }

    /// Returns the names of all servers, sorted.
    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<Arc<str>> = self.described.borrow().iter().map(|spec| spec.name.clone()).collect();
        names.extend(self.servers.borrow().keys().cloned());
        names.sort();
        names.dedup();
        names
    }

    /// Forgets all servers, and so ends them.
    pub(crate) fn clear(&self) {
        let servers = std::mem::take(&mut *self.servers.borrow_mut());
        drop(servers);
    }

    fn spec(&self, name: &str) -> Option<McpServerSpec> {
        self.described.borrow().iter().find(|spec| &*spec.name == name).cloned()
    }

    fn web(&self) -> Rc<Web> {
        self.web.get_or_init(|| Rc::new(Web::new(|name| std::env::var(name).ok()))).clone()
    }

    fn open(
        &self,
        world: &Rc<World>,
        spec: McpServerSpec,
        functions: ServerFunctions,
    ) -> Result<Rc<McpServer>, SpecError> {
        let endpoint = self.endpoint(world, &spec)?;
        let hosting = world.hosting.clone();
        let user = ServerUser { elicit: functions.elicit, progress: functions.progress, hosting };
        let settings = ClientSettings {
            name: spec.name.clone(),
            timeout: Duration::from_millis(spec.timeout_ms),
            start_timeout: Duration::from_millis(spec.start_timeout_ms),
            era: spec.era,
            elicitation: user.answers(),
            reminders: spec.reminders.enabled,
        };
        let bridge = Rc::new(ReminderBridge::new(world, spec.name.clone(), spec.reminders));
        let client = Client::new(settings, endpoint, bridge.clone());
        let server = Rc::new(McpServer { client, user, bridge, spec, events: Mutex::default() });
        // One of the same name ends, unless a call still uses it.
        self.servers.borrow_mut().insert(server.spec.name.clone(), server.clone());
        Ok(server)
    }

    fn endpoint(&self, world: &World, spec: &McpServerSpec) -> Result<Endpoint, SpecError> {
        match &spec.transport {
            ServerTransport::Process(program) => {
                for name in &program.pass_env {
                    variable("pass_env", name)?;
                }
                let folder = world.path(program.cwd.as_deref().unwrap_or(""));
                // An empty path does not name a folder.
                let folder = if folder.as_os_str().is_empty() { ".".into() } else { folder };
                Ok(Endpoint::Process(Box::new(ProgramLauncher { program: program.clone(), folder })))
            }
            ServerTransport::Http { url, headers, token_env, .. } => {
                let mut headers = headers.clone();
                if let Some(name) = token_env {
                    headers.push(("authorization".to_owned(), format!("Bearer {}", variable("token_env", name)?)));
                }
                let auth = self.authorizer(spec)?.map(Rc::new);
                Ok(Endpoint::Http(HttpEndpoint { web: self.web(), url: url.clone(), headers, auth }))
            }
        }
    }

    /// Returns the source of a server's tokens; nothing if it has a token, or is a program.
    fn authorizer(&self, spec: &McpServerSpec) -> Result<Option<Authorizer>, SpecError> {
        let ServerTransport::Http { url, oauth: Some(oauth), .. } = &spec.transport else { return Ok(None) };
        let secret = oauth.client_secret_env.as_ref().map(|name| variable("client_secret_env", name)).transpose()?;
        let command = match &spec.folder {
            Some(_) => format!("harn mcp login {}", spec.name),
            None => format!("harn mcp login {} --url {url}", spec.name),
        };
        let settings = oauth.settings(secret, command);
        Ok(Some(Authorizer::new(spec.name.clone(), url.clone(), self.web(), settings, token_store())))
    }

    /// Returns the source of the tokens of a server that the run knows, or that is at `url`.
    pub(crate) fn login_of(&self, name: &str, url: Option<&str>) -> Result<LoginTarget, Box<Raise>> {
        let spec = match url {
            None => self.spec(name).ok_or_else(|| unknown(self, name, 0))?,
            Some(url) => {
                let data = Data::dict([("name", Data::from(name)), ("url", url.into())]);
                McpServerSpec::from_data(&data).map_err(|error| of_spec(&error, 0))?
            }
        };
        match (&spec.transport, self.authorizer(&spec).map_err(|error| of_spec(&error, 0))?) {
            (ServerTransport::Http { oauth: Some(oauth), .. }, Some(authorizer)) => {
                Ok(LoginTarget { authorizer, is_service: oauth.is_service() })
            }
            (ServerTransport::Process(_), _) => {
                let message = format!("the MCP server `{name}` is a program, which needs no login");
                Err(Raise::error(McpCode::Description, message))
            }
            _ => {
                let message = format!("the MCP server `{name}` has a token of its own, or `oauth = false`");
                Err(Raise::error(McpCode::Description, message).help("remove it to log in"))
            }
        }
    }
}

/// A server to which a user can log in.
pub(crate) struct LoginTarget {
    pub(crate) authorizer: Authorizer,
    /// Whether its client acts for itself, so that no user logs in.
    pub(crate) is_service: bool,
}

/// The functions of a description.
#[derive(Default)]
struct ServerFunctions {
    elicit: Option<Function>,
    progress: Option<Function>,
}

impl ServerFunctions {
    /// Takes the functions out of a description.
    fn take(cx: &Cx<'_>, dict: &mut Dict, arg: usize) -> Result<ServerFunctions, Box<Raise>> {
        let mut read = |key: &str| match dict.remove(&Str::new(key)) {
            None | Some(Value::Nil) => Ok(None),
            Some(value) => {
                let found = article(value.type_name());
                Function::new(cx.isolate, cx.context, value).map(Some).ok_or_else(|| {
                    of_spec(&SpecError::new(key, format!("`{key}` must be a function, found {found}")), arg)
                })
            }
        };
        let [elicit, progress] = [FUNCTIONS[0], FUNCTIONS[1]];
        Ok(ServerFunctions { elicit: read(elicit)?, progress: read(progress)? })
    }

    fn is_empty(&self) -> bool {
        self.elicit.is_none() && self.progress.is_none()
    }
}

/// Returns the server of a name. `arg` is the argument that it is in.
pub(crate) fn named_server(
    isolate: &Isolate,
    world: &Rc<World>,
    name: &str,
    arg: usize,
) -> Result<Rc<McpServer>, Box<Raise>> {
    let servers = McpServers::of(world);
    let servers = &*servers;
    if let Some(server) = servers.servers.borrow().get(name).cloned() {
        return Ok(server);
    }
    let Some(spec) = servers.spec(name) else { return Err(unknown(servers, name, arg)) };
    allowed(isolate, &spec, arg)?;
    servers.open(world, spec, ServerFunctions::default()).map_err(|error| of_spec(&error, arg))
}

/// Returns the server that a value names or describes. `arg` is the argument that it is in.
pub(crate) fn server_of(
    cx: &Cx<'_>,
    world: &Rc<World>,
    value: &Value,
    arg: usize,
) -> Result<Rc<McpServer>, Box<Raise>> {
    let servers = McpServers::of(world);
    let servers = &*servers;
    let by_name = |name: &str| named_server(cx.isolate, world, name, arg);
    let dict = match value {
        Value::Str(name) => return by_name(name),
        Value::Dict(dict) => &dict.dict,
        other => {
            let message = format!("an MCP server must be a name or a dict, found {}", article(other.type_name()));
            return Err(Raise::error(lang::check::CheckCode::Type, message).about(arg, "not an MCP server"));
        }
    };
    let has = |key: &str| dict.get_str(key).is_some_and(|value| !value.is_nil());
    // What `mcp.connect` returned.
    if !has("command")
        && !has("url")
        && let Some(Value::Str(name)) = dict.get_str("name")
        && has("protocol")
        && has("era")
    {
        return by_name(name);
    }
    let mut dict = dict.clone();
    let functions = ServerFunctions::take(cx, &mut dict, arg)?;
    // Before the values are copied, which may be large.
    McpServerSpec::only_known(dict.iter().map(|(key, _)| key.as_str())).map_err(|error| of_spec(&error, arg))?;
    let data = to_data(&Value::dict(dict)).map_err(|raise| raise.about(arg, ""))?;
    let spec = McpServerSpec::from_data(&data).map_err(|error| of_spec(&error, arg))?;
    allowed(cx.isolate, &spec, arg)?;
    let known = servers.servers.borrow().get(&spec.name).cloned();
    match known {
        // The same description again is the same server.
        Some(server) if server.spec == spec && functions.is_empty() => Ok(server),
        _ => servers.open(world, spec, functions).map_err(|error| of_spec(&error, arg)),
    }
}

fn unknown(servers: &McpServers, name: &str, arg: usize) -> Box<Raise> {
    let names = servers.names();
    let name = shown_name(name);
    let raise = Raise::error(McpCode::Unknown, format!("unknown MCP server `{name}`")).about(arg, "unknown server");
    match nearest(&name, names.iter().map(AsRef::as_ref)) {
        Some(near) => raise.help(format!("did you mean `{near}`?")),
        None if names.is_empty() => {
            raise.help("describe it: `{name, command, args}` or `{name, url}`, or in `harn.toml`")
        }
        None => raise.help(format!("the servers of this run are {}", names.join(", "))),
    }
}
