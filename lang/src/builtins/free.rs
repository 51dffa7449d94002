//! Functions for what is also a method.

use super::{args, dict, each, list, sort, string};
use crate::value::Value;
use crate::vm::{Cx, Raise};

crate::builtins! { "" =>
    /// Returns whether a text contains another one, a list, set or range an element, or a dict a key.
    ///
    /// ```harn
    /// contains("haystack", "stack") // => true
    /// contains([1, 2], 3) // => false
    /// contains({a: 1}, "a") // => true
    /// ```
    plain "contains(items: any, value: any) -> bool" contains;
    /// Returns whether a text begins with another one.
    ///
    /// ```harn
    /// starts_with("harness", "harn") // => true
    /// ```
    plain "starts_with(text: string, start: string) -> bool" string::starts_with;
    /// Returns whether a text ends with another one.
    ///
    /// ```harn
    /// ends_with("notes.md", ".md") // => true
    /// ```
    plain "ends_with(text: string, end: string) -> bool" string::ends_with;
    /// Replaces every occurrence of a text.
    ///
    /// ```harn
    /// replace("a-b-c", "-", "+") // => "a+b+c"
    /// ```
    plain "replace(text: string, old: string, new: string) -> string" string::replace;
    /// Returns the text in small letters.
    ///
    /// ```harn
    /// lower("ÀB") // => "àb"
    /// ```
    plain "lower(text: string) -> string" string::lowercase;
    /// Returns the text in capital letters.
    ///
    /// ```harn
    /// upper("àb") // => "ÀB"
    /// ```
    plain "upper(text: string) -> string" string::uppercase;
    /// Returns the index of the first occurrence of a value in a list or of a text in another one, or -1 if there is none.
    ///
    /// ```harn
    /// index_of("haystack", "stack") // => 3
    /// index_of([1, 2], 2) // => 1
    /// ```
    plain "index_of(items: any, value: any) -> int" index_of;
    /// Repeats a text.
    ///
    /// ```harn
    /// repeat("ab", 3) // => "ababab"
    /// ```
    plain "repeat(text: string, times: int) -> string" string::repeat;
    /// Returns the elements of a list or the characters of a text in the opposite order.
    ///
    /// ```harn
    /// reverse([1, 2, 3]) // => [3, 2, 1]
    /// ```
    plain "reverse(items: T) -> T" reverse;
    /// Returns whether a dict has a key, whatever its value.
    ///
    /// ```harn
    /// has({a: nil}, "a") // => true
    /// ```
    plain "has(dict: any, key: string) -> bool" dict::has;
    /// Returns the sum of numbers, 0 if there are none.
    ///
    /// ```harn
    /// sum([1, 2, 3.5]) // => 6.5
    /// ```
    plain "sum(items: any) -> int | float" list::sum;
    /// Returns the elements without those that equal an earlier one.
    ///
    /// ```harn
    /// unique([1, 2, 1]) // => [1, 2]
    /// ```
    plain "unique(items: list<T>) -> list<T>" list::unique;
    /// Returns the elements of the lists, sets and ranges inside, one level deep.
    ///
    /// ```harn
    /// flatten([[1, 2], [3]]) // => [1, 2, 3]
    /// ```
    plain "flatten(items: list) -> list" list::flatten;
    /// Returns pairs of the elements of two lists, as long as both have one.
    ///
    /// ```harn
    /// zip([1, 2], ["a", "b"]) // => [(1, "a"), (2, "b")]
    /// ```
    plain "zip(items: list<T>, other: list<U> | set<U>) -> list<pair<T, U>>" list::zip;
    /// Returns pairs `(index, element)`.
    ///
    /// ```harn
    /// enumerate(["a", "b"]) // => [(0, "a"), (1, "b")]
    /// ```
    plain "enumerate(items: list<T>) -> list<pair<int, T>>" list::enumerate;
    /// Sorts elements: by their own order, or by a function that gets two of them and returns a negative number or true if the first
    /// one comes first.
    ///
    /// ```harn
    /// sort([3, 1, 2]) // => [1, 2, 3]
    /// ```
    native "sort(items: list<T>, compare: fn(T, T) -> any = nil) -> list<T>" sort::SORT;
    /// Maps each element with a function.
    ///
    /// ```harn
    /// map([1, 2], { x -> x * 10 }) // => [10, 20]
    /// ```
    native "map(items: list<T>, f: fn(T) -> U) -> list<U>" each::MAP;
    /// Returns the elements for which a function returns something true.
    ///
    /// ```harn
    /// filter([1, 2, 3], { x -> x > 1 }) // => [2, 3]
    /// ```
    native "filter(items: list<T>, f: fn(T) -> any) -> list<T>" each::FILTER;
}

fn contains(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    match &args[0] {
        Value::Str(_) => string::contains(cx, args),
        Value::Dict(_) | Value::Struct(_) => dict::has(cx, args),
        _ => list::contains(cx, args).map_err(|raise| expected_items(raise, args)),
    }
}

fn index_of(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    match &args[0] {
        Value::Str(_) => string::index_of(cx, args),
        _ => list::index_of(cx, args).map_err(|raise| expected_items(raise, args)),
    }
}

fn reverse(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    match &args[0] {
        Value::Str(_) => string::reverse(cx, args),
        _ => list::reverse(cx, args).map_err(|raise| expected_items(raise, args)),
    }
}

/// Names all that the argument can be, if it is something else.
fn expected_items(raise: Box<Raise>, args: &[Value]) -> Box<Raise> {
    match super::items::len(&args[0]) {
        Some(_) => raise,
        None => args::mismatch(args, 0, "a string, list, dict, set or range"),
    }
}
