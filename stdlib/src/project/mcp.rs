//! `[mcp.servers.NAME]` of `harn.toml`.

use base::data::Data;

use super::settings::SettingsReader;
use crate::codes::ProjectCode;
use crate::mcp::{McpServerSpec, TOML_KEYS};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The keys of `[mcp]`.
pub(super) const KEYS: &[&str] = &["servers"];

impl SettingsReader<'_> {
    pub(super) fn mcp(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("servers", DeValue::Table(servers)) => {
                    for (name, server) in servers {
                        self.mcp_server(name, server);
                    }
                }
                ("servers", _) => {
                    let help = "write `[mcp.servers.NAME]` above the keys of each server";
                    self.wrong(ProjectCode::Value, value.span(), "`servers` must be a table".to_owned(), help);
                }
                (unknown, _) => self.unknown(unknown, key.span(), KEYS, "[mcp]"),
            }
        }
    }

    fn mcp_server(&mut self, name: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) {
        let DeValue::Table(table) = value.get_ref() else {
            let help = "write `[mcp.servers.NAME]` above the keys of the server";
            return self.wrong(ProjectCode::Value, value.span(), "a server must be a table".to_owned(), help);
        };
        let title = format!("[mcp.servers.{}]", name.get_ref());
        let mut data = Data::dict([("name", Data::from(name.get_ref().as_ref()))]);
        for (key, value) in table {
            let written = key.get_ref().as_ref();
            if !TOML_KEYS.contains(&written) {
                return self.unknown(written, key.span(), &TOML_KEYS, &title);
            }
            data.set(written, data_of(value.get_ref()));
        }
        let spec = match McpServerSpec::from_data(&data) {
            Ok(spec) => spec,
            Err(error) => {
                let entry = table.iter().find(|(key, _)| key.get_ref().as_ref() == error.key);
                let place = entry.map_or(name.span(), |(_, value)| value.span());
                let help = error.help.unwrap_or_else(|| {
                    "`[mcp.servers.NAME]` takes `command` with `args` and `env`, or `url` with `headers`".to_owned()
                });
                return self.wrong(ProjectCode::Value, place, error.message, &help);
            }
        };
        let target = [data.get("command"), data.get("url")].into_iter().find_map(Data::as_str).unwrap_or_default();
        let args = data.get("args").as_list().unwrap_or_default().iter().map(Data::to_text);
        let shown = args.fold(word(target), |line, arg| format!("{line} {}", word(&arg)));
        let setting = format!("mcp.servers.{}", name.get_ref());
        let counts = self.guard(&setting, name.span(), &shown);
        // Variables, folders and headers decide what the program or the server does as much as its name.
        for key in TOML_KEYS.iter().filter(|key| !["command", "args", "url"].contains(key)) {
            match data.get(key) {
                Data::Nil => {}
                Data::Dict(entries) => {
                    for (name, value) in entries.iter() {
                        self.guard_part(&format!("{setting}.{key}.{name}"), &value_text(value));
                    }
                }
                value => self.guard_part(&format!("{setting}.{key}"), &value_text(value)),
            }
        }
        if counts {
            self.project.mcp_servers.push(McpServerSpec { folder: Some(self.canonical.to_owned()), ..spec });
        }
    }
}

/// Returns an argument as a part of a line: in quotes if it is not one word.
fn word(text: &str) -> String {
    let is_word = !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c == '"');
    if is_word { text.to_owned() } else { format!("{text:?}") }
}

fn value_text(value: &Data) -> String {
    match value {
        Data::List(items) => items.iter().map(|item| word(&item.to_text())).collect::<Vec<_>>().join(" "),
        value => value.to_text().to_string(),
    }
}

fn data_of(value: &DeValue<'_>) -> Data {
    match value {
        DeValue::String(text) => Data::from(text.as_ref()),
        DeValue::Boolean(value) => Data::from(*value),
        DeValue::Integer(number) => match i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()) {
            Ok(number) => Data::from(number),
            Err(_) => Data::Nil,
        },
        DeValue::Float(number) => number.as_str().replace('_', "").parse::<f64>().map_or(Data::Nil, Data::from),
        DeValue::Datetime(date) => Data::from(date.to_string()),
        DeValue::Array(items) => Data::list(items.iter().map(|item| data_of(item.get_ref())).collect::<Vec<_>>()),
        DeValue::Table(table) => {
            Data::dict(table.iter().map(|(key, value)| (key.get_ref().as_ref(), data_of(value.get_ref()))))
        }
    }
}
