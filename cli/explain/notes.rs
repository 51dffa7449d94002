//! Notes of the command on the codes of the language, whose rows know neither flags nor settings nor the builtins of agents.

use lang::resolve::ResolveCode;
use lang::vm::RunCode;
use std::borrow::Cow;
use stdlib::{Code, CodeRef};

/// A failing script and its fixed version.
#[derive(Clone, Copy)]
pub(super) struct ExampleScripts {
    pub(super) fails: &'static str,
    pub(super) mended: &'static str,
}

/// An addition to the row of a code.
struct CommandNote {
    code: CodeRef,
    /// Sentences after the row's meaning.
    text: &'static str,
    /// Scripts for a row that has none.
    example: Option<ExampleScripts>,
}

static NOTES: &[CommandNote] = &[
    CommandNote {
        code: RunCode::Memory.code(),
        text: "The limit is 4 GiB, or the value of `--max-memory` or of `memory` under `[limits]` in `harn.toml`. The exit \
               code is 3.",
        example: None,
    },
    CommandNote {
        code: RunCode::Time.code(),
        text: "Set the limit with `--timeout`, or with `timeout` under `[limits]` in `harn.toml`. The exit code is 3.",
        example: None,
    },
    CommandNote {
        code: ResolveCode::Namespace.code(),
        text: "`event_log` is a namespace.",
        example: Some(ExampleScripts {
            fails: "event_log.emitt(\"topic\", \"kind\")\n",
            mended: "event_log.emit(\"topic\", \"kind\")\n",
        }),
    },
    CommandNote {
        code: RunCode::Fuel.code(),
        text: "Set the limit with `--fuel`, or with `fuel` under `[limits]` in `harn.toml`.",
        example: None,
    },
    CommandNote {
        code: RunCode::Denied.code(),
        text: "A capability is denied by `--deny`, by `deny` in `harn.toml`, or in a preview if `--allow` does not name it. The \
               script below fails in a run with `--deny process`.",
        example: Some(ExampleScripts {
            fails: "println(exec(\"date\").stdout)\n",
            mended: "let date = try { exec(\"date\").stdout }\nprintln(unwrap_or(date, \"unknown\"))\n",
        }),
    },
    CommandNote {
        code: RunCode::Deadline.code(),
        text: "With `--timeout`, the whole run is such a block.",
        example: None,
    },
];

fn note(row: &Code) -> Option<&'static CommandNote> {
    NOTES.iter().find(|note| note.code.as_str() == row.code)
}

/// Returns the meaning of a code, followed by its note.
pub(super) fn meaning(row: &Code) -> Cow<'static, str> {
    match note(row) {
        Some(note) => format!("{} {}", row.meaning, note.text).into(),
        None => row.meaning.into(),
    }
}

/// Returns the scripts of a row or of its note, or `None` if no script alone shows the failure.
pub(super) fn example(row: &Code) -> Option<ExampleScripts> {
    if row.fails.is_empty() {
        return note(row)?.example;
    }
    Some(ExampleScripts { fails: row.fails, mended: row.mended })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_note_belongs_to_a_row_and_replaces_none_of_its_scripts() {
        let rows = crate::explain::catalogue();
        for note in NOTES {
            let row = rows.iter().find(|row| row.code == note.code.as_str());
            assert!(row.is_some_and(|row| note.example.is_none() || row.fails.is_empty()), "{}", note.code);
        }
    }
}
