/*
 * Runs `suite` in Visual Studio Code without a window: the server of VS Code from npm `code-server`, with Chromium as its window.
 *
 * Usage: drive.mjs MODULES HARN VSIX FOLDER, where MODULES is the folder `node_modules` with `code-server`, `node-gyp` and
 * `playwright-core`, HARN the command, VSIX the extension, and FOLDER is emptied and receives the state of the editor and the
 * pictures. The exit code is 0 if the suite passes. CHROMIUM is the browser, by default one from PATH.
 */

import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [modules, harn, vsix, folder] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const vscode = join(modules, "code-server/lib/vscode");
/** Milliseconds within which the suite must end. */
const TIMEOUT = 180_000;

/** Installs what the server of VS Code requires. Its native modules are compiled here, since they are not in the packages. */
function prepare() {
  const done = join(vscode, "prepared");
  if (existsSync(done)) return;
  // Not `ci`: the lock file of the package is not in step with its `package.json`.
  const npm = ["install", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", npm, { cwd: vscode, stdio: ["ignore", "ignore", "inherit"] });
  // The headers that belong to this Node, if they are installed; otherwise `node-gyp` downloads them.
  const prefix = dirname(dirname(process.execPath));
  const headers = existsSync(join(prefix, "include/node/node_api.h")) ? [`--nodedir=${prefix}`] : [];
  for (const module of ["@vscode/spdlog", "native-watchdog", "node-pty"]) {
    const gyp = [join(modules, "node-gyp/bin/node-gyp.js"), "rebuild", "--silent", ...headers];
    execFileSync(process.execPath, gyp, { cwd: join(vscode, "node_modules", module), stdio: ["ignore", "ignore", "inherit"] });
  }
  rmSync(join(vscode, "node_modules.asar"), { force: true });
  symlinkSync("node_modules", join(vscode, "node_modules.asar"));
  writeFileSync(done, "");
}

function browser() {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const paths = (process.env.PATH ?? "").split(delimiter).flatMap((path) => names.map((name) => join(path, name)));
  const found = process.env.CHROMIUM ?? paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error("Chromium not found: install it, or set CHROMIUM to its path");
  return found;
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const at = (name) => join(folder, name);

/** Starts the server with the extension, and returns it once it listens. */
async function serve(port) {
  const settings = {
    "extensions.autoCheckUpdates": false,
    "workbench.startupEditor": "none",
    "workbench.colorTheme": "Default Light Modern",
    "breadcrumbs.enabled": false,
    "editor.minimap.enabled": false,
    "editor.fontSize": 13,
  };
  for (const place of ["user/Machine", "data/data/Machine"]) {
    mkdirSync(at(place), { recursive: true });
    writeFileSync(join(at(place), "settings.json"), JSON.stringify(settings));
  }
  const main = join(vscode, "out/server-main.js");
  const folders = ["--extensions-dir", at("extensions"), "--user-data-dir", at("user"), "--server-data-dir", at("data")];
  const common = [main, ...folders, "--accept-server-license-terms", "--telemetry-level", "off"];
  // With `VSCODE_CLI`, the environment is this one instead of that of a login shell.
  const path = [dirname(harn), process.env.PATH].join(delimiter);
  const options = { env: { ...process.env, HOME: folder, PATH: path, VSCODE_CLI: "1" }, stdio: ["ignore", "pipe", "pipe"] };
  execFileSync(process.execPath, [...common, "--install-extension", vsix], options);
  const address = ["--host", "127.0.0.1", "--port", String(port)];
  const server = spawn(
    process.execPath,
    [...common, ...address, "--without-connection-token", "--disable-workspace-trust"],
    options,
  );
  let said = "";
  await new Promise((resolve, reject) => {
    server.on("exit", (code) => reject(new Error(`the server of VS Code ended with ${code}:\n${said}`)));
    for (const stream of [server.stdout, server.stderr]) {
      stream.on("data", (data) => {
        said += data;
        if (said.includes("listening on")) resolve();
      });
    }
  });
  return server;
}

/** Opens the project in a window, runs the suite in it, and returns its exit code. */
async function runSuite(page, port) {
  const ended = new Promise((resolve) => void page.exposeFunction("codeAutomationExit", (code) => resolve(code)));
  await page.exposeFunction("codeAutomationLog", () => undefined);
  page.on("console", async (message) => {
    const [, kind, text] = /suite (\w+): ([^]*)/.exec(message.text()) ?? [];
    if (kind === "window") {
      await page.setViewportSize(JSON.parse(text));
    } else if (kind === "picture") {
      // Without the blinking cursor and the notifications.
      const style = ".cursors-layer, .notifications-toasts { display: none !important }";
      await page.screenshot({ path: at("part.png"), style });
      renameSync(at("part.png"), at(`${text}.png`));
    } else if (kind !== undefined) {
      console.log(`${kind}: ${text}`);
    }
  });
  const remote = (path) => `vscode-remote://127.0.0.1:${port}${path}`;
  const payload = JSON.stringify([
    ["extensionDevelopmentPath", remote(join(here, "suite"))],
    ["extensionTestsPath", remote(join(here, "suite/index.js"))],
  ]);
  await page.goto(`http://127.0.0.1:${port}/?folder=${at("project")}&payload=${encodeURIComponent(payload)}`);
  const expired = new Promise((resolve) => setTimeout(() => resolve("no result in time"), TIMEOUT).unref());
  return Promise.race([ended, expired]);
}

prepare();
rmSync(folder, { recursive: true, force: true });
cpSync(join(here, "project"), at("project"), { recursive: true });
const port = await freePort();
const server = await serve(port);
const { chromium } = createRequire(pathToFileURL(join(modules, "x")))("playwright-core");
const window = await chromium.launch({ executablePath: browser(), args: ["--no-sandbox"] });
let code;
try {
  const page = await window.newPage({ viewport: { width: 860, height: 640 } });
  code = await runSuite(page, port);
  await page.screenshot({ path: at("end.png") });
} finally {
  await window.close();
  server.removeAllListeners("exit");
  server.kill();
}
if (code !== 0) console.log(`the suite ended with ${code}; the last picture is ${at("end.png")}`);
process.exitCode = code === 0 ? 0 : 1;
