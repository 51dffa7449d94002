//! The card of the hub for the Agent2Agent protocol.

use std::time::SystemTime;

use base::data::Data;
use hub::{Hub, hub_card};
use stdlib::{Agent, Skill};

use crate::a2a::{AgentCard, CardUrl};

/// Returns the card of a hub: its skills are those of the registered agents.
pub(super) fn of(hub: &Hub, url: &str, has_token: bool) -> AgentCard {
    let card = hub_card(hub, url);
    let skills = card.skills.into_iter().map(|skill| Skill {
        id: skill.id,
        name: skill.name,
        description: skill.description,
        tags: skill.tags,
        examples: skill.examples,
        input_modes: skill.input_modes,
        output_modes: skill.output_modes,
    });
    let about = Agent {
        name: Some(card.name),
        description: Some(card.description),
        version: Some(card.version),
        skills: skills.collect(),
        input_modes: vec!["text/plain".to_owned(), "application/json".to_owned()],
        ..Agent::default()
    };
    AgentCard {
        about,
        url: CardUrl::Fixed(url.to_owned()),
        has_token,
        reminders: Data::Nil,
        streams: true,
        has_rest: true,
        always_rfc: false,
        usual: None,
        since: SystemTime::now(),
    }
}
