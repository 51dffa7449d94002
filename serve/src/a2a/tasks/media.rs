//! [`InputModes`]: the media types that messages of callers may have.

use a2a::{Content, Part};
use stdlib::Agent;

/// The media types that messages may have. The default accepts all.
#[derive(Debug, Clone, Default)]
pub struct InputModes(Vec<String>);

impl InputModes {
    /// Collects the input modes of an agent and its skills.
    #[must_use]
    pub fn of(agent: &Agent) -> InputModes {
        let skills = agent.skills.iter().flat_map(|skill| &skill.input_modes);
        InputModes(agent.input_modes.iter().chain(skills).map(|mode| essence(mode)).collect())
    }

    /// Returns the index and the media type of the first part that is not accepted.
    pub(super) fn first_other(&self, parts: &[Part]) -> Option<(usize, String)> {
        if self.0.is_empty() {
            return None;
        }
        let types = parts.iter().map(media_type).enumerate();
        types.into_iter().find(|(_, media_type)| !self.0.iter().any(|mode| accepts(mode, media_type)))
    }
}

/// Returns a part's media type, or the default one for its content.
fn media_type(part: &Part) -> String {
    let usual = match &part.content {
        Content::Text(_) => "text/plain",
        Content::Data(_) => "application/json",
        Content::Raw(_) | Content::Url(_) => "application/octet-stream",
    };
    essence(part.media_type.as_deref().unwrap_or(usual))
}

/// Returns a media type without its parameters.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_lowercase()
}

fn accepts(mode: &str, media_type: &str) -> bool {
    match mode.strip_suffix('*') {
        // `image/*`; `*/*` and `*` accept all.
        Some("" | "*/") => true,
        Some(family) => family.ends_with('/') && media_type.starts_with(family),
        None => mode == media_type,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_one_of_the_modes_or_are_named() {
        let file = |media_type: Option<&str>| Part {
            media_type: media_type.map(Into::into),
            ..Part::new(Content::Url("https://example.com/a".into()))
        };
        let text = |media_type: &str| Part { media_type: Some(media_type.into()), ..Part::text("a") };
        let agent = |modes: &[&str]| Agent {
            input_modes: modes.iter().map(|mode| (*mode).to_owned()).collect(),
            ..Agent::default()
        };
        let usual = InputModes::of(&agent(&["text/plain", "application/json"]));
        for (part, found) in [
            (Part::text("a"), None),
            (text("Text/Plain; charset=utf-8"), None),
            (text("text/markdown"), Some("text/markdown")),
            (Part::data(base::data::Data::Nil), None),
            (file(Some("image/png")), Some("image/png")),
            (file(None), Some("application/octet-stream")),
        ] {
            let found = found.map(|found| (1, found.to_owned()));
            assert_eq!(usual.first_other(&[Part::text("a"), part]), found);
        }
        let images = InputModes::of(&agent(&["image/*"]));
        assert_eq!(images.first_other(&[file(Some("image/png"))]), None);
        assert_eq!(images.first_other(&[Part::text("a")]), Some((0, "text/plain".to_owned())));
        let all = InputModes::of(&agent(&["*/*"]));
        assert_eq!(all.first_other(&[file(None), text("a/b")]), None);
    }
}
