"""The client of PyPI `a2a-sdk` 0.3, which sends no version, and knows no listing of tasks."""

import asyncio
import base64

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a import types

from harness import Asks, EXTENSION, NOTIFICATIONS, all_of, case, frames, main, new_id, served, shown, until

STATE = types.TaskState


class Caller(Asks):
    """The SDK's client beside bare requests, at one address."""

    def message(self, text, parts=None, metadata=None, **more):
        metadata = {"folder": str(self.place.path), **(metadata or {})}
        parts = parts or [types.Part(root=types.TextPart(text=text))]
        message_id = more.pop("message_id", new_id())
        return types.Message(message_id=message_id, role=types.Role.user, parts=parts, metadata=metadata, **more)

    def params(self, text, history=None, now=False, metadata=None, **more):
        configuration = types.MessageSendConfiguration(blocking=not now, history_length=history)
        return types.MessageSendParams(message=self.message(text, **more), configuration=configuration, metadata=metadata)

    async def send(self, text, **more):
        """A message, and the task that answers it."""
        return await self.client._transport.send_message(self.params(text, **more))

    def stream(self, text, metadata=None, extensions=None, **more):
        message = self.message(text, **more)
        return self.client.send_message(message, request_metadata=metadata, extensions=extensions)

    async def get(self, task, history=None):
        return await self.client.get_task(types.TaskQueryParams(id=task, history_length=history))

    async def cancel(self, task):
        return await self.client.cancel_task(types.TaskIdParams(id=task))


async def caller(place, script="desk.harn", *args, token=None, **config):
    url = await served(script, *args)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    http = await place.http(headers=headers)
    card = await A2ACardResolver(http, url).get_agent_card()
    return Caller(place, url, http, ClientFactory(ClientConfig(httpx_client=http, **config)).create(card))


async def refused(awaitable, kind, code=None):
    try:
        result = await awaitable
    except A2AClientJSONRPCError as error:
        # The SDK takes each error for the general one, whose code tells which it is.
        assert error.error.code == kind.model_fields["code"].default, repr(error.error)
        assert code is None or error.error.data["code"].startswith(code), error.error
        return error.error
    raise AssertionError(f"it was not refused: {result}")


def text(task, name="answer"):
    parts = [part.root for artifact in task.artifacts or [] if artifact.name == name for part in artifact.parts]
    return "".join(part.text for part in parts if part.kind == "text")


def data(task, name="answer"):
    [part] = [part.root for of in task.artifacts if of.name == name for part in of.parts if part.root.kind == "data"]
    return part.data


def said(task):
    return "\n".join(part.root.text for part in task.status.message.parts if part.root.kind == "text")


def details(task):
    [part] = [part.root for part in task.status.message.parts if part.root.kind == "data"]
    return part.data


@case
async def card(place):
    """The resolver finds the card under both names, and the factory makes a client of it."""
    one = await caller(place)
    for path in (None, "/.well-known/agent.json"):
        card = await A2ACardResolver(one.http, one.url).get_agent_card(relative_card_path=path)
        assert card.name and card.description and card.version and card.skills, card
        assert card.preferred_transport == "JSONRPC" and card.protocol_version.startswith("0.3"), card
        assert card.capabilities.streaming and not card.capabilities.push_notifications, card
        [extension] = [of for of in card.capabilities.extensions if of.uri == EXTENSION]
        assert not extension.required and extension.params["inject"] is True, extension


@case
async def send_blocking(place):
    """A message that is sent gives the finished task, its answer an artifact."""
    one = await caller(place, streaming=False)
    [(task, update)] = await all_of(one.stream("echo Hello, agent."))
    assert update is None and task.status.state == STATE.completed and text(task) == "Hello, agent.", task
    assert task.id and task.context_id and task.status.timestamp and task.history[0].parts[0].root.text, task


@case
async def send_at_once(place):
    """A client that polls is given the task while it works, and finds it finished later."""
    one = await caller(place, streaming=False, polling=True)
    [(task, _)] = await all_of(one.stream("wait"))
    assert task.status.state in (STATE.submitted, STATE.working), task
    await place.arrived("waiting")
    assert (await one.get(task.id)).status.state == STATE.working
    place.open("waiting")
    assert text(await one.until_state(task.id, STATE.completed)) == "Waited."


@case
async def message_in_place_of_a_task(place):
    """An agent that says so answers with a message, also on a stream; what it says of its work makes that a task."""
    for streaming in (False, True):
        one = await caller(place, "replies/agent.harn", streaming=streaming)
        [message] = await all_of(one.stream("Hello."))
        assert message.kind == "message" and message.role.value == "agent", message
        assert [part.root.text for part in message.parts] == ["echo Hello."], message
        assert message.message_id and message.context_id and message.task_id is None, message
        task, _ = (await all_of(one.stream("status")))[-1]
        assert task.status.state == STATE.completed and text(task) == "Read.", task


@case
async def stream(place):
    """A stream begins with the task and ends with a final update; the client builds the whole answer of its pieces."""
    one = await caller(place)
    events = await all_of(one.stream("loop Hello."))
    task, first = events[0]
    assert first is None and events[-1][1].final is True, events
    assert not any(update.final for _, update in events[1:-1] if update.kind == "status-update"), events
    assert task.status.state == STATE.completed and text(task) == "I say: loop Hello.", task
    assert len(task.artifacts) == 1, task


@case
async def stream_with_comments(place):
    """The comments of a quiet stream are passed over: the client is told the same as without them."""
    place.quiet = True
    one = await caller(place)
    events = await all_of(one.stream("loop Hello."))
    assert place.comments > 0, "no comment was put in"
    task, _ = events[-1]
    assert events[-1][1].final is True and task.status.state == STATE.completed, events
    assert text(task) == "I say: loop Hello.", task


@case
async def returned_data(place):
    """Data that the pipeline returns is a data part, and nothing returned is no artifact."""
    one = await caller(place)
    task = await one.send("data")
    assert data(task) == {"answer": 42, "list": [1, "two", None, True]}, task
    nothing = await one.send("nothing")
    assert nothing.status.state == STATE.completed and not nothing.artifacts, nothing


@case
async def artifacts(place):
    """Artifacts of text, bytes, addresses and data arrive as such, and one in pieces as a whole."""
    one = await caller(place)
    task = await one.send("artifacts")
    made = {artifact.name: artifact for artifact in task.artifacts}
    assert [part.root.text for part in made["text"].parts] == ["one", "two"], task
    file = made["bytes"].parts[0].root.file
    assert base64.b64decode(file.bytes) == b"harn" and file.name == "a.bin", task
    uri = made["uri"].parts[0].root.file
    assert (uri.uri, uri.name, uri.mime_type) == ("https://example.org/b.txt", "b.txt", "text/plain"), task
    assert made["data"].parts[0].root.data == {"n": 1, "list": [1.5, "two", None, True], "dict": {}}, task
    assert "".join(part.root.text for part in made["chunked"].parts) == "abc", task


@case
async def artifacts_on_a_stream(place):
    """The client puts an artifact together from the pieces that a stream brings."""
    one = await caller(place)
    events = await all_of(one.stream("artifacts"))
    chunks = [update for _, update in events if update and update.kind == "artifact-update"]
    told = [of for of in chunks if of.artifact.name == "chunked"]
    # Pieces that wait for somebody who reads slowly are joined.
    assert [of.append for of in told] == [False] + [True] * (len(told) - 1) and told[-1].last_chunk, told
    assert text(events[-1][0], "chunked") == "abc" and text(events[-1][0]) == "Made.", events[-1]


@case
async def what_the_pipeline_sees(place):
    """The pipeline sees the message as version 1.0 has it, whoever sent it."""
    one = await caller(place)
    parts = [
        types.Part(root=types.TextPart(text="context please")),
        types.Part(root=types.FilePart(file=types.FileWithBytes(bytes="AAE=", mime_type="application/x", name="x.bin"))),
        types.Part(root=types.FilePart(file=types.FileWithUri(uri="https://example.org/y", mime_type="text/y"))),
        types.Part(root=types.DataPart(data={"deep": [1, {"er": None}]})),
    ]
    task = await one.send("", parts=parts, metadata={"a": 1}, context_id="context-of-another")
    seen = data(task)
    assert (seen["protocol"], seen["task_id"], seen["context_id"]) == ("a2a", task.id, "context-of-another"), seen
    sent = seen["message"]["parts"]
    assert sent[0]["text"] == "context please" and (sent[1]["raw"], sent[1]["filename"]) == ("AAE=", "x.bin"), sent
    assert (sent[2]["url"], sent[2]["media_type"]) == ("https://example.org/y", "text/y"), sent
    assert sent[3]["data"] == {"deep": [1, {"er": None}]}, sent


@case
async def contexts(place):
    """Tasks of one context go on in one conversation."""
    one = await caller(place)
    first = await one.send("remember the first")
    second = await one.send("remember the second", context_id=first.context_id)
    assert second.id != first.id and len(data(second)["seen"]) == 2, second


@case
async def input_required(place):
    """A question makes the task wait; the next message to it is the answer."""
    one = await caller(place)
    asked = await one.send("ask")
    assert asked.status.state == STATE.input_required and said(asked) == "Which colour do you like?", asked
    task = await one.send("blue", task_id=asked.id, context_id=asked.context_id)
    assert (task.id, task.status.state, text(task)) == (asked.id, STATE.completed, "You like blue."), task
    roles = [of.role for of in task.history]
    assert roles == [types.Role.user, types.Role.agent, types.Role.user], task.history


@case
async def input_required_on_a_stream(place):
    """A stream ends where the task waits for its caller, and the answer opens the next one."""
    one = await caller(place)
    events = await all_of(one.stream("ask-twice"))
    task, last = events[-1]
    assert last.final and last.status.state == STATE.input_required, events
    events = await all_of(one.stream("one", task_id=task.id, context_id=task.context_id))
    assert events[-1][1].status.message.parts[0].root.text == "Second?", events
    events = await all_of(one.stream("two", task_id=task.id))
    assert events[-1][1].status.state == STATE.completed and text(events[-1][0]) == "one and two", events


@case
async def permission(place):
    """A tool that needs a permission makes the task wait for it."""
    one = await caller(place, "tools.harn")
    asked = await one.send("Dear diary.")
    question = details(asked)["permission"]
    assert asked.status.state == STATE.input_required and question["tool"] == "note", asked
    assert not (place.path / "note.txt").exists()
    task = await one.send("allow", task_id=asked.id)
    assert task.status.state == STATE.completed and (place.path / "note.txt").read_text() == "Dear diary.", task


@case
async def rejection(place):
    """A task that the agent rejects is `rejected`, with the reason."""
    one = await caller(place)
    task = await one.send("reject RESOURCE_UNAVAILABLE The lab is closed.")
    assert task.status.state == STATE.rejected and said(task).startswith("Task rejected: "), task
    assert details(task)["rejection_reason"] == "RESOURCE_UNAVAILABLE", task


@case
async def failure(place):
    """A script that fails makes a failed task with a code, and keeps what it threw."""
    one = await caller(place)
    task = await one.send("fail")
    assert task.status.state == STATE.failed and said(task).startswith("the task failed: "), task
    assert "It broke." not in said(task), task
    assert details(task)["code"].startswith("HARN-"), task


@case
async def deadline(place):
    """A deadline that has passed is a rejection."""
    one = await caller(place)
    task = await one.send("echo x", metadata={"deadline": "2020-01-01T00:00:00Z"})
    assert task.status.state == STATE.rejected and details(task)["rejection_reason"] == "DEADLINE_IMPOSSIBLE", task


@case
async def history_length(place):
    """`history_length` gives the newest messages."""
    one = await caller(place)
    asked = await one.send("ask")
    await one.send("blue", task_id=asked.id)
    everything = [of.parts[0].root.text for of in (await one.get(asked.id)).history]
    assert everything == ["ask", "Which colour do you like?", "blue"], everything
    for length in (1, 2):
        newest = [of.parts[0].root.text for of in (await one.get(asked.id, length)).history]
        assert newest == everything[-length:], newest
    # In this version 0 is no bound, as this SDK writes it.
    assert len((await one.get(asked.id, 0)).history) == 3


@case
async def cancel(place):
    """A task that is cancelled ends as canceled, for its stream too, and cannot be cancelled again."""
    one = await caller(place)
    events = one.stream("partial")
    task, _ = await anext(events)
    await place.arrived("waiting")
    assert (await one.cancel(task.id)).status.state == STATE.canceled
    rest = await all_of(events)
    assert rest[-1][1].final and rest[-1][1].status.state == STATE.canceled, rest
    await refused(one.cancel(task.id), types.TaskNotCancelableError, "HARN-A2A-")


@case
async def resubscribe(place):
    """Who subscribes to a task is told the task as it is, then what becomes of it."""
    one = await caller(place)
    sent = await one.send("partial", now=True)
    await place.arrived("waiting")
    events = one.client.resubscribe(types.TaskIdParams(id=sent.id))
    task, _ = await anext(events)
    assert text(task, "so far") == "half of it", task
    place.open("waiting")
    rest = await all_of(events)
    assert rest[-1][1].final and text(rest[-1][0]) == "Never.", rest


@case
async def unknown_tasks(place):
    """A task that there is not is `TaskNotFoundError`, whatever is asked of it."""
    one = await caller(place)
    for asked in (
        one.get("task_none"),
        one.cancel("task_none"),
        one.send("x", task_id="task_none"),
        all_of(one.client.resubscribe(types.TaskIdParams(id="task_none"))),
        all_of(one.stream("x", task_id="task_none")),
    ):
        await refused(asked, types.TaskNotFoundError, "HARN-A2A-")


@case
async def wrong_messages(place):
    """Messages to tasks of another context, at work or over are refused, each with its own error."""
    one = await caller(place)
    over = await one.send("echo x")
    await refused(one.send("y", task_id=over.id), types.UnsupportedOperationError, "HARN-A2A-")
    asked = await one.send("ask")
    await refused(one.send("y", task_id=asked.id, context_id="another"), types.InvalidParamsError, "HARN-A2A-")
    busy = await one.send("wait", now=True)
    await place.arrived("waiting")
    file = types.Part(root=types.FilePart(file=types.FileWithBytes(bytes="AAE=")))
    await refused(one.send("", parts=[file], task_id=busy.id), types.InvalidParamsError, "HARN-A2A-")
    place.open("waiting")


@case
async def message_to_a_running_task(place):
    """A message to a task at work reaches its loop, and who sends it is told of the task to its end."""
    one = await caller(place, "seams.harn")
    sent = await one.send("Look around, and stop in-model-1.", now=True)
    await place.arrived("in-model-1")
    events = one.stream("Mind the tests.", task_id=sent.id)
    task, _ = await anext(events)
    assert (task.id, task.status.state) == (sent.id, STATE.working), task
    place.open("in-model-1")
    task, last = (await all_of(events))[-1]
    assert last.final and last.status.state == STATE.completed and shown(data(task), "Mind the tests.") == 2, task


@case
async def methods_before_0_3(place):
    """`tasks/send` and `tasks/sendSubscribe` are served, with reminders in metadata, and their streams with reminders too."""
    one = await caller(place, "seams.harn")
    message = {"role": "user", "parts": [{"type": "text", "text": "Look around."}], "metadata": {"folder": str(place.path)}}
    carried = {"harn": {"reminder": {"body": "Carried along.", "ttlTurns": 2}}}
    params = {"id": new_id(), "sessionId": new_id(), "message": message, "metadata": carried}
    task = (await one.rpc("tasks/send", **params))["result"]
    assert (task["id"], task["contextId"], task["status"]["state"]) == (params["id"], params["sessionId"], "completed"), task
    assert shown(task["artifacts"][0]["parts"][0]["data"], "Carried along.") == 1, task
    assert (await one.get(task["id"])).id == task["id"]
    for header, extension in ((None, None), ("extension", EXTENSION)):
        # As in the versions since, with all that is asked of a message there.
        request = {"message": {**message, "kind": "message", "messageId": new_id(), "parts": [{"kind": "text", "text": "Look around."}]}}
        seen = await frames(one.http, one.url, "tasks/sendSubscribe", {**request, "metadata": carried}, None, extension)
        assert seen[-1]["result"]["status"]["state"] == "completed" and seen[-1]["result"]["final"], seen
        nested = [of["result"]["metadata"]["harn"]["reminder"] for of in seen if "harn" in of.get("result", {}).get("metadata", {}) and of["result"]["kind"] == "status-update"]
        notices = [of["params"]["reminder"] for of in seen if of.get("method") == "tasks/reminderEmitted"]
        told, other = (notices, nested) if header else ([of for of in nested if of["event"] == "emitted"], notices)
        assert [of["body"] for of in told] and {of["body"] for of in told} == {"Carried along."} and not other, seen


@case
async def wrong_parameters(place):
    """Parameters that do not fit are -32602, and the error names the field."""
    one = await caller(place)
    good = {"messageId": "m", "role": "user", "kind": "message", "parts": [{"kind": "text", "text": "echo x"}]}
    for message, field in (
        ({**good, "parts": []}, "parts"),
        ({**good, "role": "ROLE_USER"}, "role"),
        ({**good, "parts": [{"kind": "txt", "text": "x"}]}, "parts"),
        ({**good, "parts": [{"kind": "file", "file": {"bytes": "no base64!"}}]}, "parts"),
        ({**good, "parts": [{"kind": "text"}]}, "parts"),
        ({key: good[key] for key in ("messageId", "role", "kind")}, "parts"),
    ):
        answer = await one.rpc("message/send", message=message)
        assert answer["error"]["code"] == -32602, (message, answer)
        assert field in answer["error"]["data"]["field"], (message, answer)


@case
async def push_configurations(place):
    """Push notifications are not offered."""
    one = await caller(place)
    config = types.TaskPushNotificationConfig(
        task_id="t", push_notification_config=types.PushNotificationConfig(url="https://example.org/hook")
    )
    not_offered = types.PushNotificationNotSupportedError
    await refused(one.client.set_task_callback(config), not_offered, "HARN-A2A-")
    params = types.GetTaskPushNotificationConfigParams(id="t")
    await refused(one.client.get_task_callback(params), not_offered, "HARN-A2A-")
    for method in ("list", "delete"):
        answer = await one.rpc(f"tasks/pushNotificationConfig/{method}", id="t", pushNotificationConfigId="c")
        assert answer["error"]["code"] == -32003, answer


@case
async def extended_card(place):
    """There is no extended card."""
    one = await caller(place)
    answer = await one.rpc("agent/getAuthenticatedExtendedCard")
    assert answer["error"]["code"] == -32007, answer


@case
async def newer_names(place):
    """Names of version 1.0 are methods of this version too, and give its shapes; so is the listing."""
    one = await caller(place)
    context = new_id()
    message = {"messageId": "m", "role": "user", "kind": "message", "contextId": context, "parts": [{"kind": "text", "text": "echo x"}]}
    task = (await one.rpc("SendMessage", message=message))["result"]
    assert (task["kind"], task["status"]["state"]) == ("task", "completed"), task
    for method in ("ListTasks", "tasks/list"):
        listed = (await one.rpc(method, contextId=context))["result"]
        assert [of["id"] for of in listed["tasks"]] == [task["id"]] and listed["tasks"][0]["kind"] == "task", listed


@case
async def token(place):
    """Where a token is wanted, the wrong one and none are HTTP 401, and the card stays open."""
    for wrong in (None, "wrong"):
        other = await caller(place, "desk.harn", "--token", "secret-of-the-test", token=wrong)
        try:
            await other.send("echo x")
        except A2AClientHTTPError as error:
            assert error.status_code == 401, error
        else:
            raise AssertionError(f"{wrong!r} was let in")
    one = await caller(place, "desk.harn", "--token", "secret-of-the-test", token="secret-of-the-test")
    assert text(await one.send("echo In.")) == "In."
    card = await A2ACardResolver(await place.http(), one.url).get_agent_card()
    [scheme] = card.security_schemes.values()
    assert (scheme.root.type, scheme.root.scheme.lower()) == ("http", "bearer") and card.security, card


def seam(mode, first):
    async def one(place):
        one = await caller(place, "seams.harn")
        events = one.stream("Look around, and stop in-model-1.")
        task, _ = await anext(events)
        await place.arrived("in-model-1")
        taken = await one.inject(task.id, "The build is red.", mode=mode)
        assert taken["reminderId"] and taken["dedupedCount"] == 0 and taken["acceptedAt"], taken
        place.open("in-model-1")
        rest = await all_of(events)
        task, last = rest[-1]
        assert last.final and last.status.state == STATE.completed, rest
        report = data(task)
        assert shown(report, "The build is red.") == first, report
        assert report["ran"] == (0 if mode == "interrupt_immediate" else 1), report
        told = [update.metadata["harn.reminder"] for _, update in rest if "harn.reminder" in ((update and update.metadata) or {})]
        assert bool([of for of in told if of["event"] == "emitted"]) == (first is not None), told

    one.__name__ = f"inject_{mode}"
    where = f"first in prompt {first}" if first else "never"
    one.__doc__ = f"A reminder injected with {mode} while the SDK streams is seen {where}, and the stream ends as ever."
    return one


for mode, first in (("interrupt_immediate", 2), ("finish_step", 2), ("audit_only", None)):
    case(seam(mode, first))


@case
async def with_the_extension(place):
    """Who asks for notifications is told by them; the SDK's own stream beside it has none."""
    one = await caller(place, "seams.harn")
    params = one.params("Look around, and stop in-model-1.").model_dump(mode="json", exclude_none=True)
    seen = []
    bare = asyncio.ensure_future(frames(one.http, one.url, "message/stream", params, None, NOTIFICATIONS, seen))
    await place.arrived("in-model-1")
    await until(lambda: seen, "the first frame")
    task = seen[0]["result"]["id"]
    beside = one.client.resubscribe(types.TaskIdParams(id=task))
    assert (await anext(beside))[0].id == task
    taken = await one.inject(task, "The build is red.", dedupeKey="build", source="monitor")
    place.open("in-model-1")
    rest = await all_of(beside)
    assert rest[-1][1].status.state == STATE.completed, rest
    notices = [frame for frame in await bare if "method" in frame]
    emitted = [of["params"]["reminder"] for of in notices if of["method"] == "tasks/reminderEmitted"]
    assert emitted and all((of["id"], of["source"]) == (taken["reminderId"], "monitor") for of in emitted), notices
    told = [update.metadata["harn.reminder"] for _, update in rest if "harn.reminder" in (update.metadata or {})]
    assert len([of for of in told if of["event"] == "emitted"]) == len(emitted), (told, emitted)


@case
async def sdk_with_the_extension(place):
    """The SDK's stream goes on to its end when it activates the extension, and says what becomes of reminders."""
    one = await caller(place, "seams.harn")
    events = one.stream("Look around, and stop in-model-1.", extensions=[EXTENSION])
    task, _ = await anext(events)
    await place.arrived("in-model-1")
    taken = await one.inject(task.id, "The build is red.", ttlTurns=1)
    place.open("in-model-1")
    rest = await all_of(events)
    assert rest[-1][1].final and rest[-1][1].status.state == STATE.completed, rest
    told = [update.metadata["harn.reminder"] for _, update in rest if "harn.reminder" in (update.metadata or {})]
    assert [(of["event"], of["id"]) for of in told] == [(event, taken["reminderId"]) for event in ("emitted", "expired")], told


@case
async def kept_id(place):
    """The caller's id is kept; to inject it once more gives the same."""
    one = await caller(place, "seams.harn")
    sent = await one.send("Look around, and stop in-model-1.", now=True)
    await place.arrived("in-model-1")
    first = await one.inject(sent.id, "Mind the gap.", id="reminder-of-mine", ttlTurns=1)
    again = await one.inject(sent.id, "Mind the gap.", id="reminder-of-mine", ttlTurns=1)
    assert first == again and first["reminderId"] == "reminder-of-mine", (first, again)
    place.open("in-model-1")
    report = data(await one.until_state(sent.id, STATE.completed))
    assert [prompt.count("Mind the gap.") for prompt in report["prompts"]] == [0, 1], report


@case
async def wrong_reminders(place):
    """A reminder that is none is refused with its field; so is one for a task that there is not, or that is over."""
    one = await caller(place)
    asked = await one.send("ask")
    error = (await one.rpc("tasks/inject_reminder", taskId=asked.id, reminder={"body": "b", "propagate": "x"}))["error"]
    assert (error["code"], error["data"]["code"]) == (-32602, "HARN-RMD-005") and error["data"]["field"], error
    unknown = (await one.rpc("tasks/inject_reminder", taskId="task_none", reminder={"body": "b"}))["error"]
    assert unknown["code"] == -32004, unknown
    over = await one.send("echo x")
    late = (await one.rpc("tasks/inject_reminder", taskId=over.id, reminder={"body": "b"}))["error"]
    assert late["code"] == -32004, late


@case
async def fallback(place):
    """A reminder in the metadata of the request or of the message is there before the first prompt."""
    one = await caller(place, "seams.harn")
    reminder = {"body": "Carried along.", "ttl_turns": 2}
    for of_request, of_message in (({"harn": {"reminder": reminder}}, None), (None, {"harn.reminder": [reminder]})):
        params = types.MessageSendParams(message=one.message("Look around.", metadata=of_message), metadata=of_request)
        task = await one.client._transport.send_message(params)
        assert shown(data(task), "Carried along.") == 1, task


@case
async def sub_task(place):
    """A task that names another one inherits its reminders as far as they propagate."""
    one = await caller(place, "seams.harn")
    parent = await one.send("Look around, and stop in-model-1, and in-model-2.", now=True)
    await place.arrived("in-model-1")
    for propagate in ("all", "none"):
        await one.inject(parent.id, f"For {propagate}.", propagate=propagate, ttlTurns=9)
    place.open("in-model-1")
    await place.arrived("in-model-2")
    report = data(await one.send("Look around.", reference_task_ids=[parent.id]))
    assert (shown(report, "For all."), shown(report, "For none.")) == (1, None), report
    place.open("in-model-2")


main()
