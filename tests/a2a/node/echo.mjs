// Takes values through the types of npm `@a2a-js/sdk` and writes what comes of them. A line of standard input is
// `{"type": NAME, "value": …}`; it is answered with a line: `{"value": …}`, or `{"fault": …}` with what is wrong. The types take
// anything and leave out what they do not know, so that the value must come out as it came in.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const sdk = await import(pathToFileURL(`${process.env.A2A_SDK}/dist/index.js`).href);

for await (const line of createInterface({ input: process.stdin })) {
  const { type, value } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ value: sdk[type].toJSON(sdk[type].fromJSON(value)) }));
  } catch (error) {
    console.log(JSON.stringify({ fault: String(error) }));
  }
}
