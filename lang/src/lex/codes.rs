//! The catalogue of what the lexer finds.

use crate::codes;

codes! {
/// The codes of what the lexer finds.
pub enum LexCode {
    /// Character without meaning.
    Character = "HARN-LEX-001", Error {
        title: "character without meaning",
        meaning: "The text holds a character that is no part of the language outside of strings and comments. Take it out, or write what is meant: comments begin with `//`, strings stand in straight double quotes.",
        fails: "let total = 3 ~ 4\n",
        mended: "let total = 3 - 4\n",
    },
    /// String never closed.
    UnclosedString = "HARN-LEX-002", Error {
        title: "string never closed",
        meaning: "A string begins and its line, or the text, ends before its closing quotes. A `\"…\"` stands on one line; text of several lines stands in `\"\"\"…\"\"\"`.",
        fails: "let name = \"Ada\nlog(name)\n",
        mended: "let name = \"Ada\"\nlog(name)\n",
    },
    /// Comment never closed.
    UnclosedComment = "HARN-LEX-003", Error {
        title: "comment never closed",
        meaning: "A `/*` has no `*/`. Comments nest, so each `/*` needs a `*/` of its own.",
        fails: "let a = 1 /* one /* two */\n",
        mended: "let a = 1 /* one /* two */ */\n",
    },
    /// Bracket never closed.
    UnclosedBracket = "HARN-LEX-004", Error {
        title: "bracket never closed",
        meaning: "A `(`, `[`, `{` or `${` has no partner before the place where it must have ended: another closing bracket, a line that can only begin a statement, or the end of the text.",
        fails: "let a = (1 + 2\nlet b = 3\n",
        mended: "let a = (1 + 2)\nlet b = 3\n",
    },
    /// Closing bracket without partner.
    UnmatchedBracket = "HARN-LEX-005", Error {
        title: "closing bracket without partner",
        meaning: "A `)`, `]` or `}` closes nothing that is open, or another kind of bracket than the innermost open one.",
        fails: "let a = [1, 2)\n",
        mended: "let a = [1, 2]\n",
    },
    /// Nested too deep.
    TooDeep = "HARN-LEX-006", Error {
        title: "nested too deep",
        meaning: "Brackets or operators lie in each other so deep that no one could read them. Give inner parts names with `let`, or move them into functions.",
        fails: "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        mended: "[[[[[[]]]]]]\n",
    },
    /// Number too large.
    NumberTooLarge = "HARN-LEX-007", Error {
        title: "number too large",
        meaning: "An int has 64 bits, so it lies between -9223372036854775808 and 9223372036854775807. Write a larger number as a float.",
        fails: "let n = 99999999999999999999\n",
        mended: "let n = 1e20\n",
    },
    /// Number runs into letters.
    NumberSuffix = "HARN-LEX-008", Error {
        title: "number runs into letters",
        meaning: "A number is followed directly by letters that are no unit of time. The units are `ms`, `s`, `m`, `h`, `d` and `w`, behind whole numbers; names cannot begin with a digit.",
        fails: "sleep(5min)\n",
        mended: "sleep(5m)\n",
    },
    /// Number without digits.
    NoDigits = "HARN-LEX-009", Error {
        title: "number without digits",
        meaning: "A `0x`, a `0b` or an exponent needs digits behind it, and only those of its kind.",
        fails: "let mask = 0b102\n",
        mended: "let mask = 0b101\n",
    },
    /// Unknown escape.
    UnknownEscape = "HARN-LEX-010", Error {
        title: "unknown escape",
        meaning: "A backslash in a string stands before a character that makes no escape. The escapes are `\\n`, `\\t`, `\\r`, `\\\\`, `\\\"`, `\\$` and `\\u{…}`; `r\"…\"` has none.",
        fails: "let pattern = \"\\d+\"\n",
        mended: "let pattern = r\"\\d+\"\n",
    },
    /// Escape names no character.
    UnicodeEscape = "HARN-LEX-011", Error {
        title: "escape names no character",
        meaning: "`\\u{…}` holds one to six hexadecimal digits that number a Unicode character.",
        fails: "let face = \"\\u{110000}\"\n",
        mended: "let face = \"\\u{1F600}\"\n",
    },
    /// String in the wrong quotes.
    Quotes = "HARN-LEX-012", Error {
        title: "string in the wrong quotes",
        meaning: "Strings stand in straight double quotes, not in single or curly ones.",
        fails: "let name = 'Ada'\n",
        mended: "let name = \"Ada\"\n",
    },
    /// One sign too many.
    ExtraSign = "HARN-LEX-013", Error {
        title: "one sign too many",
        meaning: "Values are compared with `==` and `!=`; there is no second kind of equality.",
        fails: "let same = 1 === 2\n",
        mended: "let same = 1 == 2\n",
    },
    /// Letter that no name may hold.
    NameLetter = "HARN-LEX-014", Error {
        title: "letter that no name may hold",
        meaning: "Names are made of the letters A to Z and a to z, digits and `_`, and do not begin with a digit. Strings and comments may hold any text.",
        fails: "let größe = 1\n",
        mended: "let size = 1\n",
    },
}
}
