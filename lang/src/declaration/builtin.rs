//! A row of a table of builtins: what a builtin is called, what it takes and returns, and what it needs.

use crate::later::{CheckTypes, Machine, ThisCrate};

/// A right that a run may be without. The embedder says which rights there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right(&'static str);

impl Right {
    /// The right of that name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }
}

/// Number of arguments that a function accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// At least.
    pub min: u8,
    /// At most; without a rest parameter the missing ones arrive as nil.
    pub max: u8,
    /// `...rest`: any number more.
    pub rest: bool,
}

impl Arity {
    /// Returns whether a call can have an argument.
    #[must_use]
    pub const fn takes_any(self) -> bool {
        self.max > 0 || self.rest
    }
}

/// The function of a row, which only the machine looks into.
pub type Run = <ThisCrate as Machine>::Run;

/// A check that a signature cannot express, made on the syntax of a call; only the checker looks into it.
pub type Lint = <ThisCrate as CheckTypes>::Lint;

/// A row.
pub struct Builtin {
    /// The namespace; empty for the global ones, `<list>` and so on for methods.
    pub module: &'static str,
    /// Its name in the namespace.
    pub name: &'static str,
    /// `name(a: type, b: type = default, ...rest) -> type`
    pub sig: &'static str,
    /// One or two sentences, and an example between the lines ```` ```harn ```` and ```` ``` ````: [`Self::summary`] and
    /// [`Self::example`].
    pub doc: &'static str,
    /// Capability that a run must have.
    pub caps: &'static [Right],
    /// Calls no closure and, when it fails, leaves its first argument alone: `x = x.f(…)` may change x in place.
    pub pure: bool,
    /// A method that may also be read without parentheses.
    pub property: bool,
    /// From the signature.
    pub arity: Arity,
    /// The function.
    pub run: Run,
    /// More checks.
    pub lint: Option<Lint>,
    /// The options that hold the type of the result or of a part of it.
    pub typed_by: &'static [TypedBy],
}

/// An option that holds a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypedBy {
    /// The key of the option.
    pub option: &'static str,
    /// The part of the result that has the type.
    pub part: TypedPart,
}

/// A part of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedPart {
    /// All of it.
    Whole,
    /// Each item that it hands over.
    Items,
    /// The value of a key.
    Key(&'static str),
}

impl TypedBy {
    /// The option holds the type of the result.
    #[must_use]
    pub const fn whole(option: &'static str) -> Self {
        Self { option, part: TypedPart::Whole }
    }

    /// The option holds the type of the items of a stream.
    #[must_use]
    pub const fn items(option: &'static str) -> Self {
        Self { option, part: TypedPart::Items }
    }

    /// The option holds the type of an entry of the result.
    #[must_use]
    pub const fn key(option: &'static str, key: &'static str) -> Self {
        Self { option, part: TypedPart::Key(key) }
    }
}

impl Builtin {
    /// Spelling in scripts.
    #[must_use]
    pub fn full_name(&self) -> String {
        if self.module.is_empty() {
            self.name.to_owned()
        } else if let Some(of) = self.module.strip_prefix('<').and_then(|m| m.strip_suffix('>')) {
            format!("{of}.{}", self.name)
        } else {
            format!("{}.{}", self.module, self.name)
        }
    }

    /// Returns the documentation without the example. Each line begins with the space that follows `///`.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.parts().0
    }

    /// Returns the lines of the example, if the row has one. A comment `// => value` ends a line whose value it shows.
    #[must_use]
    pub fn example(&self) -> Option<impl Iterator<Item = &'static str> + use<>> {
        let text = self.parts().1?;
        Some(text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line)))
    }

    fn parts(&self) -> (&'static str, Option<&'static str>) {
        match self.doc.split_once("```harn\n") {
            Some((summary, rest)) => (summary.trim_end(), rest.split("\n ```").next()),
            None => (self.doc.trim_end(), None),
        }
    }

    /// Whether it is a method of a value.
    #[must_use]
    pub fn is_method(&self) -> bool {
        self.module.starts_with('<')
    }
}

/// The arity that a signature states, worked out when the program is built.
///
/// # Panics
/// When building, if the signature has no parameter list.
#[must_use]
pub const fn arity(sig: &str) -> Arity {
    let text = sig.as_bytes();
    let mut i = 0;
    while text[i] != b'(' {
        i += 1;
    }
    i += 1;
    let (mut min, mut max, mut rest) = (0, 0, false);
    let (mut depth, mut named, mut optional, mut quoted) = (0, false, false, false);
    loop {
        let c = text[i];
        if quoted {
            quoted = c != b'"';
        } else if depth == 0 && (c == b',' || c == b')') {
            if named && !rest {
                max += 1;
                if !optional {
                    min += 1;
                }
            }
            named = false;
            optional = false;
            if c == b')' {
                return Arity { min, max, rest };
            }
        } else {
            match c {
                b'"' => quoted = true,
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b'>' if text[i - 1] == b'-' => {}
                b')' | b']' | b'}' | b'>' => depth -= 1,
                b'=' if depth == 0 => optional = true,
                b'.' if depth == 0 && text[i + 1] == b'.' => rest = true,
                b' ' => {}
                _ => named = true,
            }
        }
        i += 1;
    }
}

/// The name at the front of a signature.
#[must_use]
pub const fn name_of(sig: &'static str) -> &'static str {
    let text = sig.as_bytes();
    let mut i = 0;
    while text[i] != b'(' {
        i += 1;
    }
    sig.split_at(i).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arity_comes_from_the_signature() {
        let of = |sig| {
            let a = arity(sig);
            (a.min, a.max, a.rest)
        };
        assert_eq!(of("f() -> nil"), (0, 0, false));
        assert_eq!(of("f(a: int, b: fn(int) -> list<int>, c: dict<string, any> = {}) -> nil"), (2, 3, false));
        assert_eq!(of("f(a, ...rest) -> nil"), (1, 1, true));
        assert_eq!(of("f(a: \"x,y\" | nil = nil) -> nil"), (0, 1, false));
    }
}
