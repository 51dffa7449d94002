//! Storing the tools of a project's MCP servers.

use super::Engine;
use crate::mcp::{named_server, of_mcp, skipped_notes, store_tools};
use crate::world::as_diagnostic;
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
        self.world.services.mcp.names().iter().map(ToString::to_string).collect()
    }

    /// Asks an MCP server for its tools and stores them in the project at `folder`.
    ///
    /// # Errors
    /// The server is unknown or fails, or the file cannot be written.
    pub fn sync_mcp_server(&self, name: &str, folder: &Path) -> Result<SyncedServer, Box<Diagnostic>> {
        let server = named_server(&self.isolate, &self.world, name, 0).map_err(|raise| raise.to_diagnostic())?;
        let asked = self.block_on(async {
            let list = server.client.tools().await;
            server.client.close().await;
            list
        });
        let Some(list) = asked else {
            return Err(Box::new(Diagnostic::new(RunCode::Outside, "could not start the async runtime")));
        };
        let list = list.map_err(|error| of_mcp(name, &error).to_diagnostic())?;
        let file = store_tools(folder, name, &list)?;
        let warnings = skipped_notes(name, &list).iter().map(as_diagnostic).collect();
        Ok(SyncedServer { tools: list.tools.len(), file, warnings })
    }
}
