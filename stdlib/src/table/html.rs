//! Text of HTML pages.

use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise};

lang::builtins! { "" =>
    /// Returns the text of HTML: without tags, scripts and styles. Paragraphs, headings and rows are lines of their own, and the
    /// entries of lists begin with `- `.
    ///
    /// ```harn
    /// html_to_text("<h1>Fish &amp; chips</h1><p>Two <b>items</b>:</p><ul><li>one<li>two</ul>") // => "Fish & chips\n\nTwo items:\n\n- one\n- two"
    /// ```
    plain "html_to_text(html: string) -> string" html_to_text;
    /// Escapes text for HTML: `&`, `<`, `>` and both quotes.
    ///
    /// ```harn
    /// html_escape("a < \"b\" & c") // => "a &lt; &quot;b&quot; &amp; c"
    /// ```
    plain "html_escape(text: string) -> string" html_escape;
    /// Replaces the character references of HTML by their characters.
    ///
    /// ```harn
    /// html_unescape("a &lt; b &#233; &hellip;") // => "a < b é …"
    /// ```
    plain "html_unescape(text: string) -> string" html_unescape;
}

/// Elements whose content is not text.
const HIDDEN: [&str; 6] = ["script", "style", "head", "template", "noscript", "svg"];

/// Elements between which there is an empty line, and those that begin a line.
const PARAGRAPHS: [&str; 13] =
    ["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "blockquote", "pre", "article"];
const LINES: [&str; 16] = [
    "div", "br", "tr", "li", "section", "header", "footer", "main", "nav", "aside", "figure", "dl", "dt", "dd", "hr",
    "form",
];

/// Character references that are common in texts.
const NAMED: [(&str, &str); 30] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", "\u{a0}"),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("bull", "•"),
    ("middot", "·"),
    ("euro", "€"),
    ("pound", "£"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
    ("times", "×"),
    ("rarr", "→"),
    ("larr", "←"),
];

/// The longest character reference that is read, in bytes.
const LONGEST_REFERENCE: usize = 12;

/// Appends text with its character references replaced.
fn unescape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b';');
        let reference = end.and_then(|end| rest.get(1..end));
        let found = reference.and_then(|name| {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code).filter(|c| *c != '\0')
        });
        let named = reference.and_then(|name| NAMED.iter().find(|(known, _)| *known == name));
        match (found, named, end) {
            (Some(c), _, Some(end)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            (None, Some((_, text)), Some(end)) => {
                out.push_str(text);
                rest = &rest[end + 1..];
            }
            _ => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
}

/// Text that grows by words and lines.
#[derive(Default)]
struct HtmlText {
    out: String,
    /// Line breaks before the next word.
    breaks: usize,
    /// White space before the next word.
    space: bool,
    /// Levels of `pre`.
    verbatim: usize,
}

impl HtmlText {
    fn line(&mut self, breaks: usize) {
        self.breaks = self.breaks.max(breaks);
    }

    /// Writes the breaks and the space that are due.
    fn begin(&mut self) {
        if self.out.is_empty() {
            self.breaks = 0;
        }
        if self.breaks > 0 {
            self.out.extend(std::iter::repeat_n('\n', self.breaks));
        } else if self.space && !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
        (self.breaks, self.space) = (0, false);
    }

    fn text(&mut self, text: &str) {
        let mut plain = String::new();
        unescape(text, &mut plain);
        if self.verbatim > 0 {
            self.begin();
            self.out.push_str(&plain);
            return;
        }
        let mut first = true;
        for word in plain.split(|c: char| c.is_whitespace()) {
            self.space |= !first;
            first = false;
            if !word.is_empty() {
                self.begin();
                self.out.push_str(word);
            }
        }
    }

    fn tag(&mut self, name: &str, closes: bool) {
        if name == "pre" {
            self.verbatim = if closes { self.verbatim.saturating_sub(1) } else { self.verbatim + 1 };
        }
        if PARAGRAPHS.contains(&name) {
            self.line(2);
        } else if LINES.contains(&name) {
            self.line(1);
        } else if matches!(name, "td" | "th") {
            self.space = true;
        }
        if name == "li" && !closes {
            self.begin();
            self.out.push_str("- ");
        }
    }
}

fn html_to_text(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let html = args::str(args, 0)?;
    cx.charge(html.len(), 1);
    cx.check_size(html.len().checked_mul(2))?;
    Ok(Value::from(text_of(html)))
}

fn text_of(html: &str) -> String {
    let mut text = HtmlText::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.text(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let is_tag = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        if !is_tag {
            text.text("<");
            rest = &rest[1..];
            continue;
        }
        let end = end_of_tag(rest);
        let tag = &rest[1..end.min(rest.len())];
        rest = rest.get(end + 1..).unwrap_or("");
        let closes = tag.starts_with('/');
        let name = tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
        let name = name.to_ascii_lowercase();
        if HIDDEN.contains(&name.as_str()) && !closes && !tag.ends_with('/') {
            rest = after_element(rest, &name);
            continue;
        }
        text.tag(&name, closes);
    }
    text.text(rest);
    text.out
}

/// Returns the byte of the `>` that ends a tag: one in quotes does not.
fn end_of_tag(tag: &str) -> usize {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at,
            (None, b'"' | b'\'') if tag[..at].ends_with('=') => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    tag.len()
}

/// Returns what follows the closing tag of an element.
fn after_element<'a>(html: &'a str, name: &str) -> &'a str {
    let mut rest = html;
    while let Some(at) = rest.find("</") {
        let tag = &rest[at + 2..];
        if tag.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return tag.find('>').map_or("", |end| &tag[end + 1..]);
        }
        rest = tag;
    }
    ""
}

fn html_escape(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge(text.len(), 1);
    let more = text.bytes().filter(|byte| b"&<>\"'".contains(byte)).count();
    cx.check_size(text.len().checked_add(more * 6))?;
    let mut out = String::with_capacity(text.len() + more * 6);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    Ok(Value::from(out))
}

fn html_unescape(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let text = args::str(args, 0)?;
    cx.charge(text.len(), 1);
    cx.check_copy(text.len())?;
    let mut out = String::with_capacity(text.len());
    unescape(text, &mut out);
    Ok(Value::from(out))
}

#[cfg(test)]
mod tests {
    use super::text_of;

    #[test]
    fn only_text_is_left() {
        for (html, wanted) in [
            ("a<br>b", "a\nb"),
            ("<p>a\n  b</p>\n<p>c</p>", "a b\n\nc"),
            ("<style>p > a {}</style>x<script>if (a</b) {}</script>y", "xy"),
            ("<!-- <p> -->x", "x"),
            ("1 < 2 && 3 > 2", "1 < 2 && 3 > 2"),
            ("<a title=\"a > b\" href='x'>link</a>.", "link."),
            ("<pre>a\n  b</pre>", "a\n  b"),
            ("<tr><td>a</td><td>b</td></tr><tr><td>c</td></tr>", "a b\nc"),
            ("&#x41;&#66;&unknown;&", "AB&unknown;&"),
            ("x<script>never closed", "x"),
            ("<p", ""),
            ("", ""),
        ] {
            assert_eq!(text_of(html), wanted, "{html}");
        }
    }
}
