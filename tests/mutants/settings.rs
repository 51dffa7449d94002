//! `harn.toml`: a project whose file is a mutant is checked and run, untrusted and trusted.

use crate::command::harn;
use crate::corpus::{blocks_of, files};
use crate::subject::{Mutant, Mutator, Subject, Target, Verdict};
use crate::text;
use std::fs;
use std::path::Path;
use stdlib::{Project, Source};

const LONGEST: usize = 40_000;

pub(crate) const TOML: Subject = Subject { name: "toml", cases: 1_500, balance: 10, mutator, target };

/// A script that uses what the file sets: models, reminders, limits, the event log.
const SCRIPT: &str = "\
register_session_hook(\"session_start\", { event -> nil })
llm_mock({text: \"Done.\"})
let id = agent_session_open(\"s\")
agent_session_inject_reminder(id, {body: \"Look.\", ttl_turns: 1})
println(agent_loop(\"go\", nil, {provider: \"mock\", session_id: id}).status)
";

fn mutator() -> Mutator {
    let mut samples = files("tests", "toml");
    samples.extend(files("examples", "toml"));
    samples.extend(files("cli/new", "toml"));
    samples.extend(blocks_of("toml"));
    assert!(samples.len() > 20, "found {} files", samples.len());
    let is_valid = |text: &&Vec<u8>| {
        let text = std::str::from_utf8(text).unwrap_or("[");
        Project::check_text(&Source::new("harn.toml", text), Path::new("harn.toml")).is_empty()
    };
    let valid: Vec<Vec<u8>> = samples.iter().filter(is_valid).cloned().collect();
    assert!(valid.len() > 10, "found {} valid files", valid.len());
    Box::new(move |random| {
        let of = if random.one_in(4) { &samples } else { &valid };
        let text = random.one_of(of).cloned().unwrap_or_default();
        Mutant::of(text::mutant(random, &text, &samples, LONGEST))
    })
}

fn target() -> Box<dyn Target> {
    // The search for `harn.toml` ends at the root of a repository.
    fs::create_dir_all("project/.git").unwrap();
    fs::write("project/main.harn", SCRIPT).unwrap();
    Box::new(Settings)
}

struct Settings;

impl Target for Settings {
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String> {
        fs::write("project/harn.toml", &mutant.pieces[0]).map_err(|error| error.to_string())?;
        let verdict = harn(&["check", "project/main.harn"])?;
        // Untrusted, it starts nothing and reaches nothing outside of its folder.
        harn(&["run", "--deny", "fs.write,process,net", "--fuel", "100000", "--timeout", "20s", "project/main.harn"])?;
        let trusted = stdlib::trust(Path::new("project"));
        match (verdict, trusted) {
            (Verdict::Accepted, Ok(_)) => harn(&["check", "project/main.harn"]),
            // The script can have an error under a setting that is none, such as a low limit of reminders.
            (Verdict::Rejected, Ok(_)) => Ok(verdict),
            (Verdict::Rejected, Err(found)) if !found.is_empty() => Ok(verdict),
            (Verdict::Accepted, Err(found)) => {
                Err(format!("`harn check` finds no error, `harn trust` does: {found:?}"))
            }
            (_, Err(_)) => Err("`harn trust` fails without an error".to_owned()),
        }
    }
}
