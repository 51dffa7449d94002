//! The MCP servers that a client names when it opens or loads a session.

use base::data::Data;
use base::words::nearest;
use serde_json::Value;

use super::error::ErrorResponse;
use super::params::Params;

/// The kinds of servers that a client can name, beside programs, which have no `type`.
const KINDS: [&str; 3] = ["http", "sse", "stdio"];

/// Reads `mcpServers`. Returns the names and the servers, both nil without any. They are started or contacted when the
/// script uses them.
///
/// # Errors
/// An entry is not a server; without a refusal, it would only be missing.
pub(crate) fn named_servers(params: &Params<'_>) -> Result<(Data, Data), ErrorResponse> {
    const KEY: &str = "mcpServers";
    if params.get(KEY).is_none() {
        return Ok((Data::Nil, Data::Nil));
    }
    let servers = params.objects(KEY)?;
    if servers.is_empty() {
        return Ok((Data::Nil, Data::Nil));
    }
    for server in &servers {
        check(server)?;
    }
    let names = servers.iter().map(|server| server.str("name").map(Data::from)).collect::<Result<Vec<_>, _>>()?;
    let whole = servers.iter().map(|server| Data::from(Value::Object(server.object().clone())));
    Ok((Data::list(names), Data::list(whole)))
}

fn check(server: &Params<'_>) -> Result<(), ErrorResponse> {
    // A name that no tool can have is one that the script cannot use, which is logged.
    server.str("name")?;
    match server.optional_str("type")? {
        None | Some("stdio") => {
            if server.get("url").is_some() {
                return match server.get("command").is_some() {
                    true => Err(server.refuse("url", "cannot be used together with `command`")),
                    // Clients of earlier versions name no type.
                    false => check_url(server),
                };
            }
            filled(server, "command")?;
            server.strs("args")?;
            pairs(server, "env")
        }
        Some("http" | "sse") => check_url(server),
        Some(other) => {
            let shown: String = other.chars().take(80).collect();
            let words = KINDS.map(|kind| format!("`{kind}`")).join(", ");
            Err(server
                .refuse("type", &format!("is `{shown}`; it must be one of {words}"))
                .suggestion(nearest(other, KINDS)))
        }
    }
}

fn check_url(server: &Params<'_>) -> Result<(), ErrorResponse> {
    let url = filled(server, "url")?;
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(server.refuse("url", "must be an http or https URL"));
    }
    pairs(server, "headers")
}

fn filled<'a>(server: &Params<'a>, key: &str) -> Result<&'a str, ErrorResponse> {
    let text = server.str(key)?;
    if text.trim().is_empty() { Err(server.refuse(key, "is empty")) } else { Ok(text) }
}

/// Checks a list of names and values.
fn pairs(server: &Params<'_>, key: &str) -> Result<(), ErrorResponse> {
    if server.get(key).is_none() {
        return Ok(());
    }
    for pair in server.objects(key)? {
        filled(&pair, "name")?;
        pair.str("value")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(servers: &Value) -> Result<(Data, Data), ErrorResponse> {
        let params = json!({"mcpServers": servers});
        named_servers(&Params::of(&params).unwrap())
    }

    #[test]
    fn servers_of_each_kind_are_accepted() {
        let servers = json!([
            {"name": "files", "command": "npx", "args": ["-y"], "env": [{"name": "A", "value": ""}]},
            {"name": "bare", "command": "x"},
            {"type": "http", "name": "db", "url": "https://x.org/mcp", "headers": [{"name": "X", "value": "y"}]},
            {"type": "sse", "name": "old", "url": "http://x.org/", "headers": []},
            {"name": "no type", "url": "https://x.org/"},
        ]);
        let (names, whole) = read(&servers).unwrap();
        assert_eq!(names.to_json(), r#"["files","bare","db","old","no type"]"#);
        assert_eq!(whole.as_list().map(<[Data]>::len), Some(5));
        assert_eq!(read(&json!([])).unwrap(), (Data::Nil, Data::Nil));
    }

    #[test]
    fn a_broken_server_is_refused_with_its_field() {
        for (server, field) in [
            (json!(7), "mcpServers[0]"),
            (json!({}), "mcpServers[0].name"),
            (json!({"name": 7, "command": "x"}), "mcpServers[0].name"),
            (json!({"name": "a"}), "mcpServers[0].command"),
            (json!({"name": "a", "command": 7}), "mcpServers[0].command"),
            (json!({"name": "a", "command": " "}), "mcpServers[0].command"),
            (json!({"name": "a", "command": "x", "args": "y"}), "mcpServers[0].args"),
            (json!({"name": "a", "command": "x", "args": [7]}), "mcpServers[0].args[0]"),
            (json!({"name": "a", "command": "x", "env": {"A": "b"}}), "mcpServers[0].env"),
            (json!({"name": "a", "command": "x", "env": [{"name": "A"}]}), "mcpServers[0].env[0].value"),
            (json!({"name": "a", "command": "x", "env": [{"value": "b"}]}), "mcpServers[0].env[0].name"),
            (json!({"name": "a", "command": "x", "url": "https://x"}), "mcpServers[0].url"),
            (json!({"name": "a", "type": "htp", "url": "https://x"}), "mcpServers[0].type"),
            (json!({"name": "a", "type": "http"}), "mcpServers[0].url"),
            (json!({"name": "a", "type": "http", "url": "x"}), "mcpServers[0].url"),
            (json!({"name": "a", "type": "sse", "url": "https://x", "headers": [7]}), "mcpServers[0].headers[0]"),
        ] {
            let error = read(&json!([server])).unwrap_err().into_json();
            assert_eq!((&error["code"], &error["data"]["field"]), (&json!(-32602), &json!(field)), "{error}");
        }
    }
}
