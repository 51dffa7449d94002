//! Words of Harn and other languages, and their counterparts in Rhai.

/// The counterpart of a word that Rhai reserves or that has no meaning at its place.
pub(crate) struct Slip {
    /// A sentence: `Rhai writes nothing as `()``.
    pub(crate) help: &'static str,
    /// The replacement of the word, if that is enough.
    pub(crate) instead: Option<&'static str>,
}

const fn slip(help: &'static str, instead: Option<&'static str>) -> Option<Slip> {
    Some(Slip { help, instead })
}

/// A word.
pub(crate) fn word(text: &str) -> Option<Slip> {
    match text {
        "nil" | "null" | "void" | "None" | "undefined" => slip("Rhai's empty value is `()`", Some("()")),
        "True" => slip("write `true`", Some("true")),
        "False" => slip("write `false`", Some("false")),
        "var" => slip("bind a variable with `let`; it can be assigned to", Some("let")),
        "match" => slip("Rhai has `switch value { 1 => …, _ => … }`", Some("switch")),
        "case" => slip("write an arm of a `switch` as `value => …`", None),
        "default" => {
            slip("write the last arm of a `switch` as `_ => …`; as a key of a map, put it in quotes", Some("_"))
        }
        "new" => slip("Rhai does not support classes: use a map, `#{x: 1}`", None),
        "spawn" => slip("the word is reserved in Rhai: use the builtin `spawn_`", Some("spawn_")),
        "await" => slip(
            "the word is reserved in Rhai: use the builtin `await_`; all other builtins wait automatically",
            Some("await_"),
        ),
        "async" => slip("`async` is not needed: a builtin that waits suspends the script automatically", None),
        "yield" => slip("Rhai does not support generators: fill an array with `push`", None),
        "use" | "package" => slip("import another file with `import \"name\" as name;`", None),
        "public" => slip("other files can import every `fn` of a file, except those that are `private fn`", None),
        "static" => slip("declare it with `const` at the top level of the file", Some("const")),
        "is" => slip("compare values with `==`, types with `type_of(x) == \"map\"`", Some("==")),
        "thread" | "go" | "sync" | "shared" => slip("use `parallel`, channels and tasks of Harn", None),
        "print" | "debug" | "eval" | "type_of" | "call" | "curry" => {
            slip("Rhai has a builtin function of this name: choose another name", None)
        }
        _ => None,
    }
}

/// A sign.
pub(crate) fn sign(text: &str) -> Option<Slip> {
    match text {
        "===" => slip("compare values with `==`", Some("==")),
        "!==" => slip("compare values with `!=`", Some("!=")),
        "->" => slip(
            "write a closure as `|x| x + 1`, an arm of a `switch` as `1 => …`; results have no type \
            annotations",
            None,
        ),
        "|>" => {
            slip("Rhai does not support pipes: pass the result of one function to the other, or write `x.f()`", None)
        }
        ":=" => slip("bind a variable with `let x = …`, and assign to it with `=`", Some("=")),
        "++" => slip("write `+= 1`", Some(" += 1")),
        "--" => slip("write `-= 1`", Some(" -= 1")),
        "?" => slip("Rhai does not support `c ? a : b`: write `if c { a } else { b }`, which has a value", None),
        "..." => slip("join maps and arrays with `+`: `a + #{b: 1}`", None),
        "@" => slip("Rhai does not support attributes", None),
        "$" => slip("write `${…}` in a string in backticks: `` `turn ${n}` ``", None),
        "~" => slip("write `x ^ -1` to invert all bits of `x`", None),
        "<-" | "<|" => slip("read from a channel with `receive`, and write to it with `send`", None),
        "#" => slip("a map starts with `#{`, a comment with `//`", None),
        "!." | "::<" => slip("leave it out", None),
        ";" => slip("missing expression before it", None),
        _ => None,
    }
}

/// A method or property of other languages.
pub(crate) fn member(name: &str) -> Option<&'static str> {
    Some(match name {
        "length" | "size" | "count" => "len",
        "append" | "add" => "push",
        "includes" | "has" | "has_key" => "contains",
        "substring" | "substr" | "slice" => "sub_string",
        "toUpperCase" | "upper" | "uppercase" => "to_upper",
        "toLowerCase" | "lower" | "lowercase" => "to_lower",
        "toString" | "str" => "to_string",
        "forEach" | "each" => "for_each",
        "strip" => "trim",
        _ => return None,
    })
}
