//! The system text and the order of its parts.

use std::sync::Arc;

/// The parts of the system text, joined in the order of the fields; reminders go between `tool_guidance` and
/// `appendix`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct System {
    /// First part.
    pub preamble: Option<Arc<str>>,
    /// The script's prefix.
    pub prefix: Option<Arc<str>>,
    /// Context of the host.
    pub context: Option<Arc<str>>,
    /// `system_prompt_parts`.
    pub parts: Vec<Arc<str>>,
    /// The primary system prompt.
    pub primary: Option<Arc<str>>,
    /// Instructions for tool calls, on routes without native tools.
    pub tool_guidance: Option<Arc<str>>,
    /// `system_appendix`.
    pub appendix: Option<Arc<str>>,
    /// `system_suffix`.
    pub suffix: Option<Arc<str>>,
}

impl System {
    /// Creates a system text of one part.
    pub fn primary(text: impl Into<Arc<str>>) -> System {
        System { primary: Some(text.into()), ..System::default() }
    }

    /// Separator between two parts.
    pub const SEPARATOR: &'static str = "\n\n";

    /// Returns the non-empty parts with the reminders in their place.
    pub fn pieces<'a>(&'a self, reminders: &'a [Arc<str>]) -> impl Iterator<Item = &'a Arc<str>> {
        self.before().chain(reminders).filter(|part| !part.trim().is_empty()).chain(self.after())
    }

    /// Returns the non-empty parts after the reminders.
    fn after(&self) -> impl Iterator<Item = &Arc<str>> {
        self.appendix.iter().chain(&self.suffix).filter(|part| !part.trim().is_empty())
    }

    /// Returns the text after the reminders; `None` if it is empty.
    #[must_use]
    pub fn text_after(&self) -> Option<Arc<str>> {
        let parts: Vec<&str> = self.after().map(AsRef::as_ref).collect();
        (!parts.is_empty()).then(|| parts.join(Self::SEPARATOR).into())
    }

    /// Returns this text without the parts after the reminders.
    #[must_use]
    pub fn without_after(&self) -> System {
        System { appendix: None, suffix: None, ..self.clone() }
    }

    /// Returns the parts before the reminders.
    fn before(&self) -> impl Iterator<Item = &Arc<str>> {
        let first = [&self.preamble, &self.prefix, &self.context].into_iter().flatten();
        first.chain(self.parts.iter()).chain(&self.primary).chain(&self.tool_guidance)
    }

    /// Returns the beginning of the text that does not depend on reminders; `None` if the parts before them are empty.
    #[must_use]
    pub fn steady_text(&self) -> Option<String> {
        let parts: Vec<&str> = self.before().map(AsRef::as_ref).filter(|part| !part.trim().is_empty()).collect();
        (!parts.is_empty()).then(|| parts.join(Self::SEPARATOR))
    }

    /// Returns the whole text with the reminders in their place, a blank line between parts; `None` if all parts are
    /// empty.
    #[must_use]
    pub fn text(&self, reminders: &[Arc<str>]) -> Option<String> {
        let all: Vec<&str> = self.pieces(reminders).map(AsRef::as_ref).collect();
        (!all.is_empty()).then(|| all.join(Self::SEPARATOR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reminders_stand_behind_the_primary_and_before_the_appendix() {
        let system = System {
            parts: vec!["part".into()],
            appendix: Some("appendix".into()),
            suffix: Some("suffix".into()),
            context: Some("  ".into()),
            ..System::primary("primary")
        };
        assert_eq!(
            system.text(&["R1".into(), "R2".into()]).unwrap(),
            "part\n\nprimary\n\nR1\n\nR2\n\nappendix\n\nsuffix"
        );
        assert_eq!(system.steady_text().as_deref(), Some("part\n\nprimary"));
        assert_eq!(System::default().text(&[]), None);
    }
}
