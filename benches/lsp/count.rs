//! Instructions, which do not depend on what else the machine does: a session is run under callgrind with few steps and with more;
//! the difference is those steps.

use crate::project::Project;
use crate::session::{EditorSession, completion, diagnostics};
use std::process::{Command, Stdio};

const CALLGRIND: [&str; 3] = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
/// The steps of the two sessions.
const FEW: usize = 4;
const MORE: usize = 12;

/// Prints the instructions of each step.
pub(crate) fn print(lines: usize) {
    let installed = Command::new(CALLGRIND[0]).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !installed.is_ok_and(|status| status.success()) {
        println!("valgrind is not installed: instructions are not counted.");
        return;
    }
    let project = Project::of_files("lsp-count", 1, lines);
    for (what, completes) in [("diagnostics", false), ("completion", true)] {
        if completes && !offers_completion(&project) {
            println!("{what}: the server does not offer it");
            continue;
        }
        let (few, more) = (session(&project, FEW, completes), session(&project, MORE, completes));
        let each = more.saturating_sub(few) / (MORE - FEW) as u64;
        println!("{what} after a keystroke, {lines} lines: {:.1} million instructions", each as f64 / 1e6);
    }
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
    let collected = said.lines().find_map(|line| line.split("Collected :").nth(1));
    collected.and_then(|count| count.trim().parse().ok()).unwrap_or_else(|| panic!("{said}"))
}

fn offers_completion(project: &Project) -> bool {
    let session = EditorSession::start(&[], &project.folder);
    let offers = session.offers("completionProvider");
    session.end();
    offers
}
