// Uses examples/mcp/orders.harn with the official clients for TypeScript. MODULES is the folder of the packages, VERSION
// the version of the protocol; the arguments are a URL or a command.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const { MODULES, VERSION, SDK } = process.env;
const [target, ...args] = process.argv.slice(2);
const require = createRequire(`${MODULES}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)));

const isOld = SDK === "sdk";
const { Client } = await load(isOld ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StdioClientTransport } = await load(isOld ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");
const { StreamableHTTPClientTransport } = await load(
  isOld ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client",
);
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args, stderr: "ignore" });
const options = { capabilities: { experimental: { "harn/reminders": {} } } };
if (VERSION === "2026-07-28") options.versionNegotiation = { mode: { pin: VERSION } };
const client = new Client({ name: "cases", version: "1.0.0" }, options);
const reminders = [];
client.fallbackNotificationHandler = async ({ method, params }) => {
  if (method === "notifications/reminder") reminders.push(params);
};
await client.connect(transport);
// The clients drop a report that arrives together with the result, so reports are taken from the transport too.
const arrived = [];
const receive = transport.onmessage;
transport.onmessage = (message, extra) => {
  if (message.method === "notifications/progress") arrived.push(message.params.message);
  receive(message, extra);
};

console.log(client.getServerVersion().name, client.getInstructions());
console.log((await client.listTools()).tools.map((tool) => tool.name).sort().join(" "));
const call = (name, parameters, rest = {}) =>
  isOld ? client.callTool({ name, arguments: parameters }, undefined, rest) : client.callTool({ name, arguments: parameters }, rest);
console.log(JSON.stringify((await call("find_orders", { item: "lamp", limit: 1 })).structuredContent));
const steps = [];
const shipped = await call("ship_order", { id: 2, step_ms: 20 }, { onprogress: (step) => steps.push(step.message) });
console.log(shipped.content[0].text, arrived.slice(0, 3).join(", "));
if (steps.some((step, place) => step !== arrived[place])) console.log("the client reports", steps);
console.log((await call("ship_order", { id: 9 })).isError);
console.log((await client.listResources()).resources[0].uri);
console.log((await client.readResource({ uri: "orders://3" })).contents[0].text);
console.log((await client.getPrompt({ name: "letter", arguments: { id: "2", tone: "formal" } })).messages[0].content.text);
const reference = { type: "ref/prompt", name: "letter" };
console.log((await client.complete({ ref: reference, argument: { name: "tone", value: "f" } })).completion.values.join(" "));
try {
  await client.readResource({ uri: "nowhere://1" });
} catch (error) {
  console.log(error.message);
}
const given = new AbortController();
setTimeout(() => given.abort(), 300);
await call("ship_order", { id: 1, step_ms: 60000 }, { signal: given.signal }).catch(() => console.log("cancelled"));
if (isOld) {
  // The experimental tasks of 2025-11-25.
  const seen = [];
  const stream = client.experimental.tasks.callToolStream({ name: "ship_order", arguments: { id: 3 } }, undefined, { task: { ttl: 60000 } });
  for await (const message of stream) {
    if (message.type === "taskCreated") seen.push("created");
    if (message.type === "result") seen.push(message.result.content[0].text);
    if (message.type === "error") seen.push(message.error.message);
  }
  console.log(seen.join(": "));
}
console.log(reminders.map((reminder) => `${reminder.dedupeKey} ${reminder.ttlTurns} ${reminder.tags}`).join("; "));
await client.close();
