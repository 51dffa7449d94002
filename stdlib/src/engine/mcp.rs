//! MCP servers of a project: storing their tools, logging in and out.

use super::Engine;
use crate::fault::as_diagnostic;
use crate::mcp::McpServers;
use crate::mcp::{named_server, of_mcp, skipped_notes, store_tools};
use lang::diagnostic::Diagnostic;
use lang::vm::RunCode;
use std::path::{Path, PathBuf};

/// A server whose tools were stored.
#[derive(Debug)]
pub struct SyncedServer {
    /// The number of its tools.
    pub tools: usize,
    /// The file.
    pub file: PathBuf,
    /// Warnings about tools that cannot be offered.
    pub warnings: Vec<Diagnostic>,
}

impl Engine {
    /// Returns the names of the MCP servers that the run knows.
    #[must_use]
    pub fn mcp_servers(&self) -> Vec<String> {
        McpServers::of(&self.world).names().iter().map(ToString::to_string).collect()
    }

    /// Asks an MCP server for its tools and stores them in the project at `folder`.
    ///
    /// # Errors
    /// The server is unknown or fails, or the file cannot be written.
    pub fn sync_mcp_server(&self, name: &str, folder: &Path) -> Result<SyncedServer, Box<Diagnostic>> {
        let server = named_server(&self.isolate, &self.world, name, 0).map_err(|raise| raise.to_diagnostic())?;
        let list = self.of_server(name, async {
            let list = server.client.tools().await;
            server.client.close().await;
            list
        })?;
        let file = store_tools(folder, name, &list)?;
        let warnings = skipped_notes(name, &list).iter().map(as_diagnostic).collect();
        Ok(SyncedServer { tools: list.tools.len(), file, warnings })
    }

    /// Logs the user in to the MCP server `name`, or to the one at `url`, and stores the token. `show` gets the URL that the
    /// user must open in a browser. Returns the scopes of the token; nothing if no user is needed.
    ///
    /// # Errors
    /// The server is unknown, offers no login, or the login failed.
    pub fn login_mcp_server(
        &self,
        name: &str,
        url: Option<&str>,
        show: &dyn Fn(&str),
    ) -> Result<Option<Vec<String>>, Box<Diagnostic>> {
        let target = McpServers::of(&self.world).login_of(name, url).map_err(|raise| raise.to_diagnostic())?;
        let scopes = self.of_server(name, target.authorizer.login(show))?;
        Ok((!target.is_service).then_some(scopes))
    }

    /// Removes the stored token of the MCP server `name`, or of the one at `url`. Returns whether there was one.
    ///
    /// # Errors
    /// The server is unknown, or the file cannot be removed.
    pub fn logout_mcp_server(&self, name: &str, url: Option<&str>) -> Result<bool, Box<Diagnostic>> {
        let target = McpServers::of(&self.world).login_of(name, url).map_err(|raise| raise.to_diagnostic())?;
        self.of_server(name, target.authorizer.logout())
    }

    fn of_server<T>(
        &self,
        name: &str,
        work: impl Future<Output = Result<T, mcp::McpError>>,
    ) -> Result<T, Box<Diagnostic>> {
        match self.block_on(work) {
            Some(done) => done.map_err(|error| Box::new(of_mcp(name, &error).to_diagnostic())),
            None => Err(Box::new(Diagnostic::new(RunCode::Outside, "could not start the async runtime"))),
        }
    }
}
