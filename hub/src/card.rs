//! The agent card of the hub.

use std::collections::BTreeMap;

use prost::Message as _;

use crate::Hub;
use crate::proto::a2a::{AgentCapabilities, AgentCard, AgentSkill};

/// The version of the Agent2Agent protocol whose cards have these fields, and which the HTTP port serves.
const PROTOCOL: &str = "0.3.0";

/// The maximum number of skills in the card, and their maximum size in bytes.
const MAX_SKILLS: (usize, usize) = (1_000, 1 << 20);

/// Returns the card of a hub: its skills are those of the registered agents. The id of a skill starts with the id of its
/// agent, and both are tags of it.
#[must_use]
pub fn hub_card(hub: &Hub, url: &str) -> AgentCard {
    // In the order of the ids, so that the card does not change without reason.
    let agents: BTreeMap<String, Option<AgentCard>> =
        hub.agents().into_iter().map(|agent| (agent.agent_id, agent.card)).collect();
    let skills = agents.into_iter().flat_map(|(agent_id, card)| {
        card.unwrap_or_default().skills.into_iter().map(move |skill| offered(&agent_id, skill))
    });
    let mut bytes = 0;
    let skills = skills.take(MAX_SKILLS.0).take_while(|skill| {
        bytes += skill.encoded_len();
        bytes <= MAX_SKILLS.1
    });
    AgentCard {
        protocol_version: PROTOCOL.to_owned(),
        name: "hub".to_owned(),
        description: "A broker of tasks. Its skills are those of the registered agents.".to_owned(),
        url: url.to_owned(),
        preferred_transport: "GRPC".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        capabilities: Some(AgentCapabilities { streaming: true, ..AgentCapabilities::default() }),
        skills: skills.collect(),
        ..AgentCard::default()
    }
}

fn offered(agent_id: &str, skill: AgentSkill) -> AgentSkill {
    let mut tags = vec![agent_id.to_owned()];
    tags.extend(skill.tags.into_iter().filter(|tag| tag != agent_id));
    AgentSkill { id: format!("{agent_id}/{}", skill.id), tags, ..skill }
}
