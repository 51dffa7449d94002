//! Reminder files: each is checked, and a loop runs with it.

use crate::command::harn;
use crate::corpus::{blocks_of, paths};
use crate::subject::{Mutant, Mutator, Subject, Target, Verdict};
use crate::text;
use std::fs;

const LONGEST: usize = 40_000;

pub(crate) const REMINDER_FILES: Subject = Subject { name: "reminder_files", cases: 900, balance: 20, mutator, target };

/// A loop in which every event of a reminder file happens.
const SCRIPT: &str = "\
let tools = tool_define(tool_registry(), \"edit\", \"Edits.\", {
  parameters: {path: \"string\"},
  handler: { args -> \"edited ${args.path}\" },
})
llm_mock({tool_calls: [{name: \"edit\", arguments: {path: \"a.txt\"}}]})
llm_mock({tool_calls: [{name: \"edit\", arguments: {}}]})
llm_mock({text: \"Done.\"})
let result = agent_loop(\"go\", nil, {provider: \"mock\", tools: tools, reminders: {enabled: false, files: true}})
println(result.status)
";

fn mutator() -> Mutator {
    let mut samples: Vec<Vec<u8>> = ["examples", "tests"]
        .iter()
        .flat_map(|folder| paths(folder, "md"))
        .filter(|path| stdlib::is_reminder_file(path))
        .map(|path| fs::read(path).unwrap())
        .collect();
    samples.extend(blocks_of("markdown"));
    samples.extend(blocks_of("md"));
    assert!(samples.len() > 8, "found {} files", samples.len());
    Box::new(move |random| {
        let text = random.one_of(&samples).cloned().unwrap_or_default();
        Mutant::of(text::mutant(random, &text, &samples, LONGEST))
    })
}

fn target() -> Box<dyn Target> {
    // The search ends at the root of a repository.
    fs::create_dir_all("project/.git").unwrap();
    fs::create_dir_all("project/.harn/reminders").unwrap();
    fs::write("project/main.harn", SCRIPT).unwrap();
    Box::new(Files)
}

struct Files;

impl Target for Files {
    fn feed(&mut self, mutant: &Mutant) -> Result<Verdict, String> {
        let file = "project/.harn/reminders/mutant.md";
        fs::write(file, &mutant.pieces[0]).map_err(|error| error.to_string())?;
        let verdict = harn(&["check", "project/main.harn"])?;
        // The loop goes on without a file that it cannot use, and reports it.
        harn(&["run", "--deny", "fs.write,process,net", "--fuel", "100000", "--timeout", "20s", "project/main.harn"])?;
        Ok(verdict)
    }
}
