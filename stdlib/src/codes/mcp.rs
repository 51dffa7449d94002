//! The codes of MCP servers.

use lang::codes;

codes! {
/// The codes of MCP servers. Most need a server that fails, and a page starts none. `HARN-MCP-112` is among the codes of routes.
pub(crate) enum McpCode {
    /// A description that cannot be used.
    Description = "HARN-MCP-101", Error {
        title: "invalid description of an MCP server",
        meaning: "A server is described by `{name, command, args?, env?}` or by `{name, url, headers?}`. The name has 1 \
            to 32 letters, digits, `_` and `-`, because tools are called `NAME__tool`. In `harn.toml` the same keys are \
            in `[mcp.servers.NAME]`. The variables that `token_env` and `pass_env` name must be set.",
        fails: "mcp.connect({name: \"files\", command: \"npx\", url: \"https://mcp.example.com\"})\n",
        mended: "println(mcp.servers())\n",
    },
    /// A name that no server has.
    Unknown = "HARN-MCP-102", Error {
        title: "unknown MCP server",
        meaning: "A server is named before it is described. Describe it in `[mcp.servers.NAME]` of `harn.toml` in a \
            trusted folder, or pass its description once, for example to `mcp.connect`. `mcp.servers()` lists the \
            servers of the run.",
        fails: "mcp.connect(\"files\")\n",
        mended: "println(mcp.servers())\n",
    },
    /// A program that does not start.
    NotStarted = "HARN-MCP-103", Error {
        title: "MCP server could not be started",
        meaning: "The program of `command` was not found or is not executable. `command` is one program without a \
            shell; its arguments are in `args`.",
    },
    /// A server that ended.
    Ended = "HARN-MCP-104", Error {
        title: "MCP server ended",
        meaning: "The program ended, closed its output, or the session was closed by the server. The error's `stderr` \
            has the last lines of its standard error. The next call starts it again; after several failures in a row \
            only after a delay of up to 30 seconds.",
    },
    /// A server that cannot be reached.
    Unreachable = "HARN-MCP-105", Error {
        title: "MCP server cannot be reached",
        meaning: "The URL is invalid, the connection failed, or the HTTP status is an error. The error's `status` is the \
            HTTP status, if there is one. Redirects are followed only within the same origin.",
    },
    /// A server that takes too long.
    Timeout = "HARN-MCP-106", Error {
        title: "MCP server timed out",
        meaning: "The answer did not arrive within `timeout_ms`, by default 60 seconds; a report of progress starts the \
            time anew. The server is told to stop working on the request.",
    },
    /// A server that does not follow the protocol.
    Invalid = "HARN-MCP-107", Error {
        title: "invalid response from an MCP server",
        meaning: "The response does not have the form that the protocol requires, or is larger than 16 MiB. The message \
            says what is wrong.",
    },
    /// The two sides share no version of the protocol.
    NoVersion = "HARN-MCP-108", Error {
        title: "unsupported version of MCP",
        meaning: "The versions 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05 are supported.",
    },
    /// Credentials that are refused, or missing.
    Refused = "HARN-MCP-109", Error {
        title: "MCP server rejected the credentials",
        meaning: "The server answered 401 or 403. Pass a token with `token_env`, the name of the variable that holds \
            it, or with `headers`.",
    },
    /// An error of the server.
    Answer = "HARN-MCP-110", Error {
        title: "MCP server returned an error",
        meaning: "The server received the request and returned a JSON-RPC error. The error has its `rpc_code`, and \
            `data` if the server sent any. A tool that fails does not raise an error: its result has `ok: false`.",
    },
    /// A tool that the server does not have, or arguments that it does not take.
    Tool = "HARN-MCP-111", Error {
        title: "unknown tool of an MCP server, or invalid arguments",
        meaning: "The server does not list this tool, or the arguments do not match its schema. Nothing was called. \
            `tool_list(mcp.tools(server))` lists the tools with their parameters.",
    },
    /// A reminder that is dropped.
    Reminder = "HARN-MCP-113", Warning {
        title: "reminder of an MCP server dropped",
        meaning: "The server sent an invalid reminder, or more reminders in a minute than allowed (10, unless \
            `reminders: {per_minute}` says otherwise).",
    },
    /// A list that cannot be stored.
    Cache = "HARN-MCP-114", Error {
        title: "tools of an MCP server cannot be stored",
        meaning: "`harn mcp sync` writes the tools of each server to `.harn/mcp/NAME.json` next to `harn.toml`. The message \
            contains the reason that the system reported.",
    },
    /// A user who has to log in.
    Login = "HARN-MCP-115", Error {
        title: "MCP server requires a login",
        meaning: "The server issues tokens by OAuth, and there is none yet, the stored one is no longer valid, or it does \
            not cover the request. Run `harn mcp login NAME` in the project, or `harn mcp login NAME --url URL`, and start \
            the run again. A run does not open a browser by itself.",
    },
    /// A token that cannot be had.
    Authorization = "HARN-MCP-116", Error {
        title: "authorization of an MCP server failed",
        meaning: "The authorization server of the MCP server cannot be found, does not follow the rules of OAuth 2.1 that \
            protect a token (https, PKCE with S256, the same issuer everywhere), or refused the request. The message \
            says which of them. Nothing was sent to a server that is not the one it says it is.",
    },
    /// A list that does not end.
    EndlessList = "HARN-MCP-117", Warning {
        title: "list of an MCP server repeats itself",
        meaning: "The server returned a cursor or a page of its list of tools a second time, or refused its own empty cursor. \
            The list ends there: each tool that came before is offered once, and tools of later pages are missing.",
    },
}
}
