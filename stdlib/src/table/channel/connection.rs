//! The methods of a channel.

use crate::argument_size::{TooLarge, argument_size};
use crate::channel::{ChannelReply, ChannelStream, ChannelValue, of_refusal};
use crate::codes::ScriptChannelCode;
use crate::convert::{to_data, to_value};
use crate::here;
use crate::options::{ChannelActionOptions, ChannelEventsOptions, ChannelPageOptions, OptionSet};
use base::data::Data;
use lang::builtins::args;
use lang::value::{Stopped, Value};
use lang::vm::{Cx, Meter, Raise, Wait};
use std::time::Duration;

lang::builtins! { "<channel_connection>" =>
    /// Sends an action to a session, by default to that of this script, and returns `{actionId, status, result, repeated}` once it is
    /// recorded. The same `action_id` again returns the recorded result. A prompt is `accepted`; its turn follows as events.
    waits "act(connection: ChannelConnection, kind: \"open\" | \"load\" | \"prompt\" | \"inject\" | \"permit\" | \"cancel\" | \"mode\" | \"close\" | \"message\" | \"ack\" | \"heartbeat\", parameters: dict = nil, options: ChannelActionOptions = nil) -> ChannelReceipt" act;
    /// Yields the events of a session, by default of this script's, in the form and the order that every channel sees. It begins
    /// with a snapshot, or after the `sequence` of an event. A connection that falls behind ends with `channel.disconnected`.
    waits "events(connection: ChannelConnection, options: ChannelEventsOptions = nil) -> stream" events;
    /// Returns a page of the sessions that the channel reaches: `{sessionId, title, updatedAt, open}`, and the cursor of the next page.
    waits "sessions(connection: ChannelConnection, options: ChannelPageOptions = nil) -> ChannelSessionPage" sessions;
    /// Closes the channel and ends its streams. A channel that the script no longer holds is closed too.
    plain "close(connection: ChannelConnection) -> nil" close;
}

/// The maximum size of the arguments of a call, in bytes. The daemon may have a lower limit.
const MAX_BYTES: usize = 16 << 20;

/// The number of copies of an action on its way: as data, as a record, and as the JSON of both.
const COPIES: usize = 4;

/// Returns the channel in the first argument, if the others are not too large.
fn channel_of(args: &[Value]) -> Result<&ChannelValue, Box<Raise>> {
    let Some(value) = args.first().and_then(Value::as_host::<ChannelValue>) else {
        return Err(args::mismatch(args, 0, "a channel").help("open one with `channel.open()`"));
    };
    let size = argument_size(args, MAX_BYTES).map_err(|TooLarge { argument }| {
        Raise::error(ScriptChannelCode::Refused, format!("the arguments are larger than {MAX_BYTES} bytes"))
            .field("reason", "too_large")
            .about(argument, "too large for a channel")
    })?;
    Meter::start().room(size.saturating_mul(COPIES)).map_err(Stopped::raise)?;
    Ok(value)
}

/// Waits for a response of the daemon.
fn wait<T: 'static>(
    cx: &Cx<'_>,
    reply: ChannelReply<T>,
    read: impl FnOnce(T, &crate::world::World) -> Value + 'static,
) -> Result<Wait, Box<Raise>> {
    let world = here::world(cx)?;
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        let response = reply.await.map_err(of_refusal)?;
        Ok(read(response, &world))
    }))
}

fn act(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let own = channel_of(args)?;
    let kind = args::str(args, 1)?;
    let parameters = match args::opt_dict(args, 2)? {
        Some(_) => to_data(&args[2])?,
        None => Data::Nil,
    };
    let options = ChannelActionOptions::read(cx, args, 3)?;
    // An action that opens a session names none.
    let session = match options.session_id {
        None if !matches!(kind.as_str(), "open" | "heartbeat") => Some(own.session_id.clone()),
        named => named,
    };
    let action = Data::dict_of_present([
        ("kind", Data::from(kind.as_str())),
        ("actionId", options.action_id.into()),
        ("sessionId", session.into()),
        ("params", parameters),
    ]);
    wait(cx, own.channel.act(action), |response, _| to_value(&response))
}

fn events(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let own = channel_of(args)?;
    let options = ChannelEventsOptions::read(cx, args, 1)?;
    let session = options.session_id.unwrap_or_else(|| own.session_id.clone());
    let idle = options.idle_ms.map(Duration::from_millis);
    let channel = own.channel.clone();
    let reply = channel.events(session, options.after);
    wait(cx, reply, move |events, world| ChannelStream::value(events, world.clock.clone(), idle, channel))
}

fn sessions(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let channel = &channel_of(args)?.channel;
    let cursor = ChannelPageOptions::read(cx, args, 1)?.cursor;
    wait(cx, channel.sessions(cursor), |page, _| to_value(&page))
}

fn close(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    channel_of(args)?.channel.close();
    Ok(Value::Nil)
}
