"""Agents of a hub, as the published service has them: each registers, subscribes, and works on what it gets."""

import queue
import threading
import uuid

import a2a_pb2 as a2a
import agenthub_pb2 as hub
import agenthub_pb2_grpc
import grpc

LIMIT = 120
FINAL = {a2a.TASK_STATE_COMPLETED, a2a.TASK_STATE_FAILED, a2a.TASK_STATE_CANCELLED, a2a.TASK_STATE_REJECTED}


def new(prefix):
    return f"{prefix}_{uuid.uuid4().hex}"


def text_of(parts):
    return " ".join(part.text for part in parts if part.text)


class Agent:
    def __init__(self, address, name, subscriptions=(), token=None):
        self.name = name
        self.metadata = [("authorization", f"Bearer {token}")] if token else []
        self.channel = grpc.insecure_channel(address)
        self.stub = agenthub_pb2_grpc.AgentHubStub(self.channel)
        self.streams = []
        skill = a2a.AgentSkill(id=f"{name}-skill", name=name, description=f"What {name} does", tags=[f"{name}-tag"])
        card = a2a.AgentCard(name=name, version="1.0.0", skills=[skill])
        request = hub.RegisterAgentRequest(agent_card=card, subscriptions=subscriptions)
        answer = self.call("RegisterAgent", request)
        assert answer.success and answer.agent_id == name, answer

    def call(self, method, request, metadata=()):
        return getattr(self.stub, method)(request, timeout=LIMIT, metadata=[*self.metadata, *metadata])

    def follow(self, method, request):
        """Starts a subscription. The headers arrive once the hub has registered it, so nothing is missed."""
        events = queue.Queue()
        stream = getattr(self.stub, method)(request, metadata=self.metadata)
        stream.initial_metadata()

        def read():
            try:
                for event in stream:
                    events.put(event)
            except grpc.RpcError as error:
                events.put(error)

        threading.Thread(target=read, daemon=True).start()
        self.streams.append(stream)
        return events

    def tasks(self, **filters):
        return self.follow("SubscribeToTasks", hub.SubscribeToTasksRequest(agent_id=self.name, **filters))

    def routing(self, to="", event_type="task", **more):
        return hub.AgentEventMetadata(from_agent_id=self.name, to_agent_id=to, event_type=event_type, **more)

    def publish(self, text, task_id="", context_id="", metadata=None, role=a2a.ROLE_USER, message_id="", **routing):
        message = a2a.Message(
            message_id=message_id or new("msg"), context_id=context_id, task_id=task_id, role=role,
            content=[a2a.Part(text=text)],
        )
        for key, value in (metadata or {}).items():
            message.metadata[key] = value
        request = hub.PublishMessageRequest(message=message, routing=self.routing(**routing))
        answer = self.call("PublishMessage", request)
        assert answer.success and answer.event_id.startswith("evt_"), answer
        return answer.event_id

    def update(self, task, state, text):
        said = a2a.Message(message_id=new("msg"), task_id=task.id, role=a2a.ROLE_AGENT, content=[a2a.Part(text=text)])
        update = hub.TaskStatusUpdateEvent(
            task_id=task.id, context_id=task.context_id, final=state in FINAL,
            status=a2a.TaskStatus(state=state, update=said),
        )
        request = hub.PublishTaskUpdateRequest(update=update, routing=self.routing(event_type="task.status"))
        return self.call("PublishTaskUpdate", request)

    def artifact(self, task, artifact_id, text, append=False):
        artifact = a2a.Artifact(artifact_id=artifact_id, name=artifact_id, parts=[a2a.Part(text=text)])
        event = hub.TaskArtifactUpdateEvent(
            task_id=task.id, context_id=task.context_id, artifact=artifact, append=append, last_chunk=True
        )
        request = hub.PublishTaskArtifactRequest(artifact=event, routing=self.routing(event_type="task.artifact"))
        return self.call("PublishTaskArtifact", request)

    def task(self, task_id, history_length=0):
        return self.call("GetTask", hub.GetTaskRequest(task_id=task_id, history_length=history_length))

    def complete(self, task, result):
        self.update(task, a2a.TASK_STATE_WORKING, "Task started")
        self.artifact(task, "result", result)
        self.update(task, a2a.TASK_STATE_COMPLETED, "Done")

    def close(self):
        for stream in self.streams:
            stream.cancel()
        self.channel.close()


def next_task(events, wanted=lambda task: True):
    """Returns the next submitted task of a subscription."""
    while True:
        event = events.get(timeout=LIMIT)
        assert not isinstance(event, grpc.RpcError), event
        if event.HasField("task") and event.task.status.state == a2a.TASK_STATE_SUBMITTED and wanted(event.task):
            return event.task


def until_final(events, task_id):
    """Returns the states of a task as a subscription reports them, up to the final one."""
    states = []
    while not states or states[-1] not in FINAL:
        event = events.get(timeout=LIMIT)
        assert not isinstance(event, grpc.RpcError), event
        if event.HasField("status_update") and event.status_update.task_id == task_id:
            states.append(event.status_update.status.state)
    return states


def refused(code, call, *args, **named):
    try:
        answer = call(*args, **named)
    except grpc.RpcError as error:
        assert error.code() == code, error
        return error
    raise AssertionError(f"expected {code}, got {answer}")
