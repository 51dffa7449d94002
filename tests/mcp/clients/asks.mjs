// Answers the questions of tests/mcp/asks.harn with the official clients for TypeScript. MODULES is the folder of the
// packages, VERSION the version of the protocol; the arguments are a URL or a command.

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
const options = { capabilities: { elicitation: { form: {} } } };
if (VERSION === "2026-07-28") options.versionNegotiation = { mode: { pin: VERSION } };
const client = new Client({ name: "asks", version: "1.0.0" }, options);
const replies = ["yes", "too late", "yes", null, null];
const reply = async ({ params }) => {
  const answer = replies.shift();
  console.log(params.message, answer);
  return answer === null ? { action: "decline" } : { action: "accept", content: { answer } };
};
const schema = isOld ? (await load("@modelcontextprotocol/sdk/types.js")).ElicitRequestSchema : "elicitation/create";
client.setRequestHandler(schema, reply);
await client.connect(transport);
for (let n = 0; n < 3; n++) {
  console.log((await client.callTool({ name: "cancel_order", arguments: { id: 7 } })).content[0].text);
}
await client.close();
