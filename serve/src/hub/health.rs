//! Health checks of the agents that registered a URL for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hub::Hub;
use hub::broker::change::AgentRecord;
use hub::broker::{Caller, Command};
use stdlib::HealthProbe;
use tokio::task::JoinSet;

use crate::metrics::Counter;
use crate::spawn::spawn_in;

/// The number of checks at one time.
const AT_ONCE: usize = 16;

/// The number of failed checks in a row after which an agent is unhealthy.
const FAILURES: u32 = 2;

/// The timeout of a check.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The settings of health checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthSettings {
    /// The time between two checks of an agent.
    pub interval: Duration,
    /// Whether URLs may lead to loopback and private addresses although the hub listens on another address.
    pub allows_private: bool,
}

impl Default for HealthSettings {
    fn default() -> HealthSettings {
        HealthSettings { interval: Duration::from_secs(30), allows_private: false }
    }
}

/// The number of health checks, by outcome.
#[derive(Debug, Default)]
pub(super) struct HealthCounts {
    pub(super) ok: Counter,
    pub(super) failed: Counter,
}

/// Checks agents until it is dropped.
pub(super) async fn check_agents(hub: Hub, settings: HealthSettings, counts: Arc<HealthCounts>) {
    let probe = match HealthProbe::new(TIMEOUT, settings.allows_private) {
        Ok(probe) => probe,
        Err(why) => {
            tracing::error!("no health checks: {why}");
            return;
        }
    };
    let mut failures: HashMap<String, u32> = HashMap::new();
    loop {
        let mut agents: Vec<AgentRecord> =
            hub.agents().into_iter().filter(|agent| !agent.health_check_url.is_empty()).collect();
        failures.retain(|id, _| agents.iter().any(|agent| agent.agent_id == *id));
        let mut running: JoinSet<(AgentRecord, Result<(), String>)> = JoinSet::new();
        loop {
            while running.len() < AT_ONCE
                && let Some(agent) = agents.pop()
            {
                let probe = probe.clone();
                spawn_in(&mut running, async move {
                    let result = probe.ask(&agent.health_check_url).await;
                    (agent, result)
                });
            }
            let Some(checked) = running.join_next().await else { break };
            let Ok((agent, result)) = checked else { continue };
            let failed = failures.entry(agent.agent_id.clone()).or_default();
            match &result {
                Ok(()) => {
                    counts.ok.add();
                    *failed = 0;
                }
                Err(why) => {
                    counts.failed.add();
                    *failed = failed.saturating_add(1);
                    tracing::debug!(agent = %agent.agent_id, "health check failed: {why}");
                }
            }
            let is_healthy = result.is_ok() || (agent.healthy && *failed < FAILURES);
            if is_healthy != agent.healthy {
                let report = Command::ReportHealth { agent_id: agent.agent_id, healthy: is_healthy };
                // The agent may have left since.
                let _ = hub.execute(&Caller::Operator, report).await;
            }
        }
        tokio::time::sleep(settings.interval).await;
    }
}
