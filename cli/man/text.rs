//! A manual page as text for a terminal: the requests and escapes of roff that `clap_mangen` writes, and no others.

/// Columns before the text of a section.
const MARGIN: usize = 7;

/// Columns of one more level.
const LEVEL: usize = 7;

/// Returns a page in roff as lines of at most `width` columns, with bold and underlined words if `styled`.
pub(super) fn text(roff: &str, width: usize, styled: bool) -> String {
    let mut page = PageText {
        text: String::new(),
        words: Vec::new(),
        margin: MARGIN,
        hang: 0,
        levels: Vec::new(),
        width,
        styled,
        titled: false,
    };
    let mut is_tag = false;
    for line in roff.lines() {
        if let Some(request) = line.strip_prefix('.') {
            is_tag = page.request(request);
            continue;
        }
        page.add(line);
        if is_tag {
            page.end_line();
            page.hang = LEVEL;
            is_tag = false;
        }
    }
    page.end_line();
    page.text.trim_start_matches('\n').to_owned()
}

/// A word with its escapes, and its columns without them.
struct StyledWord {
    text: String,
    columns: usize,
}

/// A page that is being written.
struct PageText {
    text: String,
    /// The words of the line that is not written yet.
    words: Vec<StyledWord>,
    margin: usize,
    /// Columns of the text below a tag or after a bullet.
    hang: usize,
    /// The margins outside of the current level.
    levels: Vec<usize>,
    width: usize,
    styled: bool,
    /// Whether the last line is the title of a section.
    titled: bool,
}

impl PageText {
    /// Carries out a request. Returns whether the next line is the tag of a paragraph.
    fn request(&mut self, request: &str) -> bool {
        let (name, rest) = request.split_once(' ').unwrap_or((request, ""));
        match name {
            "SH" | "SS" => {
                self.end_paragraph();
                (self.margin, self.hang) = (0, 0);
                self.levels.clear();
                self.add(&format!("\\fB{}\\fR", rest.trim_matches('"')));
                self.end_line();
                self.margin = MARGIN;
                self.titled = true;
            }
            "PP" | "P" | "LP" => self.end_paragraph(),
            "TP" => {
                self.end_paragraph();
                return true;
            }
            "IP" => {
                self.end_line();
                self.hang = 0;
                self.add(rest.split(' ').next().unwrap_or_default());
                self.hang = 2;
            }
            "RS" => {
                self.end_line();
                self.levels.push(self.margin);
                self.margin += rest.trim().parse().unwrap_or(LEVEL);
                self.hang = 0;
            }
            "RE" => {
                self.end_line();
                self.margin = self.levels.pop().unwrap_or(MARGIN);
                self.hang = 0;
            }
            "br" => self.end_line(),
            _ => {}
        }
        false
    }

    /// Adds the words of a line of text.
    fn add(&mut self, line: &str) {
        let mut word = StyledWord { text: String::new(), columns: 0 };
        let mut style = "";
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match c {
                ' ' => {
                    if self.styled && !style.is_empty() {
                        word.text.push_str(PLAIN);
                    }
                    self.push(std::mem::replace(&mut word, StyledWord { text: String::new(), columns: 0 }));
                    if self.styled {
                        word.text.push_str(style);
                    }
                }
                '\\' => match escape(&mut chars) {
                    Escape::Style(new) => {
                        if self.styled {
                            word.text.push_str(if new.is_empty() { PLAIN } else { new });
                        }
                        style = new;
                    }
                    Escape::Char(c) => {
                        word.text.push(c);
                        word.columns += 1;
                    }
                    Escape::Nothing => {}
                },
                c => {
                    word.text.push(c);
                    word.columns += 1;
                }
            }
        }
        self.push(word);
    }

    fn push(&mut self, word: StyledWord) {
        if word.columns > 0 {
            self.words.push(word);
        }
    }

    /// Writes the words so far, in as many lines as they need.
    fn end_line(&mut self) {
        let is_bulleted = self.words.first().is_some_and(|word| word.text == BULLET);
        let mut indent = self.margin + if is_bulleted { 0 } else { self.hang };
        let mut used = 0;
        for word in std::mem::take(&mut self.words) {
            if used > 0 && used + 1 + word.columns > self.width {
                self.text.push('\n');
                used = 0;
                indent = self.margin + self.hang;
            }
            if used == 0 {
                self.text.push_str(&" ".repeat(indent));
                used = indent;
            } else {
                self.text.push(' ');
                used += 1;
            }
            self.text.push_str(&word.text);
            used += word.columns;
        }
        if used > 0 {
            self.text.push('\n');
            self.titled = false;
        }
    }

    /// Ends a paragraph with an empty line.
    fn end_paragraph(&mut self) {
        self.end_line();
        self.hang = 0;
        if !self.text.is_empty() && !self.titled && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

const BOLD: &str = "\u{1b}[1m";
const UNDERLINED: &str = "\u{1b}[4m";
const PLAIN: &str = "\u{1b}[0m";
const BULLET: &str = "•";

/// The meaning of an escape.
enum Escape {
    /// The style of what follows; empty for plain text.
    Style(&'static str),
    Char(char),
    Nothing,
}

/// Reads what follows a backslash.
fn escape(chars: &mut std::str::Chars<'_>) -> Escape {
    match chars.next() {
        Some('f') => match chars.next() {
            Some('B') => Escape::Style(BOLD),
            Some('I') => Escape::Style(UNDERLINED),
            _ => Escape::Style(""),
        },
        Some('&') | None => Escape::Nothing,
        Some('e') => Escape::Char('\\'),
        Some('(') => named([chars.next(), chars.next()]),
        Some('*') => {
            // A string with a name of two characters.
            let _ = chars.next();
            named([chars.next(), chars.next()])
        }
        Some(other) => Escape::Char(other),
    }
}

fn named(name: [Option<char>; 2]) -> Escape {
    match name {
        [Some('b'), Some('u')] => Escape::Char('•'),
        [Some('a' | 'A'), Some('q')] => Escape::Char('\''),
        _ => Escape::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH demo 1\n.SH NAME\ndemo \\- it\\*(Aqs short\n.SH OPTIONS\n\
        .TP\n\\fB\\-\\-fix\\fR=\\fI<LEVEL>\\fR [default: safe]\nApply fixes to the scripts that have some\n.br\n\n.br\n\
        \\fIPossible values:\\fR\n.RS 14\n.IP \\(bu 2\nsafe: what keeps the meaning of a script as it is\n.IP \\(bu 2\nall: every fix\n.RE\n\
        .TP\n\\fB\\-h\\fR\nPrint help\n";

    #[test]
    fn a_page_is_wrapped_at_the_width_of_the_terminal() {
        let expected = "\
NAME
       demo - it's short

OPTIONS
       --fix=<LEVEL> [default: safe]
              Apply fixes to the scripts
              that have some
              Possible values:
                     • safe: what keeps
                       the meaning of a
                       script as it is
                     • all: every fix

       -h
              Print help
";
        assert_eq!(text(PAGE, 42, false), expected);
    }

    #[test]
    fn styles_end_with_their_words_and_take_no_columns() {
        let styled = text(PAGE, 42, true);
        assert!(styled.contains("\u{1b}[1m--fix\u{1b}[0m=\u{1b}[4m<LEVEL>\u{1b}[0m [default: safe]"), "{styled}");
        let plain: String = [BOLD, UNDERLINED, PLAIN].iter().fold(styled, |text, style| text.replace(style, ""));
        assert_eq!(plain, text(PAGE, 42, false));
    }
}
