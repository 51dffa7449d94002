//! Defaults for an agent's description: the name is that of the script's file, the description its leading comment.

use stdlib::{Agent, Skill};

/// The maximum length of a description taken from a comment, in characters.
const LONGEST: usize = 500;

/// Fills in missing fields from the script's file name and text.
pub(crate) fn complete(agent: &Agent, file: &str, text: &str) -> Agent {
    let mut agent = agent.clone();
    let name = agent.name.get_or_insert_with(|| stem(file)).clone();
    let description = agent
        .description
        .get_or_insert_with(|| first_comment(text).unwrap_or_else(|| format!("The agent of `{}`.", stem(file))));
    if agent.skills.is_empty() {
        let skill = Skill {
            id: name.clone(),
            name: name.clone(),
            description: description.clone(),
            tags: vec!["agent".to_owned()],
            ..Skill::default()
        };
        agent.skills.push(skill);
    }
    if agent.input_modes.is_empty() {
        agent.input_modes = super::form::MODES.map(str::to_owned).into();
    }
    agent
}

/// Returns whether a script begins with a comment about itself: one about its first function is not.
pub(crate) fn has_comment(text: &str) -> bool {
    let about_function = ["///", "/**"].iter().any(|mark| text.trim_start().starts_with(mark));
    !about_function && first_comment(text).is_some()
}

fn stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    if stem.is_empty() { "agent".to_owned() } else { stem.to_owned() }
}

/// Returns the first paragraph of the leading comment, as one line.
fn first_comment(text: &str) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        let line = line.trim();
        let said = if in_block {
            line
        } else if let Some(rest) = line.strip_prefix("//") {
            rest.trim_start_matches('/')
        } else if let Some(rest) = line.strip_prefix("/*") {
            in_block = true;
            rest
        } else if words.is_empty() && (line.is_empty() || line.starts_with("#!")) {
            continue;
        } else {
            break;
        };
        let (said, ends) = said.split_once("*/").map_or((said, false), |(said, _)| (said, in_block));
        let said = if in_block { said.trim_start_matches('*') } else { said };
        // An empty line ends the paragraph.
        if said.trim().is_empty() && !words.is_empty() {
            break;
        }
        words.extend(said.split_whitespace());
        if ends {
            break;
        }
    }
    let whole = words.join(" ");
    let short = match whole.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    };
    (!short.is_empty()).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_at_the_top_is_the_description() {
        for (text, expected) in [
            (
                "// Rebases branches.\n// Asks before it pushes.\n\npipeline main(task) {}",
                "Rebases branches. Asks before it pushes.",
            ),
            ("#!/usr/bin/env harn\n\n/// One.\n//\n// Not this.\n", "One."),
            ("/** Rebases\n *  branches.\n */\npipeline main(task) {}", "Rebases branches."),
            ("/* Short. */ let x = 1", "Short."),
            ("/**\n * Begins late.\n *\n * Not this.\n */", "Begins late."),
            ("let x = 1\n// Not this.\n", "The agent of `a`."),
            ("", "The agent of `a`."),
        ] {
            let agent = complete(&Agent::default(), "dir/a.harn", text);
            assert_eq!(agent.description.as_deref(), Some(expected), "{text}");
            assert_eq!((agent.name.as_deref(), &*agent.skills[0].id), (Some("a"), "a"));
        }
        let long = complete(&Agent::default(), "a.harn", &format!("// {}", "ä ".repeat(10_000)));
        assert_eq!(long.description.map(|text| text.chars().count()), Some(LONGEST + 1));
    }

    #[test]
    fn what_the_author_said_stays() {
        let said = Agent {
            input_modes: vec!["image/*".to_owned()],
            name: Some("worker".to_owned()),
            description: Some("Works.".to_owned()),
            skills: vec![Skill { id: "rebase".to_owned(), ..Skill::default() }],
            ..Agent::default()
        };
        assert_eq!(complete(&said, "a.harn", "// Other."), said);
    }
}
