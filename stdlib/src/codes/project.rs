//! The catalogue of a project's settings.

use lang::codes;

codes! {
/// The codes of settings: `harn.toml` and those of the user.
pub(crate) enum ProjectCode {
    /// The file is not valid TOML.
    NotToml = "HARN-CFG-001", Error {
        title: "invalid TOML in `harn.toml`",
        meaning: "The file next to the script, or in a folder above it, is not valid TOML. Nothing was run, \
            because its limits would not apply.",
    },
    /// A key that does not exist.
    Key = "HARN-CFG-002", Error {
        title: "unknown key in `harn.toml`",
        meaning: "The file can contain `[limits]` with `fuel`, `depth`, `memory`, `timeout` and `deny`, \
            `[capabilities]` with `deny`, `[[capabilities]]` rows that describe models, `[event_log]` with `home`, \
            `synchronous`, `lock_timeout`, `max_file`, `keep`, `max_size`, `keep_records` and `keep_bytes`, `[hooks]` with \
            `timeout_ms`, `[reminders]` with `max_body`, `max_tokens`, `max_share`, `placement` and `files`, `[reminders.policy]` with `force`, `forbid_ids`, `forbid_tags`, `forbid_sources`, `mark_untrusted` and `sources`, `[fmt]` with `width`, `[channels]` with `orphan`, `heartbeat` and `permission_timeout`, `[agent]` with the contents of the agent card, \
            `[providers]` with `packs`, `[mcp.servers.NAME]` with the description of an MCP server, and `[providers.NAME]` with `base_url` and `key_env`. A misspelled limit \
            would not limit anything.",
    },
    /// A value that makes no sense.
    Value = "HARN-CFG-003", Error {
        title: "invalid value in `harn.toml`",
        meaning: "`fuel` and `depth` are integers above 0, `memory` and `max_body` are sizes such as \"512 MiB\", \
            `timeout` is a duration such as \"30s\", `max_tokens` is an integer above 0, `max_share` is a number up to 1, `timeout_ms` is an integer, `width` is a number of columns from 20 to 1000, and `deny` is a list of \
            capabilities: fs.read, fs.write, process, net, env, llm. In `[event_log]`, `synchronous` is \"normal\" \
            or \"full\", `lock_timeout` is a duration, `keep` is a duration or \"forever\", `max_size` is a size or \"unlimited\", \
            `max_file` and `keep_bytes` are sizes, and `keep_records` is a number. `[agent]` contains strings, http or https URLs, and skills that each have an `id`.",
    },
    /// It cannot be read.
    Unreadable = "HARN-CFG-004", Error {
        title: "`harn.toml` cannot be read",
        meaning: "There is a `harn.toml` next to the script or in a folder above it, but it cannot be read, or it \
            is not UTF-8 text.",
    },
    /// A row about models has a fault.
    Models = "HARN-CFG-005", Error {
        title: "invalid description of models or providers",
        meaning: "Each `[[capabilities]]` row in `harn.toml` names a `provider`, a glob of models, and what they \
            support. Each `[providers.NAME]` describes where a provider is reached: `base_url`, and `key_env`, the \
            name of the variable that holds its key, never the key itself. The name must end in `_KEY` or `_TOKEN`.",
    },
    /// Settings of a folder that is not trusted.
    Untrusted = "HARN-CFG-006", Warning {
        title: "settings of an untrusted folder ignored",
        meaning: "A `harn.toml` can come from an untrusted source. Until you run `harn trust` in its folder, it \
            can lower limits and deny capabilities, but it cannot name servers, keys, packs, MCP servers, the address of an \
            agent or an event log outside of its folder, force reminders or turn on reminder files, or raise a limit. The warning lists the \
            ignored settings. Trust applies to the current content of the file: after each change, run `harn \
            trust` again.",
    },
    /// The record of trust cannot be read or written.
    Record = "HARN-CFG-007", Error {
        title: "invalid record of trusted folders",
        meaning: "`harn trust` keeps its record in your settings folder: `HARN_CONFIG_HOME`, else `harn` in \
            `XDG_CONFIG_HOME`, else `~/.config/harn`. The message contains the reason that the system reported.",
    },
    /// The settings have an error.
    Settings = "HARN-CFG-008", Error {
        title: "invalid user settings",
        meaning: "`config.toml` in your settings folder contains `[keys]`: for each origin, the variables whose \
            keys may be sent there. It is read if a trusted `harn.toml` sets the addresses of providers.",
    },
}
}
