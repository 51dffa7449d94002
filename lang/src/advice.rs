//! Help for values that an operation does not work on, in one place for the checker, which asks before a run, and for the
//! machine, which asks when it makes an error.

use crate::ast::BinaryOp;
use crate::diagnostic::nearest;
use crate::foreign;

/// The kind of a value or of a type, as far as help depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// `nil`
    Nil,
    /// An int, with its value if that is known.
    Int(Option<i64>),
    /// A string.
    Text,
    /// A function, closure or builtin.
    Function,
    /// An iterator, generator or stream.
    Iterator,
    /// A handle that `spawn` returned.
    Task,
    /// `Ok(…)` or `Err(…)`.
    Result,
    /// Anything else.
    Other,
}

/// Help for strings that are joined with another value by `+`.
pub(crate) const CONVERT: &str = "convert the value with `\"…${value}\"` or `to_string(value)`";

/// Help for a result that exceeds an int.
pub(crate) const USE_FLOATS: &str = "calculate with floats: `to_float(x)` converts an operand";

/// Help for `?` and `try*` on a value that is not a Result.
pub(crate) const RESULTS: &str = "`Ok(v)`, `Err(e)` and `try { … }` return a Result";

/// Help for a `match` without an arm for a value.
pub(crate) const OTHER_ARM: &str = "add an arm for it, or `_ -> …` for all other values";

/// Returns how to get at the value for which something else stands in.
pub(crate) const fn stand_in(subject: Subject) -> Option<&'static str> {
    match subject {
        Subject::Task => Some("`await(task)` returns the result of the task"),
        Subject::Result => {
            Some("`unwrap(result)` returns the value of an `Ok`; `result?` also returns an `Err` to the caller")
        }
        _ => None,
    }
}

/// Returns the help for an operator that does not work on its operands.
pub(crate) fn operator(op: BinaryOp, left: Subject, right: Subject) -> Option<&'static str> {
    if let Some(help) = stand_in(left).or(stand_in(right)) {
        return Some(help);
    }
    match (op, left, right) {
        (BinaryOp::Add, Subject::Text, _) | (BinaryOp::Add, _, Subject::Text) => Some(CONVERT),
        (_, Subject::Nil, _) | (_, _, Subject::Nil) => Some("one operand is nil: replace it with `??` first"),
        (BinaryOp::Mul, Subject::Int(_), Subject::Text) => Some("write the string first: `\"ab\" * 3`"),
        _ => None,
    }
}

/// Returns the help for a value that is not a function and is called.
pub(crate) const fn called(subject: Subject) -> Option<&'static str> {
    match subject {
        Subject::Nil => Some("check for nil before the call, or provide a fallback with `??`"),
        other => stand_in(other),
    }
}

/// Returns the help for a value that cannot be indexed.
pub(crate) const fn indexed(subject: Subject) -> Option<&'static str> {
    match subject {
        Subject::Nil => Some("use `?[…]` if it may be nil"),
        Subject::Iterator => Some("make a list with `.to_list()`, or take one item with `.skip(n).first()`"),
        other => stand_in(other),
    }
}

/// Returns the help for a value that is not iterable.
pub(crate) fn iterated(subject: Subject) -> Option<String> {
    let text = match subject {
        Subject::Int(Some(n)) => return Some(format!("to repeat {n} times, use `0 to {n} exclusive`")),
        Subject::Int(None) => "to repeat n times, use `0 to n exclusive`",
        Subject::Function => "call the function to iterate over its result",
        Subject::Nil => "use `?? []` if it may be nil",
        other => stand_in(other)?,
    };
    Some(text.to_owned())
}

/// Returns the help for an argument that is of another type than `expected`.
pub(crate) fn argument(subject: Subject, expected: &str) -> Option<&'static str> {
    match subject {
        Subject::Iterator if expected.contains("list") => Some("convert it to a list with `.to_list()`"),
        other => stand_in(other),
    }
}

/// Returns the help for a field or method of nil.
pub(crate) fn member_of_nil(name: &str, called: bool) -> String {
    if called { format!("use `?.{name}(…)` if it may be nil") } else { format!("use `?.{name}` if it may be nil") }
}

/// Returns the help for a method that is read and not called.
pub(crate) fn uncalled(name: &str) -> String {
    format!("call the method: `.{name}()`")
}

/// Returns the help for nil that was read as a member of a dict, if the member is a method: `d.keys`. `text` is what was
/// written.
pub(crate) fn uncalled_in(text: &str, is_method: impl FnOnce(&str) -> bool) -> Option<String> {
    let (object, name) = text.rsplit_once('.')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_read = !object.is_empty() && !name.is_empty() && name.chars().all(is_name);
    (is_read && is_method(name)).then(|| uncalled(name))
}

/// Returns the help for a compound assignment to a key that is missing: `path` is the key with what is before it, `neutral` what
/// the operator does nothing with.
pub(crate) fn missing_key(path: &str, op: BinaryOp, neutral: &str, value: &str) -> String {
    format!("write `{path} = ({path} ?? {neutral}) {} {value}` to begin with `{neutral}`", op.symbol())
}

/// Returns the help for a misspelt name.
pub(crate) fn meant(near: &str) -> String {
    format!("did you mean `{near}`?")
}

/// Returns the help for a function that is called like a method.
pub(crate) fn function(name: &str) -> String {
    format!("`{name}` is a function: use `{name}(…)`")
}

/// Returns which of the names of a value's members was probably meant: the one for a word of another language, else the
/// nearest.
pub(crate) fn near_member<'n>(written: &str, names: &[&'n str]) -> Option<&'n str> {
    let of_other_language = foreign::methods(written).iter().find_map(|word| names.iter().find(|name| *name == word));
    of_other_language.copied().or_else(|| nearest(written, names.iter().copied()))
}

/// Returns the fact about a builtin that is called with arguments that do not fit.
pub(crate) fn signature(sig: &str) -> String {
    format!("its signature is `{sig}`")
}

/// Returns the headline for a call with too many or too few arguments. `name` is the function with its backticks, or words for
/// one without a name.
pub(crate) fn arity(name: &str, min: usize, max: Option<usize>, given: usize) -> String {
    let takes = match max {
        None => format!("at least {}", arguments(min)),
        Some(max) if max == min => arguments(min),
        Some(max) => format!("{min} to {}", arguments(max)),
    };
    let was = if given == 1 { "was" } else { "were" };
    format!("{name} takes {takes}, but {given} {was} given")
}

/// Returns a number of arguments in words.
pub(crate) fn arguments(n: usize) -> String {
    if n == 1 { "1 argument".to_owned() } else { format!("{n} arguments") }
}

/// Returns a list of names in backticks: `a`, `b` and `c`.
pub(crate) fn listed<'n>(names: impl Iterator<Item = &'n str>, last: &str) -> String {
    let names: Vec<String> = names.map(|n| format!("`{n}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [some @ .., end] => format!("{} {last} {end}", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_another_language_comes_before_a_near_name() {
        assert_eq!(near_member("len", &["count", "lend"]), Some("count"));
        assert_eq!(near_member("coutn", &["count", "lend"]), Some("count"));
        assert_eq!(near_member("xylophone", &["count"]), None);
    }

    #[test]
    fn a_method_that_is_read_from_a_dict_is_to_be_called() {
        let help = |text: &str| uncalled_in(text, |name| name == "keys");
        assert_eq!(help("d.keys").as_deref(), Some("call the method: `.keys()`"));
        assert_eq!(help("f(x).keys").as_deref(), Some("call the method: `.keys()`"));
        assert_eq!(help("d.keys()"), None);
        assert_eq!(help("d.name"), None);
        assert_eq!(help("keys"), None);
    }

    #[test]
    fn arguments_are_counted_in_words() {
        assert_eq!(arity("`f`", 1, Some(1), 2), "`f` takes 1 argument, but 2 were given");
        assert_eq!(arity("`f`", 1, Some(2), 0), "`f` takes 1 to 2 arguments, but 0 were given");
        assert_eq!(arity("`f`", 2, None, 1), "`f` takes at least 2 arguments, but 1 was given");
    }

    #[test]
    fn what_stands_in_for_a_value_comes_before_other_help() {
        let help = operator(BinaryOp::Add, Subject::Text, Subject::Task);
        assert_eq!(help, stand_in(Subject::Task));
        assert_eq!(operator(BinaryOp::Add, Subject::Nil, Subject::Text), Some(CONVERT));
        assert_eq!(operator(BinaryOp::Sub, Subject::Int(None), Subject::Other), None);
    }
}
