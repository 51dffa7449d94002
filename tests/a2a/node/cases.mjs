// The client of npm `@a2a-js/sdk`, in version 1.0 and, where it says so, in its compatibility with 0.3.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  EXTENSION,
  NOTIFICATIONS,
  ServiceParameters,
  TaskState,
  all,
  caller,
  data,
  details,
  errors,
  main,
  of,
  part,
  refused,
  said,
  shown,
  test,
  text,
  until,
  withA2AExtensions,
} from "./harness.mjs";

const S = TaskState;

test("The factory makes a client that speaks 1.0 from the card.", async (place) => {
  const one = await caller(place);
  const card = await one.client.getAgentCard();
  assert(card.name && card.description && card.version && card.skills.length, JSON.stringify(card));
  assert.deepEqual([card.capabilities.streaming, card.capabilities.pushNotifications ?? false], [true, false]);
  assert.equal(one.client.protocolVersion, "1.0");
  const extension = card.capabilities.extensions.find((one) => one.uri === EXTENSION);
  assert.deepEqual([extension.required, extension.params.inject], [false, true]);
});

test("A message that is sent gives the finished task, its answer an artifact.", async (place) => {
  const one = await caller(place);
  const task = await one.send("echo Hello, agent.");
  assert.deepEqual([task.status.state, text(task)], [S.TASK_STATE_COMPLETED, "Hello, agent."]);
  assert(task.id && task.contextId && task.status.timestamp);
  assert.equal(task.history[0].parts[0].content.value, "echo Hello, agent.");
});

test("A client that polls is given the task while it works, and finds it finished later.", async (place) => {
  const one = await caller(place, { polling: true });
  const task = await one.send("wait", { now: true });
  assert([S.TASK_STATE_SUBMITTED, S.TASK_STATE_WORKING].includes(task.status.state));
  await place.arrived("waiting");
  assert.equal((await one.get(task.id)).status.state, S.TASK_STATE_WORKING);
  place.open("waiting");
  assert.equal(text(await one.untilState(task.id, S.TASK_STATE_COMPLETED)), "Waited.");
});

test("A stream begins with the task, tells the answer in pieces, and ends with the task's end.", async (place) => {
  const one = await caller(place);
  const events = await all(one.stream("loop Hello."));
  assert.equal(events[0].payload.$case, "task");
  assert.equal(of(events, "task").length, 1);
  assert.equal(of(events, "statusUpdate").at(-1).status.state, S.TASK_STATE_COMPLETED);
  assert.equal(events.at(-1).payload.$case, "statusUpdate");
  const chunks = of(events, "artifactUpdate");
  assert(chunks.every((chunk) => chunk.artifact.artifactId === "answer"));
  const last = chunks.at(-1);
  assert.deepEqual([last.append, last.lastChunk, last.artifact.parts[0].content.value], [false, true, "I say: loop Hello."]);
});

test("The comments of a quiet stream are passed over: the client is told the same as without them.", async (place) => {
  place.quiet = true;
  const one = await caller(place);
  const events = await all(one.stream("loop Hello."));
  assert(place.comments > 0, "no comment was put in");
  assert.equal(events[0].payload.$case, "task");
  assert.equal(events.at(-1).payload.value.status.state, S.TASK_STATE_COMPLETED);
  const last = of(events, "artifactUpdate").at(-1);
  assert.deepEqual([last.lastChunk, last.artifact.parts[0].content.value], [true, "I say: loop Hello."]);
});

test("Data that the pipeline returns is a data part, and nothing returned is no artifact.", async (place) => {
  const one = await caller(place);
  assert.deepEqual(data(await one.send("data")), { answer: 42, list: [1, "two", null, true] });
  const nothing = await one.send("nothing");
  assert.deepEqual([nothing.status.state, nothing.artifacts.length], [S.TASK_STATE_COMPLETED, 0]);
});

test("Artifacts of text, bytes, addresses and data arrive as such, and one in pieces as a whole.", async (place) => {
  const one = await caller(place);
  const task = await one.send("artifacts");
  const made = Object.fromEntries(task.artifacts.map((artifact) => [artifact.name, artifact]));
  assert.deepEqual(made.text.parts.map((one) => one.content.value), ["one", "two"]);
  assert.deepEqual([made.bytes.parts[0].content.value.toString(), made.bytes.parts[0].filename], ["harn", "a.bin"]);
  const uri = made.uri.parts[0];
  assert.deepEqual([uri.content.value, uri.filename, uri.mediaType], ["https://example.org/b.txt", "b.txt", "text/plain"]);
  assert.deepEqual(made.data.parts[0].content.value, { n: 1, list: [1.5, "two", null, true], dict: {} });
  assert.equal(text(task, "chunked"), "abc");
});

test("On a stream an artifact in pieces comes piece by piece.", async (place) => {
  const one = await caller(place);
  const chunks = of(await all(one.stream("artifacts")), "artifactUpdate").filter((chunk) => chunk.artifact.name === "chunked");
  // Pieces that wait for somebody who reads slowly are joined.
  assert.equal(chunks.flatMap((chunk) => chunk.artifact.parts).map((one) => one.content.value).join(""), "abc");
  assert.deepEqual(chunks.map((chunk) => chunk.append), chunks.map((_, at) => at > 0));
  assert.deepEqual(chunks.map((chunk) => chunk.lastChunk), chunks.map((_, at) => at === chunks.length - 1));
});

test("The pipeline sees the whole message and the metadata of request and message.", async (place) => {
  const one = await caller(place);
  const parts = [
    part("text", "context please"),
    part("raw", Buffer.from([0, 1]), { filename: "x.bin", mediaType: "application/x" }),
    part("url", "https://example.org/y", { mediaType: "text/y" }),
    part("data", { deep: [1, { er: null }] }),
  ];
  const contextId = `context-${randomUUID()}`;
  const task = await one.send("", { parts, contextId, requestMetadata: { a: 1 } });
  const seen = data(task);
  assert.deepEqual([seen.protocol, seen.task_id, seen.context_id, seen.metadata.a], ["a2a", task.id, contextId, 1]);
  const sent = seen.message.parts;
  assert.deepEqual([sent[0].text, sent[1].raw, sent[1].filename], ["context please", "AAE=", "x.bin"]);
  assert.deepEqual([sent[2].url, sent[3].data], ["https://example.org/y", { deep: [1, { er: null }] }]);
});

test("Tasks of one context go on in one conversation.", async (place) => {
  const one = await caller(place);
  const first = await one.send("remember the first");
  const second = await one.send("remember the second", { contextId: first.contextId });
  assert.equal(data(second).seen.length, 2);
  assert.notEqual(first.id, second.id);
});

test("A question makes the task wait, and the next message to it is the answer.", async (place) => {
  const one = await caller(place);
  const asked = await one.send("ask");
  assert.deepEqual([asked.status.state, said(asked)], [S.TASK_STATE_INPUT_REQUIRED, "Which colour do you like?"]);
  const task = await one.send("blue", { taskId: asked.id, contextId: asked.contextId });
  assert.deepEqual([task.id, task.status.state, text(task)], [asked.id, S.TASK_STATE_COMPLETED, "You like blue."]);
  assert.equal(task.history.length, 3);
});

test("A stream ends where the task waits for its caller, and the answer opens the next one.", async (place) => {
  const one = await caller(place);
  const events = await all(one.stream("ask-twice"));
  assert.equal(events.at(-1).payload.value.status.state, S.TASK_STATE_INPUT_REQUIRED);
  const taskId = events[0].payload.value.id;
  assert.equal((await all(one.stream("one", { taskId }))).at(-1).payload.value.status.message.parts[0].content.value, "Second?");
  assert.equal((await all(one.stream("two", { taskId }))).at(-1).payload.value.status.state, S.TASK_STATE_COMPLETED);
  assert.equal(text(await one.get(taskId)), "one and two");
});

test("A tool that needs a permission makes the task wait for it.", async (place) => {
  const one = await caller(place, { script: "tools.harn" });
  const note = join(place.path, "note.txt");
  const asked = await one.send("Dear diary.");
  const question = details(asked).permission;
  assert.deepEqual([asked.status.state, question.tool], [S.TASK_STATE_INPUT_REQUIRED, "note"]);
  assert(!existsSync(note));
  const task = await one.send("allow", { taskId: asked.id });
  assert.deepEqual([task.status.state, readFileSync(note, "utf8")], [S.TASK_STATE_COMPLETED, "Dear diary."]);
});

test("A task that the agent rejects is rejected, with the reason.", async (place) => {
  const one = await caller(place);
  const task = await one.send("reject CAPACITY_EXCEEDED Come back later.");
  assert.deepEqual([task.status.state, details(task).rejection_reason], [S.TASK_STATE_REJECTED, "CAPACITY_EXCEEDED"]);
  assert(said(task).startsWith("Task rejected: "));
});

test("A script that fails makes a failed task with a code, and keeps what it threw.", async (place) => {
  const one = await caller(place);
  const task = await one.send("fail");
  assert.equal(task.status.state, S.TASK_STATE_FAILED);
  assert(said(task).startsWith("the task failed: ") && !said(task).includes("It broke.") && details(task).code.startsWith("HARN-"));
});

test("A deadline that is reached is a failure that keeps what was made.", async (place) => {
  const one = await caller(place);
  const task = await one.send("partial", { metadata: { deadline: Date.now() + 700 } });
  assert.equal(task.status.state, S.TASK_STATE_FAILED);
  assert(said(task).includes("Deadline exceeded"));
  assert.equal(text(task, "so far"), "half of it");
});

test("The history is as long as it is asked for.", async (place) => {
  const one = await caller(place);
  const asked = await one.send("ask");
  await one.send("blue", { taskId: asked.id });
  const all = (await one.get(asked.id)).history.map((message) => message.parts[0].content.value);
  assert.deepEqual(all, ["ask", "Which colour do you like?", "blue"]);
  for (const length of [0, 1, 2]) {
    const newest = (await one.get(asked.id, length)).history.map((message) => message.parts[0].content.value);
    assert.deepEqual(newest, length ? all.slice(-length) : []);
  }
});

test("Tasks are listed newest first, page by page.", async (place) => {
  const one = await caller(place);
  const contextId = randomUUID();
  const made = [];
  for (const number of [0, 1, 2]) made.unshift((await one.send(`echo ${number}`, { contextId })).id);
  const asked = { tenant: "", contextId, status: 0, pageToken: "", statusTimestampAfter: undefined };
  const whole = await one.client.listTasks(asked);
  assert.deepEqual(whole.tasks.map((task) => task.id), made);
  const first = await one.client.listTasks({ ...asked, pageSize: 2 });
  assert.deepEqual([first.tasks.length, first.totalSize], [2, 3]);
  const second = await one.client.listTasks({ ...asked, pageSize: 2, pageToken: first.nextPageToken });
  assert.deepEqual([second.tasks.map((task) => task.id), second.nextPageToken], [made.slice(2), ""]);
});

test("A task that is cancelled ends as cancelled, for its stream too, and cannot be cancelled again.", async (place) => {
  const one = await caller(place);
  const events = one.stream("partial");
  const { id } = (await events.next()).value.payload.value;
  await place.arrived("waiting");
  assert.equal((await one.cancel(id)).status.state, S.TASK_STATE_CANCELED);
  assert.equal((await all(events)).at(-1).payload.value.status.state, S.TASK_STATE_CANCELED);
  await refused(one.cancel(id), errors.TaskNotCancelableError, -32002);
});

test("Who subscribes to a task is told the task as it is, then what becomes of it.", async (place) => {
  const one = await caller(place);
  const sent = await one.send("partial", { now: true });
  await place.arrived("waiting");
  const events = one.subscribe(sent.id);
  const task = (await events.next()).value.payload.value;
  assert.deepEqual([task.id, text(task, "so far")], [sent.id, "half of it"]);
  place.open("waiting");
  assert.equal((await all(events)).at(-1).payload.value.status.state, S.TASK_STATE_COMPLETED);
});

test("A stream that its client aborts leaves the task at work.", async (place) => {
  const one = await caller(place);
  const gone = new AbortController();
  const events = one.stream("wait", {}, { signal: gone.signal });
  const { id } = (await events.next()).value.payload.value;
  await place.arrived("waiting");
  gone.abort();
  await assert.rejects(all(events));
  assert.equal((await one.get(id)).status.state, S.TASK_STATE_WORKING);
  place.open("waiting");
  assert.equal(text(await one.untilState(id, S.TASK_STATE_COMPLETED)), "Waited.");
});

test("A task that there is not is TaskNotFoundError, whatever is asked of it.", async (place) => {
  const one = await caller(place);
  // One after the other: a promise that fails before anybody awaits it ends the process.
  for (const ask of [
    () => one.get("task_none"),
    () => one.cancel("task_none"),
    () => one.send("x", { taskId: "task_none" }),
    () => all(one.stream("x", { taskId: "task_none" })),
    () => all(one.subscribe("task_none")),
  ]) {
    const error = await refused(ask(), errors.TaskNotFoundError);
    assert.equal(error.errorInfo?.domain ?? "a2a-protocol.org", "a2a-protocol.org");
  }
});

test("Messages to tasks of another context, at work or over are refused, each with its own error.", async (place) => {
  const one = await caller(place);
  const over = await one.send("echo x");
  await refused(one.send("y", { taskId: over.id }), errors.UnsupportedOperationError, -32004);
  const asked = await one.send("ask");
  await refused(one.send("y", { taskId: asked.id, contextId: "another" }), errors.RequestMalformedError, -32602);
  const busy = await one.send("wait", { now: true });
  await place.arrived("waiting");
  await refused(one.send("", { taskId: busy.id, parts: [part("raw", Buffer.from([0]))] }), errors.RequestMalformedError, -32602);
  place.open("waiting");
});

test("A message to a task at work reaches its loop, and who sends it is told of the task to its end.", async (place) => {
  const one = await caller(place, { script: "seams.harn" });
  const { id } = await one.send("Look around, and stop in-model-1.", { now: true });
  await place.arrived("in-model-1");
  const events = one.stream("Mind the tests.", { taskId: id });
  const task = (await events.next()).value.payload.value;
  assert.deepEqual([task.id, task.status.state], [id, S.TASK_STATE_WORKING]);
  place.open("in-model-1");
  assert.equal((await all(events)).at(-1).payload.value.status.state, S.TASK_STATE_COMPLETED);
  assert.equal(shown(data(await one.get(id)), "Mind the tests."), 2);
});

test("A message that comes again is its first task, and other content with its id begins another.", async (place) => {
  const one = await caller(place);
  const messageId = randomUUID();
  const first = await one.send("echo one", { messageId });
  const other = await one.send("echo two", { messageId });
  assert.deepEqual([text(first), text(other)], ["one", "two"]);
  assert.notEqual(other.id, first.id);
  assert.deepEqual([(await one.send("echo one", { messageId })).id, (await one.send("echo two", { messageId })).id], [first.id, other.id]);
});

test("Push notifications are not offered, nor is an extended card.", async (place) => {
  const one = await caller(place);
  const config = { tenant: "", taskId: "t", id: "c", url: "https://example.org/hook", token: "", authentication: undefined };
  const { transport } = one.client;
  const none = errors.PushNotificationNotSupportedError;
  await refused(transport.createTaskPushNotificationConfig(config), none);
  await refused(transport.getTaskPushNotificationConfig({ tenant: "", taskId: "t", id: "c" }), none);
  await refused(transport.listTaskPushNotificationConfig({ tenant: "", taskId: "t", pageSize: 0, pageToken: "" }), none);
  await refused(transport.deleteTaskPushNotificationConfig({ tenant: "", taskId: "t", id: "c" }), none);
  await refused(transport.getExtendedAgentCard({ tenant: "" }), errors.UnsupportedOperationError);
});

test("A version that is not spoken is VersionNotSupportedError.", async (place) => {
  const one = await caller(place);
  const { transport } = one.client;
  const options = { serviceParameters: { "A2A-Version": "2.0" } };
  await refused(transport.getTask({ tenant: "", id: "t" }, options), errors.VersionNotSupportedError, -32009);
});

test("A token that is wrong is refused, also for methods of the extension.", async (place) => {
  const args = ["--token", "secret-of-the-test"];
  for (const token of [undefined, "wrong"]) {
    const other = await caller(place, { args, token });
    await assert.rejects(other.send("echo x"));
    const answer = await other.post("tasks/inject_reminder", {});
    assert.deepEqual([answer.status, answer.headers.get("www-authenticate").slice(0, 6)], [401, "Bearer"]);
  }
  const one = await caller(place, { args, token: "secret-of-the-test" });
  assert.equal(text(await one.send("echo In.")), "In.");
});

for (const [mode, first] of [["interrupt_immediate", 2], ["finish_step", 2], ["audit_only", null]]) {
  const where = first ? `first in prompt ${first}` : "never";
  test(`A reminder injected with ${mode} while the SDK streams is seen ${where}, and the stream ends as ever.`, async (place) => {
    const one = await caller(place, { script: "seams.harn" });
    const events = one.stream("Look around, and stop in-model-1.");
    const { id } = (await events.next()).value.payload.value;
    await place.arrived("in-model-1");
    const taken = await one.inject(id, "The build is red.", { mode });
    assert(taken.reminderId && taken.acceptedAt);
    place.open("in-model-1");
    const rest = await all(events);
    assert.equal(rest.at(-1).payload.value.status.state, S.TASK_STATE_COMPLETED);
    const report = data(await one.get(id));
    assert.deepEqual([shown(report, "The build is red."), report.ran], [first, mode === "interrupt_immediate" ? 0 : 1]);
    const told = of(rest, "statusUpdate").map((update) => update.metadata?.["harn.reminder"]).filter(Boolean);
    assert.equal(told.some((one) => one.event === "emitted"), first !== null);
  });
}

test("Who asks for notifications is told by them; the SDK's own stream beside it has none.", async (place) => {
  const one = await caller(place, { script: "seams.harn" });
  const asked = one.message("Look around, and stop in-model-1.");
  const message = { messageId: asked.messageId, role: "ROLE_USER", parts: [{ text: asked.parts[0].content.value }], metadata: asked.metadata };
  const seen = [];
  const bare = one.notified("SendStreamingMessage", { message }, seen);
  await place.arrived("in-model-1");
  await until(() => seen.length, "the first frame");
  const { id } = seen[0].result.task;
  const beside = one.subscribe(id);
  await beside.next();
  const taken = await one.inject(id, "The build is red.", { dedupeKey: "build", source: "monitor" });
  place.open("in-model-1");
  assert.equal((await all(beside)).at(-1).payload.value.status.state, S.TASK_STATE_COMPLETED);
  const emitted = (await bare).filter((frame) => frame.method === "tasks/reminderEmitted").map((frame) => frame.params.reminder);
  assert(emitted.length && emitted.every((one) => one.id === taken.reminderId && one.source === "monitor"));
});

test("The SDK's stream goes on to its end when it activates the extension, and says what becomes of reminders.", async (place) => {
  const one = await caller(place, { script: "seams.harn" });
  const options = { serviceParameters: ServiceParameters.create(withA2AExtensions(EXTENSION)) };
  const events = one.stream("Look around, and stop in-model-1.", {}, options);
  const { id } = (await events.next()).value.payload.value;
  await place.arrived("in-model-1");
  const { reminderId } = await one.inject(id, "The build is red.", { ttlTurns: 1 });
  place.open("in-model-1");
  const rest = await all(events);
  assert.equal(rest.at(-1).payload.value.status.state, S.TASK_STATE_COMPLETED);
  const told = of(rest, "statusUpdate").map((update) => update.metadata?.["harn.reminder"]).filter(Boolean);
  assert.deepEqual(told.map((one) => [one.event, one.id]), [["emitted", reminderId], ["expired", reminderId]]);
});

test("A notification aborts this SDK's stream, so only who asks for them gets any.", async (place) => {
  const one = await caller(place, { script: "seams.harn" });
  const options = { serviceParameters: ServiceParameters.create(withA2AExtensions(NOTIFICATIONS)) };
  const events = one.stream("Look around, and stop in-model-1.", {}, options);
  const { id } = (await events.next()).value.payload.value;
  await place.arrived("in-model-1");
  await one.inject(id, "The build is red.");
  place.open("in-model-1");
  await assert.rejects(all(events), /mismatch/);
  await one.untilState(id, S.TASK_STATE_COMPLETED);
});

test("The caller's id is kept, and a repeat is harmless.", async (place) => {
  const one = await caller(place, { script: "seams.harn" });
  const sent = await one.send("Look around, and stop in-model-1.", { now: true });
  await place.arrived("in-model-1");
  const first = await one.inject(sent.id, "Mind the gap.", { id: "of-mine", ttlTurns: 1 });
  assert.deepEqual(await one.inject(sent.id, "Mind the gap.", { id: "of-mine", ttlTurns: 1 }), first);
  assert.equal(first.reminderId, "of-mine");
  place.open("in-model-1");
  const report = data(await one.untilState(sent.id, S.TASK_STATE_COMPLETED));
  assert.deepEqual(report.prompts.map((prompt) => prompt.split("Mind the gap.").length - 1), [0, 1]);
});

test("A reminder that is none is refused with its field.", async (place) => {
  const one = await caller(place);
  const asked = await one.send("ask");
  const params = { taskId: asked.id, reminder: { body: "b", propagate: "everywhere" } };
  const error = await refused(one.client.transport.callExtensionMethod("tasks/inject_reminder", params, { serviceParameters: { "A2A-Version": "1.0" } }), errors.RequestMalformedError, -32602);
  assert.equal(error.data[0].metadata.code, "HARN-RMD-005");
});

test("A reminder in the metadata of a message is there before the first prompt.", async (place) => {
  const one = await caller(place, { script: "seams.harn" });
  const reminder = { body: "Carried along.", ttlTurns: 2 };
  for (const more of [{ metadata: { "harn.reminder": reminder } }, { requestMetadata: { harn: { reminder: [reminder] } } }]) {
    assert.equal(shown(data(await one.send("Look around.", more)), "Carried along."), 1);
  }
});

test("A task that names another one inherits its reminders as far as they propagate.", async (place) => {
  const one = await caller(place, { script: "seams.harn" });
  const parent = await one.send("Look around, and stop in-model-1, and in-model-2.", { now: true });
  await place.arrived("in-model-1");
  for (const propagate of ["all", "none"]) await one.inject(parent.id, `For ${propagate}.`, { propagate, ttlTurns: 9 });
  place.open("in-model-1");
  await place.arrived("in-model-2");
  const report = data(await one.send("Look around.", { referenceTaskIds: [parent.id] }));
  assert.deepEqual([shown(report, "For all."), shown(report, "For none.")], [1, null]);
  place.open("in-model-2");
});

test("In its compatibility with 0.3 the client sends, streams, asks and cancels as ever.", async (place) => {
  const one = await caller(place, { legacy: true });
  assert(one.client.protocolVersion.startsWith("0.3"));
  assert.equal(text(await one.send("echo Hello.")), "Hello.");
  const events = await all(one.stream("loop Hello."));
  assert.equal(events.at(-1).payload.value.status.state, S.TASK_STATE_COMPLETED);
  assert.equal(of(events, "artifactUpdate").at(-1).artifact.parts[0].content.value, "I say: loop Hello.");
  const asked = await one.send("ask");
  assert.equal(asked.status.state, S.TASK_STATE_INPUT_REQUIRED);
  assert.equal(text(await one.send("red", { taskId: asked.id, contextId: asked.contextId })), "You like red.");
  const sent = await one.send("wait", { now: true });
  assert.equal((await one.cancel(sent.id)).status.state, S.TASK_STATE_CANCELED);
  await refused(one.get("task_none"), errors.TaskNotFoundError);
});

test("In its compatibility with 0.3 a stream ends as ever while reminders fire.", async (place) => {
  const one = await caller(place, { script: "seams.harn", legacy: true });
  const events = one.stream("Look around, and stop in-model-1.");
  const { id } = (await events.next()).value.payload.value;
  await place.arrived("in-model-1");
  await one.inject(id, "The build is red.");
  place.open("in-model-1");
  const rest = await all(events);
  assert.equal(rest.at(-1).payload.value.status.state, S.TASK_STATE_COMPLETED);
  const told = of(rest, "statusUpdate").map((update) => update.metadata?.["harn.reminder"]).filter(Boolean);
  assert(told.some((one) => one.event === "emitted" && one.body === "The build is red."));
});

await main();
