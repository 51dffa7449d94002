//! The catalogue of what the parser finds.

use crate::codes;

codes! {
/// The codes of what the parser finds.
pub enum ParseCode {
    /// Unexpected token.
    Unexpected = "HARN-PAR-001", Error {
        title: "unexpected token",
        meaning: "The grammar does not allow this token here. The message says what is expected.",
        fails: "match 1 { 1 => { 2 } }\n",
        mended: "match 1 { 1 -> { 2 } }\n",
    },
    /// Missing expression.
    NoExpression = "HARN-PAR-002", Error {
        title: "missing expression",
        meaning: "An operator, an opening bracket or a keyword such as `if` must be followed by an expression.",
        fails: "let a = 1 +\n",
        mended: "let a = 1 + 2\n",
    },
    /// Missing comma or closing bracket.
    ElementEnd = "HARN-PAR-003", Error {
        title: "missing comma or closing bracket",
        meaning: "Inside brackets, each element must be followed by a `,` or by the closing bracket.",
        fails: "let xs = [1 2]\n",
        mended: "let xs = [1, 2]\n",
    },
    /// Missing end of statement.
    StatementEnd = "HARN-PAR-004", Error {
        title: "missing end of statement",
        meaning: "A complete statement is followed by something else on the same line. Separate statements with line breaks or \
            `;`.",
        fails: "let a = 1 let b = 2\n",
        mended: "let a = 1; let b = 2\n",
    },
    /// Missing body.
    NoBody = "HARN-PAR-005", Error {
        title: "missing body",
        meaning: "A declaration or a control expression must have a body in braces.",
        fails: "if true\n  log(1)\n",
        mended: "if true {\n  log(1)\n}\n",
    },
    /// Missing name.
    NoName = "HARN-PAR-006", Error {
        title: "missing name",
        meaning: "A declaration, a dot or a parameter must have a name.",
        fails: "struct { x: int }\n",
        mended: "struct Point { x: int }\n",
    },
    /// Missing pattern.
    NoPattern = "HARN-PAR-007", Error {
        title: "missing pattern",
        meaning: "`let`, `for`, a parameter or an arm must have a name or a pattern such as `{a, b}`, `[x, ...rest]` or `(k, \
            v)`.",
        fails: "let = 3\n",
        mended: "let a = 3\n",
    },
    /// Missing type.
    NoType = "HARN-PAR-008", Error {
        title: "missing type",
        meaning: "A `:` or `->` in a declaration must be followed by a type.",
        fails: "let a: = 3\n",
        mended: "let a: int = 3\n",
    },
    /// Invalid assignment target.
    AssignTarget = "HARN-PAR-009", Error {
        title: "invalid assignment target",
        meaning: "Only a variable, or a path of keys and indexes that begins at a variable, can be assigned to.",
        fails: "fn f() { return 1 }\nf() = 2\n",
        mended: "var a = 1\na = 2\nlog(a)\n",
    },
    /// Too many values in a pair.
    Pair = "HARN-PAR-010", Error {
        title: "too many values in a pair",
        meaning: "A pair `(a, b)` has two values. Use a list or a dict for more.",
        fails: "let p = (1, 2, 3)\n",
        mended: "let p = [1, 2, 3]\n",
    },
    /// `exclusive` without a range.
    Exclusive = "HARN-PAR-011", Error {
        title: "`exclusive` without a range",
        meaning: "`exclusive` must follow a range `a to b`; it excludes the last number.",
        fails: "let r = 5 exclusive\n",
        mended: "let r = 1 to 5 exclusive\n",
    },
    /// Interpolation in a constant string.
    ConstantString = "HARN-PAR-012", Error {
        title: "interpolation in a constant string",
        meaning: "The path of an import, a pattern, a key or a type is fixed before the script runs, so it cannot contain \
            `${…}`.",
        fails: "import \"std/${1}\"\n",
        mended: "import \"std/testing\"\n",
    },
    /// Rest pattern not last.
    RestNotLast = "HARN-PAR-013", Error {
        title: "rest pattern not last",
        meaning: "`...rest` takes all remaining elements, so it must be the last part of a pattern.",
        fails: "let [...init, last] = [1, 2]\n",
        mended: "let [first, ...rest] = [1, 2]\n",
    },
    /// More than one `catch`.
    SecondCatch = "HARN-PAR-014", Error {
        title: "more than one `catch`",
        meaning: "A `try` can have only one `catch`. Distinguish the errors inside it.",
        fails: "fn f() { return 1 }\ntry { f() } catch { log(1) } catch { log(2) }\n",
        mended: "fn f() { return 1 }\ntry { f() } catch { log(1) }\n",
    },
    /// Expression nested too deeply.
    TooDeep = "HARN-PAR-015", Error {
        title: "expression nested too deeply",
        meaning: "An expression, such as a chain of operators, has more than a thousand levels. Build the value in steps.",
    },
    /// Closure after a call.
    TrailingClosure = "HARN-PAR-016", Error {
        title: "closure after a call",
        meaning: "There are no trailing closures: pass a closure like any other argument, between the parentheses.",
        fails: "let xs = [1]\nxs.map() { x -> x + 1 }\n",
        mended: "let xs = [1]\nxs.map({ x -> x + 1 })\n",
    },
    /// Missing declaration.
    NoDeclaration = "HARN-PAR-017", Error {
        title: "missing declaration",
        meaning: "`pub` and attributes must be followed by a declaration.",
        fails: "@test\nlog(1)\n",
        mended: "@test\nfn t() { log(1) }\n",
    },
    /// Reserved word used as a name.
    ReservedWord = "HARN-PAR-018", Error {
        title: "reserved word used as a name",
        meaning: "A reserved word cannot name a variable, a function or a type. It can be a key, and it can follow a dot.",
        fails: "let match = 1\n",
        mended: "let found = 1\n",
    },
    /// Assignment in a condition.
    AssignInCondition = "HARN-PAR-019", Error {
        title: "assignment in a condition",
        meaning: "`=` assigns and is a statement. Use `==` to compare.",
        fails: "let a = 2\nif a = 1 { log(a) }\n",
        mended: "let a = 2\nif a == 1 { log(a) }\n",
    },
    /// Syntax of another language.
    ForeignSyntax = "HARN-PAR-024", Error {
        title: "syntax of another language",
        meaning: "This is the syntax of another language, such as Python or JavaScript. The help shows how to write it in \
            Harn: bodies are enclosed in braces, closures are `{ x -> … }`, and arguments are passed by position.",
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
