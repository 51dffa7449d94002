/** Starts the language server of harn for the scripts that are open. */

import { relative } from "node:path";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";
import { COMMANDS } from "./commands";
import { explain, findServer } from "./server";

let client: LanguageClient | undefined;
/** Each change waits for the one before it, so that never two servers run. */
let changes: Promise<void> = Promise.resolve();

export function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("harn.restartServer", restart),
    ...Object.keys(COMMANDS).map((id) =>
      vscode.commands.registerCommand(id, (uri?: string, name?: string) => runInTerminal(id, uri, name)),
    ),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      const concerned = event.affectsConfiguration("harn.path") || event.affectsConfiguration("harn.server.enabled");
      return concerned ? restart() : undefined;
    }),
  );
  return restart();
}

export function deactivate(): Promise<void> {
  return enqueue(stop);
}

function restart(): Promise<void> {
  return enqueue(async () => {
    await stop();
    await start();
  });
}

function enqueue(change: () => Promise<void>): Promise<void> {
  changes = changes.then(change).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(`harn language server: ${reason}`);
  });
  return changes;
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("harn");
  if (!vscode.workspace.isTrusted || !settings.get<boolean>("server.enabled", true)) return;
  const command = settings.get<string>("path", "harn");
  const problem = explain(command, await findServer(command));
  if (problem !== undefined) {
    offerSettings(problem);
    return;
  }
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "harn", scheme: "file" },
      { language: "harn", scheme: "untitled" },
      { pattern: "**/*.rhai", scheme: "file" },
      { pattern: "**/harn.toml", scheme: "file" },
      { pattern: "**/.harn/reminders/*.md", scheme: "file" },
    ],
    // The extension brings its own snippets.
    initializationOptions: { snippets: false, hints: settings.get("hints") },
    synchronize: { configurationSection: "harn" },
  };
  client = new LanguageClient("harn", "harn", server, options);
  await client.start();
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

/** Runs a command of a code lens, or of the palette for the file in the editor, without a shell. */
async function runInTerminal(id: string, uri?: string, name?: string): Promise<void> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const file = uri === undefined ? active : vscode.Uri.parse(uri);
  const build = COMMANDS[id];
  if (file?.scheme !== "file" || build === undefined) {
    void vscode.window.showWarningMessage("harn: save the script as a file first.");
    return;
  }
  await vscode.workspace.openTextDocument(file).then((document) => document.save());
  const command = vscode.workspace.getConfiguration("harn").get<string>("path", "harn");
  const folder = vscode.workspace.getWorkspaceFolder(file);
  const args = build(shortPath(file, folder), name ?? "");
  const execution = new vscode.ProcessExecution(command, args, { cwd: folder?.uri.fsPath });
  const task = new vscode.Task({ type: "harn" }, folder ?? vscode.TaskScope.Workspace, args[0] ?? id, "harn", execution);
  await vscode.tasks.executeTask(task);
}

/** Returns the path of a file for a command that runs in the folder, and never one that looks like an option. */
function shortPath(file: vscode.Uri, folder: vscode.WorkspaceFolder | undefined): string {
  if (folder === undefined) return file.fsPath;
  const path = relative(folder.uri.fsPath, file.fsPath);
  return path.startsWith("-") ? `./${path}` : path;
}

function offerSettings(problem: string): void {
  const open = "Open Settings";
  void vscode.window.showWarningMessage(problem, open).then((chosen) => {
    if (chosen === open) void vscode.commands.executeCommand("workbench.action.openSettings", "harn");
  });
}
