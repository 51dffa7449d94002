"""The bare connection of PyPI `agent-client-protocol`: methods by name, params as they are."""

import asyncio

from harness import SEAMS, case, main, raw, shown


def seam(row):
    async def one(place):
        async with raw(place, "seams.harn") as agent:
            session = await agent.session()
            reminder = {"sessionId": session, "body": "The build is red.", "mode": row["mode"]}
            if row["at"] == "idle":
                await agent.ask("session/inject_reminder", **reminder)
                prompt = agent.prompt(session, "Look around.")
            else:
                prompt = agent.prompt(session, f"Look around, and stop {row['at']}.")
                await place.arrived(row["at"])
                answer = await agent.ask("session/inject_reminder", **reminder)
                assert answer["reminderId"] and answer.get("dedupedCount", 0) == 0, answer
                place.open(row["at"])
            report = (await prompt)["_meta"]["harn"]["data"]
            assert shown(report, "The build is red.") == row["first"], report
            assert (len(report["prompts"]), report["ran"]) == (row["turns"], row["ran"]), report
            assert report["status"] == "done", report
            pending = await agent.ask("session/pending_injections", sessionId=session)
            assert pending == {"pendingCount": 0, "injections": []}, pending
            emitted = agent.reminders("emitted")
            if row["first"] is None:
                # Nor does a later loop see it.
                later = (await agent.prompt(session, "Once more."))["_meta"]["harn"]["data"]
                assert shown(later, "The build is red.") is None and not emitted, (later, emitted)
            else:
                assert len(emitted) == row["turns"] - row["first"] + 1, emitted
                assert all(told["source"] == "host" for told in emitted), emitted

    one.__name__ = f"seam_{row['mode']}_{row['at']}"
    where = f"first in prompt {row['first']}" if row["first"] else "never"
    one.__doc__ = f"A reminder injected at {row['at']} with {row['mode']} is seen {where}, and the tool runs {row['ran']} times."
    return one


for row in SEAMS:
    case(seam(row))


@case
async def initialize(place):
    """`initialize` tells the version, the reminders in both places, and what sessions can do."""
    async with raw(place, "seams.harn", logged=True) as agent:
        can = agent.can["agentCapabilities"]
        assert agent.can["protocolVersion"] == 1, agent.can
        assert can["reminders"]["inject"] is True and can["reminders"]["emit"] is True, can
        assert set(can["reminders"]["propagate"]) == {"all", "session", "none"}, can
        assert set(can["reminders"]["roleHints"]) == {"system", "developer", "user_block", "ephemeral_cache"}, can
        assert can["_meta"]["harn"]["reminders"] == can["reminders"], can
        assert can["loadSession"] is True, can
        assert agent.can["agentInfo"]["name"] == "harn", agent.can


@case
async def without_a_log(place):
    """Without an event log on disk `session/load` is not advertised."""
    async with raw(place, "seams.harn") as agent:
        assert not agent.can["agentCapabilities"].get("loadSession"), agent.can


@case
async def revoke_before(place):
    """A reminder revoked before its delivery is never seen; to revoke it again says so."""
    async with raw(place, "seams.harn") as agent:
        session = await agent.session()
        prompt = agent.prompt(session, "Stop in-model-1.")
        await place.arrived("in-model-1")
        kept = await agent.ask("session/inject_reminder", sessionId=session, body="Keep this.")
        taken = await agent.ask(
            "session/inject_reminder", sessionId=session, body="Forget this.", tags=["t"], dedupeKey="k", ttlTurns=3
        )
        pending = await agent.ask("session/pending_injections", sessionId=session)
        assert pending["pendingCount"] == 2, pending
        assert [row["reminderId"] for row in pending["injections"]] == [kept["reminderId"], taken["reminderId"]], pending
        row = pending["injections"][1]
        told = {key: row[key] for key in ("mode", "body", "tags", "dedupeKey", "ttlTurns", "roleHint", "source")}
        assert told == {
            "mode": "finish_step",
            "body": "Forget this.",
            "tags": ["t"],
            "dedupeKey": "k",
            "ttlTurns": 3,
            "roleHint": "system",
            "source": told["source"],
        }, pending
        for status in ("revoked", "already_revoked", "already_revoked"):
            answer = await agent.ask("session/revoke_reminder", sessionId=session, reminderId=taken["reminderId"])
            assert answer["status"] == status, answer
        pending = await agent.ask("session/pending_injections", sessionId=session)
        assert pending["pendingCount"] == 1, pending
        place.open("in-model-1")
        report = (await prompt)["_meta"]["harn"]["data"]
        assert (shown(report, "Keep this."), shown(report, "Forget this.")) == (2, None), report


@case
async def revoke_after(place):
    """A reminder that was delivered cannot be revoked: -32010 with `already_delivered`."""
    async with raw(place, "seams.harn") as agent:
        session = await agent.session()
        prompt = agent.prompt(session, "Stop in-tool, and in-model-2.")
        await place.arrived("in-tool")
        told = await agent.ask("session/inject_reminder", sessionId=session, body="The build is red.")
        place.open("in-tool")
        await place.arrived("in-model-2")
        for _ in range(2):
            error = await agent.refused("session/revoke_reminder", sessionId=session, reminderId=told["reminderId"])
            assert (error.code, error.data["reason"]) == (-32010, "already_delivered"), (error.code, error.data)
        place.open("in-model-2")
        report = (await prompt)["_meta"]["harn"]["data"]
        assert shown(report, "The build is red.") == 2, report
        error = await agent.refused("session/revoke_reminder", sessionId=session, reminderId=told["reminderId"])
        assert error.code == -32010, error


@case
async def aliases(place):
    """`session/remind`, names with an underscore, snake_case fields and notifications all reach the queue."""
    async with raw(place, "seams.harn") as agent:
        session = await agent.session()
        await agent.ask("session/remind", sessionId=session, body="one", dedupe_key="a", ttl_turns=2)
        await agent.ask("_session/inject_reminder", sessionId=session, body="two", dedupeKey="b")
        # Without a session's id the only session is meant.
        await agent.ask("_session/remind", body="three", _meta={"harn": {"reminder": {"ttlTurns": 7}}})
        await agent.connection.send_notification("session/inject_reminder", {"sessionId": session, "body": "four"})
        await agent.connection.send_notification("session/remind", {"body": "five"})
        pending = await agent.ask("_session/pending_injections", sessionId=session)
        rows = pending["injections"]
        assert [row["body"] for row in rows] == ["one", "two", "three", "four", "five"], rows
        assert [row.get("dedupeKey") for row in rows] == ["a", "b", None, None, None], rows
        assert [row.get("ttlTurns") for row in rows] == [2, None, 7, None, None], rows


@case
async def deduped(place):
    """A newer reminder with the key takes the place of one that waits, and of one that the transcript holds."""
    async with raw(place, "seams.harn") as agent:
        session = await agent.session()
        old = await agent.ask("session/inject_reminder", sessionId=session, body="old news", dedupeKey="news")
        new = await agent.ask("session/inject_reminder", sessionId=session, body="new news", dedupeKey="news")
        assert (old.get("dedupedCount", 0), new["dedupedCount"]) == (0, 1), (old, new)
        report = (await agent.prompt(session, "Look."))["_meta"]["harn"]["data"]
        assert (shown(report, "old news"), shown(report, "new news")) == (None, 1), report
        newest = await agent.ask("session/inject_reminder", sessionId=session, body="last words", dedupeKey="news")
        assert newest["dedupedCount"] == 1, newest
        report = (await agent.prompt(session, "Look again."))["_meta"]["harn"]["data"]
        assert (shown(report, "new news"), shown(report, "last words")) == (None, 1), report
        told = agent.reminders("deduped")
        dropped = [one["droppedReminderIds"] for one in told if one["reminderId"] == newest["reminderId"]]
        assert dropped == [[new["reminderId"]]], told


@case
async def expired(place):
    """A reminder with `ttlTurns` is emitted for so many prompts, and then told to have expired."""
    async with raw(place, "seams.harn") as agent:
        session = await agent.session()
        told = await agent.ask("session/inject_reminder", sessionId=session, body="Soon over.", ttlTurns=1)
        report = (await agent.prompt(session, "Look."))["_meta"]["harn"]["data"]
        assert ["Soon over." in prompt for prompt in report["prompts"]] == [True, False], report
        emitted = [one["reminderId"] for one in agent.reminders("emitted")]
        gone = [(one["reminderId"], one["phase"]) for one in agent.reminders("expired")]
        assert emitted == [told["reminderId"]], emitted
        assert gone == [(told["reminderId"], "ttl_expired")], gone


@case
async def gated_updates(place):
    """A client that asks for them gets the three updates."""
    wants = {"_meta": {"harn": {"reminders": True}}}
    async with raw(place, "seams.harn", capabilities=wants) as agent:
        session = await agent.session()
        for body in ("old", "new"):
            await agent.ask("session/inject_reminder", sessionId=session, body=body, dedupeKey="k", ttlTurns=1)
            if body == "old":
                await agent.prompt(session, "Look.")
                await agent.ask("session/inject_reminder", sessionId=session, body="between", dedupeKey="k")
                await agent.prompt(session, "Look.")
        await agent.prompt(session, "Look.")
        kinds = {params["update"]["sessionUpdate"] for params in agent.of("session/update")}
        assert {"reminder_emitted", "reminder_deduped", "reminder_expired"} <= kinds, kinds


@case
async def ungated_updates(place):
    """A client that does not ask for them gets each event once, in `_meta` of an update that changes nothing."""
    async with raw(place, "tools.harn") as agent:
        session = await agent.session()
        told = await agent.ask("session/inject_reminder", sessionId=session, body="Mind the gap.")
        await agent.prompt(session, "Dear diary.")
        updates = agent.of("session/update")
        assert not [one for one in updates if one["update"]["sessionUpdate"].startswith("reminder_")], updates
        carriers = [one["update"] for one in updates if "reminder" in str(one["update"].get("_meta"))]
        assert {one["sessionUpdate"] for one in carriers} == {"session_info_update"}, carriers
        assert all(set(one) == {"sessionUpdate", "_meta"} for one in carriers), carriers
        asked = [one["reminderId"] for one in agent.reminders("emitted")]
        assert asked and set(asked) == {told["reminderId"]}, carriers
        assert not [name for name, _ in agent.seen if name.startswith("_")], agent.seen


@case
async def tool_calls(place):
    """A prompt with tool calls shows text, each call with its progress, and asks before the one that needs a permission."""
    async with raw(place, "tools.harn") as agent:
        session = await agent.session()
        answer = await agent.prompt(session, "Dear diary.")
        assert answer["stopReason"] == "end_turn", answer
        assert (place.path / "note.txt").read_text() == "Dear diary."
        updates = [one["update"] for one in agent.of("session/update")]
        text = "".join(one["content"]["text"] for one in updates if one["sessionUpdate"] == "agent_message_chunk")
        assert text == "I look.I write.That is all.", text
        calls = [one for one in updates if one["sessionUpdate"] == "tool_call"]
        assert [(one["title"], one["kind"]) for one in calls] == [("Look around", "read"), ("Write a note", "edit")], calls
        ends = {one["toolCallId"]: one["status"] for one in updates if one["sessionUpdate"] == "tool_call_update" and "status" in one}
        assert ends == {one["toolCallId"]: "completed" for one in calls}, ends
        asked = agent.of("session/request_permission")
        assert [one["toolCall"]["toolCallId"] for one in asked] == [calls[1]["toolCallId"]], asked
        assert {option["kind"] for option in asked[0]["options"]} >= {"allow_once", "reject_once"}, asked
        assert [one for one in updates if one["sessionUpdate"] == "usage_update"], updates


@case
async def inject_user(place):
    """`session/inject` puts words of the user into the running prompt, and nothing of a reminder."""
    async with raw(place, "seams.harn") as agent:
        session = await agent.session()
        prompt = agent.prompt(session, "Stop in-tool.")
        await place.arrived("in-tool")
        await agent.ask("session/inject", sessionId=session, content="Hurry up, please.", mode="finish_step")
        pending = await agent.ask("session/pending_injections", sessionId=session)
        assert pending["pendingCount"] == 1, pending
        place.open("in-tool")
        report = (await prompt)["_meta"]["harn"]["data"]
        assert shown(report, "Hurry up, please.") == 2, report
        assert not agent.reminders("emitted")


@case
async def queued_between_prompts(place):
    """What comes after the last seam of a loop waits for the next prompt."""
    async with raw(place, "seams.harn") as agent:
        session = await agent.session()
        prompt = agent.prompt(session, "Stop after-loop.")
        await place.arrived("after-loop")
        for mode in ("interrupt_immediate", "finish_step", "audit_only"):
            await agent.ask("session/inject_reminder", sessionId=session, body=f"late {mode}", mode=mode)
        place.open("after-loop")
        report = (await prompt)["_meta"]["harn"]["data"]
        assert not [one for one in report["prompts"] if "late" in one], report
        pending = await agent.ask("session/pending_injections", sessionId=session)
        assert pending["pendingCount"] == 3, pending
        report = (await agent.prompt(session, "Look."))["_meta"]["harn"]["data"]
        seen = [shown(report, f"late {mode}") for mode in ("interrupt_immediate", "finish_step", "audit_only")]
        assert seen == [1, 1, None], report


@case
async def load(place):
    """A second process loads a session: its words and calls are shown again, and no reminder is among the user's words."""
    async with raw(place, "tools.harn", logged=True) as agent:
        session = await agent.session()
        await agent.ask("session/inject_reminder", sessionId=session, body="Mind the gap.", ttlTurns=9)
        await agent.prompt(session, "Dear diary.")
        await agent.ask("session/inject_reminder", sessionId=session, body="Mind the step.")
        before = [one["update"] for one in agent.of("session/update")]
    async with raw(place, "tools.harn", logged=True) as agent:
        found = await agent.ask("session/list")
        assert [one["sessionId"] for one in found["sessions"]] == [session], found
        await agent.ask("session/load", sessionId=session, cwd=str(place.path), mcpServers=[])
        after = [one["update"] for one in agent.of("session/update")]
        words = lambda updates, kind: "".join(
            one["content"]["text"] for one in updates if one["sessionUpdate"] == kind
        )
        assert words(after, "user_message_chunk") == "Dear diary.", after
        assert words(after, "agent_message_chunk") == words(before, "agent_message_chunk"), after
        titles = lambda updates: [one["title"] for one in updates if one["sessionUpdate"] == "tool_call"]
        assert titles(after) == titles(before) != [], after
        pending = await agent.ask("session/pending_injections", sessionId=session)
        assert [row["body"] for row in pending["injections"]] == ["Mind the step."], pending
        await agent.prompt(session, "Once more.")
        emitted = {one["body"] for one in agent.reminders("emitted")}
        assert emitted == {"Mind the gap.", "Mind the step."}, emitted
        user = [one for one in agent.of("session/update") if one["update"]["sessionUpdate"] == "user_message_chunk"]
        assert not [one for one in user if "Mind" in str(one)], user


@case
async def load_history(place):
    """After a load the model is shown what was said before."""
    async with raw(place, "seams.harn", logged=True) as agent:
        session = await agent.session()
        await agent.prompt(session, "My name is Ada.")
    async with raw(place, "seams.harn", logged=True) as agent:
        await agent.ask("session/resume", sessionId=session, cwd=str(place.path), mcpServers=[])
        assert not agent.of("session/update") or all(
            one["update"]["sessionUpdate"] not in ("user_message_chunk", "agent_message_chunk", "tool_call")
            for one in agent.of("session/update")
        ), agent.of("session/update")
        report = (await agent.prompt(session, "What is my name?"))["_meta"]["harn"]["data"]
        assert shown(report, "My name is Ada.") == 1 and "a room" in report["prompts"][0], report


@case
async def cancel(place):
    """A cancelled prompt says so, what was put in is not lost, and the session goes on."""
    async with raw(place, "seams.harn") as agent:
        session = await agent.session()
        prompt = agent.prompt(session, "Stop in-model-1.")
        await place.arrived("in-model-1")
        await agent.ask("session/inject_reminder", sessionId=session, body="Still here.")
        await agent.connection.send_notification("session/cancel", {"sessionId": session})
        assert (await prompt)["stopReason"] == "cancelled"
        report = (await agent.prompt(session, "Look."))["_meta"]["harn"]["data"]
        assert shown(report, "Still here.") == 1, report


@case
async def two_sessions(place):
    """Two sessions work at once, and what is put into one does not reach the other."""
    here, there = place.sub("here"), place.sub("there")
    async with raw(place, "seams.harn") as agent:
        one, two = await agent.session(here), await agent.session(there)
        assert one != two
        first = agent.prompt(one, "Stop in-tool.")
        second = agent.prompt(two, "Stop in-tool.")
        await asyncio.gather(here.arrived("in-tool"), there.arrived("in-tool"))
        await agent.ask("session/inject_reminder", sessionId=one, body="For one.")
        await agent.ask("session/inject_reminder", sessionId=two, body="For two.", mode="audit_only")
        # The one that began later ends first.
        there.open("in-tool")
        report = (await second)["_meta"]["harn"]["data"]
        assert not first.done()
        assert [shown(report, body) for body in ("For one.", "For two.")] == [None, None], report
        here.open("in-tool")
        report = (await first)["_meta"]["harn"]["data"]
        assert [shown(report, body) for body in ("For one.", "For two.")] == [2, None], report
        assert {told["sessionId"] for told in agent.reminders("emitted")} == {one}


@case
async def close(place):
    """A closed session is unknown, and cancels what ran in it."""
    async with raw(place, "seams.harn") as agent:
        session = await agent.session()
        prompt = agent.prompt(session, "Stop in-tool.")
        await place.arrived("in-tool")
        await agent.ask("session/close", sessionId=session)
        assert (await prompt)["stopReason"] == "cancelled"
        error = await agent.refused("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "Hi"}])
        assert error.code == -32002, error


if __name__ == "__main__":
    main()
