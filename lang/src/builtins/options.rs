//! Options of the builtins of the language.

use super::OptionTable;

/// The tables.
pub static OPTIONS: &[&OptionTable] = &[&CELL_OPTIONS, &DECODE_OPTIONS, &JSON_OPTIONS];

crate::option_tables! {
    /// A cell that tasks share.
    pub(super) CELL_OPTIONS: "CellOptions" {
        key: "string" = required, "The name of the cell.";
        scope: "string", "The scope of the name.";
        initial: "any" = nil, "The value of a cell that is new.";
    }

    /// Options of `Type.from`.
    DECODE_OPTIONS: "DecodeOptions" {
        strict: "bool" = false, "Whether keys that the type does not have are errors.";
    }

    /// Options of `json_parse`.
    JSON_OPTIONS: "JsonOptions" extends [&DECODE_OPTIONS] {
        r#as: "any", "The type of the result. Default: data as it is.";
    }
}
