//! `hub.…`: connections to hubs. `connection` has what they do, `task` what a worker does with a task.

pub(super) mod connection;
pub(super) mod task;

use crate::capability::Capability;
use crate::codes::HubClientCode;
use crate::here;
use crate::hub::{ConnectSettings, HubConnection, HubValue, Transport, bounds};
use crate::options::{HubConnectOptions, OptionSet};
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise, RunCode, Wait};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

lang::builtins! { "hub" =>
    /// Connects to a hub over gRPC, such as one of `harn serve hub`. The connection acts as the agent that it registers, or as the
    /// option `agent`. `ca_file` has the certificates in PEM that an `https` hub must be signed by, in place of the system's. The connection is opened by the first request.
    waits "connect(url: string, options: HubConnectOptions = nil) -> Hub" [caps = &[Capability::Net.right()]] connect;
    /// A connection to the hub of this run, which is kept in memory and ends with the run. Each call returns another connection to
    /// the same hub.
    ///
    /// ```harn
    /// hub.local({agent: "me"}).agent // => "me"
    /// ```
    waits "local(options: HubConnectOptions = nil) -> Hub" local;
}

fn connect(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    bounds::check_size(args)?;
    let url: Arc<str> = args::str(args, 0)?.as_str().into();
    let options = HubConnectOptions::read(cx, args, 1)?;
    let world = here::world(cx)?;
    let ca = match &options.ca_file {
        None => None,
        Some(_) if cx.isolate.is_denied(Capability::FsRead) => {
            let message = "`ca_file` needs the capability `fs.read`, which this run does not have";
            return Err(Raise::error(RunCode::Denied, message).about(1, "invalid `ca_file`"));
        }
        Some(path) => Some(std::fs::read(world.path(path)).map_err(|error| {
            Raise::error(RunCode::Outside, format!("cannot read `{path}`: {error}")).about(1, "invalid `ca_file`")
        })?),
    };
    let token = super::a2a::token(cx, 1, &options.token, &options.token_env)?;
    let (agent, timeout) = (options.agent, options.timeout_ms.map(Duration::from_millis));
    Ok(Wait::new(async move {
        let transport = Transport::remote(&url, ca).map_err(|why| {
            Raise::error(HubClientCode::Unreachable, format!("cannot connect to `{url}`: {why}")).about(0, "this hub")
        })?;
        let output = world.console.output.clone();
        let settings = ConnectSettings { transport, url, token, agent, timeout, output };
        Ok(HubValue::value(Rc::new(HubConnection::new(settings))))
    }))
}

fn local(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    bounds::check_size(args)?;
    let options = HubConnectOptions::read(cx, args, 0)?;
    let (agent, timeout) = (options.agent, options.timeout_ms.map(Duration::from_millis));
    let world = here::world(cx)?;
    Ok(Wait::new(async move {
        let transport = Transport::local(&world.services.local_hub);
        let output = world.console.output.clone();
        let settings = ConnectSettings { transport, url: "local".into(), token: None, agent, timeout, output };
        Ok(HubValue::value(Rc::new(HubConnection::new(settings))))
    }))
}
