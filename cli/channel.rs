//! `harn channel`: enrols, lists and revokes the channels of an event log.

use crate::report::{Format, show};
use clap::builder::PossibleValuesParser;
use eventlog::SqliteLog;
use serve::channels::{
    Caller, ChannelCode, ChannelRegistry, ChannelScopes, EnrolledChannel, EnrolmentError, NewChannel, PeerRole, enrol,
    revoke,
};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use stdlib::limits::parse_time;
use stdlib::output::Terminal;
use stdlib::{Diagnostic, Project, from_core, rfc3339};

#[derive(clap::Subcommand)]
pub(crate) enum ChannelCommand {
    /// Enrol a channel, and print its secret once
    Add(AddArgs),
    /// List the channels, with their rights and their state
    List(ListArgs),
    /// Revoke a channel: a running server closes its connections within a second
    Revoke(RevokeArgs),
}

#[derive(clap::Args)]
struct LogOfChannels {
    /// Event log of the server: sqlite:PATH [default: HARN_EVENT_LOG, or `home` under `[event_log]` in harn.toml]
    #[arg(long, value_name = "BACKEND")]
    event_log: Option<String>,
}

#[derive(clap::Args)]
pub(crate) struct AddArgs {
    /// Name of the channel
    name: String,
    /// Role of the other side
    #[arg(long, value_name = "ROLE", value_parser = PossibleValuesParser::new(PeerRole::WORDS), default_value = PeerRole::Client.as_str())]
    role: String,
    /// Rights of the channel, separated by commas: view, prompt, inject, permit, permit:session, admin
    #[arg(long, value_name = "SCOPES", value_parser = scopes, default_value = "view")]
    can: ChannelScopes,
    /// Account whose sessions the channel can reach
    #[arg(long, value_name = "ACCOUNT", default_value = "local")]
    account: String,
    /// Time until the secret expires
    #[arg(long, value_name = "DURATION", value_parser = parse_time, default_value = "30d")]
    expires: Duration,
    #[command(flatten)]
    log: LogOfChannels,
}

#[derive(clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    log: LogOfChannels,
}

#[derive(clap::Args)]
pub(crate) struct RevokeArgs {
    /// Name or id of the channel
    name: String,
    #[command(flatten)]
    log: LogOfChannels,
}

pub(crate) fn run(command: ChannelCommand) -> i32 {
    let done = match command {
        ChannelCommand::Add(args) => add(args),
        ChannelCommand::List(args) => list(&args),
        ChannelCommand::Revoke(args) => revoked(&args),
    };
    match done {
        // A reader that closed the pipe is not an error.
        Ok(text) => {
            let _ = std::io::stdout().write_all(text.as_bytes());
            0
        }
        Err(found) => {
            show(&Terminal, &found, Format::Text);
            1
        }
    }
}

impl LogOfChannels {
    fn open(&self) -> Result<SqliteLog, Vec<Diagnostic>> {
        let project = Project::of(Path::new("main.harn"))?;
        show(&Terminal, project.warning.as_slice(), Format::Text);
        let of_environment = std::env::var("HARN_EVENT_LOG").ok();
        let log = project.log.said(&[self.event_log.as_deref(), of_environment.as_deref()])?;
        log.open_file()?.ok_or_else(|| {
            let message = "channels need an event log in a file, but the log is in memory";
            vec![Diagnostic::new(ChannelCode::NoLog, message).help("use `--event-log sqlite:PATH`")]
        })
    }
}

fn add(args: AddArgs) -> Result<String, Vec<Diagnostic>> {
    let log = args.log.open()?;
    let new = NewChannel {
        name: args.name,
        // Clap has let only these words pass.
        role: args.role.parse().unwrap_or(PeerRole::Client),
        scopes: args.can,
        account: args.account.into(),
        expires: args.expires,
    };
    let (channel, secret) = enrol(&log, new).map_err(refused)?;
    // Only the secret goes to standard output, so that a script can store it.
    eprintln!(
        "enrolled {} as {} until {}; the secret is shown only once:",
        channel.caller.name,
        channel.caller.id,
        rfc3339(channel.caller.expires_at_ms)
    );
    Ok(format!("{}\n", secret.text()))
}

fn list(args: &ListArgs) -> Result<String, Vec<Diagnostic>> {
    let registry = ChannelRegistry::read(&args.log.open()?).map_err(|error| refused(error.into()))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    Ok(registry.all().into_iter().map(|channel| row(channel, now)).collect())
}

fn row(channel: &EnrolledChannel, now_ms: u64) -> String {
    let EnrolledChannel { caller, is_revoked, .. } = channel;
    let Caller { id, name, role, account, scopes, expires_at_ms } = &**caller;
    let until = rfc3339(*expires_at_ms);
    let state = match channel.is_valid(now_ms) {
        true => format!("valid until {until}"),
        false if *is_revoked => "revoked".to_owned(),
        false => format!("expired at {until}"),
    };
    let can = scopes.words().collect::<Vec<_>>().join(",");
    // An account is any text.
    format!("{name}  {id}  {role}  account {account:?}  can {can}  {state}\n")
}

fn revoked(args: &RevokeArgs) -> Result<String, Vec<Diagnostic>> {
    let channel = revoke(&args.log.open()?, &args.name).map_err(refused)?;
    Ok(format!("revoked {} ({})\n", channel.caller.name, channel.caller.id))
}

fn refused(error: EnrolmentError) -> Vec<Diagnostic> {
    let message = error.to_string();
    vec![match error {
        EnrolmentError::Name(_) => {
            Diagnostic::new(ChannelCode::Description, message).help("use, for example, `phone` or `build-agent.2`")
        }
        EnrolmentError::Taken(name) => Diagnostic::new(ChannelCode::Description, message)
            .help(format!("use another name, or revoke it first with `harn channel revoke {name}`")),
        EnrolmentError::Unknown(_) => {
            Diagnostic::new(ChannelCode::Unknown, message).help("`harn channel list` shows the channels of the log")
        }
        EnrolmentError::Log(error) => Diagnostic::new(from_core(error.code()), message).help(error.help()),
    }]
}

fn scopes(written: &str) -> Result<ChannelScopes, String> {
    let scopes = ChannelScopes::parse(written).map_err(|unknown| match unknown.suggestion {
        Some(near) => format!("unknown right `{}`; did you mean `{near}`?", unknown.got),
        None => format!("unknown right `{}`; use {}", unknown.got, unknown.expected),
    })?;
    if scopes.is_empty() { Err("a channel needs at least one right, such as `view`".to_owned()) } else { Ok(scopes) }
}
