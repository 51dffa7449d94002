//! `harn serve a2a FILE`: a script as an agent for other agents.

use super::signals::signalled;
use super::{ServedScript, TlsArgs, raise_limit_of_files};
use crate::otel::Exporting;
use serve::a2a::{self, A2aCode, A2aLimits};
use serve::http::Token;
use std::time::Duration;
use stdlib::limits::parse_size;
use stdlib::{CodeRef, Diagnostic};

/// The default address; only this machine can reach it.
const USUAL: &str = "127.0.0.1:41241";

#[derive(clap::Args)]
pub(crate) struct ServeA2aArgs {
    #[command(flatten)]
    pub(super) script: ServedScript,
    /// Address to listen on: HOST:PORT, or only a port for 127.0.0.1; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = USUAL)]
    listen: String,
    /// Token that clients must send as `Authorization: Bearer TOKEN`. Other users of this machine can see it in the process list,
    /// so prefer the variable [env: HARN_A2A_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
    /// Public URL of the agent, as shown in its card [default: `url` under `[agent]` in harn.toml, else the listen address]
    #[arg(long, value_name = "URL", value_parser = url)]
    url: Option<String>,
    /// Origin whose web pages can send requests, for example https://example.com, or `*`; can be repeated
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    origins: Vec<String>,
    /// Form of the agent card for clients that name no version: `extension` works for clients of all versions and has
    /// `capabilities.reminders`; `1.0` has only the members of version 1.0; `rfc` is `extension`, and clients that name a version
    /// get `capabilities.reminders` too
    #[arg(long, value_name = "FORM", value_parser = ["extension", "1.0", "rfc"], default_value = "extension")]
    card: String,
    /// Maximum number of open tasks; further tasks are rejected [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_tasks: Option<u32>,
    /// Maximum size of a request body [default: 1m]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_body: Option<u64>,
    /// Maximum number of open connections [default: 4096]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: Option<u32>,
    /// Maximum number of open streaming connections [default: 2048]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_streams: Option<u32>,
}

/// Serves until a signal asks for the end.
pub(super) fn serve(args: ServeA2aArgs, exporting: Option<&Exporting>) -> Result<i32, Vec<Diagnostic>> {
    let listen = a2a::NAMES.resolve(&args.listen).map_err(|error| vec![a2a::cannot_listen(&error)])?;
    let token = token(args.token, a2a::NAMES.token, A2aCode::Token)?;
    let tls = args.tls.read(A2aCode::Tls)?;
    let mode = args.script.mode.as_str().into();
    let drain = Duration::from_secs(args.script.drain);
    let (served, mut agent) = args.script.served("a2a", exporting)?;
    if args.url.is_some() {
        agent.url = args.url;
    }
    let usual = A2aLimits::default();
    let bounds = A2aLimits {
        body: args.max_body.map_or(usual.body, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        connections: args.max_connections.unwrap_or(usual.connections),
        streams: args.max_streams.unwrap_or(usual.streams),
        tasks: args.max_tasks.map_or(usual.tasks, |most| most as usize),
        ..usual
    };
    let rfc_card = args.card == "rfc";
    let strict_card = args.card == "1.0";
    let (mode, origins) = (Some(mode), args.origins);
    let settings = a2a::A2aSettings { listen, token, tls, bounds, mode, agent, origins, rfc_card, strict_card, drain };
    raise_limit_of_files();
    let told = |at: &a2a::ListenAddresses| tracing::info!("listening on {}; the agent card is at {}", at.url, at.card);
    a2a::serve(served, settings, &told, &signalled)
}

/// Reads a token: that of the flag, else that of the variable, which does not appear in the list of processes. The
/// diagnostic of an invalid one has this code.
pub(super) fn token(
    flag: Option<String>,
    variable: &'static str,
    code: impl Into<CodeRef>,
) -> Result<Option<Token>, Vec<Diagnostic>> {
    let from_flag = flag.is_some();
    let Some(text) = flag.or_else(|| std::env::var_os(variable).map(|value| value.to_string_lossy().into_owned()))
    else {
        return Ok(None);
    };
    let token = Token::new(&text).map_err(|why| {
        let place = if from_flag { "--token" } else { variable };
        let help = "use a value that is hard to guess, such as the output of `openssl rand -hex 32`";
        vec![Diagnostic::new(code, format!("invalid token in {place}: {why}")).help(help)]
    })?;
    Ok(Some(token))
}

fn url(written: &str) -> Result<String, String> {
    let rest = written.strip_prefix("https://").or_else(|| written.strip_prefix("http://"));
    let is_url = rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace));
    is_url.then(|| written.to_owned()).ok_or_else(|| "it must start with https:// or http://".to_owned())
}
