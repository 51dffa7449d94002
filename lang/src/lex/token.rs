//! The tokens that the parser sees.

use logos::Logos;
use std::fmt;

macro_rules! keywords {
    ($($name:ident $text:literal),* $(,)?) => {
        /// A reserved word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each is named after its word")]
        pub enum Kw { $($name),* }

        impl Kw {
            /// Returns the reserved word that is spelled so.
            #[must_use]
            pub fn lookup(text: &str) -> Option<Self> {
                let lengths = text.bytes().next().map_or(0, |first| LENGTHS[usize::from(first & 0x7f)]);
                if lengths >> text.len().min(31) & 1 == 0 {
                    return None;
                }
                match text {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Spelling in source.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }

        /// Every reserved word, for completion and highlighting.
        pub const KEYWORDS: &[&str] = &[$($text),*];
    };
}

keywords! {
    Pipeline "pipeline", Extends "extends", Override "override", Let "let", Var "var", Const "const", If "if",
    Else "else", For "for", In "in", While "while", Match "match", Retry "retry", Parallel "parallel", Defer "defer",
    Return "return", Import "import", True "true", False "false", Nil "nil", Try "try", Catch "catch", Throw "throw",
    Finally "finally", Fn "fn", Spawn "spawn", Type "type", Enum "enum", Struct "struct", Interface "interface",
    Impl "impl", Pub "pub", From "from", To "to", Exclusive "exclusive", Tool "tool", Guard "guard",
    Require "require", Each "each", Settle "settle", Deadline "deadline", Yield "yield", Emit "emit", Mutex "mutex",
    Break "break", Continue "continue", Select "select",
}

/// The lengths of the reserved words that begin with a byte, as bits: most names are told from reserved words by it alone.
const LENGTHS: [u32; 128] = {
    let mut lengths = [0; 128];
    let mut i = 0;
    while i < KEYWORDS.len() {
        let word = KEYWORDS[i].as_bytes();
        assert!(word[0].is_ascii() && word.len() < 31);
        lengths[word[0] as usize] |= 1 << word.len();
        i += 1;
    }
    lengths
};

/// Quotes of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// `"…"`
    Plain,
    /// `"""…"""`
    Triple,
}

/// A token. The variants with a pattern are read from the text; the others are made while scanning and laying out.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\x0c\u{feff}]+")]
#[logos(skip r"\\[ \t]*\r?\n")]
pub enum Token<'a> {
    /// A name.
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Ident(&'a str),
    /// A reserved word.
    Kw(Kw),
    /// `fn` of a function without a name.
    AnonymousFn,
    /// `_`
    Underscore,
    /// An integer, or a duration in milliseconds.
    Int(i64),
    /// A float.
    Float(f64),
    /// Text inside `r"…"`.
    Raw(&'a str),
    /// The opening quotes.
    StrStart(Quote),
    /// Text between quotes and interpolations, escapes unresolved.
    StrText(&'a str),
    /// `${`
    InterpStart,
    /// The `}` of a `${`.
    InterpEnd,
    /// The closing quotes.
    StrEnd,
    /// `///` and `/** */` before an item, with the marks.
    Doc(&'a str),
    /// Stands for an operand that could not be read and has been reported.
    Damaged,
    /// A line break that separates.
    Newline,

    /// `(`
    #[token("(")]
    LParen,
    /// `)`
    #[token(")")]
    RParen,
    /// `[`
    #[token("[")]
    LBracket,
    /// `?[`
    #[token("?[")]
    QBracket,
    /// `]`
    #[token("]")]
    RBracket,
    /// `{` of a block, a body, a list of arms or members.
    #[token("{")]
    LBody,
    /// `{` of a closure.
    LClosure,
    /// `{` of a dict, a struct literal, a shape or a pattern.
    LDict,
    /// `}`
    #[token("}")]
    RBrace,

    /// `;`
    #[token(";")]
    Semi,
    /// `,`
    #[token(",")]
    Comma,
    /// `.`
    #[token(".")]
    Dot,
    /// `?.`
    #[token("?.")]
    QDot,
    /// `...`
    #[token("...")]
    Ellipsis,
    /// `:`
    #[token(":")]
    Colon,
    /// `->`
    #[token("->")]
    Arrow,
    /// `=>`, which other languages have.
    #[token("=>")]
    FatArrow,
    /// `:=`, which other languages have.
    #[token(":=")]
    ColonAssign,
    /// `=`
    #[token("=")]
    Assign,
    /// `+=`
    #[token("+=")]
    PlusAssign,
    /// `-=`
    #[token("-=")]
    MinusAssign,
    /// `*=`
    #[token("*=")]
    StarAssign,
    /// `/=`
    #[token("/=")]
    SlashAssign,
    /// `%=`
    #[token("%=")]
    PercentAssign,
    /// `|>`
    #[token("|>")]
    Pipe,
    /// `|`
    #[token("|")]
    Bar,
    /// `||`
    #[token("||")]
    OrOr,
    /// `&&`
    #[token("&&")]
    AndAnd,
    /// `==`
    #[token("==")]
    EqEq,
    /// `!=`
    #[token("!=")]
    NotEq,
    /// `<`
    #[token("<")]
    Lt,
    /// `>`
    #[token(">")]
    Gt,
    /// `<=`
    #[token("<=")]
    Le,
    /// `>=`
    #[token(">=")]
    Ge,
    /// `not in`
    NotIn,
    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// `??`
    #[token("??")]
    Coalesce,
    /// `*`
    #[token("*")]
    Star,
    /// `/`
    #[token("/")]
    Slash,
    /// `%`
    #[token("%")]
    Percent,
    /// `**`
    #[token("**")]
    StarStar,
    /// `!`
    #[token("!")]
    Bang,
    /// `try*`
    #[token("try*")]
    TryStar,
    /// `?` that touches its operand.
    #[token("?")]
    Question,
    /// `?` behind a space.
    Ternary,
    /// `@`
    #[token("@")]
    At,

    /// A line break, before layout has looked at it.
    #[token("\n")]
    LineBreak,
    /// `//` to the end of the line.
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    /// `/*`; the scanner finds its end.
    #[token("/*")]
    BlockComment,
    /// The beginning of a number; the scanner finds its end.
    #[regex("[0-9][0-9A-Za-z_]*")]
    Number,
    /// `"""`
    #[token("\"\"\"")]
    TripleQuote,
    /// `"`
    #[token("\"")]
    DoubleQuote,
    /// `r"`
    #[token("r\"")]
    RawQuote,
    /// `'…'`, which other languages have.
    #[regex(r"'[^'\n]*'")]
    SingleQuoted,
    /// `# …`, a comment elsewhere.
    #[regex(r"#[^\n]*", allow_greedy = true)]
    Hash,
    /// `===`, which other languages have.
    #[token("===")]
    EqEqEq,
    /// `!==`, which other languages have.
    #[token("!==")]
    NotEqEq,
}

impl Kw {
    /// No expression holds it, so at the start of a line it begins a statement.
    #[must_use]
    pub const fn begins_statement(self) -> bool {
        let word = matches!(
            self,
            Self::Let | Self::Var | Self::Const | Self::For | Self::While | Self::Guard | Self::Require | Self::Defer
        );
        word || self.begins_item()
    }

    /// A declaration begins with it.
    #[must_use]
    pub const fn begins_item(self) -> bool {
        matches!(
            self,
            Self::Fn
                | Self::Pub
                | Self::Pipeline
                | Self::Tool
                | Self::Struct
                | Self::Enum
                | Self::Interface
                | Self::Impl
                | Self::Type
                | Self::Import
        )
    }
}

impl Token<'_> {
    /// An expression can end with it, so what follows is an operator or a body.
    #[must_use]
    pub fn ends_operand(self) -> bool {
        matches!(
            self,
            Self::Ident(_)
                | Self::Underscore
                | Self::Int(_)
                | Self::Float(_)
                | Self::Raw(_)
                | Self::StrEnd
                | Self::RParen
                | Self::RBracket
                | Self::RBrace
                | Self::Question
                | Self::Damaged
                | Self::Kw(Kw::True | Kw::False | Kw::Nil | Kw::Break | Kw::Continue | Kw::Exclusive)
        )
    }

    /// Whether layout hands it on as it is, whatever is around it: it opens, ends and nests nothing.
    #[must_use]
    pub(super) fn is_plain(self) -> bool {
        match self {
            Self::Ident(name) => name != "not",
            Self::Underscore
            | Self::Int(_)
            | Self::Float(_)
            | Self::Raw(_)
            | Self::StrStart(_)
            | Self::StrText(_)
            | Self::StrEnd
            | Self::Damaged
            | Self::Dot
            | Self::Colon
            | Self::EqEq
            | Self::NotEq => true,
            _ => false,
        }
    }

    /// A bracket of any kind that has a closing one.
    #[must_use]
    pub fn opens(self) -> bool {
        matches!(
            self,
            Self::LParen
                | Self::LBracket
                | Self::QBracket
                | Self::LBody
                | Self::LClosure
                | Self::LDict
                | Self::InterpStart
                | Self::StrStart(_)
        )
    }

    /// A closing bracket of any kind.
    #[must_use]
    pub fn closes(self) -> bool {
        matches!(self, Self::RParen | Self::RBracket | Self::RBrace | Self::InterpEnd | Self::StrEnd)
    }

    /// An operator with two sides, or another token behind which a line may always break.
    #[must_use]
    pub fn joins_next_line(self) -> bool {
        matches!(
            self,
            Self::Comma
                | Self::Assign
                | Self::PlusAssign
                | Self::MinusAssign
                | Self::StarAssign
                | Self::SlashAssign
                | Self::PercentAssign
                | Self::ColonAssign
                | Self::Arrow
                | Self::FatArrow
                | Self::Colon
                | Self::Dot
                | Self::QDot
                | Self::Bar
                | Self::Minus
                | Self::NotIn
                | Self::Bang
                | Self::TryStar
                | Self::Kw(Kw::In | Kw::To)
        ) || (self.joins_line_above() && !matches!(self, Self::Kw(_) | Self::Question | Self::QBracket))
    }

    /// At the start of a line it continues the line above.
    #[must_use]
    pub fn joins_line_above(self) -> bool {
        matches!(
            self,
            Self::Pipe
                | Self::Bar
                | Self::OrOr
                | Self::AndAnd
                | Self::EqEq
                | Self::NotEq
                | Self::Lt
                | Self::Gt
                | Self::Le
                | Self::Ge
                | Self::Coalesce
                | Self::Plus
                | Self::Star
                | Self::Slash
                | Self::Percent
                | Self::StarStar
                | Self::Dot
                | Self::QDot
                | Self::QBracket
                | Self::Question
                | Self::Ternary
                | Self::Colon
                | Self::Kw(Kw::Else | Kw::Catch | Kw::Finally)
        )
    }
}

impl fmt::Display for Token<'_> {
    /// Returns the name of the token in messages.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Ident(name) => return write!(f, "`{name}`"),
            Self::Kw(kw) => return write!(f, "`{}`", kw.text()),
            Self::Int(_) | Self::Float(_) | Self::Number => "a number",
            Self::Raw(_)
            | Self::StrStart(_)
            | Self::StrText(_)
            | Self::StrEnd
            | Self::TripleQuote
            | Self::DoubleQuote
            | Self::RawQuote
            | Self::SingleQuoted => "a string",
            Self::Doc(_) => "a documentation comment",
            Self::LineComment | Self::BlockComment | Self::Hash => "a comment",
            Self::Damaged => "unreadable text",
            Self::Newline | Self::LineBreak => "the end of the line",
            Self::AnonymousFn => "`fn`",
            Self::Underscore => "`_`",
            Self::InterpStart => "`${`",
            Self::LParen => "`(`",
            Self::RParen => "`)`",
            Self::LBracket => "`[`",
            Self::QBracket => "`?[`",
            Self::RBracket => "`]`",
            Self::LBody | Self::LClosure | Self::LDict => "`{`",
            Self::RBrace | Self::InterpEnd => "`}`",
            Self::Semi => "`;`",
            Self::Comma => "`,`",
            Self::Dot => "`.`",
            Self::QDot => "`?.`",
            Self::Ellipsis => "`...`",
            Self::Colon => "`:`",
            Self::Arrow => "`->`",
            Self::FatArrow => "`=>`",
            Self::ColonAssign => "`:=`",
            Self::Assign => "`=`",
            Self::PlusAssign => "`+=`",
            Self::MinusAssign => "`-=`",
            Self::StarAssign => "`*=`",
            Self::SlashAssign => "`/=`",
            Self::PercentAssign => "`%=`",
            Self::Pipe => "`|>`",
            Self::Bar => "`|`",
            Self::OrOr => "`||`",
            Self::AndAnd => "`&&`",
            Self::EqEq | Self::EqEqEq => "`==`",
            Self::NotEq | Self::NotEqEq => "`!=`",
            Self::Lt => "`<`",
            Self::Gt => "`>`",
            Self::Le => "`<=`",
            Self::Ge => "`>=`",
            Self::NotIn => "`not in`",
            Self::Plus => "`+`",
            Self::Minus => "`-`",
            Self::Coalesce => "`??`",
            Self::Star => "`*`",
            Self::Slash => "`/`",
            Self::Percent => "`%`",
            Self::StarStar => "`**`",
            Self::Bang => "`!`",
            Self::TryStar => "`try*`",
            Self::Question | Self::Ternary => "`?`",
            Self::At => "`@`",
        };
        f.write_str(text)
    }
}
