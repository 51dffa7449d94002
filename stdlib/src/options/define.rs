//! Macros that define options.

/// Defines options of builtins: for each name the struct with a field per row, its reader, and the table of its rows.
///
/// A row is `key: Kind as "type" = default, "Text.";`. The [kind](super::kind) reads the value and has the type that `check`
/// uses, unless the row has another one. A row without a default is optional. With a default, its field has that value if
/// the option is missing; `required` raises an error then. `(shown "…")` and `(required)` are only shown: the field is
/// optional. Groups in parentheses are other options that the dict has too.
macro_rules! options {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident $(= $table:literal)? $(($($group:ident: $of:ident),+))? {
            $($key:ident: $kind:ty $(as $ty:tt)? $(= $default:tt)?, $text:literal;)*
        }
    )+) => {$(
        $(#[doc = $doc])+
        pub(crate) struct $name {
            $($(
                #[doc = concat!("[`", stringify!($of), "`].")]
                pub(crate) $group: $of,
            )+)?
            $(#[doc = $text] pub(crate) $key: options!(@field $kind $(, $default)?),)*
        }

        impl $crate::options::OptionSet for $name {
            const TABLE: &'static lang::builtins::OptionTable = &lang::builtins::OptionTable {
                name: options!(@name $name $(, $table)?),
                doc: lang::declaration::doc_text(concat!($($doc),+)),
                open: false,
                linted: false,
                extends: &[$($(<$of as $crate::options::OptionSet>::TABLE),+)?],
                rows: &[$(
                    lang::option_tables!(@row $key, options!(@type $kind $(, $ty)?), $text $(, $default)?)
                ),*],
            };

            fn of(
                cx: &lang::vm::Cx<'_>,
                reader: &$crate::options::OptionReader<'_>,
            ) -> Result<Self, Box<lang::vm::Raise>> {
                Ok(Self {
                    $($($group: <$of as $crate::options::OptionSet>::of(cx, reader)?,)+)?
                    $($key: options!(
                        @read cx, reader, lang::declaration::key_text(stringify!($key)), $kind $(, $default)?
                    ),)*
                })
            }
        }
    )+};
    (@name $name:ident) => { stringify!($name) };
    (@name $name:ident, $table:literal) => { $table };
    (@type $kind:ty) => { <$kind as $crate::options::OptionKind>::TYPE };
    (@type $kind:ty, $ty:tt) => { $ty };
    (@field $kind:ty) => { Option<<$kind as $crate::options::OptionKind>::Out> };
    (@field $kind:ty, (shown $text:literal)) => { Option<<$kind as $crate::options::OptionKind>::Out> };
    (@field $kind:ty, (required)) => { Option<<$kind as $crate::options::OptionKind>::Out> };
    (@field $kind:ty, $default:tt) => { <$kind as $crate::options::OptionKind>::Out };
    (@read $cx:ident, $reader:ident, $key:expr, $kind:ty) => { $reader.get::<$kind>($cx, $key)? };
    (@read $cx:ident, $reader:ident, $key:expr, $kind:ty, (shown $text:literal)) => {
        $reader.get::<$kind>($cx, $key)?
    };
    (@read $cx:ident, $reader:ident, $key:expr, $kind:ty, (required)) => { $reader.get::<$kind>($cx, $key)? };
    (@read $cx:ident, $reader:ident, $key:expr, $kind:ty, required) => { $reader.required::<$kind>($cx, $key)? };
    (@read $cx:ident, $reader:ident, $key:expr, $kind:ty, []) => {
        $reader.get::<$kind>($cx, $key)?.unwrap_or_default()
    };
    (@read $cx:ident, $reader:ident, $key:expr, $kind:ty, {}) => {
        $reader.get::<$kind>($cx, $key)?.unwrap_or_default()
    };
    (@read $cx:ident, $reader:ident, $key:expr, $kind:ty, $default:tt) => {
        match $reader.get::<$kind>($cx, $key)? {
            Some(value) => value,
            None => <$kind as $crate::options::OptionDefault>::of_literal($default),
        }
    };
}

/// Defines the words that an option can be.
macro_rules! option_words {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident { $($variant:ident = $word:literal,)+ }
    )+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $(#[doc = concat!("`", $word, "`")] $variant,)+
        }

        impl $crate::options::OptionWord for $name {
            const TYPE: &'static str = options_union!($($word),+);
            #[cfg(feature = "hub")]
            const LIST: &'static str = concat!("list<", options_union!($($word),+), ">");
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            fn of_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    )+};
}

/// Writes words as a type.
macro_rules! options_union {
    ($first:literal $(, $word:literal)*) => { concat!("\"", $first, "\"" $(, " | \"", $word, "\"")*) };
}
