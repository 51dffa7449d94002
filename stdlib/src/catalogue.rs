//! Every diagnostic code of harn, in one list.

#[cfg(feature = "hub")]
use crate::codes::HubClientCode;
use crate::codes::{
    AgentCode, McpCode, PackCode, PeerCode, ProjectCode, RecordingCode, ReminderFileCode, RhaiCode, SchemaCode,
    ScriptChannelCode, ServedCode, SourceCode, SystemCode, TestCode,
};
use base::codes::{Code as CoreRow, CodeRef as CoreCode};
use eventlog::LogCode;
use lang::diagnostic::Severity;
use lang::diagnostic::code::{Code, CodeRef};
use lang::vm::RunCode;
use providers::fact::FactCode;
use providers::model::ToolCode;
use runtime::budget::BudgetCode;
use runtime::reminder::ReminderCode;
use std::ptr;
use std::sync::OnceLock;

/// The tables of the core, and of the crates that know only it.
static CORE: &[&[CoreRow]] =
    &[ReminderCode::rows(), LogCode::rows(), BudgetCode::rows(), FactCode::rows(), ToolCode::rows()];

/// Returns the codes of all crates, sorted.
#[must_use]
pub fn catalogue() -> Vec<&'static Code> {
    let own = [
        PeerCode::rows(),
        SourceCode::rows(),
        RhaiCode::rows(),
        AgentCode::rows(),
        ScriptChannelCode::rows(),
        ServedCode::rows(),
        #[cfg(feature = "hub")]
        HubClientCode::rows(),
        McpCode::rows(),
        ProjectCode::rows(),
        PackCode::rows(),
        ReminderFileCode::rows(),
        SchemaCode::rows(),
        SystemCode::rows(),
        TestCode::rows(),
        RecordingCode::rows(),
    ];
    let mut all: Vec<&Code> = lang::CODES.iter().copied().chain(own).flatten().chain(core_rows()).collect();
    all.sort_by_key(|code| code.code);
    all
}

/// The row of a code.
#[must_use]
pub fn find(code: &str) -> Option<&'static Code> {
    catalogue().into_iter().find(|row| row.code == code)
}

/// Returns the code of a diagnostic for a code of the core, of a provider, or of a raise that went through the core.
#[must_use]
pub fn from_core(code: impl Into<CoreCode>) -> CodeRef {
    let code = code.into();
    if let Some(row) = code.row::<Code>() {
        return CodeRef::new(row);
    }
    let known = |row: &'static CoreRow| CORE.iter().copied().flatten().position(|other| ptr::eq(row, other));
    // Every enum of the core has its table in `CORE`.
    let at = code.row::<CoreRow>().and_then(known);
    at.map_or(RunCode::Outside.code(), |at| CodeRef::new(&core_rows()[at]))
}

/// Returns a code for the way through the core, which knows nothing of its row.
pub(crate) fn to_core(code: CodeRef) -> CoreCode {
    CoreCode::new(code.as_str(), code.row())
}

/// The rows of [`CORE`] in its order. The core knows nothing of the language, so its rows are of a type of their own.
fn core_rows() -> &'static [Code] {
    static ROWS: OnceLock<Vec<Code>> = OnceLock::new();
    ROWS.get_or_init(|| CORE.iter().copied().flatten().map(of_core).collect())
}

fn of_core(row: &CoreRow) -> Code {
    Code {
        code: row.code,
        severity: match row.severity {
            base::codes::Severity::Error => Severity::Error,
            base::codes::Severity::Warning => Severity::Warning,
            base::codes::Severity::Info => Severity::Info,
        },
        title: row.title,
        meaning: row.meaning,
        fails: row.fails,
        mended: row.mended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_means_one_thing() {
        for pair in catalogue().windows(2) {
            assert!(
                pair[0].code < pair[1].code,
                "{} stands twice: {:?} and {:?}",
                pair[0].code,
                pair[0].title,
                pair[1].title
            );
        }
    }

    #[test]
    fn a_code_of_the_core_is_the_row_in_the_catalogue() {
        for (code, text) in [
            (CoreCode::from(ReminderCode::Shape), "HARN-RMD-001"),
            (LogCode::ProcessEnded.into(), "HARN-LOG-017"),
            (FactCode::TooLarge.into(), "HARN-FACT-008"),
            (BudgetCode::Exhausted.into(), "HARN-LLM-004"),
            (to_core(AgentCode::Model.code()), "HARN-LLM-001"),
        ] {
            let code = from_core(code);
            assert_eq!(code.as_str(), text);
            assert!(find(text).is_some_and(|row| code == CodeRef::new(row)), "{text}");
        }
    }
}
