//! Functions that are also methods, and makers of collections.

use super::{dict, iter, list, range, set, string};

crate::builtins! { "" =>
    /// The keys of a dict, in order.
    plain "keys(dict: any) -> list<string>" dict::keys;
    /// The values of a dict, in the order of its keys.
    plain "values(dict: any) -> list" dict::values;
    /// The entries of a dict as dicts `{key, value}`, in the order of its keys.
    plain "entries(dict: any) -> list<{key: string, value: any}>" dict::entries;
    /// The ints from 0 up to `a`, or from `a` up to `b`; the last one is not included.
    plain "range(a: int, b: int = nil) -> range" range::make;
    /// A lazy iterator over the items of a list, dict, string, set, range, iterator, generator, stream or channel.
    plain "iter(items: any) -> iter" iter::iter;
    /// The set of the values, or of the elements of the one list, set or range that is given.
    plain "set(...values) -> set" set::make;
    /// The texts of the elements, with the separator between them.
    plain "join(items: any, separator: string = \"\") -> string" list::join;
    /// Returns the parts between the separators: at most `limit`, the last of which holds the rest. Without a separator these are
    /// the words between white space; with an empty one they are the characters.
    ///
    /// ```harn
    /// split("key=a=b", "=", 2) // => ["key", "a=b"]
    /// ```
    plain "split(text: string, separator: string? = nil, limit: int? = nil) -> list<string>" string::split;
    /// The string without white space at its ends.
    plain "trim(text: string) -> string" string::trim;
}
