"""An agent of a hub in Python: it counts the words of each task that is sent to it.

    python counter.py 127.0.0.1:50051
"""

import sys
import uuid

import a2a_pb2 as a2a
import agenthub_pb2 as hub
import agenthub_pb2_grpc
import grpc

NAME = "counter"


def message(task, text):
    return a2a.Message(
        message_id=f"msg_{uuid.uuid4().hex}", task_id=task.id, role=a2a.ROLE_AGENT, content=[a2a.Part(text=text)]
    )


def report(stub, task, state, text):
    status = a2a.TaskStatus(state=state, update=message(task, text))
    final = state == a2a.TASK_STATE_COMPLETED
    update = hub.TaskStatusUpdateEvent(task_id=task.id, context_id=task.context_id, status=status, final=final)
    routing = hub.AgentEventMetadata(from_agent_id=NAME, event_type="task.status")
    stub.PublishTaskUpdate(hub.PublishTaskUpdateRequest(update=update, routing=routing))


def work(stub, task):
    report(stub, task, a2a.TASK_STATE_WORKING, "counting")
    words = sum(len(part.text.split()) for part in task.history[0].content)
    artifact = a2a.Artifact(artifact_id="count", name="count", parts=[a2a.Part(text=f"{words} words")])
    event = hub.TaskArtifactUpdateEvent(
        task_id=task.id, context_id=task.context_id, artifact=artifact, last_chunk=True
    )
    routing = hub.AgentEventMetadata(from_agent_id=NAME, event_type="task.artifact")
    stub.PublishTaskArtifact(hub.PublishTaskArtifactRequest(artifact=event, routing=routing))
    report(stub, task, a2a.TASK_STATE_COMPLETED, "done")


def main(address):
    stub = agenthub_pb2_grpc.AgentHubStub(grpc.insecure_channel(address))
    skill = a2a.AgentSkill(id="count-words", name="Count words", tags=["text"])
    card = a2a.AgentCard(name=NAME, version="1.0.0", description="Counts words", skills=[skill])
    stub.RegisterAgent(hub.RegisterAgentRequest(agent_card=card))
    events = stub.SubscribeToTasks(hub.SubscribeToTasksRequest(agent_id=NAME))
    # The headers arrive once the hub has the subscription, so no task is missed.
    events.initial_metadata()
    print(f"{NAME} waits for tasks", flush=True)
    for event in events:
        if event.HasField("task") and event.task.status.state == a2a.TASK_STATE_SUBMITTED:
            work(stub, event.task)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
