//! `harn trust`: which folders may have settings that reach beyond their own scripts.

use crate::report::{Format, show};
use std::io::Write;
use std::path::{Path, PathBuf};
use stdlib::output::Terminal;
use stdlib::{Diagnostic, Granted, config_folder, grants, one_line, revoke, trust, trusted};

#[derive(clap::Args)]
pub(crate) struct TrustArgs {
    /// Folder of the `harn.toml`, or a folder below it [default: the working directory]
    #[arg(value_name = "DIR", conflicts_with = "list")]
    folder: Option<PathBuf>,
    /// List the trusted folders
    #[arg(long, conflicts_with = "revoke")]
    list: bool,
    /// Revoke trust in the folder
    #[arg(long)]
    revoke: bool,
    /// Print the settings that trust would enable, and change nothing
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    show: bool,
}

pub(crate) fn run(args: &TrustArgs) -> i32 {
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    let text = match args {
        TrustArgs { list: true, .. } => listed(),
        TrustArgs { revoke: true, .. } => revoke(&folder).map(|(folder, was)| match was {
            true => format!("revoked {}\n", shown(&folder)),
            false => format!("{} was not trusted\n", shown(&folder)),
        }),
        TrustArgs { show: true, .. } => grants(&folder).map(|granted| described("would trust", &granted)),
        _ => trust(&folder).map(|granted| described("trusted", &granted)),
    };
    match text {
        // A reader that closed the pipe is not an error.
        Ok(text) => {
            let _ = std::io::stdout().write_all(text.as_bytes());
            0
        }
        Err(found) => {
            show(&Terminal, &found, Format::Text);
            1
        }
    }
}

fn described(what: &str, granted: &Granted) -> String {
    let head = format!("{what} {}\n", shown(&granted.file));
    granted.settings.iter().fold(head, |text, setting| format!("{text}  {setting}\n"))
}

fn listed() -> Result<String, Vec<Diagnostic>> {
    let mut text = config_folder().map_or_else(String::new, |folder| format!("settings: {}\n", shown(&folder)));
    for trusted in trusted()? {
        let state = if trusted.current { "" } else { " (harn.toml has changed: run `harn trust` again)" };
        text.push_str(&format!("{}{state}\n", shown(&trusted.folder)));
    }
    Ok(text)
}

/// Returns a path on one line, whatever its name is.
fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy()).into_owned()
}
