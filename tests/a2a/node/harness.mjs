// What the cases share: the server as a process, gates in its scripts, and every exchange on record. A case is a function with a
// sentence. Cases run side by side, and share the processes that serve their scripts; a line `ok SENTENCE` or
// `FAILED SENTENCE` tells how each ended.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const sdk = (part) => import(pathToFileURL(join(process.env.A2A_SDK, "dist", part, "index.js")));
export const { ClientFactory, ClientFactoryOptions, DefaultAgentCardResolver, JsonRpcTransportFactory, ServiceParameters, withA2AExtensions } =
  await sdk("client");
export const errors = await sdk("errors");
export const { Role, TaskState } = await sdk(".");
export const EXTENSION = "urn:harn:ext:reminders:1";
export const NOTIFICATIONS = "urn:harn:ext:reminders:1#notifications";
const AGENTS = join(dirname(fileURLToPath(import.meta.url)), "../agents");
const FOLDER = process.env.A2A_FOLDER;
const LIMIT = 120_000;
const AT_ONCE = 6;

const cases = [];

export function test(sentence, run) {
  cases.push({ sentence, run });
}

const servers = new Map();

/** The process that serves this script with these options; one for all who want the same. */
function server(script, args) {
  const key = JSON.stringify([script, args]);
  if (!servers.has(key)) servers.set(key, start(script, args, servers.size));
  return servers.get(key);
}

function start(script, args, number) {
  const cwd = join(FOLDER, "servers", `server-${number}`);
  mkdirSync(cwd, { recursive: true });
  const command = ["serve", "a2a", join(AGENTS, script), "--listen", "127.0.0.1:0", ...args];
  const env = { PATH: process.env.PATH, HARN_LLM_PROVIDER: "mock", HARN_MEMORY_ROOT: join(cwd, "memory") };
  const child = spawn(process.env.HARN, command, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const one = { child, said: "", ended: new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal))) };
  return new Promise((resolve, reject) => {
    const hear = (data) => {
      one.said += data;
      const found = /http:\/\/[0-9.]+:\d+/.exec(one.said);
      if (found && one.said.indexOf("\n", found.index) >= 0) resolve(Object.assign(one, { url: found[0] }));
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    one.ended.then((code) => reject(new Error(`it did not start: ${code}: ${one.said}`)));
  });
}

/** The folder of one case: gates, and what went over the wire. */
class Place {
  constructor(name) {
    this.path = join(FOLDER, name);
    this.log = join(FOLDER, `${name}.jsonl`);
    mkdirSync(this.path, { recursive: true });
    this.exchanges = [];
    this.pending = [];
    // Whether streams have a comment behind each event, as if it had been quiet there.
    this.quiet = false;
    // How many have come by that.
    this.comments = 0;
  }

  async arrived(gate) {
    while (!existsSync(join(this.path, `${gate}.here`))) await sleep(2);
  }

  open(gate) {
    writeFileSync(join(this.path, `${gate}.go`), "");
  }

  /** `fetch` that keeps every exchange. */
  fetch = async (address, init = {}) => {
    const response = await fetch(address, init);
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const request = { method: init.method ?? "GET", path: new URL(address).pathname, headers, body: init.body ?? "" };
    const keep = (body) =>
      this.exchanges.push({ request, response: { status: response.status, headers: Object.fromEntries(response.headers), body } });
    if (!response.body) {
      keep("");
      return response;
    }
    const [theirs, ours] = response.body.tee();
    this.pending.push(read(ours).then(keep));
    const mediaType = response.headers.get("content-type")?.split(";")[0].trim().toLowerCase();
    const quiet = this.quiet && mediaType === "text/event-stream";
    return new Response(quiet ? this.commented(theirs) : theirs, { status: response.status, statusText: response.statusText, headers: response.headers });
  };

  /** A stream with the comment of a quiet one behind each event. */
  commented(stream) {
    const put = (text, to) => {
      this.comments += text.split("\n\n").length - 1;
      to.enqueue(text.replaceAll("\n\n", "\n\n: still at work\n\n"));
    };
    return stream
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new TransformStream({ transform: put }))
      .pipeThrough(new TextEncoderStream());
  }

  async settle() {
    // A stream that was left open has no end.
    await Promise.race([Promise.all(this.pending), sleep(1000)]);
    appendFileSync(this.log, this.exchanges.map((exchange) => JSON.stringify(exchange) + "\n").join(""));
  }
}

async function read(stream) {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  } catch {
    // The client has left; what came counts.
  }
  return text;
}

/** The SDK's client beside bare requests, at one address. */
export class Caller {
  constructor(place, url, client, headers) {
    Object.assign(this, { place, url, client, headers });
  }

  message(text, { parts, metadata, ...more } = {}) {
    return {
      messageId: randomUUID(),
      contextId: "",
      taskId: "",
      role: Role.ROLE_USER,
      parts: parts ?? [part("text", text)],
      metadata: { folder: this.place.path, ...metadata },
      extensions: [],
      referenceTaskIds: [],
      ...more,
    };
  }

  request(text, { history, now = false, requestMetadata, ...more } = {}) {
    const configuration = { acceptedOutputModes: [], historyLength: history, returnImmediately: now };
    return { tenant: "", message: this.message(text, more), configuration, metadata: requestMetadata };
  }

  send(text, more, options) {
    return this.client.sendMessage(this.request(text, more), options);
  }

  stream(text, more, options) {
    return this.client.sendMessageStream(this.request(text, more), options);
  }

  get(id, historyLength) {
    return this.client.getTask({ tenant: "", id, historyLength });
  }

  cancel(id) {
    return this.client.cancelTask({ tenant: "", id, metadata: undefined });
  }

  subscribe(id, options) {
    return this.client.resubscribeTask({ tenant: "", id }, options);
  }

  async untilState(id, state) {
    for (;;) {
      const task = await this.get(id);
      if (task.status.state === state) return task;
      await sleep(5);
    }
  }

  post(method, params, headers = {}) {
    const body = JSON.stringify({ jsonrpc: "2.0", id: randomUUID(), method, params });
    const all = { "Content-Type": "application/json", "A2A-Version": "1.0", ...this.headers, ...headers };
    return this.place.fetch(this.url, { method: "POST", headers: all, body });
  }

  async rpc(method, params) {
    return (await this.post(method, params)).json();
  }

  async inject(taskId, body, more = {}) {
    const answer = await this.rpc("tasks/inject_reminder", { taskId, reminder: { body, ...more } });
    assert(answer.result, JSON.stringify(answer));
    return answer.result;
  }

  /** All frames of a stream of somebody who asks for notifications. */
  async notified(method, params, seen = []) {
    const response = await this.post(method, params, { "A2A-Extensions": NOTIFICATIONS });
    assert.equal(response.headers.get("a2a-extensions"), NOTIFICATIONS);
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) {
        const data = event.split("\n").find((line) => line.startsWith("data:"));
        if (data) seen.push(JSON.parse(data.slice(5)));
      }
    }
    return seen;
  }
}

export async function caller(place, { script = "desk.harn", args = [], token, legacy = false, polling = false } = {}) {
  const { url } = await server(script, args);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const fetchImpl = (address, init = {}) => place.fetch(address, { ...init, headers: { ...init.headers, ...headers } });
  const legacyCompat = { enabled: legacy };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl, legacyCompat })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl, legacyCompat }),
    clientConfig: { polling },
  });
  let client;
  if (legacy) {
    // What an agent that speaks nothing newer shows.
    const card = await (await fetchImpl(`${url}/.well-known/agent-card.json`, { headers: { "A2A-Version": "0.3" } })).json();
    client = await factory.createFromAgentCard(new DefaultAgentCardResolver({ legacyCompat }).normalizeAgentCard(card));
  } else {
    client = await factory.createFromUrl(url);
  }
  return new Caller(place, url, client, headers);
}

export const part = (kind, value, more = {}) => ({
  content: { $case: kind, value },
  metadata: undefined,
  filename: "",
  mediaType: "",
  ...more,
});

export async function all(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

export const of = (events, kind) => events.filter((event) => event.payload.$case === kind).map((event) => event.payload.value);

const values = (task, name, kind) =>
  task.artifacts
    .filter((artifact) => artifact.name === name)
    .flatMap((artifact) => artifact.parts)
    .filter((one) => one.content.$case === kind)
    .map((one) => one.content.value);

export const text = (task, name = "answer") => values(task, name, "text").join("");
export const data = (task, name = "answer") => values(task, name, "data")[0];
export const said = (task) => task.status.message.parts.find((one) => one.content.$case === "text").content.value;
export const details = (task) => task.status.message.parts.find((one) => one.content.$case === "data").content.value;

/** In which prompt of the loop the model first saw this, from 1; null if in none. */
export function shown(report, body) {
  const at = report.prompts.findIndex((prompt) => prompt.includes(body));
  return at < 0 ? null : at + 1;
}

export async function refused(promise, kind, code) {
  let result;
  try {
    result = await promise;
  } catch (error) {
    const found = error instanceof kind ? error : error.cause;
    assert(found instanceof kind, `${error.stack}`);
    if (code) assert.equal(found.envelopeCode, code);
    return found;
  }
  assert.fail(`it was not refused: ${JSON.stringify(result)}`);
}

export async function until(holds, what) {
  const began = Date.now();
  while (!holds()) {
    assert(Date.now() - began < LIMIT, `${what} did not come`);
    await sleep(5);
  }
}

async function run({ sentence, run }, index) {
  const place = new Place(`case-${index}`);
  const late = new AbortController();
  try {
    const limit = sleep(LIMIT, null, { signal: late.signal }).then(() => assert.fail("it hangs"));
    limit.catch(() => {});
    await Promise.race([run(place), limit]);
    console.log(`ok ${sentence}`);
    return true;
  } catch (error) {
    console.log(`FAILED ${sentence}\n${error.stack ?? error}`);
    for (const { request, response } of place.exchanges.slice(-6)) {
      console.log("  ", request.body.slice(0, 800), "\n     ->", response.body.slice(0, 2500));
    }
    return false;
  } finally {
    late.abort();
    await place.settle();
  }
}

export async function main() {
  const went = [];
  const only = process.argv[2];
  const rest = cases.map((one, index) => [one, index]).filter(([one]) => !only || one.sentence.includes(only));
  const worker = async () => {
    for (let next = rest.shift(); next; next = rest.shift()) went.push(await run(...next));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  for (const starting of servers.values()) {
    const one = await starting;
    one.child.kill("SIGTERM");
    const code = await one.ended;
    if (code !== 143 || one.said.includes("panicked")) {
      console.log(`FAILED to end: exit code ${code}: ${one.said.slice(-3000)}`);
      went.push(false);
    }
  }
  process.exit(went.every(Boolean) ? 0 : 1);
}
