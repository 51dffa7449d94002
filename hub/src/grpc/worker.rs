//! The service for workers: claims, leases and what ends them.

use std::sync::Arc;
use std::time::Duration;

use prost_types::Timestamp;
use tonic::{Request, Response, Status};

use super::identity::{Authenticate, identify, trace};
use super::published::{published, unexpected};
use super::status::{missing, refusal};
use crate::Hub;
use crate::broker::{self, Caller, ClaimedTask, Command, Progress, PutArtifact, Reject, Renew, Reply, UpdateStatus};
use crate::proto::a2a::{Task, TaskState, TaskStatus};
use crate::proto::agenthub::{AgentEventMetadata, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
use crate::proto::worker::hub_worker_server::HubWorker;
use crate::proto::worker::{
    AcknowledgeRequest, AcknowledgeResponse, Claim, ClaimRequest, ClaimResponse, DeadLetter, FinishRequest, Lease,
    ListAgentsRequest, ListAgentsResponse, ListDeadLettersRequest, ListDeadLettersResponse, ProgressRequest,
    RegisteredAgent, RejectRequest, RejectionReason, RenewRequest, UnregisterAgentRequest, UnregisterAgentResponse,
    WaitRequest,
};

/// The longest time that a claim waits for a task. Clients ask again afterwards, so that a broken connection is
/// noticed.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The service for workers over a hub.
#[derive(Clone)]
pub(super) struct HubWorkerService {
    pub(super) hub: Hub,
    pub(super) authenticate: Arc<dyn Authenticate>,
}

impl HubWorkerService {
    /// Returns the caller, and the agent as which it acts: the named one, else that of the token.
    fn agent<R>(&self, request: &Request<R>, named: &str) -> Result<(Caller, String), Status> {
        let caller = identify(&*self.authenticate, request.metadata()).map_err(|status| *status)?;
        let agent_id = match (&caller, named) {
            (Caller::Agent(id), "") => id.clone(),
            (Caller::Operator, "") => return Err(missing("agent_id")),
            _ => named.to_owned(),
        };
        Ok((caller, agent_id))
    }

    async fn renewed(
        &self,
        caller: &Caller,
        agent_id: String,
        task_id: String,
        lease_id: String,
        duration: Option<Duration>,
    ) -> Result<Response<Lease>, Status> {
        let renew = Renew { agent_id, task_id: task_id.clone(), lease: held(&lease_id), duration };
        match self.hub.execute(caller, Command::Renew(renew)).await.map_err(refusal)? {
            Reply::Renewed(until) => Ok(Response::new(Lease { task_id, lease_id, expires: Some(timestamp(until)) })),
            other => Err(unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl HubWorker for HubWorkerService {
    async fn claim(&self, request: Request<ClaimRequest>) -> Result<Response<ClaimResponse>, Status> {
        let (caller, agent_id) = self.agent(&request, &request.get_ref().agent_id)?;
        let ClaimRequest { queue, lease, estimate, wait, .. } = request.into_inner();
        let (lease, estimate) = (duration("lease", lease)?, duration("estimate", estimate)?);
        let wait = duration("wait", wait)?.unwrap_or_default().min(MAX_WAIT);
        let claim = broker::Claim { agent_id, queue, lease, estimate };
        let claimed = self.hub.claim_within(&caller, claim, wait).await.map_err(refusal)?;
        Ok(Response::new(ClaimResponse { claim: claimed.map(leased) }))
    }

    async fn renew(&self, request: Request<RenewRequest>) -> Result<Response<Lease>, Status> {
        let (caller, agent_id) = self.agent(&request, &request.get_ref().agent_id)?;
        let RenewRequest { task_id, lease_id, lease, .. } = request.into_inner();
        self.renewed(&caller, agent_id, task_id, lease_id, duration("lease", lease)?).await
    }

    async fn progress(&self, request: Request<ProgressRequest>) -> Result<Response<Lease>, Status> {
        let (caller, agent_id) = self.agent(&request, &request.get_ref().agent_id)?;
        let ProgressRequest { task_id, lease_id, portion, data, resume_token, .. } = request.into_inner();
        let progress = Progress {
            agent_id: agent_id.clone(),
            task_id: task_id.clone(),
            lease: held(&lease_id),
            portion,
            data,
            resume_token,
        };
        self.hub.execute(&caller, Command::Progress(progress)).await.map_err(refusal)?;
        self.renewed(&caller, agent_id, task_id, lease_id, None).await
    }

    async fn wait(&self, request: Request<WaitRequest>) -> Result<Response<Task>, Status> {
        identify(&*self.authenticate, request.metadata()).map_err(|status| *status)?;
        let WaitRequest { task_id, wait } = request.into_inner();
        let wait = duration("wait", wait)?.unwrap_or_default().min(MAX_WAIT);
        self.hub.settled_task(&task_id, wait).await.map(Response::new).map_err(refusal)
    }

    async fn reject(&self, request: Request<RejectRequest>) -> Result<Response<Task>, Status> {
        let (caller, agent_id) = self.agent(&request, &request.get_ref().agent_id)?;
        let RejectRequest { task_id, lease_id, reason, text, .. } = request.into_inner();
        let known = RejectionReason::try_from(reason);
        let reason = known.map_err(|_| Status::invalid_argument(format!("unknown rejection reason {reason}")))?;
        let reject = Reject { agent_id, task_id, lease: held(&lease_id), reason, text };
        match self.hub.execute(&caller, Command::Reject(reject)).await.map_err(refusal)? {
            Reply::Task(task) => Ok(Response::new(*task)),
            other => Err(unexpected(&other)),
        }
    }

    async fn finish(&self, request: Request<FinishRequest>) -> Result<Response<Task>, Status> {
        let (caller, agent_id) = self.agent(&request, &request.get_ref().agent_id)?;
        let trace = trace(request.metadata().as_ref());
        let FinishRequest { task_id, lease_id, state, update, artifacts, .. } = request.into_inner();
        let state = ending(state)?;
        let routing = AgentEventMetadata { from_agent_id: agent_id, ..AgentEventMetadata::default() };
        for artifact in artifacts {
            let update = TaskArtifactUpdateEvent {
                task_id: task_id.clone(),
                artifact: Some(artifact),
                last_chunk: true,
                ..TaskArtifactUpdateEvent::default()
            };
            let put = PutArtifact { update, routing: routing.clone(), lease: held(&lease_id), trace: trace.clone() };
            published(self.hub.execute(&caller, Command::PutArtifact(put)).await)?;
        }
        let update = TaskStatusUpdateEvent {
            task_id: task_id.clone(),
            status: Some(TaskStatus { state: state as i32, update, timestamp: None }),
            r#final: matches!(state, TaskState::Completed | TaskState::Failed),
            ..TaskStatusUpdateEvent::default()
        };
        let finish = UpdateStatus { update, routing, lease: held(&lease_id), trace };
        published(self.hub.execute(&caller, Command::UpdateStatus(finish)).await)?;
        self.hub.task(&task_id, 0).await.map(Response::new).map_err(refusal)
    }

    async fn acknowledge(&self, request: Request<AcknowledgeRequest>) -> Result<Response<AcknowledgeResponse>, Status> {
        let (caller, agent_id) = self.agent(&request, &request.get_ref().agent_id)?;
        let task_id = request.into_inner().task_id;
        self.hub.execute(&caller, Command::Acknowledge { agent_id, task_id }).await.map_err(refusal)?;
        Ok(Response::new(AcknowledgeResponse {}))
    }

    async fn list_dead_letters(
        &self,
        request: Request<ListDeadLettersRequest>,
    ) -> Result<Response<ListDeadLettersResponse>, Status> {
        identify(&*self.authenticate, request.metadata()).map_err(|status| *status)?;
        let ListDeadLettersRequest { page_size, page_token, queue } = request.into_inner();
        let page = self.hub.dead_letters(&queue, page_size, &page_token).await.map_err(refusal)?;
        let dead_letters = page.dead_letters.into_iter().map(|letter| DeadLetter {
            task: Some(letter.task),
            queue: letter.queue,
            attempts: letter.attempts,
            reason: letter.reason,
            timestamp: Some(timestamp(letter.at_ms)),
        });
        let dead_letters = dead_letters.collect();
        Ok(Response::new(ListDeadLettersResponse { dead_letters, next_page_token: page.next_page_token }))
    }

    async fn list_agents(&self, request: Request<ListAgentsRequest>) -> Result<Response<ListAgentsResponse>, Status> {
        identify(&*self.authenticate, request.metadata()).map_err(|status| *status)?;
        let agents = self.hub.agents().into_iter().map(|agent| RegisteredAgent {
            agent_id: agent.agent_id,
            agent_card: agent.card,
            subscriptions: agent.subscriptions,
            healthy: agent.healthy,
        });
        Ok(Response::new(ListAgentsResponse { agents: agents.collect() }))
    }

    async fn unregister_agent(
        &self,
        request: Request<UnregisterAgentRequest>,
    ) -> Result<Response<UnregisterAgentResponse>, Status> {
        let (caller, agent_id) = self.agent(&request, &request.get_ref().agent_id)?;
        self.hub.execute(&caller, Command::Unregister { agent_id }).await.map_err(refusal)?;
        Ok(Response::new(UnregisterAgentResponse {}))
    }
}

/// Returns the lease of a request, if the task was claimed.
fn held(lease_id: &str) -> Option<String> {
    (!lease_id.is_empty()).then(|| lease_id.to_owned())
}

/// Returns the state in which a worker leaves a task.
fn ending(state: i32) -> Result<TaskState, Status> {
    match TaskState::try_from(state) {
        Ok(known @ (TaskState::Completed | TaskState::Failed | TaskState::InputRequired | TaskState::AuthRequired)) => {
            Ok(known)
        }
        _ => Err(Status::invalid_argument(format!(
            "invalid state {state}: use COMPLETED, FAILED, INPUT_REQUIRED or AUTH_REQUIRED"
        ))),
    }
}

fn leased(claimed: ClaimedTask) -> Claim {
    let lease = Lease {
        task_id: claimed.task.id.clone(),
        lease_id: claimed.lease_id,
        expires: Some(timestamp(claimed.lease_until_ms)),
    };
    Claim {
        task: Some(claimed.task),
        lease: Some(lease),
        attempt: claimed.attempt,
        max_attempts: claimed.max_attempts,
        resume_token: claimed.resume_token,
        routing: Some(claimed.routing),
        trace_id: claimed.trace.trace_id,
        span_id: claimed.trace.span_id,
        queue: claimed.queue,
        deadline: claimed.deadline_ms.map(timestamp),
    }
}

/// Reads a duration of a request.
fn duration(field: &str, duration: Option<prost_types::Duration>) -> Result<Option<Duration>, Status> {
    let read = duration.map(Duration::try_from).transpose();
    read.map_err(|_| Status::invalid_argument(format!("invalid field `{field}`: a duration cannot be negative")))
}

fn timestamp(ms: u64) -> Timestamp {
    let seconds = i64::try_from(ms / 1_000).unwrap_or(i64::MAX);
    Timestamp { seconds, nanos: (ms % 1_000) as i32 * 1_000_000 }
}
