//! Words of other languages, and what Harn writes instead: the one table that the parser, the resolver and the checker
//! ask before they say that something is unknown.

/// Suggestion to write instead of a foreign word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instead {
    /// The advice, an imperative.
    pub(crate) help: &'static str,
    /// The text that takes the word's place, where the rest of the line can stay as it is.
    pub(crate) fix: Option<&'static str>,
}

const fn by(name: &'static str, help: &'static str) -> Instead {
    Instead { help, fix: Some(name) }
}

const fn advice(help: &'static str) -> Instead {
    Instead { help, fix: None }
}

/// Returns the advice for a name of another language, such as `strptime` or `JSON.parse`.
#[must_use]
pub fn name_elsewhere(name: &str) -> Option<&'static str> {
    let found = match name.split_once('.') {
        Some((module, name)) => member(module, name),
        None => global(name),
    };
    found.map(|instead| instead.help)
}

/// Functions and constants of Python, JavaScript and their relatives, with what is written instead.
const GLOBALS: &[(&[&str], Instead)] = &[
    (&["null", "None", "undefined"], by("nil", "did you mean `nil`?")),
    (&["True"], by("true", "did you mean `true`?")),
    (&["False"], by("false", "did you mean `false`?")),
    (&["puts", "echo", "printf"], by("println", "use `println(…)`")),
    (&["int", "parseInt", "Integer"], by("to_int", "use `to_int(…)`")),
    (&["float", "parseFloat", "Number"], by("to_float", "use `to_float(…)`")),
    (&["String", "string", "repr"], by("to_string", "use `to_string(…)`")),
    (&["bool", "Boolean"], advice("write `!!x`, or use `x` as the condition itself")),
    (&["length", "size", "count"], by("len", "use `len(…)`, or `x.count`")),
    (&["type", "typeof", "isinstance"], by("type_of", "use `type_of(x)`, which returns a name such as \"int\"")),
    (&["list", "Array", "tuple"], advice("write `[…]`, or `xs.to_list()`")),
    (&["dict", "Map", "Object"], advice("write `{key: value}`, or `pairs.to_dict()`")),
    (&["Set", "frozenset", "setOf", "mutableSetOf"], by("set", "use `set(…)`")),
    (&["open"], advice("use `read_file(path)` or `write_file(path, text)`")),
    (&["input", "prompt", "readline", "gets"], advice("use `print(…)` for the question, then `read_line()`")),
    (&["sorted"], advice("use `xs.sort()` or `xs.sort_by({ x -> … })`")),
    (&["reversed"], advice("use `xs.reverse()`")),
    (&["reduce"], advice("use `xs.reduce(start, { sum, x -> … })`")),
    (&["any"], advice("use `xs.any({ x -> … })`")),
    (&["all"], advice("use `xs.all({ x -> … })`")),
    (&["fetch", "urlopen", "curl"], by("http_get", "use `http_get(url)` or `http_post(url, body)`")),
    (&["setTimeout", "setInterval"], advice("use `sleep(500ms)`; call it in `spawn { … }` to continue meanwhile")),
    (&["chr", "ord"], advice("use `text.chars()` and `text.char_at(i)`")),
    (&["getattr", "hasattr"], advice("use `d[key]` and `d.has(key)`")),
    (&["super"], advice("call the function of the other struct; structs do not inherit")),
    (&["this"], by("self", "add `self` as the first parameter of a function in an `impl`")),
    (
        &["Exception", "ValueError", "Error", "TypeError", "RuntimeError"],
        advice("throw any value: `throw \"text\"` or `throw {kind: \"value\"}`"),
    ),
    (&["Promise", "asyncio"], advice("use `spawn { … }` and `await(task)`, or `parallel each xs { x -> … }`")),
    (&["pass"], advice("leave the body empty: `{ }`")),
    (&["sprintf"], by("format", "use `format(\"{} of {}\", a, b)`, or write `\"… ${value} …\"`")),
    (&["date", "datetime"], advice("use `now()`, `today()` or `date_parse(text)`")),
    (&["strftime"], advice("use `date_format(date, \"%Y-%m-%d\")`")),
    (&["strptime"], advice("use `date_parse(text, \"%Y-%m-%d\")`")),
    (&["currentTimeMillis", "time"], by("now", "use `now()`, which returns milliseconds")),
    (&["isfile"], by("is_file", "use `is_file(path)`")),
    (&["isdir"], by("is_dir", "use `is_dir(path)`")),
    (&["path_exists"], by("exists", "use `exists(path)`")),
    (&["regex_is_match", "re_match"], by("regex_test", "use `regex_test(pattern, text)`")),
    (&["regex_search"], by("regex_find", "use `regex_find(pattern, text)`")),
    (&["regex_find_all"], advice("use `regex_match(pattern, text)` or `regex_captures(pattern, text)`")),
    (&["parse_csv", "csv"], by("csv_parse", "use `csv_parse(text)`")),
    (&["randint", "randrange"], by("random_int", "use `random_int(min, max)`")),
    (&["urlencode", "encodeURIComponent", "quote"], by("url_encode", "use `url_encode(text)`")),
    (&["decodeURIComponent", "unquote"], by("url_decode", "use `url_decode(text)`")),
    (&["getcwd"], by("cwd", "use `cwd()`")),
    (&["textwrap"], advice("use `text.wrap(width)` or `text.dedent()`")),
    (&["drop"], advice("use `xs.skip(n)`; a value that nothing refers to is freed")),
    (&["take"], advice("use `xs.take(n)`")),
    (&["first"], advice("use `xs.first`")),
    (&["last"], advice("use `xs.last`")),
    (&["append", "push"], advice("use `xs = xs.push(value)`, or `xs += [value]`")),
    (&["listOf", "mutableListOf", "arrayOf", "emptyList"], advice("write a list as `[1, 2]`")),
    (&["mapOf", "mutableMapOf", "hashMapOf", "emptyMap"], advice("write a dict as `{key: value}`")),
    (&["readLine", "readln"], by("read_line", "use `read_line()`")),
    (&["fatalError", "preconditionFailure", "TODO"], advice("throw a value: `throw \"text\"`")),
    (&["precondition"], advice("write `require condition, \"message\"`")),
    (&["check"], advice("write `require condition, \"message\"`, or `assert(condition)`")),
];

/// A global name: a function or a constant of Python, JavaScript and their relatives.
pub(crate) fn global(name: &str) -> Option<Instead> {
    GLOBALS.iter().find(|(names, _)| names.contains(&name)).map(|(_, instead)| *instead)
}

/// Returns the global names of other languages that begin with `start`, each with the advice for it.
pub fn globals_elsewhere(start: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = GLOBALS.iter().flat_map(|(names, instead)| names.iter().map(|name| (*name, instead.help)));
    rows.filter(move |(name, _)| name.starts_with(start))
}

/// A function or field of a foreign module or global object, such as `JSON.parse`.
pub(crate) fn member(module: &str, name: &str) -> Option<Instead> {
    Some(match (module, name) {
        ("JSON", "parse") | ("json", "loads") => by("json_parse", "use `json_parse(text)`"),
        ("JSON", "stringify") | ("json", "dumps") => by("json_stringify", "use `json_stringify(value)`"),
        ("json", "load") => by("read_json", "use `read_json(path)`"),
        ("json", "dump") => advice("use `write_json(path, value)`"),
        ("console", "log" | "info" | "debug") | ("fmt", "Println") => by("println", "use `println(…)`"),
        ("console", "error" | "warn") => by("eprintln", "use `eprintln(…)`"),
        ("os", "getenv") => by("env", "use `env(\"NAME\")`"),
        ("os", "environ") | ("process", "env") => advice("use `env(\"NAME\")`"),
        ("os", "listdir") | ("fs", "readdirSync" | "readdir") => by("list_dir", "use `list_dir(path)`"),
        ("os", "remove" | "unlink") | ("fs", "unlinkSync" | "unlink") => by("delete_file", "use `delete_file(path)`"),
        ("os", "makedirs" | "mkdir") | ("fs", "mkdirSync" | "mkdir") => by("mkdir", "use `mkdir(path)`"),
        ("os", "system") | ("subprocess", "run" | "call" | "check_output") => {
            advice("use `exec(\"program\", \"argument\")`")
        }
        ("path" | "os", "join") => by("path_join", "use `path_join(a, b)`"),
        ("os", "path") => advice("use `path_join(a, b)`, `path_basename(path)` and `exists(path)`"),
        ("os", "getcwd") | ("process", "cwd") => by("cwd", "use `cwd()`"),
        ("os", "rename") | ("fs", "renameSync" | "rename") => by("rename_file", "use `rename_file(from, to)`"),
        ("os", "walk") => by("walk", "use `walk(path)`"),
        ("os" | "fs", "stat" | "statSync") => by("stat", "use `stat(path)`"),
        ("path", "basename") => by("path_basename", "use `path_basename(path)`"),
        ("path", "dirname") => by("path_dirname", "use `path_dirname(path)`"),
        ("path", "extname") => by("path_ext", "use `path_ext(path)`, which has no point"),
        ("path", "resolve") => by("path_absolute", "use `path_absolute(path)`"),
        ("path", "relative") => by("path_relative", "use `path_relative(from, to)`"),
        ("fs", "readFileSync" | "readFile") => by("read_file", "use `read_file(path)`"),
        ("fs", "writeFileSync" | "writeFile") => by("write_file", "use `write_file(path, text)`"),
        ("fs", "existsSync") => by("file_exists", "use `file_exists(path)`"),
        ("process" | "sys", "argv") => by("args()", "use `args()`"),
        ("process" | "sys" | "os", "exit" | "_exit") => by("exit", "use `exit(code)`"),
        ("sys", "stdin") => advice("use `read_stdin()` or `read_line()`"),
        ("sys", "stderr") => advice("use `eprintln(…)`"),
        ("sys", "stdout") => advice("use `print(…)`"),
        ("Math" | "random", "random") => by("random", "use `random()`"),
        ("random", "randint" | "randrange") => by("random_int", "use `random_int(min, max)`"),
        ("random", "choice") => by("choice", "use `choice(items)`"),
        ("random", "shuffle") => by("shuffle", "use `shuffle(items)`, which returns the elements"),
        ("random", "sample") => by("sample", "use `sample(items, n)`"),
        ("math", "prod") => advice("use `xs.reduce(1, { a, b -> a * b })`"),
        ("Math" | "math", "max") => by("max", "use `max(a, b)`"),
        ("Math" | "math", "min") => by("min", "use `min(a, b)`"),
        ("Math" | "math", "abs" | "fabs") => by("abs", "use `abs(x)`"),
        ("Math" | "math", "floor") => by("floor", "use `floor(x)`"),
        ("Math" | "math", "ceil") => by("ceil", "use `ceil(x)`"),
        ("Math", "round") => by("round", "use `round(x)`"),
        ("Math" | "math", "sqrt") => by("sqrt", "use `sqrt(x)`"),
        ("Math" | "math", "pow") => by("pow", "use `pow(a, b)` or `a ** b`"),
        ("Math" | "math", "sin") => by("sin", "use `sin(x)`"),
        ("Math" | "math", "cos") => by("cos", "use `cos(x)`"),
        ("Math" | "math", "tan") => by("tan", "use `tan(x)`"),
        ("Math" | "math", "exp") => by("exp", "use `exp(x)`"),
        ("Math" | "math", "log") => by("ln", "use `ln(x)`"),
        ("Math" | "math", "log2") => by("log2", "use `log2(x)`"),
        ("Math" | "math", "log10") => by("log10", "use `log10(x)`"),
        ("Math", "trunc") => by("to_int", "use `to_int(x)`"),
        ("Math", "PI") | ("math", "pi") => by("pi()", "use `pi()`"),
        ("Date", "now") => by("now", "use `now()`"),
        ("Date", "parse") => by("date_parse", "use `date_parse(text)`"),
        ("time", "time") => advice("use `now()`, which counts milliseconds"),
        ("time" | "asyncio", "sleep") => advice("use `sleep(2s)`"),
        ("time", "monotonic" | "perf_counter") | ("performance", "now") => by("monotonic_ms", "use `monotonic_ms()`"),
        ("datetime", "now" | "datetime") => advice("use `now()`, `today()` or `date_parse(text)`"),
        ("uuid", "uuid4") | ("crypto", "randomUUID") => by("uuid", "use `uuid()`"),
        ("Object", "keys") => by("keys", "use `keys(d)`"),
        ("Object", "values") => by("values", "use `values(d)`"),
        ("Object", "entries") => by("entries", "use `entries(d)`"),
        ("Object", "assign") => advice("write `{...a, ...b}`"),
        ("Array", "from") => advice("use `xs.to_list()`"),
        ("Array", "isArray") => advice("write `type_of(x) == \"list\"`"),
        ("Number", "isNaN") => by("is_nan", "use `is_nan(x)`"),
        ("Number", "parseInt") => by("to_int", "use `to_int(text)`"),
        ("Number", "parseFloat") => by("to_float", "use `to_float(text)`"),
        ("Promise", "all") | ("asyncio", "gather") => advice("use `parallel each xs { x -> … }`"),
        ("re", "search" | "match") => by("regex_find", "use `regex_find(pattern, text)`"),
        ("re", "findall" | "finditer") => advice("use `regex_captures(pattern, text)`"),
        ("re", "sub") => by("regex_replace", "use `regex_replace(pattern, new, text)`"),
        ("re", "split") => by("regex_split", "use `regex_split(pattern, text)`"),
        ("re", "test") => by("regex_test", "use `regex_test(pattern, text)`"),
        ("requests" | "axios" | "httpx", "get") => by("http_get", "use `http_get(url)`"),
        ("requests" | "axios" | "httpx", "put") => by("http_put", "use `http_put(url, body)`"),
        ("requests" | "axios" | "httpx", "patch") => by("http_patch", "use `http_patch(url, body)`"),
        ("requests" | "axios" | "httpx", "delete") => by("http_delete", "use `http_delete(url)`"),
        ("requests" | "axios" | "httpx", "post") => by("http_post", "use `http_post(url, body)`"),
        _ => return None,
    })
}

/// Whether `name` is a module or a global object of another language, so that no name of Harn is worth suggesting.
pub(crate) fn is_module(name: &str) -> bool {
    matches!(
        name,
        "JSON"
            | "json"
            | "console"
            | "Math"
            | "math"
            | "os"
            | "sys"
            | "process"
            | "fs"
            | "path"
            | "subprocess"
            | "re"
            | "time"
            | "datetime"
            | "Date"
            | "Object"
            | "Array"
            | "Number"
            | "Promise"
            | "asyncio"
            | "requests"
            | "axios"
            | "httpx"
            | "random"
            | "itertools"
            | "functools"
            | "collections"
            | "typing"
            | "numpy"
            | "np"
            | "performance"
            | "crypto"
            | "window"
            | "document"
            | "fmt"
    )
}

/// A type.
pub(crate) fn type_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "str" | "String" | "text" => "string",
        "integer" | "Int" | "number" | "i64" | "i32" | "u32" | "usize" => "int",
        "boolean" | "Bool" => "bool",
        "double" | "f64" | "f32" | "Float" => "float",
        "array" | "Array" | "vec" | "Vec" | "List" => "list",
        "map" | "object" | "Map" | "Dict" | "record" => "dict",
        "null" | "None" | "void" | "unit" => "nil",
        "function" | "Function" => "fn(any) -> any",
        _ => return None,
    })
}

/// Methods of other languages, with those that may be meant, the likelier first.
const METHODS: &[(&[&str], &[&str])] = &[
    (&["length", "len", "size", "lenght"], &["count"]),
    (&["append", "push_back", "add"], &["push", "add"]),
    (&["includes", "has", "contains_key", "has_key", "hasOwnProperty"], &["contains", "has"]),
    (&["forEach", "each"], &["for_each"]),
    (&["isEmpty", "is_empty"], &["empty"]),
    (&["toString", "to_str", "str"], &["to_string"]),
    (&["toUpperCase", "to_upper", "to_uppercase"], &["upper"]),
    (&["toLowerCase", "to_lower", "to_lowercase"], &["lower"]),
    (&["strip"], &["trim"]),
    (&["indexOf"], &["index_of"]),
    (&["startsWith"], &["starts_with"]),
    (&["endsWith"], &["ends_with"]),
    (&["substr"], &["substring"]),
    (&["replaceAll", "replace_all"], &["replace"]),
    (&["padStart", "rjust", "ljust", "padEnd", "center"], &["pad"]),
    (&["partition", "splitn"], &["split_once", "split"]),
    (&["removeprefix", "strip_prefix", "removePrefix"], &["remove_prefix"]),
    (&["removesuffix", "strip_suffix", "removeSuffix"], &["remove_suffix"]),
    (&["title"], &["title_case"]),
    (&["toFixed"], &["to_fixed"]),
    (&["trimIndent"], &["dedent"]),
    (&["associateBy", "keyBy", "index_by"], &["key_by"]),
    (&["countBy"], &["count_by"]),
    (&["sumBy", "sumOf"], &["sum_by"]),
    (&["uniqBy", "distinctBy"], &["unique_by"]),
    (&["average", "avg"], &["mean"]),
    (&["fold", "inject"], &["reduce"]),
    (&["select"], &["filter"]),
    (&["some"], &["any"]),
    (&["head"], &["first"]),
    (&["tail"], &["last"]),
    (&["items"], &["entries"]),
    (&["update", "extend"], &["merge", "concat"]),
    (&["drop", "dropFirst", "drop_first"], &["skip"]),
    (&["prefix"], &["take"]),
    (&["flatMap"], &["flat_map"]),
    (&["mapNotNull", "compactMap", "filterNotNull"], &["compact"]),
    (&["takeWhile"], &["take_while"]),
    (&["dropWhile", "skipWhile"], &["skip_while"]),
    (&["joinToString", "joined"], &["join"]),
    (&["groupBy", "grouping"], &["group_by"]),
    (&["sortedBy", "sortBy"], &["sort_by"]),
    (&["sorted"], &["sort"]),
    (&["reversed"], &["reverse"]),
    (&["distinct", "uniqued", "uniq"], &["unique"]),
    (&["test", "is_match"], &["matches"]),
];

/// The methods that may be meant by a method's foreign name, the likelier first.
pub(crate) fn methods(name: &str) -> &'static [&'static str] {
    METHODS.iter().find(|(names, _)| names.contains(&name)).map_or(&[], |(_, meant)| meant)
}

/// Returns the methods of other languages whose names begin with `start`, each with those that may be meant.
pub fn methods_elsewhere(start: &str) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let rows = METHODS.iter().flat_map(|(names, meant)| names.iter().map(|name| (*name, *meant)));
    rows.filter(move |(name, _)| name.starts_with(start))
}

/// A keyword or an operator in words.
pub(crate) fn keyword(word: &str) -> Option<Instead> {
    Some(match word {
        "function" | "func" | "def" | "fun" | "sub" => advice("declare a function with `fn name(…) { … }`"),
        "lambda" => advice("write a closure as `{ x -> … }`"),
        "elif" | "elsif" | "elseif" => by("else if", "write `else if`"),
        "and" => by("&&", "write `&&` for \"and\""),
        "or" => by("||", "write `||` for \"or\""),
        "not" => by("!", "write `!` for \"not\""),
        "is" => advice("compare values with `==`, and types with `type_of(x) == \"int\"`"),
        "mut" => advice("declare a name with `var` to assign to it again"),
        "switch" | "case" | "when" => advice("write `match x { 1 -> … }`"),
        "class" => advice("write `struct`, with its functions in `impl`"),
        "foreach" | "loop" | "do" | "until" => advice("write `for x in xs { … }` or `while c { … }`"),
        "unless" => advice("write `if !(…) { … }`"),
        "async" => advice("remove it: every function can wait; start a task with `spawn { … }`"),
        "await" => advice("call the function `await(task)`"),
        "export" | "public" => by("pub", "export a name with `pub`"),
        "use" | "require" | "include" => advice("load a file with `import \"path\"`"),
        "new" => advice("write `Point {x: 1, y: 2}`"),
        "del" | "delete" => advice("use `d.remove(key)`, which returns the dict without the key"),
        "then" => advice("enclose the body in braces: `if c { … } else { … }`"),
        "instanceof" | "typeof" => advice("use `type_of(x)` for the type of a value"),
        "raise" => by("throw", "write `throw value`"),
        "except" => advice("write `try { … } catch (e) { … }`"),
        "pass" => advice("leave the body empty: `{ }`"),
        "global" | "nonlocal" => advice("remove the line: functions can use the variables around them"),
        "begin" | "end" => advice("enclose the body in braces: `{ … }`"),
        _ => return None,
    })
}
