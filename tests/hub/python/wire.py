"""The wire, byte by byte: the numbers of the documentation, and every field through the hub and back."""

import sys

import a2a_pb2 as a2a
import agenthub_pb2 as hub
import grpc
from agents import LIMIT, Agent, new
from google.protobuf.empty_pb2 import Empty
from google.protobuf.struct_pb2 import Struct

# Every message, with the numbers of its fields as they are documented.
NUMBERS = {
    "a2a.Part": "text 1 file 2 data 3 metadata 4",
    "a2a.FilePart": "file_with_uri 1 file_with_bytes 2 mime_type 3 name 4",
    "a2a.DataPart": "data 1",
    "a2a.Message": "message_id 1 context_id 2 task_id 3 role 4 content 5 metadata 6 extensions 7",
    "a2a.TaskStatus": "state 1 update 2 timestamp 3",
    "a2a.Task": "id 1 context_id 2 status 3 artifacts 4 history 5 metadata 6",
    "a2a.Artifact": "artifact_id 1 name 3 description 4 parts 5 metadata 6 extensions 7",
    "a2a.AgentCard": "protocol_version 1 name 2 description 3 url 4 preferred_transport 5 additional_interfaces 6 "
    "provider 7 version 8 documentation_url 9 capabilities 10 skills 11 supports_authenticated_extended_card 12 "
    "icon_url 13",
    "a2a.AgentProvider": "url 1 organization 2",
    "a2a.AgentCapabilities": "streaming 1 push_notifications 2 extensions 3",
    "a2a.AgentExtension": "uri 1 description 2 required 3 params 4",
    "a2a.AgentSkill": "id 1 name 2 description 3 tags 4 examples 5 input_modes 6 output_modes 7",
    "a2a.AgentInterface": "url 1 transport 2",
    "agenthub.AgentEvent": "event_id 1 timestamp 2 message 10 task 11 status_update 12 artifact_update 13 "
    "agent_card 14 routing 20 trace_id 30 span_id 31",
    "agenthub.AgentEventMetadata": "from_agent_id 1 to_agent_id 2 event_type 3 subscriptions 4 priority 5",
    "agenthub.TaskStatusUpdateEvent": "task_id 1 context_id 2 status 3 final 4 metadata 5",
    "agenthub.TaskArtifactUpdateEvent": "task_id 1 context_id 2 artifact 3 append 4 last_chunk 5 metadata 6",
    "agenthub.AgentCardEvent": "agent_id 1 agent_card 2 event_type 3 metadata 4",
    "agenthub.PublishMessageRequest": "message 1 routing 2",
    "agenthub.PublishTaskUpdateRequest": "update 1 routing 2",
    "agenthub.PublishTaskArtifactRequest": "artifact 1 routing 2",
    "agenthub.PublishResponse": "success 1 error 2 event_id 3",
    "agenthub.SubscribeToMessagesRequest": "agent_id 1 message_types 2 contexts 3",
    "agenthub.SubscribeToTasksRequest": "agent_id 1 task_types 2 states 3",
    "agenthub.SubscribeToAgentEventsRequest": "agent_id 1 event_types 2",
    "agenthub.GetTaskRequest": "task_id 1 history_length 2",
    "agenthub.CancelTaskRequest": "task_id 1 reason 2",
    "agenthub.ListTasksRequest": "agent_id 1 context_id 2 states 3 page_size 4 page_token 5",
    "agenthub.ListTasksResponse": "tasks 1 next_page_token 2",
    "agenthub.RegisterAgentRequest": "agent_card 1 subscriptions 2 health_check_url 3",
    "agenthub.RegisterAgentResponse": "success 1 error 2 agent_id 3",
}
ENUMS = {
    "a2a.Role": ["ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"],
    "a2a.TaskState": [
        "TASK_STATE_" + state for state in (
            "UNSPECIFIED SUBMITTED WORKING COMPLETED FAILED CANCELLED INPUT_REQUIRED REJECTED AUTH_REQUIRED"
        ).split()
    ],
    "agenthub.Priority": ["PRIORITY_" + it for it in "UNSPECIFIED LOW MEDIUM HIGH CRITICAL".split()],
}


def numbers():
    described = {}
    for file in (a2a.DESCRIPTOR, hub.DESCRIPTOR):
        for message in file.message_types_by_name.values():
            described[message.full_name] = " ".join(f"{field.name} {field.number}" for field in message.fields)
        for enum in file.enum_types_by_name.values():
            assert [value.name for value in enum.values] == ENUMS[enum.full_name], enum.full_name
            assert [value.number for value in enum.values] == list(range(len(enum.values))), enum.full_name
    assert described == NUMBERS, set(described.items()) ^ set(NUMBERS.items())


def field(number, payload):
    """Encodes a field by hand: text, bytes or a message with its length, a number as a varint (all are below 128)."""
    if isinstance(payload, int):
        return bytes([*varint(number << 3), payload])
    payload = payload.encode() if isinstance(payload, str) else payload
    return bytes([*varint(number << 3 | 2), *varint(len(payload))]) + payload


def varint(value):
    while value > 127:
        yield value & 127 | 128
        value >>= 7
    yield value


def raw(channel, method, request):
    call = channel.unary_unary(f"/agenthub.AgentHub/{method}")
    return call(request, timeout=LIMIT)


def by_hand(address):
    """Publishes and reads a task without any generated code."""
    with grpc.insecure_channel(address) as channel:
        card = field(2, "hand") + field(11, field(1, "s") + field(2, "S") + field(4, "t"))
        assert raw(channel, "RegisterAgent", field(1, card)) == field(1, 1) + field(3, "hand")
        message = field(1, "m-hand") + field(2, "c-hand") + field(3, "t-hand") + field(4, 1) + field(5, field(1, "hello"))
        routing = field(1, "hand") + field(2, "hand") + field(3, "greet") + field(5, 4)
        answer = raw(channel, "PublishMessage", field(1, message) + field(2, routing))
        assert answer.startswith(field(1, 1) + b"\x1a") and b"evt_" in answer, answer
        task = raw(channel, "GetTask", field(1, "t-hand") + field(2, 1))
        assert task.startswith(field(1, "t-hand") + field(2, "c-hand") + b"\x1a"), task
        assert field(5, message) in task, task
        # The status begins with the state SUBMITTED.
        status = task[len(field(1, "t-hand") + field(2, "c-hand")) + 2 :]
        assert status.startswith(field(1, 1)), status
        cancelled = raw(channel, "CancelTask", field(1, "t-hand") + field(2, "enough"))
        status = cancelled[len(field(1, "t-hand") + field(2, "c-hand")) + 1 :]
        assert field(1, 5) in status[:5], status
        page = raw(channel, "ListTasks", field(2, "c-hand") + field(3, bytes([5])) + field(4, 1))
        assert page.startswith(b"\x0a") and b"t-hand" in page, page


def data(**pairs):
    struct = Struct()
    struct.update(pairs)
    return struct


def parts():
    return [
        a2a.Part(text="text", metadata=data(a=1)),
        a2a.Part(file=a2a.FilePart(file_with_uri="https://example.com/a", mime_type="text/plain", name="a")),
        a2a.Part(file=a2a.FilePart(file_with_bytes=b"\x00\xff", mime_type="application/octet-stream", name="b")),
        a2a.Part(data=a2a.DataPart(data=data(list=[1, "x", None, True], nested={"k": 0.5}))),
    ]


def same(sent, got):
    exact = [it.SerializeToString(deterministic=True) for it in (sent, got)]
    assert exact[0] == exact[1], (sent, got)


def every_field(address):
    anna, ben = Agent(address, "anna"), Agent(address, "ben")
    inbox, asked = ben.tasks(), anna.tasks()
    cards = anna.follow("SubscribeToAgentEvents", hub.SubscribeToAgentEventsRequest(agent_id="anna"))
    message = a2a.Message(
        message_id=new("msg"), context_id=new("ctx"), task_id=new("task"), role=a2a.ROLE_USER, content=parts(),
        metadata=data(why="test"), extensions=["https://example.com/x"],
    )
    routing = anna.routing("ben", "analyse", subscriptions=["s1", "s2"], priority=hub.PRIORITY_CRITICAL)
    trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    published = anna.call(
        "PublishMessage", hub.PublishMessageRequest(message=message, routing=routing),
        metadata=[("traceparent", f"00-{trace}-{span}-01")],
    )
    event = inbox.get(timeout=LIMIT)
    assert event.event_id == published.event_id and event.timestamp.seconds > 0, event
    assert (event.trace_id, event.span_id) == (trace, span), event
    same(routing, event.routing)
    same(message, event.task.history[0])
    same(message, anna.task(message.task_id).history[0])
    same(message.metadata, event.task.metadata)

    update = hub.TaskStatusUpdateEvent(
        task_id=message.task_id, context_id=message.context_id, metadata=data(step=1),
        status=a2a.TaskStatus(
            state=a2a.TASK_STATE_WORKING,
            update=a2a.Message(message_id=new("msg"), context_id=message.context_id, task_id=message.task_id,
                               role=a2a.ROLE_AGENT, content=parts()),
        ),
    )
    ben.call("PublishTaskUpdate", hub.PublishTaskUpdateRequest(update=update, routing=ben.routing()))
    got = next_of(asked, "status_update")
    same(update.status.update, got.status.update)
    same(update.metadata, got.metadata)
    assert got.status.state == a2a.TASK_STATE_WORKING and not got.final and got.task_id == message.task_id, got

    artifact = a2a.Artifact(
        artifact_id="a1", name="name", description="description", parts=parts(), metadata=data(m=1),
        extensions=["https://example.com/y"],
    )
    put = hub.TaskArtifactUpdateEvent(
        task_id=message.task_id, context_id=message.context_id, artifact=artifact, last_chunk=True, metadata=data(n=2)
    )
    ben.call("PublishTaskArtifact", hub.PublishTaskArtifactRequest(artifact=put, routing=ben.routing()))
    same(put, next_of(asked, "artifact_update"))
    same(artifact, anna.task(message.task_id).artifacts[0])
    put.append = True
    ben.call("PublishTaskArtifact", hub.PublishTaskArtifactRequest(artifact=put, routing=ben.routing()))
    assert len(anna.task(message.task_id).artifacts[0].parts) == 2 * len(artifact.parts)

    for state in (a2a.TASK_STATE_INPUT_REQUIRED, a2a.TASK_STATE_WORKING, a2a.TASK_STATE_FAILED):
        ben.update(a2a.Task(id=message.task_id, context_id=message.context_id), state, "next")
        assert anna.task(message.task_id).status.state == state
    assert anna.task(message.task_id, 1).history[0] == anna.task(message.task_id).history[-1]

    card = a2a.AgentCard(
        protocol_version="0.2.9", name="cleo", description="d", url="https://example.com/", preferred_transport="GRPC",
        additional_interfaces=[a2a.AgentInterface(url="https://example.com/j", transport="JSONRPC")],
        provider=a2a.AgentProvider(url="https://example.com/p", organization="Example"), version="1.2.3",
        documentation_url="https://example.com/d",
        capabilities=a2a.AgentCapabilities(
            streaming=True, push_notifications=True,
            extensions=[a2a.AgentExtension(uri="https://example.com/e", description="e", required=True, params=data(p=1))],
        ),
        skills=[a2a.AgentSkill(id="i", name="n", description="d", tags=["t"], examples=["e"], input_modes=["text/plain"],
                               output_modes=["text/html"])],
        supports_authenticated_extended_card=True, icon_url="https://example.com/i",
    )
    anna.call("RegisterAgent", hub.RegisterAgentRequest(agent_card=card, subscriptions=["s"]))
    while True:
        got = next_of(cards, "agent_card")
        if got.agent_id == "cleo":
            break
    same(card, got.agent_card)
    assert got.event_type == "registered", got
    own = anna.call("GetAgentCard", Empty())
    assert "cleo/i" in [skill.id for skill in own.skills], own

    for priority in hub.Priority.values():
        message = a2a.Message(message_id=new("msg"), task_id=new("task"), role=a2a.ROLE_USER, content=[a2a.Part(text="x")])
        routing = anna.routing("ben", "p", priority=priority)
        anna.call("PublishMessage", hub.PublishMessageRequest(message=message, routing=routing))
        while True:
            event = inbox.get(timeout=LIMIT)
            if event.HasField("task") and event.task.id == message.task_id:
                break
        assert event.routing.priority == priority, event

    context, seen, token = new("ctx"), [], ""
    ids = [new("task") for _ in range(5)]
    for task_id in ids:
        anna.publish("page", task_id=task_id, context_id=context, to="ben")
    while True:
        page = anna.call("ListTasks", hub.ListTasksRequest(context_id=context, page_size=2, page_token=token))
        seen += [task.id for task in page.tasks]
        token = page.next_page_token
        if not token:
            break
        assert len(page.tasks) == 2, page
    assert sorted(seen) == sorted(ids), seen

    messages = ben.follow("SubscribeToMessages", hub.SubscribeToMessagesRequest(agent_id="ben", contexts=["chat"]))
    anna.publish("not this", context_id="other", to="ben")
    anna.publish("this", context_id="chat", to="ben", event_type="chat")
    assert messages.get(timeout=LIMIT).message.content[0].text == "this"
    anna.close()
    ben.close()


def next_of(events, payload):
    while True:
        event = events.get(timeout=LIMIT)
        assert not isinstance(event, grpc.RpcError), event
        if event.HasField(payload):
            return getattr(event, payload)


def main(address):
    numbers()
    print("ok numbers", flush=True)
    by_hand(address)
    print("ok by hand", flush=True)
    every_field(address)
    print("ok every field", flush=True)


main(sys.argv[1])
