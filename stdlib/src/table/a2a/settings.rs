//! The address of a peer and the settings of a call, from its arguments.

use crate::a2a::client::{Access, Peer, REMINDERS, address};
use crate::capability::Capability;
use crate::codes::PeerCode;
use crate::fault::of_peer;
use crate::options::{PeerAccess, PeerVersion};
use crate::world::World;
use a2a::Version;
use base::clock::Clock;
use lang::builtins::args;
use lang::diagnostic::code::CodeRef;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode};
use std::sync::Arc;

/// The settings of a call of a peer.
pub(super) struct PeerSettings {
    pub(super) access: Access,
}

impl PeerSettings {
    /// Reads the URL, which is the first argument, and the options that all calls have.
    pub(super) fn read(
        cx: &Cx<'_>,
        args: &[Value],
        arg: usize,
        options: &PeerAccess,
        timeout_ms: u64,
    ) -> Result<PeerSettings, Box<Raise>> {
        let version = options.version.map(|version| match version {
            PeerVersion::V1 => Version::V1_0,
            PeerVersion::V03 => Version::V0_3,
        });
        let access = Access {
            url: Arc::from(args::str(args, 0)?.as_str()),
            token: token(cx, arg, &options.token, &options.token_env)?,
            headers: options.headers.clone(),
            trusted: trusted(&options.trust, arg)?,
            timeout_ms,
            version,
            extensions: Vec::new(),
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
fn trusted(origins: &[Arc<str>], arg: usize) -> Result<Vec<Arc<str>>, Box<Raise>> {
    match origins.iter().find(|origin| address(origin).is_err()) {
        None => Ok(origins.to_vec()),
        Some(origin) => {
            Err(Raise::error(PeerCode::Unsendable, format!("`trust` contains `{origin}`, which is not an origin"))
                .about(arg, "invalid `trust`")
                .help("write it with its scheme, and its port if it has one: `https://agent.example.com:8443`"))
        }
    }
}

/// Reads a bearer token, from the options `token` and `token_env` in argument `arg`.
pub(crate) fn token(
    cx: &Cx<'_>,
    arg: usize,
    token: &Option<Arc<str>>,
    variable: &Option<Arc<str>>,
) -> Result<Option<Arc<str>>, Box<Raise>> {
    credential(cx, arg, [("token", token), ("token_env", variable)], PeerCode::Unsendable)
}

/// Reads a secret from an option, or from the variable that another option names. `unset` is the code for a variable that is not
/// set, and for both options at once.
pub(crate) fn credential(
    cx: &Cx<'_>,
    arg: usize,
    [(key, given), (env_key, variable)]: [(&str, &Option<Arc<str>>); 2],
    unset: impl Into<CodeRef>,
) -> Result<Option<Arc<str>>, Box<Raise>> {
    let Some(variable) = variable else { return Ok(given.clone()) };
    let invalid =
        |code: CodeRef, message: String| Raise::error(code, message).about(arg, format!("invalid `{env_key}`"));
    if given.is_some() {
        let message = format!("`{key}` and `{env_key}` cannot be used together");
        return Err(invalid(unset.into(), message).help("remove one of them"));
    }
    if cx.isolate.is_denied(Capability::Env) {
        let message = format!("`{env_key}` needs the capability `env`, which this run does not have");
        return Err(invalid(RunCode::Denied.into(), message)
            .help(format!("run without `--deny` for this capability, or pass a `{key}`")));
    }
    match std::env::var(&**variable) {
        Ok(text) if !text.trim().is_empty() => Ok(Some(text.trim().into())),
        _ => {
            let message = format!("`{env_key}` names the variable `{variable}`, which is not set");
            Err(invalid(unset.into(), message).help("set it before you start the run"))
        }
    }
}

/// A peer, once its card has been read.
pub(super) async fn peer_of(world: &World, access: Access) -> Result<Peer, Box<Raise>> {
    let card = world.services.peers.cards.get(&world.services.web, &access, world.clock.now_ms()).await;
    Ok(Peer { card: card.map_err(|error| of_peer(&error))?, access })
}
