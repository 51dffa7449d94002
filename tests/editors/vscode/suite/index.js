/* What the extension must do in Visual Studio Code. Runs in the extension host, on a copy of the folder `project`. */

const assert = require("node:assert/strict");
const { existsSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const vscode = require("vscode");

/** Milliseconds within which the editor must show something. */
const TIMEOUT = 20_000;
/** The state of the editor; its first folder is the copy of `project`. */
const project = () => vscode.workspace.workspaceFolders[0].uri.fsPath;

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const execute = (command, ...args) => vscode.commands.executeCommand(command, ...args);

/** Waits until `ask` returns something that `check` accepts. */
async function until(what, ask, check = (found) => found) {
  const end = Date.now() + TIMEOUT;
  for (;;) {
    const found = await ask();
    if (check(found)) return found;
    if (Date.now() > end) assert.fail(`${what} did not appear: ${JSON.stringify(found)}`);
    await sleep(100);
  }
}

async function open(name) {
  const document = await vscode.workspace.openTextDocument(join(project(), name));
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  return { document, editor, uri: document.uri };
}

/** Returns the position after the first occurrence of `text`. */
function after(document, text) {
  const offset = document.getText().indexOf(text);
  assert.notEqual(offset, -1, text);
  return document.positionAt(offset + text.length);
}

const messages = (uri) => vscode.languages.getDiagnostics(uri).map((found) => `${found.code?.value ?? found.code}: ${found.message}`);
const label = (item) => (typeof item.label === "string" ? item.label : item.label.label);

/** Lets the driver take a picture of the window. */
async function picture(name) {
  await sleep(1500);
  console.log(`suite picture: ${name}`);
  await until(`${name}.png`, () => existsSync(join(project(), "..", `${name}.png`)));
}

const tests = {
  async "a script activates the extension"() {
    const extension = vscode.extensions.getExtension("harn.harn");
    assert.ok(extension, "the extension is not installed");
    assert.equal(extension.isActive, false);
    const { document } = await open("weather.harn");
    assert.equal(document.languageId, "harn");
    await until("the extension", () => extension.isActive);
  },

  async "hints and commands are shown"() {
    const { document, uri } = await open("weather.harn");
    const whole = new vscode.Range(0, 0, document.lineCount, 0);
    const hints = await until("the hints", () => execute("vscode.executeInlayHintProvider", uri, whole), (found) => found.length > 0);
    const labels = hints.map((hint) => (typeof hint.label === "string" ? hint.label : hint.label.map((part) => part.value).join("")));
    const lifetime = "in 2 prompts · survives compaction · not for sub-agents";
    assert.deepEqual(labels, ["event:", lifetime, ": list<string>", ": string", "days:", "system:"]);
    // The editor cuts hints that are longer.
    const longest = vscode.workspace.getConfiguration("editor", document).get("inlayHints.maximumLength");
    assert.ok(longest === 0 || longest >= lifetime.length, `hints are cut after ${longest} characters`);
    const lenses = await execute("vscode.executeCodeLensProvider", uri);
    assert.deepEqual(lenses.map((lens) => lens.command.title), ["Run", "Preview prompt"]);
    await picture("hints");
  },

  async "completion shows the keys of a reminder"() {
    const { document, uri } = await open("weather.harn");
    const found = await execute("vscode.executeCompletionItemProvider", uri, after(document, '"none",\n  '), undefined, 100);
    const item = found.items.find((item) => label(item) === "role_hint");
    assert.ok(item, JSON.stringify(found.items.map(label)));
    assert.notEqual(item.documentation?.value ?? item.documentation ?? "", "");
  },

  async "hover, definition and rename work across files"() {
    const { document, uri } = await open("list.harn");
    const use = after(document, "let found = ").translate(0, 1);
    const hovers = await until("the hover", () => execute("vscode.executeHoverProvider", uri, use), (found) => found.length > 0);
    const text = hovers.flatMap((hover) => hover.contents.map((part) => part.value)).join("\n");
    assert.match(text, /Returns the cities of a country\./);
    const [place] = await execute("vscode.executeDefinitionProvider", uri, use);
    assert.ok((place.targetUri ?? place.uri).path.endsWith("/cities.harn"));
    const edit = await execute("vscode.executeDocumentRenameProvider", uri, use, "cities_in");
    const changes = edit.entries().map(([file, edits]) => `${file.path.split("/").pop()}: ${edits.length}`);
    assert.deepEqual(changes.sort(), ["cities.harn: 1", "list.harn: 2"]);
  },

  async "a mistake is reported, and a fix removes it"() {
    const { document, uri } = await open("list.harn");
    await until("the error", () => messages(uri), (found) => found.some((text) => text.startsWith("HARN-NAM-001: ")));
    const range = document.lineAt(3).range;
    const actions = await execute("vscode.executeCodeActionProvider", uri, range, "quickfix");
    const fix = actions.find((action) => action.edit !== undefined && action.title.includes("found"));
    assert.ok(fix, JSON.stringify(actions.map((action) => action.title)));
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.equal(document.lineAt(3).text, "println(found)");
    await until("a script without errors", () => messages(uri), (found) => found.length === 0);
  },

  async "a script is formatted"() {
    const { document, editor, uri } = await open("cities.harn");
    await editor.edit((edit) => edit.insert(new vscode.Position(2, 0), "    "));
    const edits = await execute("vscode.executeFormatDocumentProvider", uri, { tabSize: 2, insertSpaces: true });
    const change = new vscode.WorkspaceEdit();
    change.set(uri, edits);
    assert.ok(await vscode.workspace.applyEdit(change));
    assert.match(document.lineAt(2).text, /^ {2}return/);
    await execute("workbench.action.files.save");
  },

  async "a script in Rhai gets diagnostics"() {
    const { uri } = await open("mistake.rhai");
    await until("the error", () => messages(uri), (found) => found.length > 0);
  },

  async "harn.toml gets diagnostics"() {
    writeFileSync(join(project(), "harn.toml"), "[fmt]\nwidht = 100\n");
    const { uri } = await open("harn.toml");
    await until("the error", () => messages(uri), (found) => found.some((text) => text.startsWith("HARN-CFG-002: ")));
    // The preview below reads it.
    const change = new vscode.WorkspaceEdit();
    change.replace(uri, new vscode.Range(1, 0, 1, 5), "width");
    assert.ok(await vscode.workspace.applyEdit(change));
    await until("settings without errors", () => messages(uri), (found) => found.length === 0);
    await execute("workbench.action.files.save");
  },

  async "the prompt of a script is previewed in a terminal"() {
    await execute("workbench.action.closeAllEditors");
    console.log(`suite window: ${JSON.stringify({ width: 860, height: 760 })}`);
    const { editor, uri } = await open("weather.harn");
    editor.revealRange(new vscode.Range(14, 0, 14, 0), vscode.TextEditorRevealType.AtTop);
    const lenses = await execute("vscode.executeCodeLensProvider", uri);
    const { command, arguments: args } = lenses.find((lens) => lens.command.title === "Preview prompt").command;
    const ended = new Promise((resolve) => vscode.tasks.onDidEndTaskProcess((event) => resolve(event.exitCode)));
    await execute(command, ...args);
    assert.equal(await Promise.race([ended, sleep(TIMEOUT)]), 0);
    await execute("workbench.action.focusActiveEditorGroup");
    for (let i = 0; i < 5; i += 1) await execute("workbench.action.decreaseViewHeight");
    editor.revealRange(new vscode.Range(14, 0, 14, 0), vscode.TextEditorRevealType.AtTop);
    await picture("preview");
  },

  async "the server is restarted"() {
    const { uri } = await open("list.harn");
    await execute("harn.restartServer");
    const symbols = () => execute("vscode.executeDocumentSymbolProvider", uri);
    await until("the symbols", symbols, (found) => found?.some((symbol) => symbol.name === "found"));
  },
};

exports.run = async function run() {
  await execute("workbench.action.closeSidebar");
  await execute("workbench.action.closeAuxiliaryBar");
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log(`suite passed: ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`suite failed: ${name}\n${error.stack}`);
    }
  }
  if (failed > 0) throw new Error(`${failed} tests failed`);
};
