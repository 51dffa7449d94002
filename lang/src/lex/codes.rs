//! The catalogue of what the lexer finds.

use crate::codes;

codes! {
/// The codes of what the lexer finds.
pub enum LexCode {
    /// Unknown character.
    Character = "HARN-LEX-001", Error {
        title: "unknown character",
        meaning: "The text contains a character that the language does not use outside of strings and comments. Remove it, or \
                  write what is meant: comments begin with `//`, and strings are enclosed in straight double quotes.",
        fails: "let total = 3 ~ 4\n",
        mended: "let total = 3 - 4\n",
    },
    /// Unclosed string.
    UnclosedString = "HARN-LEX-002", Error {
        title: "unclosed string",
        meaning: "The line or the text ends before the closing quotes of a string. A `\"…\"` string cannot span lines; a \
                  `\"\"\"…\"\"\"` string can.",
        fails: "let name = \"Ada\nlog(name)\n",
        mended: "let name = \"Ada\"\nlog(name)\n",
    },
    /// Unclosed comment.
    UnclosedComment = "HARN-LEX-003", Error {
        title: "unclosed comment",
        meaning: "A `/*` has no matching `*/`. Comments nest, so each `/*` needs its own `*/`.",
        fails: "let a = 1 /* one /* two */\n",
        mended: "let a = 1 /* one /* two */ */\n",
    },
    /// Unclosed bracket.
    UnclosedBracket = "HARN-LEX-004", Error {
        title: "unclosed bracket",
        meaning: "A `(`, `[`, `{` or `${` is still open where it must be closed: at another closing bracket, at a line \
                  that can only begin a statement, or at the end of the text.",
        fails: "let a = (1 + 2\nlet b = 3\n",
        mended: "let a = (1 + 2)\nlet b = 3\n",
    },
    /// Unmatched closing bracket.
    UnmatchedBracket = "HARN-LEX-005", Error {
        title: "unmatched closing bracket",
        meaning: "A `)`, `]` or `}` has no opening bracket, or does not match the innermost open one.",
        fails: "let a = [1, 2)\n",
        mended: "let a = [1, 2]\n",
    },
    /// Brackets nested too deeply.
    TooDeep = "HARN-LEX-006", Error {
        title: "brackets nested too deeply",
        meaning: "Brackets or operators are nested too deeply. Name the inner parts with `let`, or move them into functions.",
        fails: "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        mended: "[[[[[[]]]]]]\n",
    },
    /// Integer too large.
    NumberTooLarge = "HARN-LEX-007", Error {
        title: "integer too large",
        meaning: "An int has 64 bits, so it must be between -9223372036854775808 and 9223372036854775807. Write a larger \
                  number as a float.",
        fails: "let n = 99999999999999999999\n",
        mended: "let n = 1e20\n",
    },
    /// Invalid number suffix.
    NumberSuffix = "HARN-LEX-008", Error {
        title: "invalid number suffix",
        meaning: "The letters directly after a number are not a unit of time. The units are `ms`, `s`, `m`, `h`, `d` and `w`, \
                  after whole numbers only; a name cannot begin with a digit.",
        fails: "sleep(5min)\n",
        mended: "sleep(5m)\n",
    },
    /// Invalid digits in a number.
    NoDigits = "HARN-LEX-009", Error {
        title: "invalid digits in a number",
        meaning: "A `0x`, a `0b` or an exponent must be followed by digits, and only by digits of its base.",
        fails: "let mask = 0b102\n",
        mended: "let mask = 0b101\n",
    },
    /// Unknown escape.
    UnknownEscape = "HARN-LEX-010", Error {
        title: "unknown escape",
        meaning: "A backslash in a string must be followed by a known escape: `\\n`, `\\t`, `\\r`, `\\\\`, `\\\"`, `\\$` or \
                  `\\u{…}`. `r\"…\"` strings have no escapes.",
        fails: "let pattern = \"\\d+\"\n",
        mended: "let pattern = r\"\\d+\"\n",
    },
    /// Invalid Unicode escape.
    UnicodeEscape = "HARN-LEX-011", Error {
        title: "invalid Unicode escape",
        meaning: "`\\u{…}` must contain one to six hexadecimal digits: the number of a Unicode character.",
        fails: "let name = \"Ren\\u00e9\"\n",
        mended: "let name = \"Ren\\u{e9}\"\n",
    },
    /// Wrong kind of quotes.
    Quotes = "HARN-LEX-012", Error {
        title: "wrong kind of quotes",
        meaning: "Strings are enclosed in straight double quotes, not in single quotes, backticks or curly quotes.",
        fails: "let name = 'Ada'\n",
        mended: "let name = \"Ada\"\n",
    },
    /// Unknown operator `===` or `!==`.
    ExtraSign = "HARN-LEX-013", Error {
        title: "unknown operator `===` or `!==`",
        meaning: "Values are compared with `==` and `!=`. There is only one kind of equality.",
        fails: "let same = 1 === 2\n",
        mended: "let same = 1 == 2\n",
    },
    /// Invalid character in a name.
    NameLetter = "HARN-LEX-014", Error {
        title: "invalid character in a name",
        meaning: "Names consist of the letters A to Z and a to z, digits and `_`, and do not begin with a digit. Strings and \
                  comments can contain any text.",
        fails: "let größe = 1\n",
        mended: "let size = 1\n",
    },
}
}
