//! Text as a part of HTML or SVG.

use stdlib::is_obeyed;

/// Returns text for an element or an attribute, with everything escaped that a browser would
/// interpret.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if is_obeyed(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        let text = "</script><b a='1' b=\"2\">&\u{1b}\u{202e}\n";
        assert_eq!(escape(text), "&lt;/script&gt;&lt;b a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;\\u{1b}\\u{202e}\n");
    }
}
