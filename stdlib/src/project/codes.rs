//! The catalogue of a project's settings.

use lang::codes;

codes! {
/// The codes of settings: `harn.toml` and those of the user.
pub(crate) enum ProjectCode {
    /// The file is not valid TOML.
    NotToml = "HARN-CFG-001", Error {
        title: "a `harn.toml` that is no TOML",
        meaning: "The file beside the script or above it cannot be read as TOML, so nothing is run: its limits would be \
                  missing.",
    },
    /// A key that does not exist.
    Key = "HARN-CFG-002", Error {
        title: "a key that `harn.toml` does not have",
        meaning: "The file may hold `[limits]` with `fuel`, `depth`, `memory`, `timeout` and `deny`, `[capabilities]` with \
                  `deny`, `[[capabilities]]` rows about models, and `[event_log]` with `home`, `synchronous`, \
                  `lock_timeout`, `max_file`, `keep_records` and `keep_bytes`, `[hooks]` with `timeout_ms`, `[reminders]` with `max_body`, `[fmt]` with `width`, `[agent]` with what an agent says of itself, `[providers]` with `packs`, and `[providers.NAME]` with `base_url` and `key_env`. A misspelt limit would be no limit.",
    },
    /// A value that makes no sense.
    Value = "HARN-CFG-003", Error {
        title: "a value in `harn.toml` that makes no sense",
        meaning: "`fuel` and `depth` are whole numbers above 0, `memory` and `max_body` are sizes such as \"512 MiB\", `timeout` a time such \
                  as \"30s\", `timeout_ms` a whole number, `width` a number of columns from 20 to 1000, `deny` a list of rights: fs.read, fs.write, process, net, env, llm. Of `[event_log]`, `synchronous` is \
                  \"normal\" or \"full\", `lock_timeout` a time, `max_file` and `keep_bytes` are sizes, `keep_records` is a \
                  number. `[agent]` holds texts, URLs of http or https, and skills that have an `id` each.",
    },
    /// It cannot be read.
    Unreadable = "HARN-CFG-004", Error {
        title: "a `harn.toml` that cannot be read",
        meaning: "There is such a file beside the script or above it, and it may not be read, or is no UTF-8 text.",
    },
    /// A row about models has a fault.
    Models = "HARN-CFG-005", Error {
        title: "what is said of models or providers has a fault",
        meaning: "Each `[[capabilities]]` row in `harn.toml` names a `provider`, a glob of models, and what they can take. \
                  Each `[providers.NAME]` says where a provider lives: `base_url`, and `key_env`, the variable that holds its \
                  key, never the key itself. Such a variable ends in `_KEY` or `_TOKEN`.",
    },
    /// Settings of a folder that is not trusted.
    Untrusted = "HARN-CFG-006", Warning {
        title: "settings of an untrusted folder",
        meaning: "A `harn.toml` can come from anybody. Until you run `harn trust` in its folder it may lower limits and deny \
                  capabilities; it may not name servers, keys, packs, the address of an agent or an event log outside of \
                  its folder, nor raise a limit. The warning lists the settings that were ignored. Trust holds for the file as it \
                  is: after each change it is given anew.",
    },
    /// The record of trust cannot be read or written.
    Record = "HARN-CFG-007", Error {
        title: "a record of trusted folders that cannot be used",
        meaning: "`harn trust` keeps its record in the folder of your settings: `HARN_CONFIG_HOME`, else `harn` in \
                  `XDG_CONFIG_HOME`, else `~/.config/harn`. The message says what the system said.",
    },
    /// The settings have an error.
    Settings = "HARN-CFG-008", Error {
        title: "invalid user settings",
        meaning: "`config.toml` in the folder of your settings holds `[keys]`: for an origin, the variables whose keys may go \
                  there. It is read when a trusted `harn.toml` says where providers live.",
    },
}
}
