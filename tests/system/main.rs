//! Behaviour seen from outside, as tests in Rust: through the built command, as a person or a tool would use it.
//!
//! - [`rhai`]: scripts in Rhai that are made here, or need real time.
//! - [`guide`]: those of `tests/guide` hold the guide's blocks to the letter.
//! - [`explain`]: every row of the catalogue fails, and its fixed script does not.
//! - [`eval`]: evaluations of variants.
//! - [`event_log`]: where the log is kept, who shares it, what is left of it after a crash.
//! - [`help_texts`]: an error of a run helps as the checker does.
//! - [`interrupt`]: signals that end a run, and what is left in good order.
//! - [`limits`]: runs that want more than they may have.
//! - [`walks`]: every builtin and operator with values that are far larger than the memory they take.
//! - [`bad_input`]: whatever it is given, one diagnostic and an exit code.
//! - [`reminder_files`]: files that change while a loop runs, and folders that are not trusted.
//! - [`reminder_rows`]: the reference of reminders, its scripts and the code say the same.
//! - [`repl`]: a session through a pipe.
//! - [`repl_rhai`]: the same in Rhai.
//! - [`rhai_builtins`]: every builtin can be called from Rhai.
//! - [`rhai_packs`]: packs of reminder providers, hostile ones above all.
//! - [`facts`]: processes that share facts, and files that were tampered with.
//! - [`everyday`]: everyday programs in three languages.
//! - [`examples`]: the guide's programs print what its pages show.
//! - [`recipes`]: the guide's recipes are programs in both languages and print the same.
//! - [`command_line`]: where scripts come from, and which arguments are theirs.
//! - [`completions`]: completion scripts and manual pages.
//! - [`dis`]: what scripts are compiled to.
//! - [`doc`]: what `harn doc` writes.
//! - [`docs`]: what the documents show and link to.
//! - [`llms`]: the text for coding agents is complete, and its blocks run.
//! - [`options`]: `check` reports every wrong literal of an option, and runs accept the others.
//! - [`option_pages`]: tables of options in the reference have the keys and defaults of builtins.
//! - [`plain_words`]: messages, help texts and pages use plain words.
//! - [`waits`]: tests wait for events and not for a time.
//! - [`walkthroughs`]: every block of the pages for newcomers, the reference of the command and of `harn.toml`.
//! - [`snapshots`]: workers that one process suspends and another resumes.
//! - [`persist`]: loops that outlive their process.
//! - [`placement`]: where reminders are in requests, what that costs, and slots that a server rejects.
//! - [`recording`]: runs on record, run again without models; loops side by side against a server.
//! - [`model_server`]: model servers that are down, fail, or answer rubbish.
//! - [`terminal`]: pagers, and lines that are typed ahead on a terminal.
//! - [`test_command`]: the tests of scripts: found, run, reported, measured.
//! - [`trust`]: what a `harn.toml` may say before its folder is trusted, and where keys go.
//! - [`unchecked`]: the accesses that the compiler does not check have assertions.
//! - [`untrusted_files`]: pipes, devices, links and logs that were tampered with.
//! - [`trace`]: the life of reminders, read from logs of real runs.
//! - [`oracle`]: a second, plain evaluator agrees with the VM.
//! - [`breakout`]: bodies of reminders that pose as something else.
//! - [`borders`]: who may import whom.
//! - [`editors`]: queries and snippets in `editors`.
//! - [`budget`]: what `--budget` refuses is not sent, and retries count.
//! - [`check`]: the formats, fixes and paths of `harn check`.
//! - [`fixes`]: what the fixes of diagnostics make of the catalogue's scripts and of `tests/diagnostics`.
//! - [`check_bounds`]: `harn check` ends in bounded time and memory.
//! - [`names`]: type names are unique in their crate, and doc comments begin with a verb or a noun phrase.
//! - [`narrowing`]: `harn check` accepts programs that guard what they use.
//! - [`properties`]: what is fuzzed holds of every script.
//! - [`agent_bench`]: the programs of the agent bench do their job, and loops that wait take little.
//! - [`peers`]: the programs of the bench still print their values.
//! - [`new`]: projects of every template check, run and pass their tests.
//! - [`policy`]: what a project or an administrator says about reminders.
//! - [`preview`]: requests that are shown are those that a server receives.
//! - [`surroundings`]: standard input, servers, processes. [`stdout`]: standard output that cannot be written.
//! - [`cassettes`]: recorded exchanges with vendors, played back.
//! - [`conversations`]: random conversations with vendors that are as strict as the real ones.
//! - [`wire_shapes`]: the JSON of the guide through the types of core and wires.
//!
//! [`harn`] starts the command, [`markdown`] takes pages apart, [`diff`] shows how two texts differ.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod agent_bench;
mod bad_input;
mod borders;
mod breakout;
mod budget;
mod cassettes;
mod channels;
mod check;
mod check_bounds;
mod code_literals;
mod command_line;
mod completions;
mod conversations;
#[path = "../support/diff.rs"]
mod diff;
mod dis;
mod doc;
mod docs;
mod earlier_layouts;
mod editors;
mod eval;
mod event_log;
mod everyday;
mod examples;
mod explain;
mod facts;
mod failed_loops;
mod fixes;
mod fmt;
mod guide;
#[path = "../support/harn.rs"]
mod harn;
mod help_texts;
mod interrupt;
mod limits;
mod live_view;
mod llms;
#[path = "../support/markdown.rs"]
mod markdown;
mod model_server;
mod names;
mod narrowing;
mod new;
mod option_pages;
mod options;
mod oracle;
mod peers;
mod persist;
mod placement;
mod plain_words;
mod policy;
mod preview;
mod properties;
mod recipes;
mod recording;
mod reminder_files;
mod reminder_rows;
mod repl;
mod repl_rhai;
mod rhai;
mod rhai_builtins;
mod rhai_contained;
mod rhai_packs;
mod snapshots;
mod stages;
mod stdout;
mod surroundings;
mod terminal;
mod test_command;
mod trace;
mod trust;
mod uncharged;
mod unchecked;
mod untrusted_files;
#[allow(unreachable_pub, dead_code, reason = "the other test targets use more of it")]
#[path = "../support/vendors/mod.rs"]
mod vendors;
#[allow(dead_code, reason = "the other test targets use more of it")]
#[path = "../support/wait.rs"]
mod wait;
mod waits;
mod walks;
mod walkthroughs;
mod wire_shapes;
