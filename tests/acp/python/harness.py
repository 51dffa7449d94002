"""What the cases of both Python clients share: an agent as a process, gates in its script, and every frame on record.

A case is a coroutine with a sentence as its docstring. All of them run at once, each with processes of its own; a line
`ok SENTENCE` or `FAILED SENTENCE` tells how each ended, and the frames stand in a file for each."""

import asyncio
import contextlib
import json
import logging
import os
import sys
import traceback
from pathlib import Path

import acp
from acp.schema import AllowedOutcome, ClientCapabilities, DeniedOutcome, RequestPermissionResponse
from acp.stdio import spawn_agent_process, spawn_stdio_connection

HARN = os.environ["HARN"]
AGENTS = Path(__file__).parent.parent / "agents"
FOLDER = Path(os.environ["ACP_FOLDER"])
SEAMS = json.loads((AGENTS.parent / "seams.json").read_text())
LIMIT = 120
AT_ONCE = 4

CASES = []


def case(coroutine):
    CASES.append(coroutine)
    return coroutine


class Place:
    """The folder of one case: gates, notes, the event log, the frames."""

    def __init__(self, name):
        self.path = FOLDER / name
        self.path.mkdir(parents=True)
        self.frames = []

    def sub(self, name):
        place = Place(f"{self.path.name}/{name}")
        place.frames = self.frames
        return place

    def command(self, script, logged=False, args=()):
        log = [f"--event-log=sqlite:{self.path / 'log.db'}"] if logged else []
        return [HARN, "serve", "acp", str(AGENTS / script), *log, *args]

    def surroundings(self):
        return {"HARN_LLM_PROVIDER": "mock", "HARN_MEMORY_ROOT": str(self.path / "memory")}

    async def arrived(self, gate):
        while not (self.path / f"{gate}.here").exists():
            await asyncio.sleep(0.002)

    def open(self, gate):
        (self.path / f"{gate}.go").touch()

    def observe(self, event):
        self.frames.append({"direction": event.direction.value, "message": event.message})

    @contextlib.contextmanager
    def errors(self):
        path = self.path / "stderr.txt"
        with path.open("ab") as file:
            yield file
        assert b"panicked" not in path.read_bytes(), path.read_text(errors="replace")


class Editor(acp.Client):
    """A client that keeps what it is shown and answers questions as it was told."""

    def __init__(self):
        self.updates = []
        self.notices = []
        self.questions = []
        self.verdict = "allow_once"
        self.hold = None

    async def session_update(self, session_id, update, **meta):
        self.updates.append((session_id, update, meta))

    async def request_permission(self, session_id, tool_call, options, **_):
        self.questions.append((session_id, tool_call, options))
        if self.hold is not None:
            await self.hold.wait()
        if self.verdict is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        chosen = next(option.option_id for option in options if option.kind == self.verdict)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def ext_notification(self, method, params):
        self.notices.append((method, params))

    def reminders(self, event):
        """What a client that did not ask for reminder updates is told of this event."""
        told = [((update.field_meta or {}).get("harn") or {}).get("reminder") for _, update, _ in self.updates]
        return [one for one in told if one and one["event"] == event]

    def kinds(self, session=None):
        return [update.session_update for of, update, _ in self.updates if session in (None, of)]

    def text(self, session=None, kind="agent_message_chunk"):
        return "".join(
            update.content.text
            for of, update, _ in self.updates
            if session in (None, of) and update.session_update == kind
        )


@contextlib.asynccontextmanager
async def typed(place, script, editor=None, logged=False, capabilities=None, args=()):
    """The client class of the SDK, with a served script at the other end, initialized."""
    editor = editor or Editor()
    command, *rest = place.command(script, logged, args)
    with place.errors() as errors:
        async with spawn_agent_process(
            editor,
            command,
            *rest,
            env=place.surroundings(),
            cwd=place.path,
            transport_kwargs={"stderr": errors, "limit": 1 << 24},
            observers=[place.observe],
        ) as (agent, process):
            agent.process = process
            agent.can = await agent.initialize(
                protocol_version=1, client_capabilities=capabilities or ClientCapabilities()
            )
            yield agent, editor
    assert process.returncode == 0, f"exit code {process.returncode}: {(place.path / 'stderr.txt').read_text()}"


class Raw:
    """The bare connection of the SDK: methods by name, params as they are."""

    def __init__(self, connection, place):
        self.connection, self.place, self.seen, self.verdict = connection, place, [], "allow_once"

    async def ask(self, method, **params):
        return await self.connection.send_request(method, params)

    async def refused(self, method, **params):
        try:
            result = await self.ask(method, **params)
        except acp.RequestError as error:
            return error
        raise AssertionError(f"{method} was not refused: {result}")

    async def session(self, place=None):
        opened = await self.ask("session/new", cwd=str((place or self.place).path), mcpServers=[])
        return opened["sessionId"]

    def prompt(self, session, text):
        return asyncio.ensure_future(
            self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])
        )

    def of(self, method):
        return [params for name, params in self.seen if name == method]

    def reminders(self, event):
        """What a client that did not ask for reminder updates is told of this event, with the session."""
        found = []
        for params in self.of("session/update"):
            told = params["update"].get("_meta", {}).get("harn", {}).get("reminder")
            if told and told["event"] == event:
                found.append({"sessionId": params["sessionId"], **told})
        return found


@contextlib.asynccontextmanager
async def raw(place, script, logged=False, capabilities=None, args=()):
    """`spawn_stdio_connection` with a served script at the other end, initialized."""
    box = []

    async def handle(method, params, is_notification):
        box[0].seen.append((method, params))
        if method == "session/request_permission":
            kind = box[0].verdict
            chosen = next(option["optionId"] for option in params["options"] if option["kind"] == kind)
            return {"outcome": {"outcome": "selected", "optionId": chosen}}

    command, *rest = place.command(script, logged, args)
    with place.errors() as errors:
        async with spawn_stdio_connection(
            handle,
            command,
            *rest,
            env=place.surroundings(),
            cwd=place.path,
            observers=[place.observe],
            stderr=errors,
            limit=1 << 24,
        ) as (connection, process):
            agent = Raw(connection, place)
            box.append(agent)
            agent.can = await agent.ask(
                "initialize", protocolVersion=1, clientCapabilities=capabilities or {"fs": {}}
            )
            yield agent
    assert process.returncode == 0, f"exit code {process.returncode}: {(place.path / 'stderr.txt').read_text()}"


def shown(report, body):
    """In which prompt of the loop the model first saw this, from 1; None if in none."""
    return next((turn for turn, prompt in enumerate(report["prompts"], 1) if body in prompt), None)


class Complaints(logging.Handler):
    """What the SDK complains of: a frame that it could not read, say."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.said = []

    def emit(self, record):
        said = self.format(record)
        # Optional by the protocol, and news to this SDK.
        if "method=$/cancel_request" not in said:
            self.said.append(said)


async def run(one, at_once):
    async with at_once:
        place = Place(one.__name__)
        try:
            await asyncio.wait_for(one(place), LIMIT)
        except BaseException:
            print(f"FAILED {one.__doc__}\n{traceback.format_exc()}", flush=True)
            for frame in place.frames[-20:]:
                print("  ", frame["direction"], json.dumps(frame["message"])[:1500])
            with contextlib.suppress(OSError):
                print((place.path / "stderr.txt").read_text(errors="replace")[-4000:])
            return False
        finally:
            with (FOLDER / f"{one.__name__}.jsonl").open("w") as file:
                file.writelines(json.dumps(frame) + "\n" for frame in place.frames)
        print(f"ok {one.__doc__}", flush=True)
        return True


async def all_cases():
    at_once = asyncio.Semaphore(AT_ONCE)
    only = sys.argv[1:]
    wanted = [one for one in CASES if not only or one.__name__ in only]
    return await asyncio.gather(*(run(one, at_once) for one in wanted))


def main():
    complaints = Complaints()
    logging.getLogger().addHandler(complaints)
    went = asyncio.run(all_cases())
    for said in complaints.said:
        print(f"FAILED the SDK complains: {said}")
    sys.exit(0 if all(went) and not complaints.said else 1)
