//! [`Client`]: a server and what is known of it, over all its connections.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base::data::Data;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use crate::connection::{Call, Connection};
use crate::error::{McpError, McpErrorKind};
use crate::exchange::Answered;
use crate::headers::mirrored;
use crate::http::HttpEndpoint;
use crate::observer::{CallObserver, Listener, SilentObserver};
use crate::pages::{NextPage, Pages};
use crate::restart::{PATIENCE, Restart};
use crate::stdio::Launcher;
use crate::tool::{SkippedTool, ToolInfo};
use crate::version::{Era, ServerInfo};

/// The maximum number of entries of a list, and of its pages.
const MAX_ENTRIES: usize = 10_000;
const MAX_PAGES: usize = 1_000;

/// The way to a server.
pub enum Endpoint {
    /// A program, which is started when it is first needed.
    Process(Box<dyn Launcher>),
    /// A URL.
    Http(HttpEndpoint),
}

/// The settings of a client.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// The name of the server, for messages.
    pub name: Arc<str>,
    /// The timeout of a request. A report of progress starts it anew.
    pub timeout: Duration,
    /// The timeout of the handshake.
    pub start_timeout: Duration,
    /// The form of the protocol; `None` finds out what the server speaks.
    pub era: Option<Era>,
    /// Whether questions to the user can be answered.
    pub elicitation: bool,
    /// Whether reminders are accepted.
    pub reminders: bool,
}

/// The tools of a server.
#[derive(Debug, Default)]
pub struct ToolList {
    /// The tools, in the order of the server.
    pub tools: Vec<Rc<ToolInfo>>,
    /// The tools that cannot be offered.
    pub skipped: Vec<SkippedTool>,
    /// The reason why the list was ended though the server promised more, as a sentence without a full stop.
    pub cut: Option<String>,
}

/// A server.
pub struct Client {
    settings: ClientSettings,
    endpoint: Endpoint,
    listener: Rc<dyn Listener>,
    /// Held while a connection is opened.
    restart: Mutex<Restart>,
    current: RefCell<Option<Rc<Connection>>>,
    /// The form that the server spoke last.
    era: Cell<Option<Era>>,
    tools: RefCell<Option<Rc<ToolList>>>,
    changes: Rc<ListChanges>,
}

/// Notes changes of the list of tools, and passes everything on.
struct ListChanges {
    /// Grows with each change.
    count: Cell<u64>,
    /// The count at the time when the list was read.
    read: Cell<u64>,
    next: Rc<dyn Listener>,
}

impl Listener for ListChanges {
    fn notified(&self, method: &str, params: &Data) {
        if method == "notifications/tools/list_changed" {
            self.count.set(self.count.get() + 1);
        }
        self.next.notified(method, params);
    }
}

impl Client {
    /// Creates a client. Nothing is started or contacted before the first request.
    pub fn new(settings: ClientSettings, endpoint: Endpoint, listener: Rc<dyn Listener>) -> Client {
        let changes = Rc::new(ListChanges { count: Cell::new(0), read: Cell::new(0), next: listener });
        Client {
            settings,
            endpoint,
            listener: changes.clone(),
            restart: Mutex::default(),
            current: RefCell::default(),
            era: Cell::default(),
            tools: RefCell::default(),
            changes,
        }
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &ClientSettings {
        &self.settings
    }

    /// Returns whether a connection is open.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.open_connection().is_some()
    }

    /// Returns the server's description of itself, if a connection is open.
    #[must_use]
    pub fn info(&self) -> Option<ServerInfo> {
        self.open_connection().map(|connection| connection.info.clone())
    }

    fn open_connection(&self) -> Option<Rc<Connection>> {
        self.current.borrow().as_ref().filter(|connection| connection.end().error().is_none()).cloned()
    }

    /// Returns the connection, a new one if there is none.
    async fn connection(&self) -> Result<Rc<Connection>, McpError> {
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        let mut restart = self.restart.lock().await;
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        // What the last connection ended with counts only if it had answered nothing.
        self.current.borrow_mut().take();
        let delay = restart.delay(Instant::now());
        if delay > PATIENCE {
            let message = format!(
                "MCP server `{}` failed {} times in a row and is not started again for {} s",
                self.settings.name,
                restart.failures(),
                delay.as_secs().max(1)
            );
            return Err(McpError::new(McpErrorKind::Ended, message).help("continue without it, or try again later"));
        }
        sleep(delay).await;
        match Connection::open(&self.settings, &self.endpoint, &self.listener, self.era.get()).await {
            Ok(connection) => {
                let connection = Rc::new(connection);
                self.era.set(Some(connection.info.era));
                // The tools may be others now.
                self.changes.count.set(self.changes.count.get() + 1);
                *self.current.borrow_mut() = Some(connection.clone());
                Ok(connection)
            }
            Err(error) => {
                restart.failed(Instant::now());
                // A server that was replaced may speak another version.
                self.era.set(None);
                Err(error)
            }
        }
    }

    /// Sends a request. A session that the server had forgotten is opened again, once.
    async fn request(
        &self,
        method: &str,
        params: Data,
        mirrored: &[(String, String)],
        observer: &dyn CallObserver,
    ) -> Answered {
        let mut may_retry = true;
        loop {
            let connection = self.connection().await?;
            let (params, mirrored, timeout) = (params.clone(), mirrored.to_vec(), self.settings.timeout);
            let result = connection.request(Call { method, params, mirrored, timeout, observer }).await;
            match &result {
                Err(error) if error.kind == McpErrorKind::Ended && error.status == Some(404) && may_retry => {
                    may_retry = false;
                }
                Err(error) if matches!(error.kind, McpErrorKind::Ended | McpErrorKind::TooLarge) => {
                    self.restart.lock().await.failed(Instant::now());
                    return result;
                }
                Ok(_) => {
                    if let Ok(mut restart) = self.restart.try_lock() {
                        restart.worked();
                    }
                    return result;
                }
                Err(_) => return result,
            }
        }
    }

    /// Connects, unless a connection is open. Returns the server's description of itself.
    ///
    /// # Errors
    /// The server cannot be started or reached, or speaks another protocol.
    pub async fn connect(&self) -> Result<ServerInfo, McpError> {
        self.connection().await.map(|connection| connection.info.clone())
    }

    /// Returns the tools: those of the last time, unless the server has changed its list or was started again.
    ///
    /// # Errors
    /// The list cannot be read.
    pub async fn tools(&self) -> Result<Rc<ToolList>, McpError> {
        let known = self.tools.borrow().clone();
        if let Some(known) = known
            && self.changes.read.get() == self.changes.count.get()
            && self.is_connected()
        {
            return Ok(known);
        }
        let info = self.connect().await?;
        let changes = self.changes.count.get();
        let (entries, cut) = match info.has("tools") {
            true => self.pages("tools/list", "tools").await?,
            false => (Vec::new(), None),
        };
        let mut list = ToolList { cut, ..ToolList::default() };
        for (place, entry) in entries.iter().enumerate() {
            match ToolInfo::read(entry, place) {
                Ok(tool) => list.tools.push(Rc::new(tool)),
                Err(skipped) => list.skipped.push(skipped),
            }
        }
        let list = Rc::new(list);
        self.changes.read.set(changes);
        *self.tools.borrow_mut() = Some(list.clone());
        Ok(list)
    }

    /// Returns the number of changes of the list of tools so far; a new connection counts as one.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes.count.get()
    }

    /// Returns the number of changes that the list has which was read last.
    #[must_use]
    pub fn tools_read(&self) -> u64 {
        self.changes.read.get()
    }

    /// Calls a tool. `schema` is that of its arguments, if it is known. Returns the result as the server sent it.
    ///
    /// # Errors
    /// The call failed. If only the tool failed, this is a result with `isError`.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: Data,
        schema: &Data,
        observer: &dyn CallObserver,
    ) -> Result<Data, McpError> {
        let mirrored = mirrored(schema, &arguments);
        let arguments = if arguments.is_nil() { Data::empty_dict() } else { arguments };
        let params = Data::dict([("name", Data::from(name)), ("arguments", arguments)]);
        let result = self.request("tools/call", params, &mirrored, observer).await?;
        if result.get("content").as_list().is_some() || !result.get("structuredContent").is_nil() {
            return Ok(result);
        }
        Err(self.invalid(&format!("the result of `{name}` has no `content`")))
    }

    /// Returns the resources: `uri`, `name`, `title`, `description`, `mimeType`.
    ///
    /// # Errors
    /// The list cannot be read.
    pub async fn resources(&self) -> Result<Vec<Data>, McpError> {
        let info = self.connect().await?;
        if info.has("resources") { self.list("resources/list", "resources").await } else { Ok(Vec::new()) }
    }

    /// Returns the templates of resources: `uriTemplate`, `name`, `title`, `description`, `mimeType`.
    ///
    /// # Errors
    /// The list cannot be read.
    pub async fn resource_templates(&self) -> Result<Vec<Data>, McpError> {
        let info = self.connect().await?;
        if !info.has("resources") {
            return Ok(Vec::new());
        }
        match self.list("resources/templates/list", "resourceTemplates").await {
            // A server with resources need not have templates.
            Err(error) if error.kind == McpErrorKind::Answer => Ok(Vec::new()),
            listed => listed,
        }
    }

    /// Returns the contents of a resource: a list of `{uri, mimeType, text | blob}`.
    ///
    /// # Errors
    /// The resource cannot be read.
    pub async fn read_resource(&self, uri: &str, observer: &dyn CallObserver) -> Result<Vec<Data>, McpError> {
        let result = self.request("resources/read", Data::dict([("uri", Data::from(uri))]), &[], observer).await?;
        let contents = result.get("contents").as_list().map(<[Data]>::to_vec);
        contents.ok_or_else(|| self.invalid(&format!("the resource {uri} has no `contents`")))
    }

    /// Returns the prompts: `name`, `title`, `description`, `arguments`.
    ///
    /// # Errors
    /// The list cannot be read.
    pub async fn prompts(&self) -> Result<Vec<Data>, McpError> {
        let info = self.connect().await?;
        if info.has("prompts") { self.list("prompts/list", "prompts").await } else { Ok(Vec::new()) }
    }

    /// Returns a prompt: `{description, messages}`, each message with `role` and `content`.
    ///
    /// # Errors
    /// The prompt cannot be read.
    pub async fn prompt(&self, name: &str, arguments: Data, observer: &dyn CallObserver) -> Result<Data, McpError> {
        let arguments = if arguments.is_nil() { Data::empty_dict() } else { arguments };
        let params = Data::dict([("name", Data::from(name)), ("arguments", arguments)]);
        let result = self.request("prompts/get", params, &[], observer).await?;
        match result.get("messages").as_list() {
            Some(_) => Ok(result),
            None => Err(self.invalid(&format!("the prompt `{name}` has no `messages`"))),
        }
    }

    /// Sends any other request, without a user.
    ///
    /// # Errors
    /// The request failed.
    pub async fn ask(&self, method: &str, params: Data) -> Result<Data, McpError> {
        self.request(method, params, &[], &SilentObserver).await
    }

    /// Ends the connection, if one is open. The next request opens a new one.
    pub async fn close(&self) {
        let current = self.current.borrow_mut().take();
        if let Some(connection) = current {
            connection.close().await;
        }
    }

    async fn list(&self, method: &str, key: &str) -> Result<Vec<Data>, McpError> {
        self.pages(method, key).await.map(|(entries, _)| entries)
    }

    /// Returns the entries of a list, and the reason if it was ended though the server promised more.
    async fn pages(&self, method: &str, key: &str) -> Result<(Vec<Data>, Option<String>), McpError> {
        let mut pages = Pages::default();
        let mut cursor = None::<Arc<str>>;
        let cut = |pages: Pages, why: String| {
            tracing::warn!(server = &*self.settings.name, "{why}");
            Ok((pages.into_entries(), Some(why)))
        };
        for _ in 0..MAX_PAGES {
            let params = Data::dict_of_present([("cursor", Data::from(cursor.clone()))]);
            let page = match self.request(method, params, &[], &SilentObserver).await {
                Ok(page) => page,
                // Servers whose language has no null write an empty cursor at the end, and do not take it.
                Err(error) if error.kind == McpErrorKind::Answer && cursor.as_deref() == Some("") => {
                    return cut(pages, format!("`{method}` ends with an empty cursor, which the server refuses"));
                }
                Err(error) => return Err(error),
            };
            let Some(items) = page.get(key).as_list() else {
                return Err(self.invalid(&format!("the result of `{method}` has no list `{key}`")));
            };
            let next = pages.take(items, page.get("nextCursor"));
            if pages.len() > MAX_ENTRIES {
                return Err(self.invalid(&format!("`{method}` lists more than {MAX_ENTRIES} entries")));
            }
            cursor = match next {
                NextPage::Cursor(next) => Some(next),
                NextPage::End => return Ok((pages.into_entries(), None)),
                NextPage::Repeated(what) => return cut(pages, format!("`{method}` returns {what} again")),
            };
        }
        Err(self.invalid(&format!("`{method}` has more than {MAX_PAGES} pages")))
    }

    fn invalid(&self, why: &str) -> McpError {
        let message = format!("MCP server `{}` sent an invalid response: {why}", self.settings.name);
        McpError::new(McpErrorKind::Protocol, message)
    }
}
