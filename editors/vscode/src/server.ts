/** Finds out whether a command offers the language server, before a client is started for it. */

import { execFile } from "node:child_process";

/** Whether the language server can be started. */
export type Availability =
  | { kind: "ready" }
  /** The command does not exist. */
  | { kind: "missing" }
  /** The command exists but has no subcommand `lsp`. */
  | { kind: "outdated"; version: string }
  /** The command cannot be run, or does not answer. */
  | { kind: "broken"; reason: string };

/** Exit code of a command line that harn does not understand. */
const USAGE_ERROR = 2;

/** Milliseconds within which the command must answer. */
export const TIMEOUT = 10_000;

/** Asks `command` whether it has a language server. */
export async function findServer(command: string, timeout = TIMEOUT): Promise<Availability> {
  const help = await run(command, ["lsp", "--help"], timeout);
  if (help.code === 0) return { kind: "ready" };
  if (help.code === "ENOENT") return { kind: "missing" };
  if (help.code !== USAGE_ERROR) return { kind: "broken", reason: describe(help.code, timeout) };
  const version = await run(command, ["--version"], timeout);
  return { kind: "outdated", version: version.code === 0 ? version.output.trim() : "unknown version" };
}

/** What a user should know and do; nothing if the server is ready. */
export function explain(command: string, found: Availability): string | undefined {
  switch (found.kind) {
    case "ready":
      return undefined;
    case "missing":
      return `harn language server: command not found: "${command}". Install harn, or set "harn.path".`;
    case "outdated":
      return (
        `harn language server: "${command}" (${found.version}) has no command "lsp". ` +
        `Install a version of harn that has it, or set "harn.server.enabled" to false.`
      );
    case "broken":
      return `harn language server: could not run "${command} lsp": ${found.reason}. Check "harn.path".`;
  }
}

interface Outcome {
  /** The exit code, or the name of the error or signal. */
  code: number | string;
  output: string;
}

function run(command: string, args: string[], timeout: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { timeout, windowsHide: true }, (error, output) => {
      const code = error === null ? 0 : (error.code ?? error.signal ?? "unknown error");
      resolve({ code, output });
    });
    child.stdin?.end();
  });
}

function describe(code: number | string, timeout: number): string {
  if (typeof code === "number") return `exit code ${code}`;
  return code === "SIGTERM" ? `no answer within ${timeout} ms` : code;
}
