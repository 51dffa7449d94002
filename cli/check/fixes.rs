//! Scripts with the fixes of their diagnostics applied.

use super::analysis::projects;
use crate::difference::difference;
use crate::parallel::in_parallel;
use crate::report::visible;
use crate::script::Script;
use crate::whole_file::write_whole;
use clap::ValueEnum;
use std::io::{Error, Result};
use stdlib::{Applicability, Capability, Diagnostic, SourceRef, repair};

/// The fixes to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FixLevel {
    /// Fixes that need no review
    Safe,
    /// Guesses and changes of behavior as well
    Unsafe,
}

impl FixLevel {
    const fn applicability(self) -> Applicability {
        match self {
            Self::Safe => Applicability::Safe,
            Self::Unsafe => Applicability::Unsafe,
        }
    }
}

/// A script after its fixes.
pub(super) struct FixedScript {
    script: Script,
    /// The text before and after; nothing if it cannot be read.
    texts: Option<(SourceRef, SourceRef)>,
    /// Number of applied fixes.
    pub(super) applied: usize,
    /// The diagnostics that are left.
    pub(super) found: Vec<Diagnostic>,
}

/// Applies the fixes to the texts of all scripts, in their order, and writes nothing.
pub(super) fn fix(scripts: &[Script], denied: &[Capability], level: FixLevel) -> Vec<FixedScript> {
    let mut fixed: Vec<(usize, FixedScript)> = Vec::new();
    for (settings, members) in projects(scripts, denied) {
        let of_project = in_parallel(
            &members,
            || (),
            |(), (place, script)| {
                let script = (*script).clone();
                let source = match script.read() {
                    Ok(source) => source,
                    Err(error) => return (*place, FixedScript { script, texts: None, applied: 0, found: vec![error] }),
                };
                let repaired = repair(&source, level.applicability(), |text| settings.check_text(&script, text));
                let (applied, found) = (repaired.applied, repaired.found);
                (*place, FixedScript { script, texts: Some((source, repaired.source)), applied, found })
            },
        );
        let first = fixed.len();
        fixed.extend(of_project);
        if let Some((_, script)) = fixed.get_mut(first) {
            script.found.splice(0..0, settings.found);
        }
    }
    fixed.sort_by_key(|(place, _)| *place);
    fixed.into_iter().map(|(_, script)| script).collect()
}

impl FixedScript {
    /// Returns the name in messages.
    pub(super) fn name(&self) -> String {
        visible(&self.script.path().display().to_string())
    }

    /// Returns whether it can be written.
    pub(super) const fn is_file(&self) -> bool {
        matches!(self.script, Script::File(_))
    }

    /// Returns whether the fixes changed the text.
    pub(super) fn changed(&self) -> bool {
        self.texts.as_ref().is_some_and(|(before, after)| before.text() != after.text())
    }

    /// Returns the fixed text.
    pub(super) fn text(&self) -> &str {
        self.texts.as_ref().map_or("", |(_, after)| after.text())
    }

    /// Returns what the fixes changed, as a patch.
    pub(super) fn difference(&self) -> String {
        let texts = self.texts.as_ref();
        texts.map_or(String::new(), |(before, after)| difference(&self.name(), before.text(), after.text()))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The system refuses, or the file was changed in the meantime.
    pub(super) fn write(&self) -> Result<()> {
        let Some((before, after)) = &self.texts else { return Ok(()) };
        if !self.script.read().is_ok_and(|now| now.text() == before.text()) {
            return Err(Error::other("it has changed since it was read; run the command again"));
        }
        write_whole(self.script.path(), after.text())
    }
}
