//! Arguments of functions that a script hands over.

lang::option_tables! {
    /// The argument of a reminder provider: `E` is the payload of its events, `N` their names, and `C` its configuration.
    pub(super) PROVIDER_CONTEXT: "ProviderContext" {
        event: "N" = required, "The name of the event.";
        session: "transcript" = required, "The conversation at the event.";
        session_id: "string" = required, "The id of the session.";
        payload: "E" = required, "The payload of the event.";
        options: "any" = required, "The options of the loop, without functions.";
        config: "C" = required, "The configuration of the provider, with its defaults.";
    }

    /// The argument of `llm_caller`: what a model would be asked.
    pub(super) MODEL_QUESTION: "ModelQuestion" (open) {
        prompt: "any" = required, "The text of the last message of the user, or nil.";
        system: "any" = required, "The system text, or nil.";
        messages: "list<Message>" = required, "The conversation.";
        turn: "int" = required, "The number of the turn.";
        opts: "any" = required, "The options of the loop, without functions.";
    }

    /// The argument of a function that decides about a tool call.
    pub(super) PERMISSION_REQUEST: "PermissionRequest" (open) {
        tool: "string" = required, "The name of the tool.";
        args: "any" = required, "The arguments of the call.";
        tool_call_id: "string" = required, "The id of the call.";
        reason: "string" = required, "Why the call needs a decision.";
    }

    /// The argument of `elicit`: a question of an MCP server.
    pub(super) MCP_QUESTION: "McpQuestion" (open) {
        server: "string" = required, "The name of the server.";
        message: "string" = required, "The question.";
        schema: "any" = required, "The JSON Schema of the answer.";
    }

    /// A request that the mock of HTTP got.
    pub(super) HTTP_CALL: "HttpCall" (open) {
        method: "string" = required, "The method, in capitals.";
        url: "string" = required, "The whole URL.";
        path: "string" = required, "The path of the URL.";
        query: "dict" = required, "The values in the query. A name that occurs several times has a list.";
        headers: "dict" = required, "The headers, their names in small letters.";
        body: "any" = required, "The body: a string, or bytes if it is not UTF-8; nil if it is empty.";
    }

    /// The argument of `progress`: a report of an MCP server.
    pub(super) MCP_PROGRESS: "McpProgress" (open) {
        progress: "float" = required, "The progress so far.";
        total: "any", "The progress at the end.";
        message: "any", "A text about it.";
    }
}
