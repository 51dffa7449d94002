//! Documentation as one HTML page that needs nothing else: style and search are in it, and nothing is loaded. Texts of scripts
//! are text there.

use super::DocSection;
use crate::markup::escape;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
const SEARCH: &str = include_str!("search.js");

/// The content security policy: the page loads nothing, and runs only its own search.
const POLICY: &str =
    "default-src 'none'; style-src 'nonce-page'; script-src 'nonce-page'; base-uri 'none'; form-action 'none'";

/// Returns the page.
pub(super) fn page(title: &str, sections: &[DocSection]) -> String {
    let title = escape(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style nonce=\"page\">\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         <label>Search <input id=\"search\" type=\"search\" autocomplete=\"off\"></label>\n\
         <output id=\"found\" for=\"search\"></output>\n</header>\n<nav aria-label=\"Sections\">\n"
    );
    for (i, section) in sections.iter().enumerate() {
        let _ = writeln!(out, "<a href=\"#s{i}\">{}</a>", escape(&section.title));
    }
    out.push_str("</nav>\n<main>\n");
    for (i, section) in sections.iter().enumerate() {
        let _ = writeln!(out, "<section id=\"s{i}\">\n<h2>{}</h2>", escape(&section.title));
        text(&section.intro, &mut out);
        for (k, entry) in section.entries.iter().enumerate() {
            let (name, signature) = (escape(&entry.name), escape(&entry.signature));
            let _ = writeln!(
                out,
                "<article id=\"s{i}-{k}\">\n<h3><a href=\"#s{i}-{k}\">{name}</a></h3>\n<pre><code>{signature}</code></pre>"
            );
            text(&entry.doc, &mut out);
            out.push_str("</article>\n");
        }
        out.push_str("</section>\n");
    }
    let _ = writeln!(out, "</main>\n<script nonce=\"page\">\n{SEARCH}</script>\n</body>\n</html>");
    out
}

/// Writes a doc comment: paragraphs, fenced blocks, and code in backticks. Everything else of Markdown stays as it is written.
fn text(doc: &str, out: &mut String) {
    let (mut paragraph, mut fenced) = (Vec::new(), None::<Vec<&str>>);
    let close = |paragraph: &mut Vec<&str>, out: &mut String| {
        if !paragraph.is_empty() {
            let _ = writeln!(out, "<p>{}</p>", with_code(&paragraph.join("\n")));
            paragraph.clear();
        }
    };
    for line in doc.lines() {
        match (&mut fenced, line.trim_start().starts_with("```")) {
            (Some(lines), true) => {
                let _ = writeln!(out, "<pre><code>{}</code></pre>", escape(&lines.join("\n")));
                fenced = None;
            }
            (Some(lines), false) => lines.push(line),
            (None, true) => {
                close(&mut paragraph, out);
                fenced = Some(Vec::new());
            }
            (None, false) if line.trim().is_empty() => close(&mut paragraph, out),
            (None, false) => paragraph.push(line),
        }
    }
    close(&mut paragraph, out);
    // A block that is not closed is shown too.
    if let Some(lines) = fenced {
        let _ = writeln!(out, "<pre><code>{}</code></pre>", escape(&lines.join("\n")));
    }
}

/// Returns a paragraph with its code in `code` elements.
fn with_code(paragraph: &str) -> String {
    let parts: Vec<&str> = paragraph.split('`').collect();
    // An odd number of backticks is text.
    if parts.len().is_multiple_of(2) {
        return escape(paragraph);
    }
    let code = |(i, part): (usize, &&str)| {
        if i % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) }
    };
    parts.iter().enumerate().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_code_is_marked() {
        let mut out = String::new();
        text("A `x < y` & <b>.\n\n```\n<i>\n```\nlast ` one", &mut out);
        assert_eq!(
            out,
            "<p>A <code>x &lt; y</code> &amp; &lt;b&gt;.</p>\n<pre><code>&lt;i&gt;</code></pre>\n<p>last ` one</p>\n"
        );
    }
}
