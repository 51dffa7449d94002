//! The service for workers: claims, leases and what ends them.

use std::time::Duration;

use prost_types::Timestamp;
use tonic::{Request, Response, Status};

use super::events::{ItemStream, selected, stream_with_cursors};
use super::identity::{identify, operation, trace};
use super::published::unexpected;
use super::status::{missing, refusal};
use crate::broker::{self, Caller, ClaimedTask, Command, Progress, Reject, Renew, Reply};
use crate::proto::a2a::{Task, TaskState};
use crate::proto::worker::hub_worker_server::HubWorker;
use crate::proto::worker::{
    AcknowledgeRequest, AcknowledgeResponse, Claim, ClaimRequest, ClaimResponse, DeadLetter, EventWithCursor,
    FinishRequest, Lease, ListAgentsRequest, ListAgentsResponse, ListDeadLettersRequest, ListDeadLettersResponse,
    ProgressRequest, RegisteredAgent, RejectRequest, RejectionReason, RenewRequest, SubscribeWithCursorsRequest,
    UnregisterAgentRequest, UnregisterAgentResponse, WaitRequest, WaitResponse,
};
use crate::{DeliveryOrder, Hub, SubscribeRequest};

/// The longest time that a claim waits for a task. Clients ask again afterwards, so that a broken connection is
/// noticed.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The service for workers over a hub.
#[derive(Clone)]
pub(super) struct HubWorkerService {
    pub(super) hub: Hub,
}

impl HubWorkerService {
    /// Executes a command that extends a lease, and returns the lease.
    async fn leased(
        &self,
        caller: &Caller,
        command: Command,
        task_id: String,
        lease_id: String,
    ) -> Result<Response<Lease>, Status> {
        match self.hub.execute(caller, command).await.map_err(refusal)? {
            Reply::Renewed(until) => {
                let expires = (until > 0).then(|| timestamp(until));
                Ok(Response::new(Lease { task_id, lease_id, expires }))
            }
            other => Err(unexpected(&other)),
        }
    }
}

#[tonic::async_trait]
impl HubWorker for HubWorkerService {
    async fn claim(&self, request: Request<ClaimRequest>) -> Result<Response<ClaimResponse>, Status> {
        let (caller, agent_id) = acting_agent(&request, &request.get_ref().agent_id)?;
        let operation = operation(&request)?;
        let ClaimRequest { queue, lease, estimate, wait, .. } = request.into_inner();
        let (lease, estimate) = (duration("lease", lease)?, duration("estimate", estimate)?);
        let wait = duration("wait", wait)?.map(|wait| wait.min(MAX_WAIT));
        let claim = broker::Claim { agent_id, queue, lease, estimate, operation };
        let claimed = self.hub.claim_within(&caller, claim, wait).await.map_err(refusal)?;
        Ok(Response::new(ClaimResponse { claim: claimed.map(leased) }))
    }

    async fn renew(&self, request: Request<RenewRequest>) -> Result<Response<Lease>, Status> {
        let (caller, agent_id) = acting_agent(&request, &request.get_ref().agent_id)?;
        let RenewRequest { task_id, lease_id, lease, .. } = request.into_inner();
        let (held, duration) = (held(&lease_id), duration("lease", lease)?);
        let renew = Renew { agent_id, task_id: task_id.clone(), lease: held, duration };
        self.leased(&caller, Command::Renew(renew), task_id, lease_id).await
    }

    async fn progress(&self, request: Request<ProgressRequest>) -> Result<Response<Lease>, Status> {
        let (caller, agent_id) = acting_agent(&request, &request.get_ref().agent_id)?;
        let operation = operation(&request)?;
        let ProgressRequest { task_id, lease_id, portion, data, resume_token, .. } = request.into_inner();
        let (lease, task) = (held(&lease_id), task_id.clone());
        let progress = Progress { agent_id, task_id: task, lease, portion, data, resume_token, operation };
        self.leased(&caller, Command::Progress(progress), task_id, lease_id).await
    }

    async fn wait(&self, request: Request<WaitRequest>) -> Result<Response<WaitResponse>, Status> {
        identify(&request)?;
        let WaitRequest { task_id, wait } = request.into_inner();
        let wait = duration("wait", wait)?.unwrap_or_default().min(MAX_WAIT);
        let (task, settled) = self.hub.settled_task(&task_id, wait).await.map_err(refusal)?;
        Ok(Response::new(WaitResponse { task: Some(task), settled }))
    }

    type SubscribeWithCursorsStream = ItemStream<EventWithCursor>;

    async fn subscribe_with_cursors(
        &self,
        request: Request<SubscribeWithCursorsRequest>,
    ) -> Result<Response<ItemStream<EventWithCursor>>, Status> {
        let caller = identify(&request)?;
        let SubscribeWithCursorsRequest { selection, cursor } = request.into_inner();
        let (agent_id, kind) = selected(selection.ok_or_else(|| missing("selection"))?)?;
        let order = DeliveryOrder::Priority;
        let subscribed = SubscribeRequest { agent_id, kind, cursor: Some(cursor), order, capacity: None };
        let subscription = self.hub.subscribe(&caller, subscribed).map_err(refusal)?;
        Ok(Response::new(stream_with_cursors(subscription)))
    }

    async fn reject(&self, request: Request<RejectRequest>) -> Result<Response<Task>, Status> {
        let (caller, agent_id) = acting_agent(&request, &request.get_ref().agent_id)?;
        let operation = operation(&request)?;
        let RejectRequest { task_id, lease_id, reason, text, .. } = request.into_inner();
        let known = RejectionReason::try_from(reason);
        let reason = known.map_err(|_| Status::invalid_argument(format!("unknown rejection reason {reason}")))?;
        let reject = Reject { agent_id, task_id, lease: held(&lease_id), reason, text, operation };
        match self.hub.execute(&caller, Command::Reject(reject)).await.map_err(refusal)? {
            Reply::Task(task) => Ok(Response::new(*task)),
            other => Err(unexpected(&other)),
        }
    }

    async fn finish(&self, request: Request<FinishRequest>) -> Result<Response<Task>, Status> {
        let (caller, agent_id) = acting_agent(&request, &request.get_ref().agent_id)?;
        let trace = trace(request.metadata().as_ref());
        let operation = operation(&request)?;
        let FinishRequest { task_id, lease_id, state, update, artifacts, .. } = request.into_inner();
        let state = ending(state)?;
        let lease = held(&lease_id);
        let finish = broker::Finish { agent_id, task_id, lease, state, update, artifacts, operation, trace };
        match self.hub.execute(&caller, Command::Finish(finish)).await.map_err(refusal)? {
            Reply::Task(task) => Ok(Response::new(*task)),
            other => Err(unexpected(&other)),
        }
    }

    async fn acknowledge(&self, request: Request<AcknowledgeRequest>) -> Result<Response<AcknowledgeResponse>, Status> {
        let (caller, agent_id) = acting_agent(&request, &request.get_ref().agent_id)?;
        let task_id = request.into_inner().task_id;
        self.hub.execute(&caller, Command::Acknowledge { agent_id, task_id }).await.map_err(refusal)?;
        Ok(Response::new(AcknowledgeResponse {}))
    }

    async fn list_dead_letters(
        &self,
        request: Request<ListDeadLettersRequest>,
    ) -> Result<Response<ListDeadLettersResponse>, Status> {
        identify(&request)?;
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
        identify(&request)?;
        let ListAgentsRequest { page_size, page_token } = request.into_inner();
        let page = self.hub.agent_page(page_size, &page_token).await.map_err(refusal)?;
        let agents = page.agents.into_iter().map(|agent| RegisteredAgent {
            agent_id: agent.agent_id,
            agent_card: agent.card,
            subscriptions: agent.subscriptions,
            healthy: agent.healthy,
        });
        let agents = agents.collect();
        Ok(Response::new(ListAgentsResponse { agents, next_page_token: page.next_page_token }))
    }

    async fn unregister_agent(
        &self,
        request: Request<UnregisterAgentRequest>,
    ) -> Result<Response<UnregisterAgentResponse>, Status> {
        let (caller, agent_id) = acting_agent(&request, &request.get_ref().agent_id)?;
        self.hub.execute(&caller, Command::Unregister { agent_id }).await.map_err(refusal)?;
        Ok(Response::new(UnregisterAgentResponse {}))
    }
}

/// Returns the caller, and the agent as which it acts: the named one, else that of the token.
fn acting_agent<R>(request: &Request<R>, named: &str) -> Result<(Caller, String), Status> {
    let caller = identify(request)?;
    let agent_id = match (&caller, named) {
        (Caller::Agent(id), "") => id.clone(),
        (Caller::Operator, "") => return Err(missing("agent_id")),
        _ => named.to_owned(),
    };
    Ok((caller, agent_id))
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
