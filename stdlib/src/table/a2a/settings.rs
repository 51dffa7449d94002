//! The address of a peer and the settings of a call, from its arguments.

use crate::Capability;
use crate::a2a::client::{Access, Peer, PeerCode, REMINDERS, address};
use crate::fault::of_peer;
use crate::options::OptionReader;
use crate::world::World;
use a2a::Version;
use lang::builtins::args;
use lang::diagnostic::code::CodeRef;
use lang::value::{Value, article};
use lang::vm::{Cx, Raise, RunCode};
use runtime::clock::Clock;
use std::sync::Arc;

/// The default timeout of an answer, in milliseconds.
pub(super) const TIMEOUT_MS: u64 = 30_000;
/// The default timeout of a task, in milliseconds.
pub(super) const SEND_TIMEOUT_MS: u64 = 600_000;
/// The longest silence in a stream where nothing is said, in milliseconds.
pub(super) const SILENCE_MS: u64 = 300_000;

/// The settings of a call of a peer.
pub(super) struct PeerSettings {
    pub(super) access: Access,
}

impl PeerSettings {
    /// Reads the URL, which is the first argument, and the options that all calls have.
    pub(super) fn read(
        cx: &Cx<'_>,
        args: &[Value],
        reader: &OptionReader<'_>,
        timeout_ms: u64,
    ) -> Result<PeerSettings, Box<Raise>> {
        let version = match reader.text("version")? {
            None => None,
            Some(word) => Some(Version::of_header(&word).ok_or_else(|| {
                let message = format!("`version` must be \"1.0\" or \"0.3\", found {word:?}");
                Raise::error(lang::check::CheckCode::Type, message).about(reader.arg(), "invalid `version`")
            })?),
        };
        let access = Access {
            url: Arc::from(args::str(args, 0)?.as_str()),
            token: token(cx, reader)?,
            headers: headers(reader)?,
            trusted: trusted(reader)?,
            timeout_ms: reader.count("timeout_ms")?.unwrap_or(timeout_ms),
            version,
            extensions: reader.texts("extensions")?,
        };
        Ok(PeerSettings { access })
    }

    /// Requests notifications of reminders.
    pub(super) fn wants_reminders(&mut self) {
        let asked = &mut self.access.extensions;
        if !asked.iter().any(|uri| &**uri == REMINDERS) {
            asked.push(REMINDERS.into());
        }
    }
}

/// Returns the trusted origins; rejects an invalid one, which would silently trust nothing.
fn trusted(reader: &OptionReader<'_>) -> Result<Vec<Arc<str>>, Box<Raise>> {
    let trusted = reader.texts("trust")?;
    match trusted.iter().find(|origin| address(origin).is_err()) {
        None => Ok(trusted),
        Some(origin) => {
            Err(Raise::error(PeerCode::Unsendable, format!("`trust` contains `{origin}`, which is not an origin"))
                .about(reader.arg(), "invalid `trust`")
                .help("write it with its scheme, and its port if it has one: `https://agent.example.com:8443`"))
        }
    }
}

pub(crate) fn token(cx: &Cx<'_>, reader: &OptionReader<'_>) -> Result<Option<Arc<str>>, Box<Raise>> {
    credential(cx, reader, ["token", "token_env"], PeerCode::Unsendable)
}

/// Reads a secret from an option, or from the variable that another option names. `unset` is the code for a variable that is not
/// set, and for both options at once.
pub(crate) fn credential(
    cx: &Cx<'_>,
    reader: &OptionReader<'_>,
    [key, env_key]: [&str; 2],
    unset: impl Into<CodeRef>,
) -> Result<Option<Arc<str>>, Box<Raise>> {
    let (given, variable) = (reader.text(key)?, reader.text(env_key)?);
    let Some(variable) = variable else { return Ok(given) };
    let invalid = |code: CodeRef, message: String| {
        Raise::error(code, message).about(reader.arg(), format!("invalid `{env_key}`"))
    };
    if given.is_some() {
        let message = format!("`{key}` and `{env_key}` cannot be used together");
        return Err(invalid(unset.into(), message).help("remove one of them"));
    }
    if cx.isolate.is_denied(Capability::Env) {
        let message = format!("`{env_key}` needs the capability `env`, which this run does not have");
        return Err(invalid(RunCode::Denied.into(), message)
            .help(format!("run without `--deny` for this capability, or pass a `{key}`")));
    }
    match std::env::var(&*variable) {
        Ok(text) if !text.trim().is_empty() => Ok(Some(text.trim().into())),
        _ => {
            let message = format!("`{env_key}` names the variable `{variable}`, which is not set");
            Err(invalid(unset.into(), message).help("set it before you start the run"))
        }
    }
}

fn headers(reader: &OptionReader<'_>) -> Result<Vec<(String, String)>, Box<Raise>> {
    let given = reader.value("headers");
    if given.is_nil() {
        return Ok(Vec::new());
    }
    let wrong =
        |message: String| Raise::error(lang::check::CheckCode::Type, message).about(reader.arg(), "invalid `headers`");
    let Some(given) = given.as_dict() else {
        return Err(wrong(format!("`headers` must be a dict, found {}", article(given.type_name()))));
    };
    let header = |(name, value): (&lang::value::Str, &Value)| match value {
        Value::Str(value) => Ok((name.to_string(), value.to_string())),
        _ => Err(wrong(format!("the header `{name}` must be a string, not {}", article(value.type_name())))),
    };
    given.iter().map(header).collect()
}

/// A peer, once its card has been read.
pub(super) async fn peer_of(world: &World, access: Access) -> Result<Peer, Box<Raise>> {
    let card = world.services.peers.cards.get(&world.services.web, &access, world.clock.now_ms()).await;
    Ok(Peer { card: card.map_err(|error| of_peer(&error))?, access })
}
