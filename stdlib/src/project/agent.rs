//! `[agent]` of `harn.toml`: what an agent says of itself to those that it is served to.

use super::settings::{SettingsReader, not_text};
use crate::codes::ProjectCode;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// An agent's description of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: Option<String>,
    /// Its purpose.
    pub description: Option<String>,
    /// Its own version.
    pub version: Option<String>,
    /// Its public URL.
    pub url: Option<String>,
    /// The URL of its documentation.
    pub documentation_url: Option<String>,
    /// A picture.
    pub icon_url: Option<String>,
    /// The provider.
    pub provider: Option<Provider>,
    /// Its skills.
    pub skills: Vec<Skill>,
    /// The media types that it takes; none for text and JSON.
    pub input_modes: Vec<String>,
    /// The kind of its replies.
    pub replies: Replies,
}

/// The kind of reply that an agent's callers receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replies {
    /// A task.
    #[default]
    Task,
    /// A message, wherever that says all of it; else a task.
    Message,
}

/// The provider of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provider {
    /// Its name.
    pub organization: String,
    /// Its website.
    pub url: String,
}

/// A skill of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skill {
    /// Its id, one within the agent.
    pub id: String,
    /// The name.
    pub name: String,
    /// The description.
    pub description: String,
    /// Words by which it is found.
    pub tags: Vec<String>,
    /// Example requests.
    pub examples: Vec<String>,
    /// The media types that it takes; none for those of the agent.
    pub input_modes: Vec<String>,
    /// The media types that it produces; empty for those of the agent.
    pub output_modes: Vec<String>,
}

/// The keys of `[agent]`.
pub(super) const KEYS: &[&str] = &[
    "name",
    "description",
    "version",
    "url",
    "documentation_url",
    "icon_url",
    "provider",
    "skills",
    "input_modes",
    "replies",
];
/// The keys of its provider.
pub(super) const PROVIDER: &[&str] = &["organization", "url"];
/// The keys of a skill.
pub(super) const SKILL: &[&str] = &["id", "name", "description", "tags", "examples", "input_modes", "output_modes"];

impl SettingsReader<'_> {
    pub(super) fn agent(&mut self, table: &DeTable<'_>) {
        let mut agent = Agent::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "name" => agent.name = self.text(value),
                "description" => agent.description = self.text(value),
                "version" => agent.version = self.text(value),
                "url" => {
                    // Others send what they say, and their tokens, to where the card leads.
                    let url = self.address(value);
                    agent.url = url.filter(|url| self.guard("agent.url", key.span(), url));
                }
                "documentation_url" => agent.documentation_url = self.address(value),
                "icon_url" => agent.icon_url = self.address(value),
                "provider" => agent.provider = self.provider(value),
                "skills" => agent.skills = self.skills(value),
                "input_modes" => agent.input_modes = self.texts(value),
                "replies" => agent.replies = self.replies(value).unwrap_or_default(),
                unknown => self.unknown(unknown, key.span(), KEYS, "[agent]"),
            }
        }
        self.project.agent = agent;
    }

    fn provider(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Provider> {
        let help = "write `provider = {organization = \"…\", url = \"https://…\"}`";
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(ProjectCode::Value, value.span(), "`provider` must be a table".to_owned(), help);
            return None;
        };
        let (mut organization, mut url) = (None, None);
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "organization" => organization = self.text(value),
                "url" => url = self.address(value),
                unknown => self.unknown(unknown, key.span(), PROVIDER, "provider"),
            }
        }
        if organization.is_none() || url.is_none() {
            self.wrong(
                ProjectCode::Value,
                value.span(),
                "a provider needs an `organization` and a `url`".to_owned(),
                help,
            );
        }
        Some(Provider { organization: organization?, url: url? })
    }

    fn skills(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<Skill> {
        let Some(rows) = value.get_ref().as_array() else {
            let help = "write `[[agent.skills]]` above the keys of each skill";
            self.wrong(ProjectCode::Value, value.span(), "`skills` must be a list of tables".to_owned(), help);
            return Vec::new();
        };
        let mut skills: Vec<Skill> = Vec::new();
        for row in rows {
            let Some(skill) = self.skill(row) else { continue };
            if skills.iter().any(|other| other.id == skill.id) {
                let message = format!("duplicate skill id `{}`", skill.id);
                self.wrong(ProjectCode::Value, row.span(), message, "give each skill a unique id");
            }
            skills.push(skill);
        }
        skills
    }

    fn skill(&mut self, row: &Spanned<DeValue<'_>>) -> Option<Skill> {
        let Some(table) = row.get_ref().as_table() else {
            let help = "write `[[agent.skills]]` above the keys of each skill";
            self.wrong(ProjectCode::Value, row.span(), "a skill must be a table".to_owned(), help);
            return None;
        };
        let mut skill = Skill::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "id" => skill.id = self.text(value).unwrap_or_default(),
                "name" => skill.name = self.text(value).unwrap_or_default(),
                "description" => skill.description = self.text(value).unwrap_or_default(),
                "tags" => skill.tags = self.texts(value),
                "examples" => skill.examples = self.texts(value),
                "input_modes" => skill.input_modes = self.texts(value),
                "output_modes" => skill.output_modes = self.texts(value),
                unknown => self.unknown(unknown, key.span(), SKILL, "[[agent.skills]]"),
            }
        }
        if !table.iter().any(|(key, _)| key.get_ref().as_ref() == "id") {
            self.wrong(
                ProjectCode::Value,
                row.span(),
                "this skill has no `id`".to_owned(),
                "add an `id`, which \
                identifies the skill",
            );
            return None;
        }
        // What is not said is as near to the id as may be.
        if skill.name.is_empty() {
            skill.name.clone_from(&skill.id);
        }
        if skill.description.is_empty() {
            skill.description.clone_from(&skill.name);
        }
        Some(skill)
    }

    fn replies(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Replies> {
        match self.text(value)?.as_str() {
            "task" => Some(Replies::Task),
            "message" => Some(Replies::Message),
            _ => {
                let help = "write `\"message\"` if the agent should answer without tasks whenever it can";
                self.wrong(
                    ProjectCode::Value,
                    value.span(),
                    "`replies` must be `\"task\"` or `\"message\"`".to_owned(),
                    help,
                );
                None
            }
        }
    }

    fn text(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = value.get_ref().as_str().ok_or_else(|| not_text(value));
        let text = text.and_then(|text| match text.trim() {
            "" => Err("this must not be empty".to_owned()),
            _ => Ok(text.to_owned()),
        });
        self.good(value, text)
    }

    fn address(&mut self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        let text = self.text(value)?;
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let is_address = rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(char::is_whitespace));
        let address = is_address.then_some(text).ok_or_else(|| "this must be an http or https URL".to_owned());
        self.good(value, address)
    }

    fn texts(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<String> {
        match value.get_ref().as_array() {
            Some(items) => items.iter().filter_map(|item| self.text(item)).collect(),
            None => {
                self.good::<()>(value, Err("this must be a list of strings".to_owned()));
                Vec::new()
            }
        }
    }
}
