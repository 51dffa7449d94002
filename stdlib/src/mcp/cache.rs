//! Lists of tools that `harn mcp sync` has stored in a project: `check` reads them, and a loop need not start a server to know
//! its tools.

use base::data::Data;
use base::files;
use lang::diagnostic::Diagnostic;
use mcp::{ToolInfo, ToolList};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::codes::McpCode;

/// The folder of the lists, below that of `harn.toml`.
const FOLDER: &str = ".harn/mcp";
/// The largest list that is read.
const LARGEST: u64 = 16 << 20;
/// The version of the format.
const VERSION: i64 = 1;

/// Returns the file of a server's list in the project at `folder`.
pub(crate) fn cache_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(FOLDER).join(format!("{name}.json"))
}

/// Reads a stored list; nothing if there is none that can be used.
pub(crate) fn cached_tools(folder: &Path, name: &str) -> Option<ToolList> {
    let bytes = files::read(&cache_file(folder, name), LARGEST).ok()?;
    let stored = Data::from_json(std::str::from_utf8(&bytes).ok()?).ok()?;
    if stored.get("version").as_int() != Some(VERSION) {
        return None;
    }
    let entries = stored.get("tools").as_list()?;
    let tools = entries.iter().enumerate().filter_map(|(place, entry)| ToolInfo::read(entry, place).ok());
    Some(ToolList { tools: tools.map(Rc::new).collect(), skipped: Vec::new(), cut: None })
}

/// Stores a list. A reader sees the old one or the new one.
#[allow(clippy::result_large_err, reason = "once a server")]
pub(crate) fn store_tools(folder: &Path, name: &str, list: &ToolList) -> Result<PathBuf, Diagnostic> {
    let file = cache_file(folder, name);
    let tools: Vec<Data> = list.tools.iter().map(|tool| tool.to_data()).collect();
    let stored = Data::dict([("version", Data::from(VERSION)), ("server", name.into()), ("tools", Data::list(tools))]);
    let write = || -> io::Result<()> {
        fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
        let draft = file.with_extension("json.new");
        fs::write(&draft, stored.to_json_pretty() + "\n")?;
        fs::rename(draft, &file)
    };
    write().map(|()| file.clone()).map_err(|error| {
        Diagnostic::new(McpCode::Cache, format!("cannot write `{}`: {error}", file.display()))
            .help("the lists of tools are stored in `.harn/mcp` next to `harn.toml`")
    })
}
