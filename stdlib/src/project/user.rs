//! The user's own settings: `config.toml` in the configuration folder.
//!
//! ```toml
//! [keys]                         # where a vendor's key may go besides the vendor's own server
//! "https://gateway.example.com" = ["ANTHROPIC_API_KEY"]
//! ```

use crate::codes::ProjectCode;
use crate::trust::config_folder;
use base::files;
use lang::diagnostic::Diagnostic;
use providers::model::{AllowedKeys, parse_origin};
use std::io;
use std::path::Path;

/// The largest file that is read.
const LARGEST: u64 = 1 << 20;

/// Reads which keys the user lets go to which origins.
#[allow(clippy::result_large_err, reason = "once a run")]
pub(super) fn allowed_keys() -> Result<AllowedKeys, Diagnostic> {
    let Some(path) = config_folder().map(|folder| folder.join("config.toml")) else { return Ok(AllowedKeys::new()) };
    let bytes = match files::read(&path, LARGEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(AllowedKeys::new()),
        Err(error) => return Err(wrong(&path, &error.to_string())),
    };
    let text = String::from_utf8(bytes).map_err(|_| wrong(&path, "it is not UTF-8 text"))?;
    read(&text).map_err(|why| wrong(&path, &why))
}

fn read(text: &str) -> Result<AllowedKeys, String> {
    let whole: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    if let Some(unknown) = whole.keys().find(|key| *key != "keys") {
        return Err(format!("unknown table `{unknown}`; the only table is [keys]"));
    }
    let Some(keys) = whole.get("keys") else { return Ok(AllowedKeys::new()) };
    let keys = keys.as_table().ok_or("`keys` must be a table")?;
    let mut allowed = AllowedKeys::new();
    for (written, variables) in keys {
        let origin = parse_origin(written)?;
        let variables = variables.as_array().ok_or_else(|| format!("{written:?} must have a list of variables"))?;
        for variable in variables {
            let variable = variable.as_str().ok_or_else(|| format!("{written:?} must have a list of variables"))?;
            allowed.insert((origin.clone(), variable.to_owned()));
        }
    }
    Ok(allowed)
}

fn wrong(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::new(ProjectCode::Settings, format!("cannot use your settings `{}`: {why}", path.display()))
        .help("write `\"https://gateway.example.com\" = [\"ANTHROPIC_API_KEY\"]` under [keys]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_allowed_by_origin() {
        let allowed = read("[keys]\n\"https://Gateway.example.com:443/\" = [\"A_KEY\", \"B_KEY\"]\n").unwrap();
        let pairs: Vec<_> = allowed.iter().map(|(origin, key)| (origin.as_str(), key.as_str())).collect();
        assert_eq!(pairs, [("https://gateway.example.com", "A_KEY"), ("https://gateway.example.com", "B_KEY")]);
        for (text, says) in [
            ("[kyes]\n", "unknown table `kyes`"),
            ("keys = 3\n", "must be a table"),
            ("[keys]\n\"https://x/path\" = [\"A_KEY\"]\n", "is not an origin"),
            ("[keys]\n\"ftp://x\" = [\"A_KEY\"]\n", "is not an origin"),
            ("[keys]\n\"https://user@x\" = [\"A_KEY\"]\n", "is not an origin"),
            ("[keys]\n\"https://x\" = \"A_KEY\"\n", "list of variables"),
            ("[keys\n", ""),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
