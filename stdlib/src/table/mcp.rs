//! `mcp.…`: tools, resources and prompts of MCP servers.

use super::task::say;
use super::tool::registry_of;
use crate::bind::offered;
use crate::convert::{to_data, to_value};
use crate::fault::of_reminder;
use crate::here;
use crate::hosting::{MCP_PROTOCOL, TaskUpdate};
use crate::lint;
use crate::mcp::{McpServer, McpServers, checked_call, of_mcp, offered_tools, server_of};
use crate::options::label_of;
use crate::tool_value::native_tool;
use crate::world::World;
use base::data::Data;
use lang::builtins::args;
use lang::value::{Dict, Str, Value};
use lang::vm::{Cx, Raise, RunCode, Wait};
use mcp::{Era, McpError, text_of};
use runtime::reminder::bridge::RemindPayload;
use std::rc::Rc;

lang::builtins! { "mcp" =>
    /// Starts or contacts an MCP server, unless the run has done so: `{name, protocol, era, server, capabilities, instructions}`.
    /// A server is `{name, command, args, env}`, `{name, url, headers}`, or the name of one that the run knows. It ends with
    /// the run.
    waits "connect(server: string | McpServer) -> {name: string, protocol: string, era: string, server: any, capabilities: any, instructions: any, ...}" connect;
    /// The names of the servers that the run knows: those of `harn.toml`, of the host, and those described so far.
    plain "servers() -> list<string>" servers;
    /// The tools of a server as a registry, for the option `tools` of loops and calls of models. Each is called `NAME__tool`.
    waits "tools(server: string | McpServer) -> dict" tools;
    /// Calls a tool by the name that the server has for it: `{ok, text, data, content}`. `data` is the structured result,
    /// or nil. Arguments that do not match the tool's schema raise an error.
    waits "call_tool(server: string | McpServer, name: string, arguments: dict = nil) -> {ok: bool, text: string, data: any, content: any, ...}" [lint = lint::call_tool] call_tool;
    /// The resources of a server: `{uri, name, title, description, mimeType}`; templates have `uriTemplate`.
    waits "resources(server: string | McpServer) -> list<any>" resources;
    /// Reads a resource: `{uri, text, contents}`. `text` joins the texts of its contents.
    waits "read(server: string | McpServer, uri: string) -> {uri: string, text: string, contents: list<any>, ...}" read;
    /// The prompts of a server: `{name, title, description, arguments}`.
    waits "prompts(server: string | McpServer) -> list<any>" prompts;
    /// Returns a prompt: `{description, text, messages}`. `messages` fits the option `messages` of a loop.
    waits "prompt(server: string | McpServer, name: string, arguments: dict = nil) -> {description: any, text: string, messages: list<any>, ...}" prompt;
    /// Sends a reminder to the client's agent, in a tool that `harn serve mcp` serves; else it is printed. The keys are those of
    /// a reminder, and `mode`.
    waits "remind(reminder: BridgeInjection) -> nil" [lint = lint::mcp_reminder] remind;
    /// Ends the connection to a server. The next use starts or contacts it again.
    waits "close(server: string | McpServer)" close;
}

/// Runs a request to the server in the first argument.
fn with_server<F, T>(cx: &Cx<'_>, args: &[Value], request: F) -> Result<Wait, Box<Raise>>
where
    F: FnOnce(Rc<World>, Rc<McpServer>) -> T + 'static,
    T: Future<Output = Result<Value, Box<Raise>>>,
{
    let world = here::world(cx)?;
    let server = server_of(cx, &world, &args[0], 0)?;
    Ok(Wait::new(async move {
        let _outside = world.clock.outside();
        request(world.clone(), server).await
    }))
}

fn failed(server: &McpServer) -> impl Fn(McpError) -> Box<Raise> {
    |error| of_mcp(&server.spec.name, &error).about(0, "this server")
}

fn connect(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    with_server(cx, args, |_, server| async move {
        let info = server.client.connect().await.map_err(failed(&server))?;
        let era = match info.era {
            Era::Sessions => "sessions",
            Era::Stateless => "stateless",
        };
        Ok(to_value(&Data::dict([
            ("name", Data::from(&server.spec.name)),
            ("protocol", (&info.version).into()),
            ("era", era.into()),
            ("server", info.implementation),
            ("capabilities", info.capabilities),
            ("instructions", info.instructions.into()),
        ])))
    })
}

fn servers(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    let names = McpServers::of(&*here::world(cx)?).names();
    Ok(Value::list(names.iter().map(|name| Value::str(name)).collect()))
}

fn tools(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    with_server(cx, args, |world, server| async move {
        let (tools, notes) = offered_tools(&server).await.map_err(failed(&server))?;
        notes.iter().for_each(|note| world.console.show(note));
        let mut registry = Dict::new();
        for tool in offered(&world, tools) {
            registry.insert(Str::new(&tool.spec().name), native_tool(tool));
        }
        Ok(registry_of(registry))
    })
}

fn call_tool(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let name = args::str(args, 1)?.to_string();
    let arguments = args.get(2).map_or(Ok(Data::Nil), to_data).map_err(|raise| raise.about(2, ""))?;
    with_server(cx, args, |_, server| async move {
        let result = checked_call(&server, &name, arguments).await?;
        Ok(to_value(&Data::dict([
            ("ok", Data::from(result.ok)),
            ("text", result.text.into()),
            ("data", result.data),
            ("content", result.content),
        ])))
    })
}

fn resources(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    with_server(cx, args, |_, server| async move {
        let mut all = server.client.resources().await.map_err(failed(&server))?;
        all.extend(server.client.resource_templates().await.map_err(failed(&server))?);
        Ok(to_value(&Data::list(all)))
    })
}

fn read(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let uri = args::str(args, 1)?.to_string();
    with_server(cx, args, |_, server| async move {
        let contents = server.client.read_resource(&uri, server.user()).await.map_err(failed(&server))?;
        let texts: Vec<&str> = contents.iter().filter_map(|content| content.get("text").as_str()).collect();
        let text = texts.join("\n");
        Ok(to_value(&Data::dict([
            ("uri", Data::from(uri.as_str())),
            ("text", text.into()),
            ("contents", Data::list(contents)),
        ])))
    })
}

fn prompts(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    with_server(cx, args, |_, server| async move {
        let prompts = server.client.prompts().await.map_err(failed(&server))?;
        Ok(to_value(&Data::list(prompts)))
    })
}

fn prompt(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    let name = args::str(args, 1)?.to_string();
    let arguments = args.get(2).map_or(Ok(Data::Nil), to_data).map_err(|raise| raise.about(2, ""))?;
    with_server(cx, args, |_, server| async move {
        let prompt = server.client.prompt(&name, arguments, server.user()).await.map_err(failed(&server))?;
        let message = |message: &Data| {
            let role = if message.get("role").as_str() == Some("assistant") { "assistant" } else { "user" };
            let text = text_of(std::slice::from_ref(message.get("content")));
            Data::dict([("role", Data::from(role)), ("content", text.into())])
        };
        let messages: Vec<Data> = prompt.get("messages").as_list().unwrap_or_default().iter().map(message).collect();
        let texts: Vec<&str> = messages.iter().filter_map(|message| message.get("content").as_str()).collect();
        let text = texts.join("\n\n");
        Ok(to_value(&Data::dict([
            ("description", prompt.get("description").clone()),
            ("text", text.into()),
            ("messages", Data::list(messages)),
        ])))
    })
}

fn close(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    with_server(cx, args, |_, server| async move {
        server.client.close().await;
        Ok(Value::Nil)
    })
}

fn remind(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Wait, Box<Raise>> {
    args::dict(args, 0)?;
    let reminder = to_data(&args[0]).map_err(|raise| raise.about(0, ""))?;
    let payload =
        RemindPayload::from_data(&reminder).map_err(|error| of_reminder(&error).about(0, label_of(&error)))?;
    let world = here::world(cx)?;
    if let Some(hosting) = &world.hosting
        && hosting.protocol != MCP_PROTOCOL
    {
        let message = format!("this script is served over {}, and only MCP clients take reminders", hosting.protocol);
        return Err(Raise::error(RunCode::Outside, message).help("call it only if `context.protocol` is \"mcp\""));
    }
    say(cx, TaskUpdate::Remind(Box::new(payload)))
}
