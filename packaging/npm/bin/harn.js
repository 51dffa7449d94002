#!/usr/bin/env node
// Runs the command of the package for this platform, which npm installs as an optional dependency.
"use strict";
const { spawn } = require("node:child_process");

const { platform, arch } = process;
const name = `harn-lang-${platform}-${arch}`;
const command = platform === "win32" ? "harn.exe" : "harn";

let path;
try {
  path = require.resolve(`${name}/bin/${command}`);
} catch {
  const known = Object.keys(require("../package.json").optionalDependencies);
  console.error(
    known.includes(name)
      ? `harn: the package ${name} is not installed; install harn-lang again without --omit=optional`
      : `harn: no package for ${platform} on ${arch}; the packages are ${known.join(", ")}. Build it from source instead.`,
  );
  process.exit(1);
}

const child = spawn(path, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`harn: cannot run ${path}: ${error.message}`);
  process.exit(1);
});
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) {
  // A terminal sends Ctrl-C to both processes; a second one would end the command at once.
  process.on(signal, () => signal === "SIGINT" && process.stdin.isTTY ? undefined : child.kill(signal));
}
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  // Ends as the command did, so that the caller sees the same signal.
  for (const handled of signals) process.removeAllListeners(handled);
  process.kill(process.pid, signal);
});
