//! MCP servers, as scripts describe them. `harn.toml` has the same keys.

lang::option_tables! {
    /// An MCP server: a program, or a URL.
    pub(crate) MCP_SERVER: "McpServer" {
        name: "string" = required, "The name of the server. Its tools are called `NAME__tool`.";
        command: "string", "The program of the server.";
        args: "list<string>" = [], "The arguments of the program.";
        env: "dict<string, string>" = {}, "Variables of the program's environment.";
        pass_env: "list<string>" = [], "Environment variables that the program inherits.";
        cwd: "string", "The working folder of the program.";
        url: "string", "The URL of the server, in place of a program.";
        headers: "dict<string, string>" = {}, "Additional headers.";
        token_env: "string", "Environment variable that holds the token.";
        oauth: "bool | McpOauth" = true, "How tokens are obtained if the server wants them; `false` asks for none.";
        tools: "list<string>", "The tools that are offered, by the names of the server. Default: all.";
        timeout_ms: "positive" = 60000, "Timeout of a request, in milliseconds. Progress starts it anew.";
        start_timeout_ms: "positive" = 60000, "Timeout of the start, in milliseconds.";
        protocol: "\"2026-07-28\" | \"2025-11-25\"", "The version to speak. Default: the newest that the server knows.";
        reminders: "bool | McpReminders" = false, "Whether the server may inject reminders into loops that use it.";
        elicit: "fn(McpQuestion) -> any", "Answers questions of the server: a dict, `true`, `false` or nil.";
        progress: "fn(McpProgress) -> any", "Called with each report of progress: `{progress, total, message}`.";
    }

    /// The way to tokens of an MCP server.
    pub(crate) MCP_OAUTH: "McpOauth" {
        client_id: "string", "Id of a client that is registered with the authorization server.";
        client_secret_env: "string", "Environment variable that holds the secret of the client.";
        client_metadata_url: "string", "https URL of a document that describes the client.";
        scopes: "list<string>", "Scopes to ask for. Default: those that the server names.";
        grant: "\"authorization_code\" | \"client_credentials\"" = "authorization_code", "`client_credentials` needs no login of a user.";
        redirect_port: "positive", "Port to which the browser returns after a login. Default: a free one.";
    }

    /// Limits of the reminders of an MCP server.
    pub(crate) MCP_REMINDERS: "McpReminders" {
        per_minute: "positive" = 10, "Maximum number of reminders in a minute.";
        allow_developer: "bool" = false, "Whether `role_hint: \"developer\"` is kept.";
    }
}
