"""The client of PyPI `a2a-sdk` 1.x."""

import asyncio
import base64
import json
import time
from datetime import datetime, timedelta, timezone

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import ClientCallContext
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import a2a_pb2 as types
from a2a.utils import errors
from a2a.client.errors import A2AClientError
from google.protobuf.json_format import MessageToDict, ParseDict

from harness import Asks, EXTENSION, NOTIFICATIONS, all_of, case, frames, main, new_id, served, shown, until

VERSION = "1.0"
STATE = types.TaskState
WITH_REMINDERS = ClientCallContext(service_parameters=ServiceParametersFactory.create([with_a2a_extensions([EXTENSION])]))


class Caller(Asks):
    """The SDK's client beside bare requests, at one address."""

    VERSION = VERSION

    def message(self, text, parts=None, **more):
        metadata = {"folder": str(self.place.path), **more.pop("metadata", {})}
        parts = parts if parts is not None else [types.Part(text=text)]
        message = types.Message(message_id=more.pop("message_id", new_id()), role=types.ROLE_USER, parts=parts, **more)
        ParseDict(metadata, message.metadata)
        return message

    def request(self, text, history=None, now=False, metadata=None, **more):
        request = types.SendMessageRequest(message=self.message(text, **more))
        request.configuration.return_immediately = now
        if history is not None:
            request.configuration.history_length = history
        if metadata:
            ParseDict(metadata, request.metadata)
        return request

    async def send(self, text, context=None, **more):
        """A message, and the task that answers it."""
        transport = self.client._transport
        response = await transport.send_message(self.request(text, **more), context=context)
        assert response.HasField("task"), response
        return response.task

    def stream(self, text, context=None, **more):
        return self.client.send_message(self.request(text, **more), context=context)

    async def get(self, task, history=None):
        request = types.GetTaskRequest(id=task)
        if history is not None:
            request.history_length = history
        return await self.client.get_task(request)

    async def cancel(self, task):
        return await self.client.cancel_task(types.CancelTaskRequest(id=task))


async def caller(place, script="desk.harn", *args, token=None, **config):
    url = await served(script, *args)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    http = await place.http(headers=headers)
    client = await ClientFactory(ClientConfig(httpx_client=http, **config)).create_from_url(url)
    return Caller(place, url, http, client)


async def refused(kind, awaitable, code=None):
    try:
        result = await awaitable
    except kind as error:
        assert type(error) is kind, repr(error)
        assert code is None or (error.data or {}).get("code", "").startswith(code), error.data
        return error
    raise AssertionError(f"it was not refused: {result}")


def text(task, name="answer"):
    return "".join(part.text for artifact in task.artifacts if artifact.name == name for part in artifact.parts)


def data(task, name="answer"):
    [part] = [part for artifact in task.artifacts if artifact.name == name for part in artifact.parts if part.HasField("data")]
    return MessageToDict(part.data)


def said(task):
    return "\n".join(part.text for part in task.status.message.parts if part.text)


def details(task):
    [part] = [part for part in task.status.message.parts if part.HasField("data")]
    return MessageToDict(part.data)


@case
async def card(place):
    """The resolver finds the card under both names, and the factory makes a client of it that speaks 1.0."""
    one = await caller(place)
    for path in (None, "/.well-known/agent.json"):
        card = await A2ACardResolver(one.http, one.url).get_agent_card(relative_card_path=path)
        assert card.name and card.description and card.version and card.skills, card
        assert card.capabilities.streaming and not card.capabilities.push_notifications, card
        assert ("JSONRPC", "1.0") in [(of.protocol_binding, of.protocol_version) for of in card.supported_interfaces], card
        [extension] = [of for of in card.capabilities.extensions if of.uri == EXTENSION]
        assert not extension.required and extension.params["inject"] is True, extension
    assert one.client._transport.__class__.__name__ == "JsonRpcTransport", one.client._transport


@case
async def card_headers(place):
    """A card carries its ETag, and nothing is sent again to somebody who has it."""
    one = await caller(place)
    address = f"{one.url}/.well-known/agent-card.json"
    first = await one.http.get(address)
    assert first.headers["etag"] and first.headers["last-modified"] and "max-age" in first.headers["cache-control"]
    again = await one.http.get(address, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b""), again
    other = await one.http.get(address, headers={"If-None-Match": '"another"'})
    assert other.status_code == 200, other


@case
async def card_reminders(place):
    """`capabilities.reminders` is on the usual card, and on that of one version for somebody who names the extension."""
    one = await caller(place)
    address = f"{one.url}/.well-known/agent-card.json"
    # The SDK's client names its version in every request.
    usual = (await (await place.http()).get(address)).json()["capabilities"]
    assert usual["reminders"]["inject"] is True and usual["_meta"]["harn"]["reminders"] == usual["reminders"], usual
    for header in ("A2A-Extensions", "X-A2A-Extensions"):
        headers = {"A2A-Version": "1.0", header: f"urn:other, {EXTENSION}"}
        asked = (await one.http.get(address, headers=headers)).json()
        assert asked["capabilities"]["reminders"]["inject"] is True, asked
    for version in ("1.0", "0.3"):
        plain = (await one.http.get(address, headers={"A2A-Version": version})).json()
        assert "reminders" not in plain["capabilities"], plain


@case
async def send_blocking(place):
    """A message that is sent gives the finished task, its answer an artifact."""
    one = await caller(place, streaming=False)
    [response] = await all_of(one.stream("echo Hello, agent."))
    task = response.task
    assert task.status.state == STATE.TASK_STATE_COMPLETED and text(task) == "Hello, agent.", task
    assert task.id and task.context_id and task.status.HasField("timestamp"), task
    assert [(of.role, of.parts[0].text) for of in task.history][0] == (types.ROLE_USER, "echo Hello, agent."), task
    assert all(of.task_id == task.id and of.context_id == task.context_id for of in task.history), task


@case
async def message_in_place_of_a_task(place):
    """An agent that says so answers with a message, also on a stream; what it says of its work makes that a task."""
    for streaming in (False, True):
        one = await caller(place, "replies/agent.harn", streaming=streaming)
        [response] = await all_of(one.stream("Hello."))
        assert response.HasField("message"), response
        message = response.message
        assert message.role == types.ROLE_AGENT and [part.text for part in message.parts] == ["echo Hello."], message
        assert message.message_id and message.context_id and not message.task_id, message
        events = await all_of(one.stream("status"))
        assert events[0].HasField("task"), events


@case
async def send_at_once(place):
    """A client that polls is given the task while it works, and finds it finished later."""
    one = await caller(place, streaming=False, polling=True)
    [response] = await all_of(one.stream("wait"))
    assert response.task.status.state in (STATE.TASK_STATE_SUBMITTED, STATE.TASK_STATE_WORKING), response
    await place.arrived("waiting")
    assert (await one.get(response.task.id)).status.state == STATE.TASK_STATE_WORKING
    place.open("waiting")
    task = await one.until_state(response.task.id, STATE.TASK_STATE_COMPLETED)
    assert text(task) == "Waited.", task


@case
async def stream(place):
    """A stream begins with the task, tells the answer in pieces, and ends with the task's end."""
    one = await caller(place)
    events = await all_of(one.stream("loop Hello."))
    assert events[0].HasField("task"), events
    assert not any(event.HasField("task") for event in events[1:]), events
    assert events[-1].status_update.status.state == STATE.TASK_STATE_COMPLETED, events
    chunks = [event.artifact_update for event in events if event.HasField("artifact_update")]
    assert all(chunk.artifact.artifact_id == "answer" for chunk in chunks), chunks
    last = chunks[-1]
    assert last.last_chunk and not last.append and last.artifact.parts[0].text == "I say: loop Hello.", chunks
    built = ""
    for chunk in chunks[:-1]:
        piece = "".join(part.text for part in chunk.artifact.parts)
        built = built + piece if chunk.append else piece
    assert built == "I say: loop Hello.", chunks
    assert {event.task.id or event.status_update.task_id or event.artifact_update.task_id for event in events} == {events[0].task.id}


@case
async def stream_with_comments(place):
    """The comments of a quiet stream are passed over: the client is told the same as without them."""
    place.quiet = True
    one = await caller(place)
    events = await all_of(one.stream("loop Hello."))
    assert place.comments > 0, "no comment was put in"
    assert events[0].HasField("task") and events[-1].status_update.status.state == STATE.TASK_STATE_COMPLETED, events
    last = [event.artifact_update for event in events if event.HasField("artifact_update")][-1]
    assert last.last_chunk and last.artifact.parts[0].text == "I say: loop Hello.", last


@case
async def returned_data(place):
    """Data that the pipeline returns is a data part, and nothing returned is no artifact."""
    one = await caller(place)
    task = await one.send("data")
    assert data(task) == {"answer": 42, "list": [1, "two", None, True]}, task
    nothing = await one.send("nothing")
    assert nothing.status.state == STATE.TASK_STATE_COMPLETED and not nothing.artifacts, nothing


@case
async def returned_values(place):
    """Whatever the pipeline returns is the answer: a plain value as text, a list or a dict as data."""
    one = await caller(place)
    for value in ("42", "0", "-1", "2.5", "true", "false"):
        task = await one.send(f"value {value}")
        assert task.status.state == STATE.TASK_STATE_COMPLETED and text(task) == value, task
    for value in ([], [1], {"a": 0}):
        assert data(await one.send(f"value {json.dumps(value, separators=(',', ':'))}")) == value


@case
async def artifacts(place):
    """Artifacts of text, bytes, addresses and data arrive as such, and one in pieces as a whole."""
    one = await caller(place)
    task = await one.send("artifacts")
    made = {artifact.name: artifact for artifact in task.artifacts}
    assert [part.text for part in made["text"].parts] == ["one", "two"], task
    assert made["bytes"].parts[0].raw == b"harn" and made["bytes"].parts[0].filename == "a.bin", task
    uri = made["uri"].parts[0]
    assert (uri.url, uri.filename, uri.media_type) == ("https://example.org/b.txt", "b.txt", "text/plain"), task
    assert MessageToDict(made["data"].parts[0].data) == {"n": 1, "list": [1.5, "two", None, True], "dict": {}}, task
    assert made["data"].description == "All sorts.", task
    assert "".join(part.text for part in made["chunked"].parts) == "abc" and made["chunked"].artifact_id == "chunked", task
    assert text(task) == "Made.", task
    assert len({artifact.artifact_id for artifact in task.artifacts}) == 6, task


@case
async def artifact_chunks(place):
    """On a stream an artifact in pieces comes piece by piece: the first opens it, the last says so."""
    one = await caller(place)
    events = await all_of(one.stream("artifacts"))
    chunks = [event.artifact_update for event in events if event.artifact_update.artifact.artifact_id == "chunked"]
    # Pieces that wait for somebody who reads slowly are joined.
    assert "".join(part.text for chunk in chunks for part in chunk.artifact.parts) == "abc", chunks
    assert [chunk.append for chunk in chunks] == [False] + [True] * (len(chunks) - 1), chunks
    assert [chunk.last_chunk for chunk in chunks] == [False] * (len(chunks) - 1) + [True], chunks
    whole = [event.artifact_update for event in events if event.artifact_update.artifact.name == "bytes"]
    assert [(chunk.append, chunk.artifact.parts[0].raw) for chunk in whole] == [(False, b"harn")], whole


@case
async def what_the_pipeline_sees(place):
    """The pipeline sees its task, its context, the whole message and the metadata of request and message."""
    one = await caller(place)
    parts = [
        types.Part(text="context please"),
        types.Part(raw=b"\x00\x01", media_type="application/x", filename="x.bin"),
        types.Part(url="https://example.org/y", media_type="text/y"),
    ]
    parts.append(ParseDict({"data": {"deep": [1, {"er": None}]}}, types.Part()))
    task = await one.send("", parts=parts, metadata={"a": 1, "b": "request"}, context_id="context-of-mine")
    seen = data(task)
    assert task.context_id == "context-of-mine", task
    assert (seen["protocol"], seen["task_id"], seen["context_id"]) == ("a2a", task.id, "context-of-mine"), seen
    assert seen["task"] == "context please" and seen["session_id"] and seen["cwd"], seen
    assert seen["metadata"]["a"] == 1 and seen["metadata"]["folder"] == str(place.path), seen
    sent = seen["message"]["parts"]
    assert sent[0]["text"] == "context please", sent
    assert base64.b64decode(sent[1]["raw"]) == b"\x00\x01" and sent[1]["filename"] == "x.bin", sent
    assert (sent[2]["url"], sent[2]["media_type"]) == ("https://example.org/y", "text/y"), sent
    assert sent[3]["data"] == {"deep": [1, {"er": None}]}, sent


@case
async def contexts(place):
    """Tasks of one context go on in one conversation; those of another know nothing of it."""
    one = await caller(place)
    first = await one.send("remember the first")
    second = await one.send("remember the second", context_id=first.context_id)
    other = await one.send("remember another")
    assert second.id != first.id and second.context_id == first.context_id != other.context_id
    seen = data(second)["seen"]
    assert len(seen) == 2 and "the first" in seen[0] and "the second" in seen[1], seen
    assert len(data(other)["seen"]) == 1, other


@case
async def two_in_one_context(place):
    """A task that comes to a context at work does not wait for it."""
    one = await caller(place)
    first = await one.send("wait", now=True, context_id=new_id())
    await place.arrived("waiting")
    second = await one.send("echo Meanwhile.", context_id=first.context_id)
    assert (text(second), second.context_id) == ("Meanwhile.", first.context_id), second
    place.open("waiting")
    await one.until_state(first.id, STATE.TASK_STATE_COMPLETED)


@case
async def input_required(place):
    """A question makes the task wait; the next message to it is the answer, and the task goes on."""
    one = await caller(place)
    asked = await one.send("ask")
    assert asked.status.state == STATE.TASK_STATE_INPUT_REQUIRED and said(asked) == "Which colour do you like?", asked
    task = await one.send("blue", task_id=asked.id, context_id=asked.context_id)
    assert (task.id, task.status.state, text(task)) == (asked.id, STATE.TASK_STATE_COMPLETED, "You like blue."), task
    spoken = [(of.role, of.parts[0].text) for of in task.history]
    assert spoken == [(types.ROLE_USER, "ask"), (types.ROLE_AGENT, "Which colour do you like?"), (types.ROLE_USER, "blue")], spoken


@case
async def input_required_on_a_stream(place):
    """A stream ends where the task waits for its caller, and the answer opens the next one."""
    one = await caller(place)
    events = await all_of(one.stream("ask-twice"))
    task = events[0].task
    assert events[-1].status_update.status.state == STATE.TASK_STATE_INPUT_REQUIRED, events
    events = await all_of(one.stream("one", task_id=task.id))
    assert events[-1].status_update.status.message.parts[0].text == "Second?", events
    events = await all_of(one.stream("two", task_id=task.id))
    assert events[-1].status_update.status.state == STATE.TASK_STATE_COMPLETED, events
    assert text(await one.get(task.id)) == "one and two"


@case
async def permission(place):
    """A tool that needs a permission makes the task wait for it; what the caller says is done."""
    one = await caller(place, "tools.harn")
    for answer, state in (("allow", True), ("deny", False)):
        asked = await one.send(f"Dear diary, {answer}.")
        assert asked.status.state == STATE.TASK_STATE_INPUT_REQUIRED, asked
        question = details(asked)["permission"]
        assert question["tool"] == "note" and question["arguments"] == {"text": f"Dear diary, {answer}."}, question
        assert question["options"] == ["allow", "allow_always", "deny", "deny_always"], question
        assert not (place.path / "note.txt").exists()
        task = await one.send(answer, task_id=asked.id)
        assert (task.status.state, text(task)) == (STATE.TASK_STATE_COMPLETED, "That is all."), task
        assert (place.path / "note.txt").exists() is state
        (place.path / "note.txt").unlink(missing_ok=True)


@case
async def permission_asked_again(place):
    """An answer that is none of the options is asked again; a data part may say one."""
    one = await caller(place, "tools.harn")
    asked = await one.send("Dear diary.")
    again = await one.send("perhaps", task_id=asked.id)
    assert again.status.state == STATE.TASK_STATE_INPUT_REQUIRED and details(again)["permission"]["tool"] == "note", again
    parts = [ParseDict({"data": {"permission": "allow_always"}}, types.Part())]
    task = await one.send("", parts=parts, task_id=asked.id)
    assert task.status.state == STATE.TASK_STATE_COMPLETED and (place.path / "note.txt").read_text() == "Dear diary.", task


@case
async def rejection(place):
    """A task that the agent rejects is `rejected`, with the reason and who rejected it."""
    one = await caller(place)
    for reason in ("CAPACITY_EXCEEDED", "UNSUPPORTED_TASK_TYPE"):
        task = await one.send(f"reject {reason} Come back later.")
        assert task.status.state == STATE.TASK_STATE_REJECTED and said(task).startswith("Task rejected: "), task
        why = details(task)
        assert why["rejection_reason"] == reason and why["agent_id"] and why["timestamp"], why


@case
async def failure(place):
    """A script that fails makes a failed task with a code, and keeps what it threw, and the server goes on."""
    one = await caller(place)
    task = await one.send("fail")
    assert task.status.state == STATE.TASK_STATE_FAILED and said(task).startswith("the task failed: "), task
    assert "It broke." not in said(task), task
    assert details(task)["code"].startswith("HARN-"), task
    assert text(await one.send("echo Still.")) == "Still."


@case
async def status_and_partial(place):
    """What a script says it is at is told as it works, and so is how far it has come."""
    one = await caller(place)
    events = await all_of(one.stream("status"))
    messages = [event.status_update for event in events if event.status_update.status.HasField("message")]
    assert [of.status.message.parts[0].text for of in messages][:2] == ["reading", "half done"], events
    assert all(of.status.state == STATE.TASK_STATE_WORKING for of in messages[:2]), events
    told = MessageToDict(messages[1].metadata)["harn.partial"]
    assert (told["completed_portion"], told["can_resume"], told["resume_token"]) == (0.5, True, "line-7"), told


@case
async def deadline(place):
    """A deadline that has passed or cannot be read is a rejection; one that is reached a failure that keeps what was made."""
    one = await caller(place)
    past = (datetime.now(timezone.utc) - timedelta(seconds=5)).isoformat()
    for deadline, reason in ((past, "DEADLINE_IMPOSSIBLE"), (1000, "DEADLINE_IMPOSSIBLE"), ("soon", "INVALID_PARAMETERS")):
        task = await one.send("echo x", metadata={"deadline": deadline})
        assert task.status.state == STATE.TASK_STATE_REJECTED, task
        assert details(task)["rejection_reason"] == reason, task
    soon = (datetime.now(timezone.utc) + timedelta(milliseconds=700)).isoformat()
    task = await one.send("partial", metadata={"deadline": soon})
    assert task.status.state == STATE.TASK_STATE_FAILED and "Deadline exceeded" in said(task), task
    assert text(task, "so far") == "half of it", task
    later = int(time.time() * 1000) + 3_600_000
    assert text(await one.send("echo In time.", metadata={"deadline": later})) == "In time."


@case
async def max_tasks(place):
    """More tasks at once than may be are rejected; one that waits for its caller counts, one that is over does not."""
    one = await caller(place, "desk.harn", "--max-tasks", "2")
    waiting = await one.send("ask")
    working = await one.send("wait", now=True)
    await place.arrived("waiting")
    task = await one.send("echo x")
    assert task.status.state == STATE.TASK_STATE_REJECTED, task
    assert details(task)["rejection_reason"] == "CAPACITY_EXCEEDED", task
    place.open("waiting")
    await one.until_state(working.id, STATE.TASK_STATE_COMPLETED)
    assert text(await one.send("echo Now.")) == "Now."
    await one.cancel(waiting.id)


@case
async def history_length(place):
    """`history_length` gives the newest messages: all without it, none for 0."""
    one = await caller(place)
    asked = await one.send("ask-twice", history=0)
    assert not asked.history, asked
    await one.send("one", task_id=asked.id)
    task = await one.send("two", task_id=asked.id)
    everything = [of.parts[0].text for of in task.history]
    assert everything == ["ask-twice", "First?", "one", "Second?", "two"], everything
    for length in (0, 1, 3, 100):
        newest = [of.parts[0].text for of in (await one.get(asked.id, length)).history]
        assert newest == (everything[-length:] if length else []), (length, newest)


@case
async def listing(place):
    """Tasks are listed newest first, by context, state and time, page by page, artifacts only where they are wanted."""
    one = await caller(place)
    context = new_id()
    made = [(await one.send(f"echo {number}", context_id=context)).id for number in range(3)]
    waits = (await one.send("ask", context_id=context)).id
    everything = await one.client.list_tasks(types.ListTasksRequest(context_id=context))
    assert [task.id for task in everything.tasks] == [waits, *reversed(made)], everything
    assert (everything.total_size, everything.next_page_token) == (4, ""), everything
    assert not any(task.artifacts for task in everything.tasks), everything
    with_artifacts = types.ListTasksRequest(context_id=context, include_artifacts=True)
    assert text((await one.client.list_tasks(with_artifacts)).tasks[-1]) == "0"
    asking = types.ListTasksRequest(context_id=context, status=STATE.TASK_STATE_INPUT_REQUIRED)
    assert [task.id for task in (await one.client.list_tasks(asking)).tasks] == [waits]
    found, token = [], ""
    while True:
        page = await one.client.list_tasks(types.ListTasksRequest(context_id=context, page_size=3, page_token=token))
        found += [task.id for task in page.tasks]
        assert page.page_size == 3 and page.total_size == 4, page
        token = page.next_page_token
        if not token:
            break
    assert found == [waits, *reversed(made)], found
    none = types.ListTasksRequest(context_id=context)
    none.status_timestamp_after.FromDatetime(datetime.now(timezone.utc) + timedelta(hours=1))
    assert not (await one.client.list_tasks(none)).tasks
    await refused(errors.InvalidParamsError, one.client.list_tasks(types.ListTasksRequest(page_token="nonsense")), "HARN-A2A-")
    await refused(errors.InvalidParamsError, one.client.list_tasks(types.ListTasksRequest(page_size=1000)), "HARN-A2A-")


@case
async def cancel(place):
    """A task that is cancelled ends as cancelled, for its stream too, and cannot be cancelled again."""
    one = await caller(place)
    events = one.stream("partial")
    task = (await anext(events)).task
    await place.arrived("waiting")
    canceled = await one.cancel(task.id)
    assert canceled.status.state == STATE.TASK_STATE_CANCELED and text(canceled, "so far") == "half of it", canceled
    rest = await all_of(events)
    assert rest[-1].status_update.status.state == STATE.TASK_STATE_CANCELED, rest
    await refused(errors.TaskNotCancelableError, one.cancel(task.id), "HARN-A2A-")


@case
async def cancel_a_question(place):
    """A task that waits for its caller can be cancelled, and takes no answer then."""
    one = await caller(place)
    asked = await one.send("ask")
    assert (await one.cancel(asked.id)).status.state == STATE.TASK_STATE_CANCELED
    await refused(errors.UnsupportedOperationError, one.send("blue", task_id=asked.id), "HARN-A2A-")


@case
async def subscribe(place):
    """Who subscribes to a task is told the task as it is, then what becomes of it; several may."""
    one = await caller(place)
    sent = await one.send("partial", now=True)
    await place.arrived("waiting")
    streams = [one.client.subscribe(types.SubscribeToTaskRequest(id=sent.id)) for _ in range(3)]
    for events in streams:
        first = (await anext(events)).task
        assert first.id == sent.id and text(first, "so far") == "half of it", first
    place.open("waiting")
    for events in streams:
        last = (await all_of(events))[-1]
        assert last.status_update.status.state == STATE.TASK_STATE_COMPLETED, last


@case
async def leaving(place):
    """A stream that its client closes leaves the task at work, and one can subscribe again."""
    one = await caller(place)
    events = one.stream("wait")
    task = (await anext(events)).task
    await place.arrived("waiting")
    await events.aclose()
    assert (await one.get(task.id)).status.state == STATE.TASK_STATE_WORKING
    again = one.client.subscribe(types.SubscribeToTaskRequest(id=task.id))
    assert (await anext(again)).task.id == task.id
    place.open("waiting")
    assert (await all_of(again))[-1].status_update.status.state == STATE.TASK_STATE_COMPLETED
    assert text(await one.get(task.id)) == "Waited."


@case
async def unknown_tasks(place):
    """A task that there is not is `TaskNotFoundError`, whatever is asked of it."""
    one = await caller(place)
    await refused(errors.TaskNotFoundError, one.get("task_none"), "HARN-A2A-")
    await refused(errors.TaskNotFoundError, one.cancel("task_none"), "HARN-A2A-")
    await refused(errors.TaskNotFoundError, one.send("x", task_id="task_none"), "HARN-A2A-")
    await refused(errors.TaskNotFoundError, all_of(one.stream("x", task_id="task_none")), "HARN-A2A-")
    subscription = one.client.subscribe(types.SubscribeToTaskRequest(id="task_none"))
    await refused(errors.TaskNotFoundError, all_of(subscription), "HARN-A2A-")


@case
async def wrong_messages(place):
    """Messages to tasks of another context, at work or over are refused, each with its own error."""
    one = await caller(place)
    over = await one.send("echo x")
    await refused(errors.UnsupportedOperationError, one.send("y", task_id=over.id), "HARN-A2A-")
    asked = await one.send("ask")
    await refused(errors.InvalidParamsError, one.send("y", task_id=asked.id, context_id="another"), "HARN-A2A-")
    busy = await one.send("wait", now=True)
    await place.arrived("waiting")
    parts = [types.Part(text="y"), types.Part(raw=b"y")]
    error = await refused(errors.InvalidParamsError, one.send("", parts=parts, task_id=busy.id), "HARN-A2A-")
    assert "running task" in error.message, error
    place.open("waiting")
    assert text(await one.send("red", task_id=asked.id)) == "You like red."


@case
async def message_to_a_running_task(place):
    """A message to a task at work reaches its loop, and who sends it is given the task at its end."""
    one = await caller(place, "seams.harn")
    sent = await one.send("Look around, and stop in-model-1.", now=True)
    await place.arrived("in-model-1")
    waits = asyncio.ensure_future(one.send("Mind the tests.", task_id=sent.id))
    while len((await one.get(sent.id)).history) < 2:
        await asyncio.sleep(0.005)
    place.open("in-model-1")
    task = await waits
    assert (task.id, task.status.state) == (sent.id, STATE.TASK_STATE_COMPLETED), task
    assert shown(data(task), "Mind the tests.") == 2, task
    said_by_user = [of.parts[0].text for of in task.history if of.role == types.ROLE_USER]
    assert said_by_user == ["Look around, and stop in-model-1.", "Mind the tests."], task


@case
async def repeated_message(place):
    """A message that comes a second time to its task is harmless."""
    one = await caller(place)
    asked = await one.send("ask-twice")
    first = await one.send("one", task_id=asked.id, message_id="the-same")
    again = await one.send("one", task_id=asked.id, message_id="the-same")
    assert said(first) == said(again) == "Second?", (first, again)
    # Other content with the same id is another message.
    assert text(await one.send("two", task_id=asked.id, message_id="the-same")) == "one and two"


@case
async def repeated_first_message(place):
    """A message that comes again is its first task; other content with its id begins another, which can be repeated too."""
    one = await caller(place)
    first = await one.send("echo one", message_id="first-of-all")
    other = await one.send("echo two", message_id="first-of-all")
    assert (text(first), text(other)) == ("one", "two") and first.id != other.id, (first, other)
    for task, words in ((first, "echo one"), (other, "echo two")):
        assert (await one.send(words, message_id="first-of-all")).id == task.id
    events = await all_of(one.stream("echo one", message_id="first-of-all"))
    assert events[0].task.id == first.id, events


@case
async def wrong_parameters(place):
    """Parameters that do not fit are `InvalidParamsError`, and the error names the field."""
    one = await caller(place)
    good = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "echo x"}]}
    for message, field in (
        ({**good, "parts": []}, "parts"),
        ({**good, "role": "user"}, "role"),
        ({**good, "parts": [{"text": "x", "url": "y"}]}, "parts"),
        ({**good, "parts": [{"raw": "no base64!"}]}, "parts"),
        ({**good, "messageId": 7}, "messageId"),
        ({**good, "contextId": "x" * 129}, "contextId"),
        ({**good, "contextId": "new\nline"}, "contextId"),
        ({key: good[key] for key in ("messageId", "role")}, "parts"),
    ):
        answer = await one.rpc("SendMessage", message=message)
        assert answer["error"]["code"] == -32602, (message, answer)
        assert field in answer["error"]["data"][0]["metadata"]["field"], (message, answer)
    await refused(errors.InvalidParamsError, one.get(""), "HARN-A2A-")


@case
async def push_configurations(place):
    """Push notifications are not offered: all four methods, and a message that asks for them."""
    one = await caller(place)
    config = types.TaskPushNotificationConfig(task_id="t", url="https://example.org/hook")
    client = one.client
    for asked in (
        client.create_task_push_notification_config(config),
        client.get_task_push_notification_config(types.GetTaskPushNotificationConfigRequest(task_id="t", id="c")),
        client.list_task_push_notification_configs(types.ListTaskPushNotificationConfigsRequest(task_id="t")),
        client.delete_task_push_notification_config(types.DeleteTaskPushNotificationConfigRequest(task_id="t", id="c")),
    ):
        await refused(errors.PushNotificationNotSupportedError, asked, "HARN-A2A-")
    request = one.request("echo x")
    request.configuration.task_push_notification_config.CopyFrom(config)
    await refused(errors.PushNotificationNotSupportedError, one.client._transport.send_message(request), "HARN-A2A-")


@case
async def extended_card(place):
    """There is no extended card, and the error says so."""
    one = await caller(place)
    answer = await one.rpc("GetExtendedAgentCard")
    assert answer["error"]["code"] == -32004, answer


@case
async def versions(place):
    """Versions that are not spoken are `VersionNotSupportedError`; patch levels do not matter."""
    one = await caller(place)
    for version in ("2.0", "1.1", "0.2", "nonsense"):
        context = ClientCallContext(service_parameters={"A2A-Version": version})
        await refused(errors.VersionNotSupportedError, one.send("echo x", context=context))
    task = await one.send("echo x", context=ClientCallContext(service_parameters={"A2A-Version": "1.0.7"}))
    assert text(task) == "x", task


@case
async def unknown_methods(place):
    """A method that there is not is `MethodNotFoundError`, with what was probably meant."""
    one = await caller(place)
    answer = await one.rpc("SendMesage", message={})
    assert answer["error"]["code"] == -32601, answer
    assert answer["error"]["data"][0]["metadata"]["suggestion"] == "SendMessage", answer


@case
async def older_names(place):
    """Names of 0.3 are methods of this version too."""
    one = await caller(place)
    message = {"messageId": new_id(), "role": "ROLE_USER", "parts": [{"text": "echo Older."}]}
    answer = await one.rpc("message/send", message=message)
    task = answer["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_COMPLETED", answer
    assert (await one.rpc("tasks/get", id=task["id"]))["result"]["id"] == task["id"]


@case
async def token(place):
    """Where a token is wanted, every method wants it, the card says so, and the card itself is open."""
    url = await served("desk.harn", "--token", "secret-of-the-test")
    for wrong in (None, "secret-of-the-tes", "secret-of-the-testx", "Secret-of-the-test", ""):
        other = await caller(place, "desk.harn", "--token", "secret-of-the-test", token=wrong)
        try:
            await other.send("echo x")
        except A2AClientError as error:
            assert "401" in str(error), error
        else:
            raise AssertionError(f"{wrong!r} was let in")
        answer = await other.http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tasks/inject_reminder", "params": {}})
        assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("Bearer"), answer
    one = await caller(place, "desk.harn", "--token", "secret-of-the-test", token="secret-of-the-test")
    assert text(await one.send("echo In.")) == "In."
    card = await A2ACardResolver(await place.http(), url).get_agent_card()
    [scheme] = card.security_schemes.values()
    assert scheme.http_auth_security_scheme.scheme.lower() == "bearer", card
    assert card.security_requirements, card


def seam(mode, first):
    async def one(place):
        one = await caller(place, "seams.harn")
        events = one.stream("Look around, and stop in-model-1.")
        task = (await anext(events)).task
        await place.arrived("in-model-1")
        taken = await one.inject(task.id, "The build is red.", mode=mode)
        assert taken["reminderId"] and taken["dedupedCount"] == 0 and taken["acceptedAt"], taken
        place.open("in-model-1")
        rest = await all_of(events)
        assert rest[-1].status_update.status.state == STATE.TASK_STATE_COMPLETED, rest
        report = data(await one.get(task.id))
        assert shown(report, "The build is red.") == first, report
        assert report["ran"] == (0 if mode == "interrupt_immediate" else 1), report
        told = [MessageToDict(event.status_update.metadata) for event in rest if event.HasField("status_update")]
        told = [of["harn.reminder"] for of in told if "harn.reminder" in of]
        emitted = [of for of in told if of["event"] == "emitted"]
        assert bool(emitted) == (first is not None), told
        assert all(of["body"] == "The build is red." for of in emitted), told

    one.__name__ = f"inject_{mode}"
    where = f"first in prompt {first}" if first else "never"
    one.__doc__ = f"A reminder injected with {mode} while the SDK streams is seen {where}, and the stream ends as ever."
    return one


for mode, first in (("interrupt_immediate", 2), ("finish_step", 2), ("audit_only", None)):
    case(seam(mode, first))


@case
async def with_the_extension(place):
    """Who asks for notifications is told of reminders by them, and beside it the SDK's own stream has none of them."""
    one = await caller(place, "seams.harn")
    params = MessageToDict(one.request("Look around, and stop in-model-1."))
    seen = []
    bare = asyncio.ensure_future(frames(one.http, one.url, "SendStreamingMessage", params, VERSION, NOTIFICATIONS, seen))
    await place.arrived("in-model-1")
    await until(lambda: seen, "the first frame")
    task = seen[0]["result"]["task"]["id"]
    beside = one.client.subscribe(types.SubscribeToTaskRequest(id=task))
    assert (await anext(beside)).task.id == task
    old = await one.inject(task, "The build is yellow.", dedupeKey="build", ttlTurns=1)
    new = await one.inject(task, "The build is red.", dedupeKey="build", ttlTurns=1, source="monitor", tags=["ci"])
    assert new["dedupedCount"] == 1, new
    place.open("in-model-1")
    rest = await all_of(beside)
    assert rest[-1].status_update.status.state == STATE.TASK_STATE_COMPLETED, rest
    notices = [frame for frame in await bare if "method" in frame]
    emitted = [of["params"] for of in notices if of["method"] == "tasks/reminderEmitted"]
    assert [of["taskId"] for of in emitted] == [task], notices
    reminder = emitted[0]["reminder"]
    assert (reminder["id"], reminder["body"], reminder["source"]) == (new["reminderId"], "The build is red.", "monitor"), reminder
    assert (reminder["tags"], reminder["dedupeKey"]) == (["ci"], "build"), reminder
    assert "tasks/reminderExpired" in {of["method"] for of in notices}, notices
    assert old["reminderId"] != new["reminderId"]
    assert not any("harn.reminder" in str(frame.get("result")) for frame in seen), seen
    told = [MessageToDict(event.status_update.metadata).get("harn.reminder") for event in rest]
    assert [of["id"] for of in told if of and of["event"] == "emitted"] == [new["reminderId"]], told


@case
async def sdk_with_the_extension(place):
    """The SDK's stream goes on to its end when it activates the extension, and says what becomes of reminders."""
    one = await caller(place, "seams.harn")
    events = one.stream("Look around, and stop in-model-1.", context=WITH_REMINDERS)
    task = (await anext(events)).task
    await place.arrived("in-model-1")
    taken = await one.inject(task.id, "The build is red.", ttlTurns=1)
    place.open("in-model-1")
    rest = await all_of(events)
    assert rest[-1].status_update.status.state == STATE.TASK_STATE_COMPLETED, rest
    told = [MessageToDict(event.status_update.metadata).get("harn.reminder") for event in rest]
    told = [(of["event"], of["id"]) for of in told if of]
    assert told == [("emitted", taken["reminderId"]), ("expired", taken["reminderId"])], told
    assert place.exchanges[-1]["response"]["headers"]["a2a-extensions"] == EXTENSION


@case
async def sdk_with_notifications(place):
    """A notification aborts this SDK's stream, so only who asks for them gets any; the task goes on."""
    one = await caller(place, "seams.harn")
    parameters = ServiceParametersFactory.create([with_a2a_extensions([NOTIFICATIONS])])
    events = one.stream("Look around, and stop in-model-1.", context=ClientCallContext(service_parameters=parameters))
    task = (await anext(events)).task
    await place.arrived("in-model-1")
    await one.inject(task.id, "The build is red.")
    place.open("in-model-1")
    await refused(A2AClientError, all_of(events))
    assert (await one.until_state(task.id, STATE.TASK_STATE_COMPLETED)).id == task.id


@case
async def kept_id(place):
    """The caller's id is kept; to inject it once more gives the same, and it is shown once."""
    one = await caller(place, "seams.harn")
    sent = await one.send("Look around, and stop in-model-1.", now=True)
    await place.arrived("in-model-1")
    first = await one.inject(sent.id, "Mind the gap.", id="reminder-of-mine", source="me", firedAtTurn=99, ttlTurns=1)
    again = await one.inject(sent.id, "Mind the gap.", id="reminder-of-mine", source="me", firedAtTurn=99, ttlTurns=1)
    reminder = {"id": "reminder-of-mine", "body": "Mind the gap.", "source": "me", "ttlTurns": 1}
    params = {"taskId": sent.id, "reminder": reminder, "metadata": {"attempt": 3}}
    assert (await one.rpc("tasks/inject_reminder", **params))["result"] == first, "the metadata is about the request"
    assert first == again and first["reminderId"] == "reminder-of-mine", (first, again)
    pending = (await one.rpc("tasks/pending_injections", taskId=sent.id))["result"]
    assert (pending["pendingCount"], pending["injections"][0]["reminderId"]) == (1, "reminder-of-mine"), pending
    place.open("in-model-1")
    report = data(await one.until_state(sent.id, STATE.TASK_STATE_COMPLETED))
    assert [prompt.count("Mind the gap.") for prompt in report["prompts"]] == [0, 1], report


@case
async def revoking(place):
    """A reminder that waits can be taken back, and is never seen then."""
    one = await caller(place, "seams.harn")
    sent = await one.send("Look around, and stop in-model-1.", now=True)
    await place.arrived("in-model-1")
    taken = await one.inject(sent.id, "Forget this.")
    await one.inject(sent.id, "Keep this.")
    for status in ("revoked", "already_revoked"):
        answer = await one.rpc("tasks/revoke_reminder", taskId=sent.id, reminderId=taken["reminderId"])
        assert answer["result"]["status"] == status, answer
    place.open("in-model-1")
    report = data(await one.until_state(sent.id, STATE.TASK_STATE_COMPLETED))
    assert (shown(report, "Keep this."), shown(report, "Forget this.")) == (2, None), report


@case
async def wrong_reminders(place):
    """A reminder that is none is refused with its field; so is one for a task that there is not, or that is over."""
    one = await caller(place)
    asked = await one.send("ask")
    for reminder, code, field in (
        ({}, "HARN-RMD-002", "body"),
        ({"body": ""}, "HARN-RMD-002", "body"),
        ({"body": 7}, "HARN-RMD-002", "body"),
        ({"body": "b", "ttlTurns": 0}, "HARN-RMD-", "ttl"),
        ({"body": "b", "propagate": "everywhere"}, "HARN-RMD-005", "propagate"),
        ({"body": "b", "mode": "now"}, "HARN-RMD-002", "mode"),
        ({"body": "b", "tagz": []}, "HARN-RMD-", "tagz"),
    ):
        error = (await one.rpc("tasks/inject_reminder", taskId=asked.id, reminder=reminder))["error"]
        assert error["code"] == -32602, (reminder, error)
        assert error["data"][0]["metadata"]["code"].startswith(code), (reminder, error)
        assert field in error["data"][0]["metadata"]["field"], (reminder, error)
    unknown = (await one.rpc("tasks/inject_reminder", taskId="task_none", reminder={"body": "b"}))["error"]
    assert (unknown["code"], unknown["data"][0]["reason"]) == (-32004, "TASK_NOT_FOUND"), unknown
    over = await one.send("echo x")
    late = (await one.rpc("tasks/inject_reminder", taskId=over.id, reminder={"body": "b"}))["error"]
    assert (late["code"], late["data"][0]["reason"]) == (-32004, "TASK_TERMINAL"), late
    assert (await one.rpc("tasks/pending_injections", taskId=asked.id))["result"]["pendingCount"] == 0


@case
async def full_queue(place):
    """A queue that is full refuses, and takes again what fits."""
    one = await caller(place, "seams.harn")
    sent = await one.send("Look around, and stop in-model-1.", now=True)
    await place.arrived("in-model-1")
    params = {"taskId": sent.id, "reminder": {"body": "One of many."}}
    answers = [await one.rpc("tasks/inject_reminder", **params) for _ in range(257)]
    assert all("result" in answer for answer in answers[:256]), answers[:256]
    error = answers[256]["error"]
    assert (error["code"], error["data"][0]["reason"]) == (-32000, "QUEUE_FULL"), error
    place.open("in-model-1")
    await one.until_state(sent.id, STATE.TASK_STATE_COMPLETED)


def fallback(name, where, value):
    async def one(place):
        one = await caller(place, "seams.harn")
        request = one.request("Look around.")
        ParseDict(value, request.metadata if where == "request" else request.message.metadata)
        task = (await one.client._transport.send_message(request)).task
        assert shown(data(task), "Carried along.") == 1, task

    one.__name__ = f"fallback_{name}"
    one.__doc__ = f"A reminder in the metadata of the {where}, {name.split('_')[1]}, is there before the first prompt."
    return one


REMINDER = {"body": "Carried along.", "ttlTurns": 2}
for name, where, value in (
    ("request_nested", "request", {"harn": {"reminder": REMINDER}}),
    ("request_flat", "request", {"harn.reminder": REMINDER}),
    ("message_nested", "message", {"harn": {"reminder": [REMINDER]}}),
    ("message_flat", "message", {"harn.reminder": [{"body": "Another."}, REMINDER]}),
):
    case(fallback(name, where, value))


@case
async def wrong_fallback(place):
    """A reminder in metadata that is none is refused, and no task begins."""
    one = await caller(place)
    context = new_id()
    asked = one.send("echo x", context_id=context, metadata={"harn.reminder": {"body": 7}})
    await refused(errors.InvalidParamsError, asked, "HARN-RMD-002")
    assert not (await one.client.list_tasks(types.ListTasksRequest(context_id=context))).tasks


@case
async def sub_task(place):
    """A task that names another one inherits its reminders as far as they propagate."""
    one = await caller(place, "seams.harn")
    parent = await one.send("Look around, and stop in-model-1, and in-model-2.", now=True)
    await place.arrived("in-model-1")
    for propagate in ("all", "session", "none"):
        await one.inject(parent.id, f"For {propagate}.", propagate=propagate, ttlTurns=9)
    place.open("in-model-1")
    await place.arrived("in-model-2")
    child = await one.send("Look around.", reference_task_ids=[parent.id])
    report = data(child)
    inherited = [propagate for propagate in ("all", "session", "none") if shown(report, f"For {propagate}.") == 1]
    assert "all" in inherited and "none" not in inherited, (inherited, report)
    stranger = data(await one.send("Look around."))
    assert not any("For " in prompt for prompt in stranger["prompts"]), stranger
    named = data(await one.send("Look around.", metadata={"parent_task_id": parent.id}))
    assert shown(named, "For all.") == 1, named
    place.open("in-model-2")
    await one.until_state(parent.id, STATE.TASK_STATE_COMPLETED)


main()
