//! The methods of sessions: each reads its parameters, calls the host, and then returns its response.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use base::data::Data;
use serde_json::{Value, json};

use super::connection::RequestCancellation;
use super::error::ErrorResponse;
use super::params::Params;
use super::peer::AcpPeer;
use super::servers::named_servers;
use super::{answer, content, mode};
use crate::host::{Host, HostError, NewSession, Prompt, SessionHandle};
use crate::store::{SessionSummary, StoreError, is_session};

/// The maximum number of sessions in a response to `session/list`.
const PAGE: usize = 100;

/// The state that the methods share.
#[derive(Clone)]
pub(crate) struct AcpSessions {
    pub(crate) host: Host,
    pub(crate) peer: Arc<AcpPeer>,
    /// The mode of new sessions.
    pub(crate) mode: Arc<str>,
}

impl AcpSessions {
    /// Handles `session/new`. Returns the session with the response: its events are not sent before the response is.
    pub(crate) async fn open(self, params: Value) -> Result<(Value, SessionHandle), ErrorResponse> {
        let new = new_session(&Params::of(&params)?, self.mode.clone())?;
        self.host.accepts()?;
        let handle = self.host.open(new).await?;
        let answer = json!({"sessionId": &**handle.id(), "modes": mode::state(&handle.mode())});
        Ok((answer, handle))
    }

    /// Handles `session/prompt`.
    pub(crate) async fn prompt(self, params: Value, cancellation: RequestCancellation) -> Result<Value, ErrorResponse> {
        let params = Params::of(&params)?;
        let handle = self.find(&params)?;
        let read = content::read(&params, "prompt")?;
        let metadata = content::meta(&params)?;
        self.host.accepts()?;
        let prompt = Prompt { text: read.text, message: read.message, metadata, ..Prompt::default() };
        let working = handle.prompt(prompt);
        tokio::pin!(working);
        let ended = tokio::select! {
            biased;
            ended = &mut working => ended,
            () = cancellation.cancelled() => {
                handle.cancel("the client cancelled the request");
                working.await
            }
        };
        self.peer.tell(handle.id());
        let used = self.peer.take_usage(handle.id());
        answer::of_prompt(&ended?, used)
    }

    /// Handles the notification `session/cancel`. An idle session has nothing to cancel.
    pub(crate) fn cancel(&self, params: &Value) -> Result<(), ErrorResponse> {
        let handle = self.find(&Params::of(params)?)?;
        handle.cancel("the client cancelled the prompt");
        Ok(())
    }

    /// Handles `session/set_mode`.
    pub(crate) fn set_mode(&self, params: &Value) -> Result<Value, ErrorResponse> {
        let params = Params::of(params)?;
        let handle = self.find(&params)?;
        handle.set_mode(mode::read(&params)?);
        Ok(json!({}))
    }

    /// Handles `session/close`.
    pub(crate) async fn close(self, params: Value) -> Result<Value, ErrorResponse> {
        let params = Params::of(&params)?;
        let id: Arc<str> = params.str("sessionId")?.into();
        self.host.close(&id).await?;
        self.peer.tell(&id);
        self.peer.forget(&id);
        Ok(json!({}))
    }

    /// Handles `session/load`, which sends all earlier events of the session before the response, and
    /// `session/resume`, which sends none.
    pub(crate) async fn again(self, params: Value, shows: bool) -> Result<Value, ErrorResponse> {
        let params = Params::of(&params)?;
        let id: Arc<str> = params.str("sessionId")?.into();
        // The metadata from the opening of the session stays; the servers are those of this request.
        let NewSession { cwd, mcp_servers, .. } = new_session(&params, self.mode.clone())?;
        let cwd = cwd.unwrap_or_default();
        if self.host.session(&id).is_err() {
            self.host.accepts()?;
            // The client knows the session, so its events need not wait.
            self.peer.announce(&id, cwd.clone());
        }
        let host = &self.host;
        let handle = match shows {
            true => host.load(&id, Some(cwd), mcp_servers).await,
            false => host.resume(&id, Some(cwd), mcp_servers).await,
        };
        match handle {
            Ok(handle) => {
                self.peer.tell(handle.id());
                Ok(json!({"modes": mode::state(&handle.mode())}))
            }
            Err(error) => {
                // Another request may be opening it.
                if host.session(&id).is_err() && !matches!(error, HostError::Exists(_)) {
                    self.peer.forget(&id);
                }
                Err(error.into())
            }
        }
    }

    /// Handles `session/list`: returns the stored sessions, open or not, newest first; without a store, the open ones.
    pub(crate) async fn list(self, params: Value) -> Result<Value, ErrorResponse> {
        let (cwd, after) = list_request(&params)?;
        if self.host.keeps_sessions() {
            let page = self.host.list(cwd.as_deref(), after).await?;
            let mut answer = json!({"sessions": page.rows.iter().map(stored).collect::<Vec<_>>()});
            if let Some(next) = page.next {
                answer["nextCursor"] = next.into();
            }
            return Ok(answer);
        }
        // A cursor is the id of a session, which may be closed by now.
        if let Some(cursor) = after.filter(|cursor| !is_session(cursor)) {
            return Err(HostError::Store(StoreError::Cursor(cursor.into())).into());
        }
        let mut found = self.host.sessions();
        let is_of_folder = |it: &SessionHandle| cwd.as_deref().is_none_or(|cwd| it.cwd() == Some(cwd));
        found.retain(|it| is_of_folder(it) && after.is_none_or(|after| &**it.id() > after));
        let next = (found.len() > PAGE).then(|| found[PAGE - 1].id().clone());
        let row = |it: &SessionHandle| json!({"sessionId": &**it.id(), "cwd": it.cwd().map(Path::to_string_lossy)});
        let mut answer = json!({"sessions": found.iter().take(PAGE).map(row).collect::<Vec<_>>()});
        if let Some(next) = next {
            answer["nextCursor"] = (*next).into();
        }
        Ok(answer)
    }

    /// Returns the session that a message names.
    pub(crate) fn find(&self, params: &Params<'_>) -> Result<SessionHandle, ErrorResponse> {
        Ok(self.host.session(params.str("sessionId")?)?)
    }
}

/// Reads the folder and the cursor of a request for a list, the only one that may omit its parameters.
pub(crate) fn list_request(params: &Value) -> Result<(Option<PathBuf>, Option<&str>), ErrorResponse> {
    static NONE: LazyLock<Value> = LazyLock::new(|| json!({}));
    let params = Params::of(if params.is_null() { &NONE } else { params })?;
    let cwd = params.optional_str("cwd")?.map(|_| params.absolute("cwd")).transpose()?;
    content::meta(&params)?;
    Ok((cwd.map(Path::to_owned), params.optional_str("cursor")?))
}

/// Returns a list entry for a session of the event log.
pub(crate) fn stored(row: &SessionSummary) -> Value {
    let mut told = json!({
        "sessionId": &*row.id,
        "cwd": row.cwd.as_deref().unwrap_or(Path::new("/")).to_string_lossy(),
        "updatedAt": stdlib::rfc3339(row.updated_at_ms),
    });
    if let Some(title) = &row.title {
        told["title"] = (**title).into();
    }
    told
}

/// Reads the parameters of a new session.
fn new_session(params: &Params<'_>, mode: Arc<str>) -> Result<NewSession, ErrorResponse> {
    let cwd = params.absolute("cwd")?;
    let (names, mcp_servers) = named_servers(params)?;
    let mut metadata = metadata(params)?;
    if !names.is_nil() {
        // Only the names: variables, headers and arguments may be secrets, and metadata is stored.
        metadata = with(metadata, "mcp_servers", names);
    }
    Ok(NewSession { cwd: Some(cwd.to_owned()), metadata, mcp_servers, mode: Some(mode), id: None })
}

/// Reads the metadata of a new session.
///
/// # Errors
/// A field is invalid.
pub(crate) fn metadata(params: &Params<'_>) -> Result<Data, ErrorResponse> {
    let metadata = content::meta(params)?;
    let more = params.strs("additionalDirectories")?;
    match more.is_empty() {
        true => Ok(metadata),
        false => Ok(with(metadata, "additional_directories", Data::list(more.into_iter().map(Data::from)))),
    }
}

fn with(metadata: Data, key: &str, value: Data) -> Data {
    let metadata = if metadata.is_nil() { Data::empty_dict() } else { metadata };
    metadata.with(key, value)
}
