//! The location of the REPL's history: the user's state directory (XDG base directories).

use std::ffi::OsString;
use std::path::PathBuf;

/// Returns `$XDG_STATE_HOME/harn/NAME`, or `~/.local/state/harn/NAME`. Returns `None` without a
/// home directory.
pub(super) fn file(name: &str) -> Option<PathBuf> {
    file_in(name, std::env::var_os("XDG_STATE_HOME"), std::env::home_dir())
}

fn file_in(name: &str, state: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    // The specification wants relative paths to be ignored.
    let state = state.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = state.or_else(|| home.filter(|path| path.is_absolute()).map(|path| path.join(".local/state")))?;
    Some(base.join("harn").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_wins_unless_it_is_relative() {
        let home = || Some(PathBuf::from("/home/a"));
        assert_eq!(file_in("history", Some("/s".into()), home()), Some(PathBuf::from("/s/harn/history")));
        assert_eq!(
            file_in("history", Some("s".into()), home()),
            Some(PathBuf::from("/home/a/.local/state/harn/history"))
        );
        assert_eq!(file_in("history", None, home()), Some(PathBuf::from("/home/a/.local/state/harn/history")));
        assert_eq!(file_in("history", None, None), None);
    }
}
