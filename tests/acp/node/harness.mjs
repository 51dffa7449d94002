// What the cases share: an agent as a process, gates in its script, and every frame on record. A case is a function with a
// sentence. All of them run at once; a line `ok SENTENCE` or `FAILED SENTENCE` tells how each ended.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

export const acp = await import(pathToFileURL(join(process.env.ACP_SDK, "dist/v1/stable/acp.js")));
const AGENTS = join(dirname(fileURLToPath(import.meta.url)), "../agents");
export const SEAMS = JSON.parse(readFileSync(join(AGENTS, "../seams.json")));
const LIMIT = 120_000;
const AT_ONCE = 4;

const cases = [];

export function test(sentence, run) {
  cases.push({ sentence, run });
}

/** The folder of one case. */
class Place {
  constructor(name) {
    this.path = join(process.env.ACP_FOLDER, name);
    this.frames = join(process.env.ACP_FOLDER, `${name.split("/")[0]}.jsonl`);
    mkdirSync(this.path, { recursive: true });
  }

  sub(name) {
    return new Place(`${this.path.slice(process.env.ACP_FOLDER.length + 1)}/${name}`);
  }

  async arrived(gate) {
    while (!existsSync(join(this.path, `${gate}.here`))) await sleep(2);
  }

  open(gate) {
    writeFileSync(join(this.path, `${gate}.go`), "");
  }

  keep(direction, message) {
    appendFileSync(this.frames, JSON.stringify({ direction, message }) + "\n");
  }
}

/** What the client was shown, and how it answers. */
export class Editor {
  updates = [];
  notices = [];
  questions = [];
  verdict = "allow_once";
  hold = Promise.resolve();

  text(session, kind = "agent_message_chunk") {
    const said = this.updates.filter((one) => one.update.sessionUpdate === kind && (!session || one.sessionId === session));
    return said.map((one) => one.update.content.text).join("");
  }

  of(kind) {
    return this.updates.map((one) => one.update).filter((one) => one.sessionUpdate === kind);
  }

  /** What a client that did not ask for reminder updates is told of this event. */
  reminders(event) {
    const told = this.updates.map((one) => one.update._meta?.harn?.reminder);
    return told.filter((one) => one?.event === event);
  }
}

/** Runs `talk` against a served script, initialized; the process must then end by itself. */
export async function served(place, script, talk, { logged = false, editor = new Editor() } = {}) {
  const log = logged ? [`--event-log=sqlite:${join(place.path, "log.db")}`] : [];
  const errors = openSync(join(place.path, "stderr.txt"), "a");
  const child = spawn(process.env.HARN, ["serve", "acp", join(AGENTS, script), ...log], {
    cwd: place.path,
    stdio: ["pipe", "pipe", errors],
    env: { PATH: process.env.PATH, HARN_LLM_PROVIDER: "mock", HARN_MEMORY_ROOT: join(place.path, "memory") },
  });
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  const lines = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const stream = {
    readable: lines.readable.pipeThrough(observer((message) => place.keep("incoming", message))),
    writable: observed(lines.writable, (message) => place.keep("outgoing", message)),
  };
  const app = acp
    .client({ name: "cases" })
    .onNotification("session/update", ({ params }) => void editor.updates.push(params))
    .onNotification("*", ({ method, params }) => void editor.notices.push({ method, params }))
    .onRequest("session/request_permission", async ({ params }) => {
      editor.questions.push(params);
      await editor.hold;
      if (!editor.verdict) return { outcome: { outcome: "cancelled" } };
      const { optionId } = params.options.find((option) => option.kind === editor.verdict);
      return { outcome: { outcome: "selected", optionId } };
    });
  try {
    await app.connectWith(stream, async (agent) => {
      const can = await agent.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
      await talk(agent, editor, can);
    });
    child.stdin.end();
    assert.equal(await ended, 0, "the exit code");
  } finally {
    child.kill("SIGKILL");
  }
  const said = readFileSync(join(place.path, "stderr.txt"), "utf8");
  assert(!said.includes("panicked"), said);
}

function observer(see) {
  return new TransformStream({
    transform(message, controller) {
      see(message);
      controller.enqueue(message);
    },
  });
}

function observed(writable, see) {
  const writer = writable.getWriter();
  return new WritableStream({
    write(message) {
      see(message);
      return writer.write(message);
    },
    close: () => writer.close(),
    abort: (reason) => writer.abort(reason),
  });
}

/** In which prompt of the loop the model first saw this, from 1; null if in none. */
export function shown(report, body) {
  const at = report.prompts.findIndex((prompt) => prompt.includes(body));
  return at < 0 ? null : at + 1;
}

export const words = (text) => [{ type: "text", text }];

export async function refused(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail("it was not refused");
}

async function run({ sentence, run }, index) {
  const place = new Place(`case-${index}`);
  const late = new AbortController();
  try {
    const limit = sleep(LIMIT, null, { signal: late.signal }).then(() => assert.fail("it hangs"));
    await Promise.race([run(place), limit]);
    console.log(`ok ${sentence}`);
    return true;
  } catch (error) {
    console.log(`FAILED ${sentence}\n${error.stack ?? error}`);
    if (existsSync(place.frames)) {
      for (const line of readFileSync(place.frames, "utf8").trim().split("\n").slice(-20)) console.log("  ", line.slice(0, 1500));
    }
    const errors = join(place.path, "stderr.txt");
    if (existsSync(errors)) console.log(readFileSync(errors, "utf8").slice(-4000));
    return false;
  } finally {
    late.abort();
  }
}

export async function main() {
  const went = [];
  const rest = cases.map((one, index) => [one, index]);
  const worker = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) went.push(await run(...next));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  process.exit(went.every(Boolean) ? 0 : 1);
}
