//! The catalogue of what the lexer and the parser find.

use crate::diagnostic::Severity;
use crate::diagnostic::code::Code;

macro_rules! codes {
    ($($code:literal $title:literal $meaning:literal $fails:literal => $mended:literal;)*) => {
        /// Every code, in order.
        pub static CODES: &[Code] = &[$(Code {
            code: $code,
            severity: Severity::Error,
            title: $title,
            meaning: $meaning,
            fails: $fails,
            mended: $mended,
        }),*];
    };
}

codes! {
    "HARN-LEX-001" "character without meaning"
    "The text holds a character that is no part of the language outside of strings and comments. Take it out, or write what is meant: comments begin with `//`, strings stand in straight double quotes."
    "let total = 3 ~ 4\n" => "let total = 3 - 4\n";
    "HARN-LEX-002" "string never closed"
    "A string begins and its line, or the text, ends before its closing quotes. A `\"…\"` stands on one line; text of several lines stands in `\"\"\"…\"\"\"`."
    "let name = \"Ada\nlog(name)\n" => "let name = \"Ada\"\nlog(name)\n";
    "HARN-LEX-003" "comment never closed"
    "A `/*` has no `*/`. Comments nest, so each `/*` needs a `*/` of its own."
    "let a = 1 /* one /* two */\n" => "let a = 1 /* one /* two */ */\n";
    "HARN-LEX-004" "bracket never closed"
    "A `(`, `[`, `{` or `${` has no partner before the place where it must have ended: another closing bracket, a line that can only begin a statement, or the end of the text."
    "let a = (1 + 2\nlet b = 3\n" => "let a = (1 + 2)\nlet b = 3\n";
    "HARN-LEX-005" "closing bracket without partner"
    "A `)`, `]` or `}` closes nothing that is open, or another kind of bracket than the innermost open one."
    "let a = [1, 2)\n" => "let a = [1, 2]\n";
    "HARN-LEX-006" "nested too deep"
    "Brackets or operators lie in each other so deep that no one could read them. Give inner parts names with `let`, or move them into functions."
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
        => "[[[[[[]]]]]]\n";
    "HARN-LEX-007" "number too large"
    "An int has 64 bits, so it lies between -9223372036854775808 and 9223372036854775807. Write a larger number as a float."
    "let n = 99999999999999999999\n" => "let n = 1e20\n";
    "HARN-LEX-008" "number runs into letters"
    "A number is followed directly by letters that are no unit of time. The units are `ms`, `s`, `m`, `h`, `d` and `w`, behind whole numbers; names cannot begin with a digit."
    "sleep(5min)\n" => "sleep(5m)\n";
    "HARN-LEX-009" "number without digits"
    "A `0x`, a `0b` or an exponent needs digits behind it, and only those of its kind."
    "let mask = 0b102\n" => "let mask = 0b101\n";
    "HARN-LEX-010" "unknown escape"
    "A backslash in a string stands before a character that makes no escape. The escapes are `\\n`, `\\t`, `\\r`, `\\\\`, `\\\"`, `\\$` and `\\u{…}`; `r\"…\"` has none."
    "let pattern = \"\\d+\"\n" => "let pattern = r\"\\d+\"\n";
    "HARN-LEX-011" "escape names no character"
    "`\\u{…}` holds one to six hexadecimal digits that number a Unicode character."
    "let face = \"\\u{110000}\"\n" => "let face = \"\\u{1F600}\"\n";
    "HARN-LEX-012" "string in the wrong quotes"
    "Strings stand in straight double quotes, not in single or curly ones."
    "let name = 'Ada'\n" => "let name = \"Ada\"\n";
    "HARN-LEX-013" "one sign too many"
    "Values are compared with `==` and `!=`; there is no second kind of equality."
    "let same = 1 === 2\n" => "let same = 1 == 2\n";
    "HARN-LEX-014" "letter that no name may hold"
    "Names are made of the letters A to Z and a to z, digits and `_`, and do not begin with a digit. Strings and comments may hold any text."
    "let größe = 1\n" => "let size = 1\n";
    "HARN-PAR-001" "token that does not fit"
    "Something stands where the grammar has no place for it. The message says what would fit."
    "match 1 { 1 => { 2 } }\n" => "match 1 { 1 -> { 2 } }\n";
    "HARN-PAR-002" "expression missing"
    "An operator, a bracket or a word such as `if` must be followed by an expression."
    "let a = 1 +\n" => "let a = 1 + 2\n";
    "HARN-PAR-003" "element of a list does not end"
    "Between brackets, an element is followed by a `,` or by the closing bracket."
    "let xs = [1 2]\n" => "let xs = [1, 2]\n";
    "HARN-PAR-004" "statement does not end"
    "A statement is whole, but something follows it on its line. Statements are separated by line breaks or `;`."
    "let a = 1 let b = 2\n" => "let a = 1; let b = 2\n";
    "HARN-PAR-005" "body missing"
    "What was begun needs a body in braces."
    "if true\n" => "if true { log(1) }\n";
    "HARN-PAR-006" "name missing"
    "A declaration, a dot or a parameter needs a name."
    "struct { x: int }\n" => "struct Point { x: int }\n";
    "HARN-PAR-007" "pattern missing"
    "`let`, `for`, a parameter or an arm needs a name or a pattern such as `{a, b}`, `[x, ...rest]` or `(k, v)`."
    "let = 3\n" => "let a = 3\n";
    "HARN-PAR-008" "type missing"
    "A `:` or `->` in a declaration is followed by a type."
    "let a: = 3\n" => "let a: int = 3\n";
    "HARN-PAR-009" "assignment to what is no variable"
    "Only a variable, or a path of keys and indexes that begins at one, can be assigned to."
    "fn f() { return 1 }\nf() = 2\n" => "var a = 1\na = 2\nlog(a)\n";
    "HARN-PAR-010" "pair of three"
    "A pair `(a, b)` has two parts. A list or a dict holds more."
    "let p = (1, 2, 3)\n" => "let p = [1, 2, 3]\n";
    "HARN-PAR-011" "`exclusive` without range"
    "`exclusive` stands behind `a to b` and leaves the last number out."
    "let r = 5 exclusive\n" => "let r = 1 to 5 exclusive\n";
    "HARN-PAR-012" "string must be constant"
    "The path of an import, a pattern, a key or a type is fixed before the script runs, so it cannot hold `${…}`."
    "import \"std/${1}\"\n" => "import \"std/testing\"\n";
    "HARN-PAR-013" "rest is not last"
    "`...rest` in a pattern takes what is left, so nothing can follow it."
    "let [...init, last] = [1, 2]\n" => "let [first, ...rest] = [1, 2]\n";
    "HARN-PAR-014" "second `catch`"
    "A `try` has one `catch`. Tell errors apart inside it."
    "fn f() { return 1 }\ntry { f() } catch { log(1) } catch { log(2) }\n" => "fn f() { return 1 }\ntry { f() } catch { log(1) }\n";
    "HARN-PAR-015" "expression too deep"
    "An expression, such as a chain of operators, holds more than a thousand levels. Build the value in steps."
    "" => "";
    "HARN-PAR-016" "closure behind a call"
    "There are no trailing closures: a closure is an argument like any other and stands between the parentheses."
    "let xs = [1]\nxs.map() { x -> x + 1 }\n" => "let xs = [1]\nxs.map({ x -> x + 1 })\n";
    "HARN-PAR-017" "declaration missing"
    "`pub` and attributes stand before a declaration."
    "@test\nlog(1)\n" => "@test\nfn t() { log(1) }\n";
    "HARN-PAR-018" "reserved word as a name"
    "A reserved word cannot name a variable, a function or a type. Behind a dot and as a key it can stand."
    "let match = 1\n" => "let found = 1\n";
    "HARN-PAR-019" "assignment in a condition"
    "`=` assigns and is a statement; a condition compares with `==`."
    "let a = 2\nif a = 1 { log(a) }\n" => "let a = 2\nif a == 1 { log(a) }\n";
    "HARN-PAR-024" "syntax of another language"
    "The text is written as in another language, such as Python or JavaScript. The help shows how Harn writes it: bodies are enclosed in braces, closures are `{ x -> … }`, arguments are passed by position."
    "let add = lambda x: x + 1\n" => "let add = { x -> x + 1 }\n";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;
    use crate::source::Source;

    #[test]
    fn every_row_does_what_it_says() {
        for row in CODES {
            // A thousand operators would not be readable in the table.
            let long = format!("let a = 1{}\n", " + 1".repeat(1500));
            let (fails, mended) =
                if row.code == "HARN-PAR-015" { (long.as_str(), "let a = 1 + 1\n") } else { (row.fails, row.mended) };
            let found: Vec<_> = parse(&Source::new("fails", fails)).diagnostics;
            let codes: Vec<_> = found.iter().map(|d| d.code).collect();
            assert_eq!(codes, [row.code], "{fails}\n{found:#?}");
            let found = parse(&Source::new("mended", mended)).diagnostics;
            assert!(found.is_empty(), "{mended}\n{found:#?}");
        }
    }

    #[test]
    fn codes_are_sorted_and_unique() {
        assert!(CODES.windows(2).all(|w| w[0].code < w[1].code));
    }
}
