//! Code blocks of the Markdown pages.

/// The fenced blocks of a page: language and text.
pub(crate) fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut blocks = Vec::new();
    let mut rest = page;
    while let Some((_, opened)) = rest.split_once("\n```") {
        let (language, body) = opened.split_once('\n').unwrap();
        let (text, after) = body.split_once("```").unwrap();
        blocks.push((language, text));
        rest = after;
    }
    blocks
}
