import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { explain, findServer } from "../src/server";

const folder = mkdtempSync(join(tmpdir(), "harn-server-"));
after(() => rmSync(folder, { recursive: true }));

/** A command that runs a shell script. */
function command(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test("a command with the subcommand is ready", async () => {
  const harn = command("ready", '[ "$*" = "lsp --help" ]');
  const found = await findServer(harn);
  assert.deepEqual(found, { kind: "ready" });
  assert.equal(explain(harn, found), undefined);
});

test("a command that does not exist is missing", async () => {
  const found = await findServer(join(folder, "none"));
  assert.deepEqual(found, { kind: "missing" });
  assert.equal(
    explain("harn", found),
    'harn language server: command not found: "harn". Install harn, or set "harn.path".',
  );
});

test("a command without the subcommand is outdated", async () => {
  const harn = command("outdated", 'if [ "$1" = --version ]; then echo harn 0.1.0; else exit 2; fi');
  const found = await findServer(harn);
  assert.deepEqual(found, { kind: "outdated", version: "harn 0.1.0" });
  assert.match(explain("harn", found) ?? "", /"harn" \(harn 0\.1\.0\) has no command "lsp"/);
});

test("a command that fails otherwise is broken", async () => {
  const found = await findServer(command("broken", "exit 70"));
  assert.deepEqual(found, { kind: "broken", reason: "exit code 70" });
});

test("a file that is not a program is broken", async () => {
  const path = join(folder, "text");
  writeFileSync(path, "text");
  assert.deepEqual(await findServer(path), { kind: "broken", reason: "EACCES" });
});

test("a command that does not answer is broken", async () => {
  const found = await findServer(command("slow", "exec sleep 60"), 200);
  assert.deepEqual(found, { kind: "broken", reason: "no answer within 200 ms" });
  assert.match(explain("harn", found) ?? "", /could not run "harn lsp": no answer within 200 ms/);
});

// Set by the tests of the repository to the command that they have built.
const built = process.env.HARN;
test("the command of the repository is understood", { skip: built === undefined }, async () => {
  const found = await findServer(built ?? "");
  assert.ok(found.kind === "ready" || found.kind === "outdated", JSON.stringify(found));
  if (found.kind === "outdated") assert.match(found.version, /^harn \d+\.\d+\.\d+/);
});
