//! Layout: which line breaks separate, what each `{` opens, which `?` is postfix, which words are names after all.
//!
//! One walk over the lexemes with a stack of frames, one per open bracket. In a frame of lines (a block, the body of a
//! closure, the arms of a `match`) a line break separates unless the line above or below says that it goes on; in all
//! others it means nothing. A word such as `if` demands a body: it waits in `heads` until its `{` comes, which tells that
//! `{` from a dict's. Brackets are balanced here; see `pairs.rs`.

use super::messages::{self, NestingLimit};
use super::scan::{Lexeme, Report, Scanned};
use super::token::{Kw, Token};
use super::{Lexed, MAX_NESTING, braces};
use crate::source::{SourceRef, Span};

/// Meaning of line breaks in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// Nothing.
    Free,
    /// They separate statements.
    Statements,
    /// They separate fields or variants; words may be names.
    Members,
    /// They separate the arms of a `match`.
    Arms,
    /// They separate the arms of a `select`.
    Select,
}

/// An open bracket.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBracket {
    /// A dict, a shape or a pattern in braces.
    dict: bool,
    /// The parameters of a closure, up to the `->`.
    parameters: bool,
    pub(super) lines: Lines,
    /// Patterns stand here, until an `=` and again after a `,`.
    pub(super) pattern: bool,
    /// Behind an `=` in a frame of patterns.
    pub(super) value: bool,
    /// In a frame of arms: before the `->`.
    pub(super) before_arrow: bool,
    /// The block that closes here was an arm's body.
    arm_body: bool,
    /// In a frame of arms: behind the `if` of an arm.
    guard: bool,
    /// Index in the stack of heads at which its own begin.
    heads: usize,
    /// Number of constructs that nest to the right without brackets: `? :`, `return`, `->` in types.
    rights: u32,
    /// Number of nested `**`, which every other operator ends.
    powers: u32,
    /// Index in the stack of open `<` at which its own begin.
    angles: usize,
}

/// A word that waits for its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// `if while for retry deadline parallel match guard catch`: an expression, then the body.
    Control(Kw),
    /// `fn`, `pipeline`, `tool`: parameters and a type, then the body.
    Function,
    /// `struct`, `enum`: fields or variants.
    Members,
    /// `impl`, `interface`: functions.
    Methods,
    /// `import`: a list of names.
    Names,
}

pub(super) struct Layout<'a, 's> {
    source: &'a SourceRef,
    pub(super) lexemes: &'s [Lexeme<'a>],
    pub(super) out: Vec<(Token<'a>, Span)>,
    pub(super) frames: Vec<OpenBracket>,
    pub(super) heads: Vec<Head>,
    report: Report,
    /// Up to where it is known, and whether, documentation is kept.
    docs: (usize, bool),
    /// Number of prefix operators and words in a row.
    prefixes: usize,
    /// Index in `out` at which the current statement of the file begins.
    statement: usize,
    /// The `<` that are open, and whether each stands right behind a name.
    angles: Vec<bool>,
    /// The last `>` ended `list<int>`.
    closed_angle: bool,
}

/// Lays out a scanned text.
pub(super) fn lay_out<'a>(source: &'a SourceRef, scanned: Scanned<'a>) -> Lexed<'a> {
    let Scanned { lexemes, comments, report } = scanned;
    let mut layout = Layout {
        source,
        lexemes: &lexemes,
        out: Vec::with_capacity(lexemes.len() + lexemes.len() / 4),
        frames: vec![OpenBracket::new(Lines::Statements, 0)],
        heads: Vec::new(),
        report,
        docs: (0, false),
        prefixes: 0,
        statement: 0,
        angles: Vec::new(),
        closed_angle: false,
    };
    let mut at = 0;
    let mut line_break = false;
    while at < lexemes.len() {
        let Lexeme { token, span, on_new_line, .. } = lexemes[at];
        line_break |= on_new_line;
        if matches!(token, Token::Doc(_)) && !layout.keeps_doc(at) {
            at += 1;
            continue;
        }
        if std::mem::take(&mut line_break) {
            layout.line_break(at);
        }
        if token.is_plain() {
            if matches!(token, Token::StrStart(_) | Token::Raw(_)) && layout.names_test() {
                layout.heads.push(Head::Function);
            }
            layout.out.push((token, span));
            layout.prefixes = 0;
            at += 1;
            continue;
        }
        at += layout.step(at);
        if layout.too_deep(at - 1) {
            break;
        }
    }
    let Layout { out, mut report, .. } = layout;
    for opener in std::mem::take(&mut report.unclosed) {
        // What a block holds are statements, closed or not; the inside of all others is guesswork.
        let is_block = out.iter().any(|(t, s)| *s == opener && matches!(t, Token::LBody | Token::LClosure));
        if !is_block {
            report.damaged.push(Span::new(opener.start, u32::MAX));
        }
    }
    Lexed {
        tokens: out,
        comments,
        diagnostics: report.diagnostics,
        damaged: report.damaged,
        incomplete: report.incomplete,
    }
}

impl OpenBracket {
    pub(super) const fn new(lines: Lines, heads: usize) -> Self {
        Self {
            dict: false,
            parameters: false,
            lines,
            pattern: false,
            value: false,
            before_arrow: matches!(lines, Lines::Arms),
            arm_body: false,
            guard: false,
            heads,
            rights: 0,
            powers: 0,
            angles: 0,
        }
    }

    /// The frame of a dict, a shape or a pattern in braces.
    pub(super) const fn dict(pattern: bool, heads: usize) -> Self {
        Self { dict: true, pattern, ..Self::new(Lines::Free, heads) }
    }

    /// The frame of a closure. Its parameters are free of lines and hold patterns; the `->` changes that.
    pub(super) const fn closure(parameters: bool, heads: usize) -> Self {
        let lines = if parameters { Lines::Free } else { Lines::Statements };
        Self { parameters, pattern: parameters, ..Self::new(lines, heads) }
    }
}

impl<'a> Layout<'a, '_> {
    /// The innermost frame; the file itself is one, so there always is one.
    pub(super) fn frame(&mut self) -> &mut OpenBracket {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The last token given out.
    pub(super) fn prev(&self) -> Option<Token<'a>> {
        self.out.last().map(|(t, _)| *t)
    }

    /// The word of this frame that waits for its body.
    pub(super) fn head(&self) -> Option<Head> {
        let base = self.frames.last().map_or(0, |f| f.heads);
        self.heads[base.min(self.heads.len())..].last().copied()
    }

    /// The lexeme at `at`, or one that ends the text.
    pub(super) fn peek(&self, at: usize) -> Option<Token<'a>> {
        self.lexemes.get(at).map(|l| l.token)
    }

    /// Documentation counts where an item begins. The answer holds for a whole run of comments.
    fn keeps_doc(&mut self, at: usize) -> bool {
        if at < self.docs.0 {
            return self.docs.1;
        }
        let lines = self.frame().lines == Lines::Statements;
        let fresh = self.lexemes[at].on_new_line
            || matches!(self.prev(), None | Some(Token::Newline | Token::Semi | Token::LBody | Token::LClosure));
        let run = self.lexemes[at..].iter().take_while(|l| matches!(l.token, Token::Doc(_))).count();
        let item = match self.peek(at + run) {
            Some(Token::At | Token::Ident("gen")) => true,
            Some(Token::Ident("test")) => {
                matches!(self.peek(at + run + 1), Some(Token::StrStart(_) | Token::Raw(_)))
            }
            // The tree keeps no documentation of a variable, which is a statement.
            Some(Token::Kw(Kw::Pub)) => {
                !matches!(self.peek(at + run + 1), Some(Token::Kw(Kw::Let | Kw::Var | Kw::Const)))
            }
            Some(Token::Kw(kw)) => kw == Kw::Override || kw.begins_item(),
            _ => false,
        };
        self.docs = (at + run, lines && fresh && item);
        self.docs.1
    }

    /// Returns whether the string that comes next is the name of a test: a statement begins with `test` before it.
    fn names_test(&self) -> bool {
        let [before @ .., (Token::Ident("test"), _)] = self.out.as_slice() else { return false };
        let starts = matches!(
            before.last(),
            None | Some((Token::Newline | Token::Semi | Token::LBody | Token::LClosure | Token::Doc(_), _))
        );
        starts && self.frames.last().is_some_and(|frame| frame.lines == Lines::Statements)
    }

    /// A line break before the lexeme at `at`.
    fn line_break(&mut self, at: usize) {
        let &mut OpenBracket { lines, heads, .. } = self.frame();
        if lines == Lines::Free {
            return;
        }
        let next = self.lexemes[at].token;
        let Some(&(prev, span)) = self.out.last() else { return };
        let free = matches!(prev, Token::Newline | Token::Semi | Token::LBody | Token::LClosure | Token::Doc(_))
            || matches!(next, Token::RBrace)
            || (matches!(next, Token::LBody) && self.head().is_some())
            || (next.joins_line_above() && !self.names_member(at))
            || (prev.joins_next_line() && !self.ends_line_after_all(prev));
        if free && !(prev.joins_next_line() && self.begins_statement(at, prev)) {
            return;
        }
        self.heads.truncate(heads);
        self.separate(Token::Newline, Span::new(span.end, span.end));
    }

    /// `list<int>` at the end of a line, and `x++`, which is a mistake of this line and not of the next.
    fn ends_line_after_all(&self, prev: Token<'a>) -> bool {
        match prev {
            Token::Gt => self.closed_angle,
            Token::Plus => matches!(self.out.iter().rev().nth(1), Some((Token::Plus, _))),
            _ => false,
        }
    }

    /// A statement begins at `at` although the line above wants to go on.
    fn begins_statement(&self, at: usize, prev: Token<'a>) -> bool {
        match self.lexemes[at].token {
            Token::Kw(Kw::Fn) => self.peek(at + 1) != Some(Token::LParen),
            Token::Kw(Kw::Return) => matches!(prev, Token::Dot | Token::QDot | Token::Plus | Token::Comma),
            Token::Kw(kw) => kw.begins_statement() && self.peek(at + 1) != Some(Token::Colon),
            _ => false,
        }
    }

    /// `else: 1` among members.
    fn names_member(&self, at: usize) -> bool {
        let members = self.frames.last().is_some_and(|f| f.lines == Lines::Members);
        members && matches!(self.lexemes[at].token, Token::Kw(_)) && self.peek(at + 1) == Some(Token::Colon)
    }

    fn separate(&mut self, token: Token<'a>, span: Span) {
        self.out.push((token, span));
        let frame = self.frame();
        frame.rights = 0;
        frame.powers = 0;
        frame.before_arrow = frame.lines == Lines::Arms;
        frame.guard = false;
        let angles = frame.angles;
        self.angles.truncate(angles);
        if self.frames.len() == 1 {
            self.statement = self.out.len();
        }
    }

    /// Gives out the lexeme at `at`; says how many lexemes that took.
    fn step(&mut self, at: usize) -> usize {
        let Lexeme { token, span, .. } = self.lexemes[at];
        let prev = self.prev();
        let token = match token {
            Token::Kw(kw) if self.is_name(at, prev) => Token::Ident(kw.text()),
            Token::Kw(Kw::Fn) if self.head() != Some(Head::Function) && braces::is_function(self, at) => {
                Token::AnonymousFn
            }
            Token::TryStar if matches!(prev, Some(Token::Dot | Token::QDot)) => {
                self.out.push((Token::Ident("try"), Span::new(span.start, span.end - 1)));
                self.out.push((Token::Star, Span::new(span.end - 1, span.end)));
                return 1;
            }
            Token::Question if !(self.touches(at) && self.at_operand_end()) => Token::Ternary,
            Token::Ident("not")
                if self.peek(at + 1) == Some(Token::Kw(Kw::In)) && prev.is_some_and(Token::ends_operand) =>
            {
                self.out.push((Token::NotIn, span.to(self.lexemes[at + 1].span)));
                return 2;
            }
            other => other,
        };
        self.count_nesting(token, prev, at);
        match token {
            Token::Kw(kw) => {
                self.word(kw, at);
                self.out.push((token, span));
            }
            Token::AnonymousFn => {
                self.heads.push(Head::Function);
                self.out.push((token, span));
            }
            Token::LBody => {
                let (opener, frame) = braces::open(self, at);
                self.out.push((opener, span));
                self.frames.push(OpenBracket { angles: self.angles.len(), ..frame });
            }
            Token::LParen | Token::LBracket | Token::QBracket | Token::InterpStart => {
                let mut frame = OpenBracket::new(Lines::Free, self.heads.len());
                frame.pattern = !matches!(token, Token::InterpStart) && self.holds_patterns(at);
                self.out.push((token, span));
                self.frames.push(OpenBracket { angles: self.angles.len(), ..frame });
            }
            Token::RParen | Token::RBracket | Token::InterpEnd | Token::RBrace => {
                self.out.push((token, span));
                self.close();
            }
            Token::Semi => self.semicolon(span),
            _ => {
                self.out.push((token, span));
                self.after(token);
            }
        }
        1
    }

    /// Whether nothing is between the lexeme at `at` and the one before it.
    fn touches(&self, at: usize) -> bool {
        let lexeme = &self.lexemes[at];
        let before = at.checked_sub(1).and_then(|before| self.lexemes.get(before));
        !lexeme.on_new_line && before.is_some_and(|before| before.span.end == lexeme.span.start)
    }

    /// Tells whether the last token can carry a postfix `?`: an operand, or `list<int>`.
    fn at_operand_end(&self) -> bool {
        match self.prev() {
            Some(Token::Gt) => self.closed_angle,
            prev => prev.is_some_and(Token::ends_operand),
        }
    }

    /// A reserved word that is an ordinary name here: after a dot, and as a key.
    fn is_name(&mut self, at: usize, prev: Option<Token<'a>>) -> bool {
        if matches!(prev, Some(Token::Dot | Token::QDot)) {
            return true;
        }
        let frame = self.frame();
        let keyed = frame.dict || frame.lines == Lines::Members;
        let first = matches!(prev, Some(Token::LDict | Token::LBody | Token::Comma | Token::Newline));
        keyed
            && first
            && match self.peek(at + 1) {
                Some(Token::Colon) => true,
                Some(Token::Question) => matches!(self.peek(at + 2), Some(Token::Colon)),
                _ => false,
            }
    }

    fn word(&mut self, kw: Kw, at: usize) {
        let &mut OpenBracket { lines, before_arrow, .. } = self.frame();
        let head = match kw {
            Kw::If if lines == Lines::Arms && before_arrow => {
                self.frame().guard = true;
                return;
            }
            Kw::For if self.head() == Some(Head::Methods) => return,
            Kw::If
            | Kw::While
            | Kw::For
            | Kw::Retry
            | Kw::Deadline
            | Kw::Parallel
            | Kw::Match
            | Kw::Guard
            | Kw::Catch => Head::Control(kw),
            Kw::From if lines == Lines::Select => Head::Control(kw),
            Kw::Fn if !matches!(self.peek(at + 1), Some(Token::LParen)) => Head::Function,
            Kw::Pipeline | Kw::Tool => Head::Function,
            Kw::Struct | Kw::Enum => Head::Members,
            Kw::Impl | Kw::Interface => Head::Methods,
            Kw::Import => Head::Names,
            Kw::Else if self.head() == Some(Head::Control(Kw::Guard)) => {
                self.heads.pop();
                return;
            }
            _ => return,
        };
        self.heads.push(head);
    }

    /// Patterns stand in the bracket that opens at `at`.
    pub(super) fn holds_patterns(&mut self, at: usize) -> bool {
        let frame = self.frame();
        let inside = frame.pattern && !frame.value;
        let arm = frame.lines == Lines::Arms && frame.before_arrow && !frame.guard;
        let prev = self.prev();
        let behind_binder = matches!(prev, Some(Token::Kw(Kw::Let | Kw::Var | Kw::Const | Kw::For)));
        let parameters = matches!(self.lexemes[at].token, Token::LParen)
            && self.head() == Some(Head::Function)
            && matches!(prev, Some(Token::Ident(_) | Token::Gt | Token::Kw(_) | Token::AnonymousFn));
        behind_binder || inside || arm || parameters
    }

    fn close(&mut self) {
        if self.frames.len() == 1 {
            return;
        }
        let Some(closed) = self.frames.pop() else { return };
        self.heads.truncate(closed.heads);
        self.angles.truncate(closed.angles);
        self.prefixes = 0;
        if closed.arm_body {
            self.frame().before_arrow = true;
            self.frame().guard = false;
        }
    }

    /// `;` separates in a frame of lines and is a mistake elsewhere.
    fn semicolon(&mut self, span: Span) {
        let &mut OpenBracket { lines, heads, .. } = self.frame();
        let first = matches!(self.prev(), None | Some(Token::Newline | Token::Semi | Token::LBody));
        if lines == Lines::Free || !first {
            self.heads.truncate(heads);
            self.separate(Token::Semi, span);
        }
    }

    /// Updates the frame after a token.
    fn after(&mut self, token: Token<'a>) {
        let frame = self.frame();
        match token {
            Token::Comma => {
                frame.value = false;
                frame.rights = 0;
                frame.powers = 0;
                frame.before_arrow = frame.lines == Lines::Arms;
                frame.guard = false;
                let base = frame.heads;
                if !matches!(self.head(), Some(Head::Function | Head::Members | Head::Methods | Head::Names)) {
                    self.heads.truncate(base);
                }
            }
            Token::Assign => frame.value = true,
            Token::Lt => {
                let before = self.out.len().checked_sub(2).map(|i| (self.out[i], self.out[i + 1].1));
                let touches = |((token, name), angle): ((Token<'_>, Span), Span)| {
                    matches!(token, Token::Ident(_)) && name.end == angle.start
                };
                self.angles.push(before.is_some_and(touches));
            }
            Token::Gt => {
                let base = frame.angles;
                let open = self.angles.len() > base;
                self.closed_angle = open && self.angles.pop() == Some(true);
            }
            Token::Arrow if frame.lines == Lines::Arms => frame.before_arrow = false,
            Token::Arrow if frame.parameters => {
                frame.parameters = false;
                frame.lines = Lines::Statements;
                frame.pattern = false;
                frame.rights = 0;
            }
            _ => {}
        }
    }

    /// The frame of an arm's body: when it closes, the next arm begins.
    pub(super) fn arm_body(&mut self) -> OpenBracket {
        OpenBracket { arm_body: true, ..OpenBracket::new(Lines::Statements, self.heads.len()) }
    }

    /// Counts what nests without brackets, so that the parser's recursion is bounded by what is checked here.
    fn count_nesting(&mut self, token: Token<'a>, prev: Option<Token<'a>>, at: usize) {
        let touches = matches!(token, Token::Lt) && self.touches(at);
        let prefix = match token {
            Token::Minus => !prev.is_some_and(Token::ends_operand),
            Token::Bang | Token::TryStar => true,
            Token::Kw(kw) => matches!(
                kw,
                Kw::If
                    | Kw::Match
                    | Kw::Retry
                    | Kw::Deadline
                    | Kw::Parallel
                    | Kw::Return
                    | Kw::Throw
                    | Kw::Yield
                    | Kw::Emit
            ),
            _ => false,
        };
        self.prefixes = if prefix { self.prefixes + 1 } else { 0 };
        let frame = self.frame();
        match token {
            Token::Ternary | Token::Arrow | Token::Kw(Kw::Return | Kw::Throw | Kw::Yield | Kw::Emit) => {
                frame.rights += 1;
            }
            Token::Lt if touches => frame.rights += 1,
            Token::Gt => frame.rights = frame.rights.saturating_sub(1),
            Token::StarStar => frame.powers += 1,
            Token::Plus
            | Token::Star
            | Token::Slash
            | Token::Percent
            | Token::Coalesce
            | Token::AndAnd
            | Token::OrOr => {
                frame.powers = 0;
            }
            _ => {}
        }
    }

    /// Says so, once, and drops the statement.
    fn too_deep(&mut self, at: usize) -> bool {
        let nested = self.heads.len() + self.frames.len() - 1;
        let &mut OpenBracket { rights, powers, .. } = self.frame();
        let worst = nested.max(self.prefixes).max(rights.max(powers) as usize);
        // Brackets alone are counted by the scanner; twice its limit leaves room for the heads between them.
        if worst <= 2 * MAX_NESTING {
            return false;
        }
        let span = self.lexemes[at].span;
        self.report.push(messages::too_deep(self.source, span, &NestingLimit::Expressions));
        self.out.truncate(self.statement);
        true
    }
}
