//! The published service.

use tonic::{Request, Response, Status};

use super::events::{EventStream, event_of, order, selected, stream, task_states};
use super::identity::{LEASE, identify, operation, text, trace};
use super::published::{published, unexpected};
use super::status::{CURSOR, missing, refusal};
use crate::broker::{Caller, Command, ListTasks, Publish, PutArtifact, Register, Reply, UpdateStatus};
use crate::proto::a2a::{AgentCard, Task};
use crate::proto::agenthub::agent_hub_server::AgentHub;
use crate::proto::agenthub::{
    AgentEventMetadata, CancelTaskRequest, GetTaskRequest, ListTasksRequest, ListTasksResponse, PublishMessageRequest,
    PublishResponse, PublishTaskArtifactRequest, PublishTaskUpdateRequest, RegisterAgentRequest, RegisterAgentResponse,
    SubscribeToAgentEventsRequest, SubscribeToMessagesRequest, SubscribeToTasksRequest,
};
use crate::proto::worker::subscribe_with_cursors_request::Selection;
use crate::{Hub, SubscribeRequest, hub_card};

/// The published service over a hub.
#[derive(Clone)]
pub(super) struct AgentHubService {
    pub(super) hub: Hub,
    /// The URL for the card.
    pub(super) url: String,
}

impl AgentHubService {
    fn subscribe<R>(&self, request: &Request<R>, selection: Selection) -> Result<Response<EventStream>, Status> {
        let caller = identify(request)?;
        let (agent_id, kind) = selected(selection)?;
        let (cursor, order) = (text(request, CURSOR)?, order(request)?);
        let subscribed = SubscribeRequest { agent_id, kind, cursor, order, capacity: None };
        let subscription = self.hub.subscribe(&caller, subscribed).map_err(refusal)?;
        Ok(Response::new(stream(subscription, event_of)))
    }
}

/// Returns the routing of a request. A sender that a token identifies need not name itself.
fn routing(caller: &Caller, routing: Option<AgentEventMetadata>) -> AgentEventMetadata {
    let mut routing = routing.unwrap_or_default();
    if let Caller::Agent(id) = caller
        && routing.from_agent_id.is_empty()
    {
        routing.from_agent_id.clone_from(id);
    }
    routing
}

#[tonic::async_trait]
impl AgentHub for AgentHubService {
    async fn publish_message(
        &self,
        request: Request<PublishMessageRequest>,
    ) -> Result<Response<PublishResponse>, Status> {
        let (caller, trace) = (identify(&request)?, trace(request.metadata().as_ref()));
        let PublishMessageRequest { message, routing: named } = request.into_inner();
        let message = message.ok_or_else(|| missing("message"))?;
        let routing = routing(&caller, named);
        let publish = Publish { message, routing, submits: false, trace };
        published(self.hub.execute(&caller, Command::Publish(publish)).await)
    }

    async fn publish_task_update(
        &self,
        request: Request<PublishTaskUpdateRequest>,
    ) -> Result<Response<PublishResponse>, Status> {
        let (caller, trace) = (identify(&request)?, trace(request.metadata().as_ref()));
        let (lease, operation) = (text(&request, LEASE)?, operation(&request)?);
        let PublishTaskUpdateRequest { update, routing: named } = request.into_inner();
        let update = update.ok_or_else(|| missing("update"))?;
        let routing = routing(&caller, named);
        let update = UpdateStatus { update, routing, lease, operation, trace };
        published(self.hub.execute(&caller, Command::UpdateStatus(update)).await)
    }

    async fn publish_task_artifact(
        &self,
        request: Request<PublishTaskArtifactRequest>,
    ) -> Result<Response<PublishResponse>, Status> {
        let (caller, trace) = (identify(&request)?, trace(request.metadata().as_ref()));
        let (lease, operation) = (text(&request, LEASE)?, operation(&request)?);
        let PublishTaskArtifactRequest { artifact, routing: named } = request.into_inner();
        let update = artifact.ok_or_else(|| missing("artifact"))?;
        let routing = routing(&caller, named);
        let put = PutArtifact { update, routing, lease, operation, trace };
        published(self.hub.execute(&caller, Command::PutArtifact(put)).await)
    }

    type SubscribeToMessagesStream = EventStream;

    async fn subscribe_to_messages(
        &self,
        request: Request<SubscribeToMessagesRequest>,
    ) -> Result<Response<EventStream>, Status> {
        let selection = Selection::Messages(request.get_ref().clone());
        self.subscribe(&request, selection)
    }

    type SubscribeToTasksStream = EventStream;

    async fn subscribe_to_tasks(
        &self,
        request: Request<SubscribeToTasksRequest>,
    ) -> Result<Response<EventStream>, Status> {
        let selection = Selection::Tasks(request.get_ref().clone());
        self.subscribe(&request, selection)
    }

    type SubscribeToAgentEventsStream = EventStream;

    async fn subscribe_to_agent_events(
        &self,
        request: Request<SubscribeToAgentEventsRequest>,
    ) -> Result<Response<EventStream>, Status> {
        let selection = Selection::Events(request.get_ref().clone());
        self.subscribe(&request, selection)
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        identify(&request)?;
        let GetTaskRequest { task_id, history_length } = request.into_inner();
        self.hub.task(&task_id, history_length).await.map(Response::new).map_err(refusal)
    }

    async fn cancel_task(&self, request: Request<CancelTaskRequest>) -> Result<Response<Task>, Status> {
        let caller = identify(&request)?;
        let CancelTaskRequest { task_id, reason } = request.into_inner();
        match self.hub.execute(&caller, Command::Cancel { task_id, reason }).await.map_err(refusal)? {
            Reply::Task(task) => Ok(Response::new(*task)),
            other => Err(unexpected(&other)),
        }
    }

    async fn list_tasks(&self, request: Request<ListTasksRequest>) -> Result<Response<ListTasksResponse>, Status> {
        identify(&request)?;
        let ListTasksRequest { agent_id, context_id, states, page_size, page_token } = request.into_inner();
        let states = task_states(&states)?;
        let list = ListTasks { agent_id, context_id, states, page_size, page_token };
        let page = self.hub.tasks(&list).await.map_err(refusal)?;
        Ok(Response::new(ListTasksResponse { tasks: page.tasks, next_page_token: page.next_page_token }))
    }

    async fn get_agent_card(&self, request: Request<()>) -> Result<Response<AgentCard>, Status> {
        identify(&request)?;
        Ok(Response::new(hub_card(&self.hub, &self.url)))
    }

    async fn register_agent(
        &self,
        request: Request<RegisterAgentRequest>,
    ) -> Result<Response<RegisterAgentResponse>, Status> {
        let caller = identify(&request)?;
        let RegisterAgentRequest { agent_card, subscriptions, health_check_url } = request.into_inner();
        let card = agent_card.ok_or_else(|| missing("agent_card"))?;
        // The published service takes the name for the id. A token decides more than a name.
        let agent_id = match &caller {
            Caller::Agent(id) => id.clone(),
            Caller::Operator => card.name.clone(),
        };
        let register =
            Command::Register(Register { agent_id: agent_id.clone(), card, subscriptions, health_check_url });
        match self.hub.execute(&caller, register).await.map_err(refusal)? {
            Reply::Done => Ok(Response::new(RegisterAgentResponse { success: true, error: String::new(), agent_id })),
            other => Err(unexpected(&other)),
        }
    }
}
