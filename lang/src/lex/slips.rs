//! Text that means nothing here, and habits from other languages that can be read anyway.

use super::scan::{Scanner, span};
use super::token::{Quote, Token};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl<'a> Scanner<'a> {
    /// A character that begins no token. A run of them is one finding.
    pub(super) fn unreadable(&mut self, at: Span) {
        let text = &self.text[at.range()];
        if text.chars().all(char::is_alphanumeric) {
            self.foreign_name(at);
            return;
        }
        let end = self.end_of_line_at(at.end);
        if let Some(damaged) = self.report.damaged.last_mut()
            && let Some(last) = self.report.diagnostics.last_mut()
            && last.code == "HARN-LEX-001"
            && damaged.end == end.end
            && let Some(label) = last.labels.first_mut()
            && label.span.end == at.start
        {
            label.span.end = at.end;
            "these characters mean nothing here".clone_into(&mut last.message);
            return;
        }
        let shown: String = text.chars().flat_map(char::escape_debug).collect();
        let mut finding = Diagnostic::error("HARN-LEX-001", format!("`{shown}` means nothing here"))
            .label(self.source, at, "not part of the language");
        if let Some(help) = help_for(text.chars().next().unwrap_or(' ')) {
            finding = finding.help(help);
        }
        self.report.push(finding);
        self.report.damaged.push(Span::new(at.start, end.end));
    }

    /// Letters beyond ASCII: the whole word stands as a name, so that nothing else is reported about it.
    fn foreign_name(&mut self, at: Span) {
        if let Some(last) = self.out.last()
            && last.span.end == at.start
            && matches!(last.token, Token::Ident(_) | Token::Kw(_) | Token::Underscore)
        {
            let whole = last.span.to(at);
            self.out.pop();
            if let Some(label) = self.report.diagnostics.last_mut().and_then(|d| d.labels.first_mut())
                && label.span.end == at.start
            {
                label.span = whole;
            } else {
                self.report_foreign(whole);
            }
            self.push(Token::Ident(&self.text[whole.range()]), whole);
            return;
        }
        self.report_foreign(at);
        self.push(Token::Ident(&self.text[at.range()]), at);
    }

    fn report_foreign(&mut self, at: Span) {
        let finding = Diagnostic::error("HARN-LEX-014", "names are made of the letters A to Z, digits and `_`")
            .label(self.source, at, "not a letter of a name")
            .help("text in any language goes in a string: \"…\"");
        self.report.push(finding);
    }

    /// From `start` to the end of its line.
    pub(super) fn end_of_line_at(&self, start: u32) -> Span {
        let rest = &self.text[start as usize..];
        let len = rest.find('\n').unwrap_or(rest.len());
        span(start as usize, start as usize + len)
    }

    /// `# …`: a comment elsewhere.
    pub(super) fn hash(&mut self, at: Span) {
        let finding = Diagnostic::error("HARN-LEX-001", "`#` means nothing here")
            .label(self.source, Span::new(at.start, at.start + 1), "not part of the language")
            .help("comments begin with `//`")
            .fix(Span::new(at.start, at.start + 1), "//");
        self.report.push(finding);
    }

    /// `'…'`, read as the string that was meant.
    pub(super) fn single_quoted(&mut self, at: Span) {
        let inside = &self.text[at.start as usize + 1..at.end as usize - 1];
        let finding = Diagnostic::error("HARN-LEX-012", "strings stand in double quotes")
            .label(self.source, at, "a string in single quotes")
            .help(format!("write `\"{inside}\"`"))
            .fix(at, format!("\"{inside}\""));
        self.report.push(finding);
        self.before_string(at);
        self.push(Token::Raw(inside), at);
    }

    fn before_string(&mut self, at: Span) {
        self.before_token(Token::StrStart(Quote::Plain), at.start as usize);
    }

    /// `===` and `!==`, read as `==` and `!=`.
    pub(super) fn triple_equals(&mut self, token: Token<'a>, at: Span) {
        let (written, meant, plain) = match token {
            Token::EqEqEq => ("===", "==", Token::EqEq),
            _ => ("!==", "!=", Token::NotEq),
        };
        let finding = Diagnostic::error("HARN-LEX-013", format!("`{written}` is written `{meant}`"))
            .label(self.source, at, "one sign too many")
            .help(format!("write `{meant}`, which compares values"))
            .fix(at, meant);
        self.report.push(finding);
        self.push(plain, at);
    }
}

fn help_for(c: char) -> Option<&'static str> {
    Some(match c {
        '“' | '”' | '„' | '«' | '»' => "strings stand in straight quotes: \"…\"",
        '‘' | '’' | '\'' | '`' => "strings stand in double quotes: \"…\"",
        '&' => "\"and\" is written `&&`",
        '^' => "a power is written `**`",
        '$' => "`${…}` stands inside strings; a variable is its bare name",
        '\\' => "a `\\` joins lines only right before a line break",
        '–' | '—' | '−' => "a minus sign is `-`",
        '\u{a0}' | '\u{200b}' | '\u{202f}' => "this is a special blank; put a plain one",
        '→' => "an arrow is written `->`",
        '≠' => "\"not equal\" is written `!=`",
        '≤' => "\"at most\" is written `<=`",
        '≥' => "\"at least\" is written `>=`",
        '×' => "\"times\" is written `*`",
        '…' => "three dots are written `...`",
        _ => return None,
    })
}
