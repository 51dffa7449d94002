//! The catalogue of what the parser finds.

use crate::codes;

codes! {
/// The codes of what the parser finds.
pub enum ParseCode {
    /// Token that does not fit.
    Unexpected = "HARN-PAR-001", Error {
        title: "token that does not fit",
        meaning: "Something stands where the grammar has no place for it. The message says what would fit.",
        fails: "match 1 { 1 => { 2 } }\n",
        mended: "match 1 { 1 -> { 2 } }\n",
    },
    /// Expression missing.
    NoExpression = "HARN-PAR-002", Error {
        title: "expression missing",
        meaning: "An operator, a bracket or a word such as `if` must be followed by an expression.",
        fails: "let a = 1 +\n",
        mended: "let a = 1 + 2\n",
    },
    /// Element of a list does not end.
    ElementEnd = "HARN-PAR-003", Error {
        title: "element of a list does not end",
        meaning: "Between brackets, an element is followed by a `,` or by the closing bracket.",
        fails: "let xs = [1 2]\n",
        mended: "let xs = [1, 2]\n",
    },
    /// Statement does not end.
    StatementEnd = "HARN-PAR-004", Error {
        title: "statement does not end",
        meaning: "A statement is whole, but something follows it on its line. Statements are separated by line breaks or `;`.",
        fails: "let a = 1 let b = 2\n",
        mended: "let a = 1; let b = 2\n",
    },
    /// Body missing.
    NoBody = "HARN-PAR-005", Error {
        title: "body missing",
        meaning: "What was begun needs a body in braces.",
        fails: "if true\n",
        mended: "if true { log(1) }\n",
    },
    /// Name missing.
    NoName = "HARN-PAR-006", Error {
        title: "name missing",
        meaning: "A declaration, a dot or a parameter needs a name.",
        fails: "struct { x: int }\n",
        mended: "struct Point { x: int }\n",
    },
    /// Pattern missing.
    NoPattern = "HARN-PAR-007", Error {
        title: "pattern missing",
        meaning: "`let`, `for`, a parameter or an arm needs a name or a pattern such as `{a, b}`, `[x, ...rest]` or `(k, v)`.",
        fails: "let = 3\n",
        mended: "let a = 3\n",
    },
    /// Type missing.
    NoType = "HARN-PAR-008", Error {
        title: "type missing",
        meaning: "A `:` or `->` in a declaration is followed by a type.",
        fails: "let a: = 3\n",
        mended: "let a: int = 3\n",
    },
    /// Assignment to what is no variable.
    AssignTarget = "HARN-PAR-009", Error {
        title: "assignment to what is no variable",
        meaning: "Only a variable, or a path of keys and indexes that begins at one, can be assigned to.",
        fails: "fn f() { return 1 }\nf() = 2\n",
        mended: "var a = 1\na = 2\nlog(a)\n",
    },
    /// Pair of three.
    Pair = "HARN-PAR-010", Error {
        title: "pair of three",
        meaning: "A pair `(a, b)` has two parts. A list or a dict holds more.",
        fails: "let p = (1, 2, 3)\n",
        mended: "let p = [1, 2, 3]\n",
    },
    /// `exclusive` without range.
    Exclusive = "HARN-PAR-011", Error {
        title: "`exclusive` without range",
        meaning: "`exclusive` stands behind `a to b` and leaves the last number out.",
        fails: "let r = 5 exclusive\n",
        mended: "let r = 1 to 5 exclusive\n",
    },
    /// String must be constant.
    ConstantString = "HARN-PAR-012", Error {
        title: "string must be constant",
        meaning: "The path of an import, a pattern, a key or a type is fixed before the script runs, so it cannot hold `${…}`.",
        fails: "import \"std/${1}\"\n",
        mended: "import \"std/testing\"\n",
    },
    /// Rest is not last.
    RestNotLast = "HARN-PAR-013", Error {
        title: "rest is not last",
        meaning: "`...rest` in a pattern takes what is left, so nothing can follow it.",
        fails: "let [...init, last] = [1, 2]\n",
        mended: "let [first, ...rest] = [1, 2]\n",
    },
    /// Second `catch`.
    SecondCatch = "HARN-PAR-014", Error {
        title: "second `catch`",
        meaning: "A `try` has one `catch`. Tell errors apart inside it.",
        fails: "fn f() { return 1 }\ntry { f() } catch { log(1) } catch { log(2) }\n",
        mended: "fn f() { return 1 }\ntry { f() } catch { log(1) }\n",
    },
    /// Expression too deep.
    TooDeep = "HARN-PAR-015", Error {
        title: "expression too deep",
        meaning: "An expression, such as a chain of operators, holds more than a thousand levels. Build the value in steps.",
    },
    /// Closure behind a call.
    TrailingClosure = "HARN-PAR-016", Error {
        title: "closure behind a call",
        meaning: "There are no trailing closures: a closure is an argument like any other and stands between the parentheses.",
        fails: "let xs = [1]\nxs.map() { x -> x + 1 }\n",
        mended: "let xs = [1]\nxs.map({ x -> x + 1 })\n",
    },
    /// Declaration missing.
    NoDeclaration = "HARN-PAR-017", Error {
        title: "declaration missing",
        meaning: "`pub` and attributes stand before a declaration.",
        fails: "@test\nlog(1)\n",
        mended: "@test\nfn t() { log(1) }\n",
    },
    /// Reserved word as a name.
    ReservedWord = "HARN-PAR-018", Error {
        title: "reserved word as a name",
        meaning: "A reserved word cannot name a variable, a function or a type. Behind a dot and as a key it can stand.",
        fails: "let match = 1\n",
        mended: "let found = 1\n",
    },
    /// Assignment in a condition.
    AssignInCondition = "HARN-PAR-019", Error {
        title: "assignment in a condition",
        meaning: "`=` assigns and is a statement; a condition compares with `==`.",
        fails: "let a = 2\nif a = 1 { log(a) }\n",
        mended: "let a = 2\nif a == 1 { log(a) }\n",
    },
    /// Syntax of another language.
    ForeignSyntax = "HARN-PAR-024", Error {
        title: "syntax of another language",
        meaning: "The text is written as in another language, such as Python or JavaScript. The help shows how Harn writes it: bodies are enclosed in braces, closures are `{ x -> … }`, arguments are passed by position.",
        fails: "let add = lambda x: x + 1\n",
        mended: "let add = { x -> x + 1 }\n",
    },
}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::LexCode;
    use crate::parse::parse;
    use crate::source::Source;

    #[test]
    fn every_row_does_what_it_says() {
        for code in LexCode::ALL.iter().map(|code| code.code()).chain(ParseCode::ALL.iter().map(|code| code.code())) {
            let row = code.row();
            // A thousand operators would not be readable in the table.
            let long = format!("let a = 1{}\n", " + 1".repeat(1500));
            let (fails, mended) =
                if code == ParseCode::TooDeep { (long.as_str(), "let a = 1 + 1\n") } else { (row.fails, row.mended) };
            let found: Vec<_> = parse(&Source::new("fails", fails)).diagnostics;
            let codes: Vec<_> = found.iter().map(|d| d.code).collect();
            assert_eq!(codes, [code], "{fails}\n{found:#?}");
            let found = parse(&Source::new("mended", mended)).diagnostics;
            assert!(found.is_empty(), "{mended}\n{found:#?}");
        }
    }

    #[test]
    fn codes_are_sorted_and_unique() {
        for rows in [LexCode::rows(), ParseCode::rows()] {
            assert!(rows.windows(2).all(|w| w[0].code < w[1].code));
        }
    }
}
