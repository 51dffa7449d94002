//! The rows: for each a program of that name in each language, and the value that all of them must
//! print.

use super::inputs::Input;

/// A row of the table.
pub(crate) struct Row {
    /// The name of the programs without the language's extension; also the name for `--rows`.
    pub(crate) file: &'static str,
    /// The title in the table.
    pub(crate) title: &'static str,
    /// The value that the program prints.
    pub(crate) check: &'static str,
    /// The input file, if any.
    pub(crate) input: Option<Input>,
}

const fn row(file: &'static str, title: &'static str, check: &'static str) -> Row {
    Row { file, title, check, input: None }
}

const fn reads(file: &'static str, title: &'static str, check: &'static str, input: Input) -> Row {
    Row { file, title, check, input: Some(input) }
}

/// The rows. A program that is too short to be measured repeats its work, as its title says.
pub(crate) const ROWS: &[Row] = &[
    row("fib", "fib(27)", "196418"),
    row("loop", "1M-turn while loop", "2999997"),
    row("calls", "100k function calls, x 10", "999990"),
    row("dict_reads", "dict reads, 150k x 3, x 5", "4500000"),
    row("map_filter", "map + filter, 200 x 1000", "66667"),
    row("interpolation", "string interpolation, 5k x 50", "7666750"),
    row("append", "s += \"ab\", 100k x 10", "2000000"),
    row("dict_insert", "dict insert, 100k", "177777"),
    row("sieve", "sieve, 200k", "17984"),
    row("sort_by_key", "sort 20k records by key", "913977"),
    row("sort_compare", "sort 20k ints by a comparator", "472494"),
    row("nbody", "n-body, 3k steps", "-169258857"),
    row("spectral", "spectral norm, 100", "1274219991"),
    row("methods", "method calls on structs, 400k", "200000"),
    row("enums", "enum match, 300k", "4875000"),
    row("trees", "binary trees, depth 14", "105984"),
    row("text", "string building, 50k lines", "1688890"),
    reads("json", "JSON round trip, 1 MB", "966172", Input::Records),
    reads("words", "word count, 5 MB", "19263 245 505745", Input::Words),
];
