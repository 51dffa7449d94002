//! The files that a project's `.gitignore` files exclude.

use super::super::read::joined;
use crate::confined_folder::{Root, small};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::rc::Rc;

/// The largest `.gitignore` that is obeyed, in bytes. Its globs are compiled.
const LARGEST: u64 = 256 << 10;
const NAME: &str = ".gitignore";

/// The rules of a folder and of those above it, up to the root of the tools. Nothing outside of that root is read.
pub(super) struct Ignored {
    rules: Gitignore,
    above: Option<Rc<Ignored>>,
}

impl Ignored {
    /// Returns the rules that hold in the folders above a folder.
    pub(super) fn above(root: &Root, folder: &str) -> Option<Rc<Ignored>> {
        let parents = folder.match_indices('/').map(|(at, _)| &folder[..at]);
        let start = if matches!(folder, "" | ".") { None } else { Some("") };
        start.into_iter().chain(parents).fold(None, |above, parent| Ignored::read(root, parent).below_those(above))
    }

    /// Returns the rules that hold in a folder with these entries.
    pub(super) fn below(
        root: &Root,
        folder: &str,
        listed: &[(String, bool)],
        above: Option<Rc<Ignored>>,
    ) -> Option<Rc<Ignored>> {
        let has_rules = listed.iter().any(|(name, is_folder)| name == NAME && !is_folder);
        if has_rules { Ignored::read(root, folder).below_those(above) } else { above }
    }

    /// Whether a path is excluded. The nearest folder with a rule for it decides.
    pub(super) fn is_match(nearest: Option<&Rc<Ignored>>, path: &str, is_folder: bool) -> bool {
        let mut next = nearest;
        while let Some(ignored) = next {
            match ignored.rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => next = ignored.above.as_ref(),
            }
        }
        false
    }

    /// Reads the rules of one folder. Lines that are not globs are skipped, as git does.
    fn read(root: &Root, folder: &str) -> IgnoreRules {
        let folder = if folder == "." { "" } else { folder };
        let mut builder = GitignoreBuilder::new(folder);
        if let Some(bytes) = small(root, &joined(folder, NAME), LARGEST) {
            for line in String::from_utf8_lossy(&bytes).lines() {
                let _ = builder.add_line(None, line);
            }
        }
        IgnoreRules(builder.build().unwrap_or_else(|_| Gitignore::empty()))
    }
}

/// The rules of one folder.
struct IgnoreRules(Gitignore);

impl IgnoreRules {
    fn below_those(self, above: Option<Rc<Ignored>>) -> Option<Rc<Ignored>> {
        if self.0.is_empty() { above } else { Some(Rc::new(Ignored { rules: self.0, above })) }
    }
}
