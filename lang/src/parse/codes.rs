//! The catalogue of what the lexer and the parser find.

use crate::diagnostic::code::Code;

/// Every code, in order.
pub static CODES: &[Code] = &[];
