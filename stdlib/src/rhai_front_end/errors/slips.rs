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
        "nil" | "null" | "void" | "None" | "undefined" => slip("Rhai writes nothing as `()`", Some("()")),
        "True" => slip("it is written `true`", Some("true")),
        "False" => slip("it is written `false`", Some("false")),
        "var" => slip("a variable is bound by `let`, and can be assigned to", Some("let")),
        "match" => slip("Rhai has `switch value { 1 => …, _ => … }`", Some("switch")),
        "case" => slip("an arm of a `switch` is `value => …`", None),
        "default" => slip("the last arm of a `switch` is `_ => …`; as a key of a map, put it in quotes", Some("_")),
        "new" => slip("Rhai has no classes: make a map, `#{x: 1}`", None),
        "spawn" => slip("Rhai keeps the word for itself: the builtin is `spawn_`", Some("spawn_")),
        "await" => slip(
            "Rhai keeps the word for itself: the builtin is `await_`; other builtins that wait just do",
            Some("await_"),
        ),
        "async" => slip("nothing need be marked: a builtin that waits suspends the script by itself", None),
        "yield" => slip("Rhai has no generators: fill an array with `push`", None),
        "use" | "package" => slip("another file is imported by `import \"name\" as name;`", None),
        "public" => slip("every `fn` of a file can be used by those that import it; `private fn` cannot", None),
        "static" => slip("bind it with `const` at the top of the file", Some("const")),
        "is" => slip("values are compared with `==`, types with `type_of(x) == \"map\"`", Some("==")),
        "thread" | "go" | "sync" | "shared" => slip("use `parallel`, channels and tasks of harn", None),
        "print" | "debug" | "eval" | "type_of" | "call" | "curry" => {
            slip("Rhai has a function of this name, which can only be called: choose another name", None)
        }
        _ => None,
    }
}

/// A sign.
pub(crate) fn sign(text: &str) -> Option<Slip> {
    match text {
        "===" => slip("values are compared with `==`", Some("==")),
        "!==" => slip("values are compared with `!=`", Some("!=")),
        "->" => slip("a closure is `|x| x + 1`, an arm of a `switch` is `1 => …`; results have no written types", None),
        "|>" => slip("Rhai has no pipes: call one function with the result of the other, or write `x.f()`", None),
        ":=" => slip("a variable is bound by `let x = …`, and assigned to by `=`", Some("=")),
        "++" => slip("write `+= 1`", Some(" += 1")),
        "--" => slip("write `-= 1`", Some(" -= 1")),
        "?" => slip("there is no `c ? a : b`: write `if c { a } else { b }`, which has a value", None),
        "..." => slip("maps are joined with `+`, arrays too: `a + #{b: 1}`", None),
        "@" => slip("Rhai has no attributes", None),
        "$" => slip("`${…}` stands in a string in backticks: `` `turn ${n}` ``", None),
        "~" => slip("all bits of `x` are turned over by `x ^ -1`", None),
        "<-" | "<|" => slip("a channel is read by `receive`, written to by `send`", None),
        "#" => slip("a map begins with `#{`, a comment with `//`", None),
        "!." | "::<" => slip("leave it out", None),
        ";" => slip("an expression is missing before it", None),
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
