//! A server that only answers.

use base::data::Data;
use std::io::{BufRead, Write};

/// The first argument that makes this executable the server; the second is the number of its tools.
pub(crate) const WORD: &str = "serve-mcp";

/// Answers each line until the input ends.
pub(crate) fn serve(tools: usize) {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line).is_ok_and(|read| read > 0) {
        let message = Data::from_json(&line).unwrap_or_default();
        line.clear();
        let id = message.get("id");
        if id.is_nil() {
            continue;
        }
        let result = match message.get("method").as_str().unwrap_or_default() {
            "initialize" => {
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}"#.to_owned()
            }
            "tools/list" => {
                let tool = |n: usize| {
                    format!(
                        r#"{{"name":"tool{n}","description":"Returns the text, as tool {n}.","inputSchema":{{"type":"object","properties":{{"text":{{"type":"string"}}}}}},"annotations":{{"readOnlyHint":true}}}}"#
                    )
                };
                format!(r#"{{"tools":[{}]}}"#, (0..tools).map(tool).collect::<Vec<_>>().join(","))
            }
            _ => r#"{"content":[{"type":"text","text":"done"}]}"#.to_owned(),
        };
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}\n", id.to_json());
        if output.write_all(answer.as_bytes()).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
