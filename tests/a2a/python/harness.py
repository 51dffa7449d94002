"""What the cases of both Python SDKs share: the server as a process, gates in its scripts, and every exchange on record.

A case is a coroutine with a sentence as its docstring. Cases run side by side, and share the processes that serve their scripts; a
line `ok SENTENCE` or `FAILED SENTENCE` tells how each ended. What went over the wire stands in a file for each case, for
somebody else to hold against the types of the SDKs."""

import asyncio
import contextlib
import json
import os
import re
import sys
import time
import traceback
import uuid
from pathlib import Path

import httpx

HARN = os.environ["HARN"]
AGENTS = Path(__file__).parent.parent / "agents"
FOLDER = Path(os.environ["A2A_FOLDER"])
EXTENSION = "urn:harn:ext:reminders:1"
NOTIFICATIONS = "urn:harn:ext:reminders:1#notifications"
# What the server writes into a stream that is quiet.
COMMENT = b": still at work\n\n"
LIMIT = 120
AT_ONCE = 6
CASES = []


def case(coroutine):
    CASES.append(coroutine)
    return coroutine


class Server:
    """`harn serve a2a` as a process."""

    def __init__(self, name, script, args):
        self.path = FOLDER / "servers" / name
        self.script, self.args = script, args
        self.errors = []

    async def start(self):
        self.path.mkdir(parents=True)
        log = f"--event-log=sqlite:{self.path / 'log.db'}"
        command = [HARN, "serve", "a2a", str(AGENTS / self.script), "--listen", "127.0.0.1:0", log, *self.args]
        environment = {"HARN_LLM_PROVIDER": "mock", "HARN_MEMORY_ROOT": str(self.path / "memory")}
        self.process = await asyncio.create_subprocess_exec(
            *command, cwd=self.path, env=environment,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )
        while True:
            line = (await self.process.stdout.readline()).decode(errors="replace")
            self.errors.append(line)
            if not line:
                raise AssertionError(f"it did not start: {''.join(self.errors)}")
            if found := re.search(r"http://[0-9.]+:\d+", line):
                self.url = found[0]
                break
        self.reader = asyncio.ensure_future(self.read())
        return self

    async def read(self):
        while line := await self.process.stdout.readline():
            self.errors.append(line.decode(errors="replace"))

    async def stop(self):
        """Ends it; gives what is wrong with how it ended."""
        self.process.terminate()
        code = await asyncio.wait_for(self.process.wait(), 20)
        await self.reader
        said = "".join(self.errors)
        return None if code == 143 and "panicked" not in said else f"{self.script}: exit code {code}: {said[-3000:]}"


SERVERS = {}


async def served(script, *args):
    """The address of a process that serves this script with these options; one for all who want the same."""
    key = (script, args)
    if key not in SERVERS:
        SERVERS[key] = asyncio.ensure_future(Server(f"server-{len(SERVERS)}", script, args).start())
    return (await SERVERS[key]).url


class Tee(httpx.AsyncByteStream):
    """A body that is kept while it is read, and that something may be put into."""

    def __init__(self, stream, keep, put):
        self.stream, self.keep, self.put, self.bytes = stream, keep, put, b""

    async def __aiter__(self):
        async for chunk in self.stream:
            self.bytes += chunk
            yield self.put(chunk)

    async def aclose(self):
        await self.stream.aclose()
        self.keep(self.bytes)


class Recorder(httpx.AsyncBaseTransport):
    """Keeps every exchange."""

    def __init__(self, place):
        self.inner, self.place = httpx.AsyncHTTPTransport(), place

    async def handle_async_request(self, request):
        body = await request.aread()
        response = await self.inner.handle_async_request(request)

        def keep(got):
            self.place.exchanges.append({
                "request": {
                    "method": request.method,
                    "path": request.url.raw_path.decode(),
                    "headers": {name.lower(): value for name, value in request.headers.items()},
                    "body": body.decode(),
                },
                "response": {
                    "status": response.status_code,
                    "headers": {name.lower(): value for name, value in response.headers.items()},
                    "body": got.decode(),
                },
            })

        media_type = response.headers.get("content-type", "").split(";")[0].strip().lower()
        put = self.place.comment if self.place.quiet and media_type == "text/event-stream" else lambda chunk: chunk
        return httpx.Response(response.status_code, headers=response.headers, stream=Tee(response.stream, keep, put))

    async def aclose(self):
        await self.inner.aclose()


class Place:
    """The folder of one case: gates, and what went over the wire."""

    def __init__(self, name):
        self.path = FOLDER / name
        self.path.mkdir(parents=True)
        self.exchanges = []
        # Whether streams have a comment behind each event, as if it had been quiet there.
        self.quiet = False
        # How many have come by that.
        self.comments = 0
        self.stack = contextlib.AsyncExitStack()

    def sub(self, name):
        place = Place(f"{self.path.name}/{name}")
        place.exchanges = self.exchanges
        return place

    def comment(self, chunk):
        """A piece of a stream, with a comment behind each event."""
        self.comments += chunk.count(b"\n\n")
        return chunk.replace(b"\n\n", b"\n\n" + COMMENT)

    async def http(self, **more):
        """A client whose exchanges are kept."""
        return await self.stack.enter_async_context(
            httpx.AsyncClient(transport=Recorder(self), timeout=LIMIT, **more)
        )

    async def arrived(self, gate):
        while not (self.path / f"{gate}.here").exists():
            await asyncio.sleep(0.002)

    def open(self, gate):
        (self.path / f"{gate}.go").touch()


def new_id():
    return str(uuid.uuid4())


async def rpc(http, url, method, params, version=None, **headers):
    """The answer to a bare request."""
    if version:
        headers["A2A-Version"] = version
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = {"jsonrpc": "2.0", "id": new_id(), "method": method, "params": params}
    response = await http.post(url, json=request, headers=headers)
    answer = response.json()
    assert answer["id"] == request["id"], answer
    return answer


async def inject(http, url, task, body, version=None, **more):
    answer = await rpc(http, url, "tasks/inject_reminder", {"taskId": task, "reminder": {"body": body, **more}}, version)
    assert "result" in answer, answer
    return answer["result"]


class Asks:
    """An SDK's client, with a `get` of its own, beside bare requests at one address in the SDK's version."""

    VERSION = None

    def __init__(self, place, url, http, client):
        self.place, self.url, self.http, self.client = place, url, http, client

    async def rpc(self, method, **params):
        return await rpc(self.http, self.url, method, params, self.VERSION)

    async def inject(self, task, body, **more):
        return await inject(self.http, self.url, task, body, self.VERSION, **more)

    async def until_state(self, task, state):
        while (found := await self.get(task)).status.state != state:
            await asyncio.sleep(0.005)
        return found


async def all_of(stream):
    return [event async for event in stream]


async def frames(http, url, method, params, version=None, extension=None, seen=None):
    """All frames of a stream of bare requests, as they come into `seen`."""
    headers = {"Accept": "text/event-stream"}
    if version:
        headers["A2A-Version"] = version
    if extension:
        headers["A2A-Extensions"] = extension
    request = {"jsonrpc": "2.0", "id": new_id(), "method": method, "params": params}
    seen = [] if seen is None else seen
    async with http.stream("POST", url, json=request, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream"), response.headers
        if extension:
            assert response.headers.get("a2a-extensions") == extension, response.headers
        async for line in response.aiter_lines():
            if line.startswith("data:"):
                seen.append(json.loads(line[5:]))
    return seen


async def until(wanted, what):
    """Waits until something holds."""
    start = time.monotonic()
    while not wanted():
        assert time.monotonic() - start < LIMIT, f"{what} did not come"
        await asyncio.sleep(0.005)


def shown(report, body):
    """In which prompt of the loop the model first saw this, from 1; None if in none."""
    return next((turn for turn, prompt in enumerate(report["prompts"], 1) if body in prompt), None)


async def run(one, at_once):
    async with at_once:
        place = Place(one.__name__)
        try:
            async with place.stack:
                await asyncio.wait_for(one(place), LIMIT)
        except BaseException:
            print(f"FAILED {one.__name__}: {one.__doc__}\n{traceback.format_exc()}", flush=True)
            for exchange in place.exchanges[-6:]:
                print("  ", exchange["request"]["body"][:800], "\n     ->", exchange["response"]["body"][:2500])
            return False
        finally:
            with (FOLDER / f"{one.__name__}.jsonl").open("w") as file:
                file.writelines(json.dumps(exchange) + "\n" for exchange in place.exchanges)
        print(f"ok {one.__doc__}", flush=True)
        return True


async def all_cases():
    at_once = asyncio.Semaphore(AT_ONCE)
    only = sys.argv[1:]
    went = await asyncio.gather(*(run(one, at_once) for one in CASES if not only or one.__name__ in only))
    for server in SERVERS.values():
        if fault := await (await server).stop():
            print(f"FAILED to end: {fault}")
            went.append(False)
    return went


def main():
    sys.exit(0 if all(asyncio.run(all_cases())) else 1)
