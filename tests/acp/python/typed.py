"""The client class of PyPI `agent-client-protocol`: every frame goes through its models. It puts an underscore before the
methods of extensions by itself, and complains of updates that it does not know."""

import asyncio

import acp

from harness import SEAMS, Editor, case, main, shown, typed


def words(text):
    return [acp.text_block(text)]


async def opened(agent, place):
    return (await agent.new_session(cwd=str(place.path))).session_id


def report(answer):
    return answer.field_meta["harn"]["data"]


def seam(row):
    async def one(place):
        async with typed(place, "seams.harn") as (agent, editor):
            session = await opened(agent, place)
            reminder = {"sessionId": session, "body": "The build is red.", "mode": row["mode"]}
            text = "Look around." if row["at"] == "idle" else f"Look around, and stop {row['at']}."
            if row["at"] == "idle":
                await agent.ext_method("session/inject_reminder", reminder)
            prompt = asyncio.ensure_future(agent.prompt(session, words(text)))
            if row["at"] != "idle":
                await place.arrived(row["at"])
                await agent.ext_method("session/inject_reminder", reminder)
                place.open(row["at"])
            told = report(await prompt)
            assert shown(told, "The build is red.") == row["first"], told
            assert (len(told["prompts"]), told["ran"]) == (row["turns"], row["ran"]), told
            count = 0 if row["first"] is None else row["turns"] - row["first"] + 1
            assert len(editor.reminders("emitted")) == count, editor.updates

    one.__name__ = f"seam_{row['mode']}_{row['at']}"
    where = f"first in prompt {row['first']}" if row["first"] else "never"
    one.__doc__ = f"A reminder injected at {row['at']} with {row['mode']} is seen {where}, and the tool runs {row['ran']} times."
    return one


for row in SEAMS:
    case(seam(row))


@case
async def initialize(place):
    """`initialize` tells of the reminders where the models keep it."""
    async with typed(place, "seams.harn", logged=True) as (agent, _):
        can = agent.can.agent_capabilities
        assert agent.can.protocol_version == 1 and can.load_session is True, agent.can
        assert can.field_meta["harn"]["reminders"]["inject"] is True, can
        assert agent.can.agent_info.name == "harn", agent.can


@case
async def tool_calls(place):
    """A prompt with tool calls is shown as text and calls, and the permission is asked for."""
    async with typed(place, "tools.harn") as (agent, editor):
        session = await opened(agent, place)
        answer = await agent.prompt(session, words("Dear diary."))
        assert answer.stop_reason == "end_turn", answer
        assert (place.path / "note.txt").read_text() == "Dear diary."
        assert editor.text() == "I look.I write.That is all.", editor.updates
        assert {of for of, *_ in editor.updates} == {session}
        calls = [update for _, update, _ in editor.updates if update.session_update == "tool_call"]
        assert [(call.title, call.kind) for call in calls] == [("Look around", "read"), ("Write a note", "edit")], calls
        ends = {
            update.tool_call_id: update.status
            for _, update, _ in editor.updates
            if update.session_update == "tool_call_update" and update.status
        }
        assert ends == {call.tool_call_id: "completed" for call in calls}, ends
        assert [call.tool_call_id for _, call, _ in editor.questions] == [calls[1].tool_call_id], editor.questions


@case
async def rejected(place):
    """A tool that is rejected does not run, and the prompt goes on to its end."""
    editor = Editor()
    editor.verdict = "reject_once"
    async with typed(place, "tools.harn", editor) as (agent, _):
        session = await opened(agent, place)
        answer = await agent.prompt(session, words("Dear diary."))
        assert answer.stop_reason == "end_turn", answer
        assert not (place.path / "note.txt").exists()
        ends = [update.status for _, update, _ in editor.updates if update.session_update == "tool_call_update"]
        assert ends[-1] == "failed", ends
        assert editor.text().endswith("That is all."), editor.text()


@case
async def remembered(place):
    """What is allowed for always is not asked again in that session, but in another."""
    editor = Editor()
    editor.verdict = "allow_always"
    async with typed(place, "tools.harn", editor) as (agent, _):
        session = await opened(agent, place)
        for _ in range(2):
            await agent.prompt(session, words("Dear diary."))
        assert len(editor.questions) == 1, editor.questions
        other = await opened(agent, place)
        await agent.prompt(other, words("Dear diary."))
        assert [of for of, *_ in editor.questions] == [session, other], editor.questions


@case
async def modes(place):
    """In the mode `auto` nobody is asked, and in `plan` nothing is changed."""
    async with typed(place, "tools.harn") as (agent, editor):
        opened = await agent.new_session(cwd=str(place.path))
        session = opened.session_id
        names = {mode.id for mode in opened.modes.available_modes}
        assert {"ask", "auto", "plan"} <= names and opened.modes.current_mode_id == "ask", opened.modes
        await agent.set_session_mode(session, "plan")
        await agent.prompt(session, words("Dear diary."))
        assert not (place.path / "note.txt").exists() and not editor.questions
        await agent.set_session_mode(session, "auto")
        await agent.prompt(session, words("Dear diary."))
        assert (place.path / "note.txt").exists() and not editor.questions


@case
async def cancelled_question(place):
    """A prompt that is cancelled while a permission is asked for ends as cancelled, and its tool does not run."""
    editor = Editor()
    editor.hold = asyncio.Event()
    editor.verdict = None
    async with typed(place, "tools.harn", editor) as (agent, _):
        session = await opened(agent, place)
        prompt = asyncio.ensure_future(agent.prompt(session, words("Dear diary.")))
        while not editor.questions:
            await asyncio.sleep(0.002)
        await agent.cancel(session)
        editor.hold.set()
        assert (await prompt).stop_reason == "cancelled"
        assert not (place.path / "note.txt").exists()


@case
async def revoke(place):
    """Before the delivery a reminder can be revoked, twice; after it it cannot."""
    async with typed(place, "seams.harn") as (agent, _):
        session = await opened(agent, place)
        prompt = asyncio.ensure_future(agent.prompt(session, words("Stop in-tool, and in-model-2.")))
        await place.arrived("in-tool")
        taken = await agent.ext_method("session/inject_reminder", {"sessionId": session, "body": "Forget this."})
        kept = await agent.ext_method("session/inject_reminder", {"sessionId": session, "body": "Keep this."})
        for status in ("revoked", "already_revoked"):
            asked = {"sessionId": session, "reminderId": taken["reminderId"]}
            answer = await agent.ext_method("session/revoke_reminder", asked)
            assert answer["status"] == status, answer
        pending = await agent.ext_method("session/pending_injections", {"sessionId": session})
        assert [row["body"] for row in pending["injections"]] == ["Keep this."], pending
        place.open("in-tool")
        await place.arrived("in-model-2")
        try:
            await agent.ext_method("session/revoke_reminder", {"sessionId": session, "reminderId": kept["reminderId"]})
            raise AssertionError("it was revoked after its delivery")
        except acp.RequestError as error:
            assert (error.code, error.data["reason"]) == (-32010, "already_delivered"), error.data
        place.open("in-model-2")
        told = report(await prompt)
        assert (shown(told, "Keep this."), shown(told, "Forget this.")) == (2, None), told


@case
async def notification(place):
    """A reminder that comes as a notification is delivered like any other."""
    async with typed(place, "seams.harn") as (agent, _):
        session = await opened(agent, place)
        prompt = asyncio.ensure_future(agent.prompt(session, words("Stop in-model-1.")))
        await place.arrived("in-model-1")
        body = {"sessionId": session, "body": "The build is red.", "mode": "interrupt_immediate"}
        await agent.ext_notification("session/inject_reminder", body)
        pending = await agent.ext_method("session/pending_injections", {"sessionId": session})
        assert pending["pendingCount"] == 1, pending
        place.open("in-model-1")
        told = report(await prompt)
        assert (shown(told, "The build is red."), told["ran"]) == (2, 0), told


@case
async def load(place):
    """A second process loads the session and shows it as it was."""
    async with typed(place, "tools.harn", logged=True) as (agent, editor):
        session = await opened(agent, place)
        await agent.ext_method("session/inject_reminder", {"sessionId": session, "body": "Mind the gap.", "ttlTurns": 9})
        await agent.prompt(session, words("Dear diary."))
        before = editor
    async with typed(place, "tools.harn", logged=True) as (agent, editor):
        found = await agent.list_sessions(cwd=str(place.path))
        assert [one.session_id for one in found.sessions] == [session], found
        await agent.load_session(cwd=str(place.path), session_id=session)
        assert editor.text(kind="user_message_chunk") == "Dear diary.", editor.updates
        assert editor.text() == before.text(), editor.updates
        titles = lambda of: [update.title for _, update, _ in of.updates if update.session_update == "tool_call"]
        assert titles(editor) == titles(before) != [], editor.updates
        await agent.prompt(session, words("Once more."))
        emitted = {one["body"] for one in editor.reminders("emitted")}
        assert emitted == {"Mind the gap."}, emitted


@case
async def resume_and_close(place):
    """A session that was closed can be resumed in the same process, and is not shown again."""
    async with typed(place, "seams.harn", logged=True) as (agent, editor):
        session = await opened(agent, place)
        await agent.prompt(session, words("My name is Ada."))
        await agent.close_session(session)
        editor.updates.clear()
        await agent.resume_session(session_id=session, cwd=str(place.path))
        assert "user_message_chunk" not in editor.kinds(), editor.updates
        told = report(await agent.prompt(session, words("Who am I?")))
        assert shown(told, "My name is Ada.") == 1, told


@case
async def cancel(place):
    """A cancelled prompt says so, and the session goes on."""
    async with typed(place, "seams.harn") as (agent, _):
        session = await opened(agent, place)
        prompt = asyncio.ensure_future(agent.prompt(session, words("Stop in-tool.")))
        await place.arrived("in-tool")
        await agent.cancel(session)
        assert (await prompt).stop_reason == "cancelled"
        answer = await agent.prompt(session, words("Look."))
        assert answer.stop_reason == "end_turn", answer


@case
async def two_sessions(place):
    """Two sessions work at once, each with its own reminders and updates."""
    here, there = place.sub("here"), place.sub("there")
    async with typed(place, "seams.harn") as (agent, editor):
        one, two = await opened(agent, here), await opened(agent, there)
        first = asyncio.ensure_future(agent.prompt(one, words("Stop in-tool.")))
        second = asyncio.ensure_future(agent.prompt(two, words("Stop in-tool.")))
        await asyncio.gather(here.arrived("in-tool"), there.arrived("in-tool"))
        await agent.ext_method("session/inject_reminder", {"sessionId": one, "body": "For one."})
        there.open("in-tool")
        told = report(await second)
        assert shown(told, "For one.") is None and not first.done(), told
        here.open("in-tool")
        told = report(await first)
        assert shown(told, "For one.") == 2, told
        assert set(editor.kinds(one)) >= {"tool_call"} and set(editor.kinds(two)) >= {"tool_call"}


if __name__ == "__main__":
    main()
