"""The client of PyPI `a2a-sdk` at the HTTP port of a hub, over JSON-RPC and over REST.

The worker `echo` answers with the text that it gets. Nothing claims the tasks of `sleeper`.
"""

import asyncio
import sys
import uuid

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as types
from a2a.utils import errors
from google.protobuf.json_format import ParseDict

STATE = types.TaskState


def request(text, to, now=False):
    message = types.Message(message_id=uuid.uuid4().hex, role=types.ROLE_USER, parts=[types.Part(text=text)])
    ParseDict({"to_agent_id": to}, message.metadata)
    sent = types.SendMessageRequest(message=message)
    sent.configuration.return_immediately = now
    return sent


async def waits(client):
    """A caller that waits gets the finished task."""
    task = (await client._transport.send_message(request("one", "echo"))).task
    assert task.status.state == STATE.TASK_STATE_COMPLETED, task
    assert task.artifacts[-1].parts[0].text == "one", task
    assert (await client.get_task(types.GetTaskRequest(id=task.id))).id == task.id


async def streams(client):
    """A stream begins with the task and ends with its end; artifacts are frames."""
    events = [event async for event in client._transport.send_message_streaming(request("two", "echo"))]
    kinds = [event.WhichOneof("payload") for event in events]
    assert kinds[0] == "task" and "artifact_update" in kinds and kinds[-1] == "status_update", kinds
    assert events[-1].status_update.status.state == STATE.TASK_STATE_COMPLETED, events[-1]
    states = [event.status_update.status.state for event in events if event.HasField("status_update")]
    assert STATE.TASK_STATE_WORKING in states, states


async def subscribes(client):
    """A later subscriber gets the task as it is, and what comes next."""
    task = (await client._transport.send_message(request("three", "sleeper", now=True))).task
    assert task.status.state == STATE.TASK_STATE_SUBMITTED, task
    stream = client._transport.subscribe(types.SubscribeToTaskRequest(id=task.id))
    first = await anext(stream)
    assert first.task.id == task.id, first
    cancelled = await client.cancel_task(types.CancelTaskRequest(id=task.id))
    assert cancelled.status.state == STATE.TASK_STATE_CANCELED, cancelled
    rest = [event async for event in stream]
    assert [event.status_update.status.state for event in rest] == [STATE.TASK_STATE_CANCELED], rest
    return task


async def lists(client, newest):
    """Pages begin with the task that changed last, and each task is on one page."""
    seen, token, total = [], "", None
    while True:
        page = await client.list_tasks(types.ListTasksRequest(page_size=2, page_token=token))
        assert total in (None, page.total_size), page
        total, token = page.total_size, page.next_page_token
        seen += [task.id for task in page.tasks]
        if not token:
            break
    assert seen[0] == newest.id and len(seen) == len(set(seen)) == total >= 3, (seen, total)
    page = await client.list_tasks(types.ListTasksRequest(status=STATE.TASK_STATE_CANCELED))
    assert newest.id in [task.id for task in page.tasks], page
    assert all(task.status.state == STATE.TASK_STATE_CANCELED for task in page.tasks), page


async def refuses(client):
    """Errors are those of the protocol."""
    try:
        await client.get_task(types.GetTaskRequest(id="no-such-task"))
    except errors.TaskNotFoundError as error:
        assert "no-such-task" in str(error), error
    else:
        raise AssertionError("the task was found")


async def main(url):
    async with httpx.AsyncClient(timeout=60) as http:
        for binding in ["JSONRPC", "HTTP+JSON"]:
            config = ClientConfig(
                httpx_client=http, supported_protocol_bindings=[binding], use_client_preference=True
            )
            client = await ClientFactory(config).create_from_url(url)
            expected = "RestTransport" if binding == "HTTP+JSON" else "JsonRpcTransport"
            assert type(client._transport).__name__ == expected, client._transport
            await waits(client)
            await streams(client)
            newest = await subscribes(client)
            await lists(client, newest)
            await refuses(client)
            print("ok", binding, flush=True)


asyncio.run(main(sys.argv[1]))
