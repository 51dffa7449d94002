//! `harn mcp sync`: stores the tools of the project's MCP servers, so that scripts are checked against them.

use crate::report::{Format, show};
use std::io::Write;
use std::path::Path;
use stdlib::output::Terminal;
use stdlib::{Engine, Project, RunOptions};

#[derive(clap::Subcommand)]
pub(crate) enum McpCommand {
    /// Store the tools of the servers in harn.toml, for `harn check` and for runs
    Sync(SyncArgs),
}

#[derive(clap::Args)]
pub(crate) struct SyncArgs {
    /// Servers to ask [default: all of the project]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub(crate) fn run(command: McpCommand) -> i32 {
    let McpCommand::Sync(args) = command;
    // The project of a script in the working directory.
    let script = Path::new("main.harn");
    let project = match Project::of(script) {
        Ok(project) => project,
        Err(found) => {
            show(&Terminal, &found, Format::Text);
            return 1;
        }
    };
    if let Some(warning) = &project.warning {
        show(&Terminal, std::slice::from_ref(warning), Format::Text);
    }
    let Some(file) = Project::file_of(script) else {
        eprintln!("error: no `harn.toml` found in this folder or above it; describe servers in `[mcp.servers.NAME]`");
        return 1;
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let engine =
        Engine::new(RunOptions { mcp_servers: project.mcp_servers, denied: project.denied, ..RunOptions::default() });
    let names = if args.names.is_empty() { engine.mcp_servers() } else { args.names };
    if names.is_empty() {
        eprintln!("error: `{}` describes no MCP servers in `[mcp.servers.NAME]`", file.display());
        return 1;
    }
    let mut code = 0;
    for name in names {
        match engine.sync_mcp_server(&name, folder) {
            Ok(synced) => {
                show(&Terminal, &synced.warnings, Format::Text);
                let tools = if synced.tools == 1 { "tool" } else { "tools" };
                // A reader that closed the pipe is not an error.
                let _ = writeln!(std::io::stdout(), "{name}: {} {tools}, in {}", synced.tools, synced.file.display());
            }
            Err(found) => {
                show(&Terminal, &[*found], Format::Text);
                code = 1;
            }
        }
    }
    code
}
