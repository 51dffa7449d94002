//! `channel.open`: a channel to the daemon that serves the script. `connection` has what it does.

pub(super) mod connection;

use super::a2a::settings::credential;
use crate::channel::{ChannelRequest, ChannelValue, of_refusal};
use crate::codes::ScriptChannelCode;
use crate::here;
use crate::options::{ChannelOptions, OptionReader, OptionSet, OptionWord};
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode, Wait};

lang::builtins! { "channel" =>
    /// Opens a channel to the daemon that serves this script, without a network. It is a channel of its own with the scopes `can`,
    /// for the sessions of this session's account, or the enrolled channel whose `secret` is given.
    waits "open(options: ChannelOptions = nil) -> ChannelConnection" open;
}

fn open(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let reader = OptionReader::new::<ChannelOptions>(args, 0)?;
    let options = ChannelOptions::of(cx, &reader)?;
    let world = here::world(cx)?;
    let hosting = world.hosting.as_ref();
    let Some((hosting, host)) = hosting.and_then(|hosting| Some((hosting, hosting.channels.clone()?))) else {
        let message = "cannot open a channel: this script is not served by a daemon";
        return Err(Raise::error(ScriptChannelCode::NoDaemon, message).help("start it with `harn serve channels FILE`"));
    };
    let secret = credential(
        cx,
        0,
        [("secret", &options.secret), ("secret_env", &options.secret_env)],
        ScriptChannelCode::Credentials,
    )?;
    if let Some(key) = ["name", "role", "can"].into_iter().find(|key| secret.is_some() && reader.has(key)) {
        let message = format!("`{key}` cannot be used with the secret of an enrolled channel");
        return Err(Raise::error(RunCode::Value, message)
            .about(0, format!("both a secret and `{key}`"))
            .help(format!("remove `{key}`: the enrolment determines it")));
    }
    let session_id = hosting.session_id.clone();
    let request = ChannelRequest {
        session_id: session_id.clone(),
        secret,
        name: options.name,
        role: options.role.map(|role| role.word().into()),
        scopes: options.can.unwrap_or_default(),
    };
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        let channel = host.open(request).await.map_err(of_refusal)?;
        Ok(ChannelValue::value(channel, session_id))
    }))
}
