//! `harn mcp`: stores the tools of the project's MCP servers, so that scripts are checked against them; logs in and out.

use crate::report::{Format, show};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use stdlib::output::Terminal;
use stdlib::{Diagnostic, Engine, Project, RunOptions};

#[derive(clap::Subcommand)]
pub(crate) enum McpCommand {
    /// Store the tools of the servers in harn.toml, for `harn check` and for runs
    Sync(SyncArgs),
    /// Log in to a server behind a URL, and store its token for later runs
    Login(LoginArgs),
    /// Remove the stored token of a server
    Logout(LogoutArgs),
}

#[derive(clap::Args)]
pub(crate) struct SyncArgs {
    /// Servers to ask [default: all of the project]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

#[derive(clap::Args)]
pub(crate) struct LoginArgs {
    /// Server in harn.toml
    name: String,
    /// URL of a server that is not in harn.toml
    #[arg(long)]
    url: Option<String>,
    /// Print the address of the login, and do not open a browser
    #[arg(long)]
    no_browser: bool,
}

#[derive(clap::Args)]
pub(crate) struct LogoutArgs {
    /// Server in harn.toml
    name: String,
    /// URL of a server that is not in harn.toml
    #[arg(long)]
    url: Option<String>,
}

pub(crate) fn run(command: McpCommand) -> i32 {
    let done = match command {
        McpCommand::Sync(args) => sync(args),
        McpCommand::Login(args) => login(&args),
        McpCommand::Logout(args) => logout(&args),
    };
    done.unwrap_or_else(|found| {
        show(&Terminal, &found, Format::Text);
        1
    })
}

/// Returns an engine that knows the servers of the project in the working folder, and the file of the project.
fn engine() -> Result<(Engine, Option<PathBuf>), Vec<Diagnostic>> {
    // The project of a script in the working directory.
    let script = Path::new("main.harn");
    let project = Project::of(script)?;
    if let Some(warning) = &project.warning {
        show(&Terminal, std::slice::from_ref(warning), Format::Text);
    }
    let options = RunOptions { mcp_servers: project.mcp_servers, denied: project.denied, ..RunOptions::default() };
    Ok((Engine::new(options), Project::file_of(script)))
}

/// Prints a line of the result. A reader that closed the pipe is not an error.
fn say(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn login(args: &LoginArgs) -> Result<i32, Vec<Diagnostic>> {
    let (engine, _) = engine()?;
    let open = |url: &str| {
        eprintln!("open this address in a browser on this machine to log in to `{}`:\n{url}", args.name);
        if !args.no_browser {
            open_browser(url);
        }
    };
    let scopes = engine.login_mcp_server(&args.name, args.url.as_deref(), &open).map_err(|found| vec![*found])?;
    match scopes {
        None => say(format_args!("{}: no login is needed, the client credentials are accepted", args.name)),
        Some(scopes) if scopes.is_empty() => say(format_args!("{}: logged in", args.name)),
        Some(scopes) => say(format_args!("{}: logged in, with the scopes {}", args.name, scopes.join(", "))),
    }
    Ok(0)
}

fn logout(args: &LogoutArgs) -> Result<i32, Vec<Diagnostic>> {
    let (engine, _) = engine()?;
    let was = engine.logout_mcp_server(&args.name, args.url.as_deref()).map_err(|found| vec![*found])?;
    say(format_args!("{}: {}", args.name, if was { "logged out" } else { "was not logged in" }));
    Ok(0)
}

/// Opens a URL, which was checked to be one of http or https. Without a browser, the user opens it.
fn open_browser(url: &str) {
    let system = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let program = std::env::var("BROWSER").ok().filter(|program| !program.trim().is_empty());
    let program = program.as_deref().unwrap_or(system);
    let started =
        Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Ok(mut child) = started {
        // Some browsers stay in the foreground.
        std::thread::spawn(move || child.wait());
    }
}

fn sync(args: SyncArgs) -> Result<i32, Vec<Diagnostic>> {
    let (engine, file) = engine()?;
    let Some(file) = file else {
        eprintln!("error: no `harn.toml` found in this folder or above it; describe servers in `[mcp.servers.NAME]`");
        return Ok(1);
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = if args.names.is_empty() { engine.mcp_servers() } else { args.names };
    if names.is_empty() {
        eprintln!("error: `{}` describes no MCP servers in `[mcp.servers.NAME]`", file.display());
        return Ok(1);
    }
    let mut code = 0;
    for name in names {
        match engine.sync_mcp_server(&name, folder) {
            Ok(synced) => {
                show(&Terminal, &synced.warnings, Format::Text);
                let tools = if synced.tools == 1 { "tool" } else { "tools" };
                say(format_args!("{name}: {} {tools}, in {}", synced.tools, synced.file.display()));
            }
            Err(found) => {
                show(&Terminal, &[*found], Format::Text);
                code = 1;
            }
        }
    }
    Ok(code)
}
