//! `harn trust`: which folders may have settings that reach beyond their own scripts.

use crate::report::{Format, show};
use std::io::Write;
use std::path::PathBuf;
use stdlib::output::Terminal;
use stdlib::{Diagnostic, config_folder, revoke, trust, trusted};

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
}

pub(crate) fn run(args: &TrustArgs) -> i32 {
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    let text = match args {
        TrustArgs { list: true, .. } => listed(),
        TrustArgs { revoke: true, .. } => revoke(&folder).map(|(folder, was)| match was {
            true => format!("revoked {}\n", folder.display()),
            false => format!("{} was not trusted\n", folder.display()),
        }),
        _ => trust(&folder).map(|granted| {
            let mut text = format!("trusted {}\n", granted.file.display());
            for setting in &granted.settings {
                text.push_str(&format!("  {}\n", shown(setting)));
            }
            text
        }),
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

fn listed() -> Result<String, Vec<Diagnostic>> {
    let mut text = config_folder().map_or_else(String::new, |folder| format!("settings: {}\n", folder.display()));
    for trusted in trusted()? {
        let state = if trusted.current { "" } else { " (harn.toml has changed: run `harn trust` again)" };
        text.push_str(&format!("{}{state}\n", trusted.folder.display()));
    }
    Ok(text)
}

/// A setting without what a terminal would obey.
fn shown(setting: &str) -> String {
    setting.chars().map(|c| if c == '\n' { ' ' } else { c }).filter_map(stdlib::shown).collect()
}
