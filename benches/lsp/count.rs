//! Instructions of a step: a session is run under callgrind with few steps and with more; the difference is those steps.

use crate::instructions::{self, CALLGRIND};
use crate::missing;
use crate::project::Project;
use crate::session::{EditorSession, completion, diagnostics};

/// The steps of the two sessions.
const FEW: usize = 4;
const MORE: usize = 12;

/// The most instructions of a keystroke and its diagnostics, and of a keystroke and its completion.
const DIAGNOSTICS: u64 = 17_600_000;
const COMPLETION: u64 = 23_700_000;

/// Counts the instructions of each step: whether the limits are met.
pub(crate) fn run(lines: usize) -> Vec<bool> {
    if !instructions::are_counted() {
        return Vec::new();
    }
    let project = Project::of_files("lsp-count", 1, lines);
    let count = |(what, completes, most): (&str, bool, u64)| {
        if completes && !offers_completion(&project) {
            return missing("completion");
        }
        let (few, more) = (session(&project, FEW, completes), session(&project, MORE, completes));
        let each = more.saturating_sub(few) / (MORE - FEW) as u64;
        instructions::judge(&format!("a keystroke to its {what}, {lines} lines"), each, most)
    };
    [("diagnostics", false, DIAGNOSTICS), ("completion", true, COMPLETION)].map(count).to_vec()
}

/// Returns the instructions of a session.
fn session(project: &Project, steps: usize, completes: bool) -> u64 {
    let mut session = EditorSession::start(&CALLGRIND, &project.folder);
    let uri = project.uri(0);
    session.open(&uri, &project.texts[0]);
    diagnostics(&mut session, &uri);
    let at = project.middle_of(0);
    for number in 0..steps {
        session.type_letter(&uri, at, number);
        if completes { completion(&mut session, &uri, at) } else { diagnostics(&mut session, &uri) }
    }
    let said = session.end();
    instructions::collected(&said).unwrap_or_else(|| panic!("{said}"))
}

fn offers_completion(project: &Project) -> bool {
    let session = EditorSession::start(&[], &project.folder);
    let offers = session.offers("completionProvider");
    session.end();
    offers
}
