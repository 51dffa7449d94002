// The client of npm `@agentclientprotocol/sdk`: every frame goes through its schemas.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { acp, Editor, main, refused, SEAMS, served, shown, test, words } from "./harness.mjs";

const open = async (agent, place) => {
  const opened = await agent.request("session/new", { cwd: place.path, mcpServers: [] });
  return opened.sessionId;
};
const prompt = (agent, sessionId, text) => agent.request("session/prompt", { sessionId, prompt: words(text) });
const report = (answer) => answer._meta.harn.data;

for (const { mode, at, first, turns, ran } of SEAMS) {
  const where = first ? `first in prompt ${first}` : "never";
  test(`A reminder injected at ${at} with ${mode} is seen ${where}, and the tool runs ${ran} times.`, (place) =>
    served(place, "seams.harn", async (agent, editor) => {
      const sessionId = await open(agent, place);
      const inject = () => agent.request("session/inject_reminder", { sessionId, body: "The build is red.", mode });
      if (at === "idle") await inject();
      const running = prompt(agent, sessionId, at === "idle" ? "Look." : `Look, and stop ${at}.`);
      if (at !== "idle") {
        await place.arrived(at);
        await inject();
        place.open(at);
      }
      const told = report(await running);
      assert.equal(shown(told, "The build is red."), first);
      assert.deepEqual([told.prompts.length, told.ran, told.status], [turns, ran, "done"]);
      const pending = await agent.request("session/pending_injections", { sessionId });
      assert.equal(pending.pendingCount, 0);
      const emitted = editor.reminders("emitted");
      assert.equal(emitted.length, first ? turns - first + 1 : 0);
    }));
}

test("`initialize` tells what the agent can do.", (place) =>
  served(
    place,
    "seams.harn",
    async (_, __, can) => {
      assert.equal(can.protocolVersion, 1);
      assert.equal(can.agentCapabilities.loadSession, true);
      assert.equal(can.agentCapabilities._meta.harn.reminders.inject, true);
      assert.equal(can.agentInfo.name, "harn");
    },
    { logged: true },
  ));

test("A prompt with tool calls is shown as text and calls, and the permission is asked for.", (place) =>
  served(place, "tools.harn", async (agent, editor) => {
    const sessionId = await open(agent, place);
    const answer = await prompt(agent, sessionId, "Dear diary.");
    assert.equal(answer.stopReason, "end_turn");
    assert.equal(readFileSync(join(place.path, "note.txt"), "utf8"), "Dear diary.");
    assert.equal(editor.text(sessionId), "I look.I write.That is all.");
    const calls = editor.of("tool_call");
    assert.deepEqual(
      calls.map((call) => [call.title, call.kind]),
      [["Look around", "read"], ["Write a note", "edit"]],
    );
    const ends = editor.of("tool_call_update").filter((one) => one.status);
    assert.deepEqual(
      calls.map((call) => ends.filter((end) => end.toolCallId === call.toolCallId).at(-1).status),
      ["completed", "completed"],
    );
    assert.deepEqual(editor.questions.map((one) => one.toolCall.toolCallId), [calls[1].toolCallId]);
  }));

test("A tool that is rejected does not run, and the prompt goes on to its end.", (place) => {
  const editor = new Editor();
  editor.verdict = "reject_once";
  return served(
    place,
    "tools.harn",
    async (agent) => {
      const sessionId = await open(agent, place);
      assert.equal((await prompt(agent, sessionId, "Dear diary.")).stopReason, "end_turn");
      assert(!existsSync(join(place.path, "note.txt")));
      assert.equal(editor.of("tool_call_update").at(-1).status, "failed");
    },
    { editor },
  );
});

test("A prompt that is cancelled while a permission is asked for ends as cancelled.", (place) => {
  const editor = new Editor();
  let release;
  editor.verdict = null;
  editor.hold = new Promise((resolve) => (release = resolve));
  return served(
    place,
    "tools.harn",
    async (agent) => {
      const sessionId = await open(agent, place);
      const running = prompt(agent, sessionId, "Dear diary.");
      while (!editor.questions.length) await sleep(2);
      await agent.notify("session/cancel", { sessionId });
      release();
      assert.equal((await running).stopReason, "cancelled");
      assert(!existsSync(join(place.path, "note.txt")));
    },
    { editor },
  );
});

test("Before the delivery a reminder can be revoked, twice; after it it cannot.", (place) =>
  served(place, "seams.harn", async (agent) => {
    const sessionId = await open(agent, place);
    const running = prompt(agent, sessionId, "Stop in-tool, and in-model-2.");
    await place.arrived("in-tool");
    const taken = await agent.request("session/inject_reminder", { sessionId, body: "Forget this." });
    const kept = await agent.request("session/inject_reminder", { sessionId, body: "Keep this." });
    for (const status of ["revoked", "already_revoked"]) {
      const answer = await agent.request("session/revoke_reminder", { sessionId, reminderId: taken.reminderId });
      assert.equal(answer.status, status);
    }
    place.open("in-tool");
    await place.arrived("in-model-2");
    const error = await refused(agent.request("session/revoke_reminder", { sessionId, reminderId: kept.reminderId }));
    assert.deepEqual([error.code, error.data.reason], [-32010, "already_delivered"]);
    place.open("in-model-2");
    const told = report(await running);
    assert.deepEqual([shown(told, "Keep this."), shown(told, "Forget this.")], [2, null]);
  }));

test("A reminder that comes as a notification is delivered like any other.", (place) =>
  served(place, "seams.harn", async (agent) => {
    const sessionId = await open(agent, place);
    const running = prompt(agent, sessionId, "Stop in-model-1.");
    await place.arrived("in-model-1");
    await agent.notify("session/inject_reminder", { sessionId, body: "Now.", mode: "interrupt_immediate" });
    const pending = await agent.request("session/pending_injections", { sessionId });
    assert.equal(pending.pendingCount, 1);
    place.open("in-model-1");
    const told = report(await running);
    assert.deepEqual([shown(told, "Now."), told.ran], [2, 0]);
  }));

test("A second process loads the session and shows it as it was, without a reminder among the user's words.", async (place) => {
  let sessionId, before;
  await served(
    place,
    "tools.harn",
    async (agent, editor) => {
      sessionId = await open(agent, place);
      await agent.request("session/inject_reminder", { sessionId, body: "Mind the gap.", ttlTurns: 9 });
      await prompt(agent, sessionId, "Dear diary.");
      before = editor;
    },
    { logged: true },
  );
  await served(
    place,
    "tools.harn",
    async (agent, editor) => {
      const found = await agent.request("session/list", {});
      assert.deepEqual(found.sessions.map((one) => one.sessionId), [sessionId]);
      await agent.request("session/load", { sessionId, cwd: place.path, mcpServers: [] });
      assert.equal(editor.text(sessionId, "user_message_chunk"), "Dear diary.");
      assert.equal(editor.text(sessionId), before.text(sessionId));
      assert.deepEqual(editor.of("tool_call").map((call) => call.title), before.of("tool_call").map((call) => call.title));
      await prompt(agent, sessionId, "Once more.");
      assert(editor.reminders("emitted").some((one) => one.body === "Mind the gap."));
      assert(!JSON.stringify(editor.of("user_message_chunk")).includes("Mind"));
    },
    { logged: true },
  );
});

test("A cancelled prompt says so, and the session goes on.", (place) =>
  served(place, "seams.harn", async (agent) => {
    const sessionId = await open(agent, place);
    const running = prompt(agent, sessionId, "Stop in-tool.");
    await place.arrived("in-tool");
    await agent.notify("session/cancel", { sessionId });
    assert.equal((await running).stopReason, "cancelled");
    assert.equal((await prompt(agent, sessionId, "Look.")).stopReason, "end_turn");
  }));

test("Two sessions work at once, each with its own reminders.", (place) =>
  served(place, "seams.harn", async (agent) => {
    const [here, there] = [place.sub("here"), place.sub("there")];
    const [one, two] = [await open(agent, here), await open(agent, there)];
    let over = false;
    const first = prompt(agent, one, "Stop in-tool.").finally(() => (over = true));
    const second = prompt(agent, two, "Stop in-tool.");
    await Promise.all([here.arrived("in-tool"), there.arrived("in-tool")]);
    await agent.request("session/inject_reminder", { sessionId: one, body: "For one." });
    there.open("in-tool");
    assert.equal(shown(report(await second), "For one."), null);
    assert(!over);
    here.open("in-tool");
    assert.equal(shown(report(await first), "For one."), 2);
  }));

test("The helpers of the SDK read the text of a prompt.", (place) =>
  served(place, "tools.harn", (agent) =>
    agent.buildSession(place.path).withSession(async (session) => {
      const answer = session.prompt("Dear diary.");
      assert.equal(await session.readText(), "I look.I write.That is all.");
      assert.equal((await answer).stopReason, "end_turn");
    })));

test("An unknown session is refused as the protocol says.", (place) =>
  served(place, "seams.harn", async (agent) => {
    const error = await refused(prompt(agent, "sess_none", "Hi."));
    assert(error instanceof acp.RequestError);
    assert.equal(error.code, -32002);
  }));

await main();
