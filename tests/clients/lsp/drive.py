"""Drives `harn lsp` with the client of pygls: reads cases as JSON, one after the other, and prints what the server answered.

Usage: drive.py HARN ROOT, where ROOT holds the files of a project. Standard input is a list of cases, each a list of steps;
standard output is the list of their answers. Each case has a server of its own. Parameters and results pass the types of
lsprotocol, so a message that does not conform to the protocol fails.
"""

import asyncio
import json
import pathlib
import re
import sys

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.lsp.client import LanguageClient

HARN, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
TIMEOUT = 120
CONVERTER = get_converter()


class Session:
    """A client with the documents that it has opened."""

    def __init__(self):
        self.client = LanguageClient("harn-tests", "1")
        self.texts = {}
        self.versions = {}
        self.published = {}
        self.arrived = asyncio.Event()
        self.answers = []

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params):
            self.published[params.uri] = params
            self.arrived.set()

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params):
            self.registered = params

        @self.client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def refresh(_):
            return None

    async def start(self, step):
        await self.client.start_io(HARN, "lsp")
        capabilities = step.get("capabilities", DEFAULT_CAPABILITIES)
        params = {
            "processId": None,
            "rootUri": None,
            "capabilities": capabilities,
            "workspaceFolders": [{"uri": ROOT.as_uri(), "name": "project"}],
            "initializationOptions": step.get("options"),
        }
        self.initialized = await self.request("initialize", params)
        self.client.initialized(types.InitializedParams())

    async def request(self, method, params):
        kind = types.METHOD_TO_TYPES[method][2]
        typed = CONVERTER.structure(params, kind) if kind is not None and params is not None else None
        sent = self.client.protocol.send_request_async(method, typed)
        return CONVERTER.unstructure(await asyncio.wait_for(sent, TIMEOUT))

    def uri(self, file):
        return file if ":" in file else (ROOT / file).as_uri()

    def text(self, file):
        return self.texts[file] if file in self.texts else (ROOT / file).read_text()

    def position(self, file, marked):
        """The position of `|` in a text that occurs once in a file."""
        text = self.text(file)
        before, after = marked.split("|", 1)
        count = text.count(before + after)
        assert count == 1, f"{marked!r} occurs {count} times in {file}"
        return self.position_at(text, text.index(before + after) + len(before))

    @staticmethod
    def position_at(text, at):
        line = text.count("\n", 0, at)
        start = text.rfind("\n", 0, at) + 1
        return {"line": line, "character": len(text[start:at].encode("utf-16-le")) // 2}

    async def step(self, step):
        kind = next(kind for kind in KINDS if kind in step)
        await getattr(self, kind)(step)

    async def open(self, step):
        file = step["open"]
        self.texts[file] = step.get("text", None) or (ROOT / file).read_text()
        self.versions[file] = 1
        language = {"rhai": "rhai", "toml": "toml"}.get(file.rpartition(".")[2], "harn")
        document = types.TextDocumentItem(self.uri(file), language, 1, self.texts[file])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))

    async def change(self, step):
        """Replaces a text that occurs once by another."""
        file, old, new = step["change"], step["replace"], step["with"]
        text = self.text(file)
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in {file}"
        at = text.index(old)
        change = {
            "range": {"start": self.position_at(text, at), "end": self.position_at(text, at + len(old))},
            "text": new,
        }
        self.texts[file] = text[:at] + new + text[at + len(old) :]
        self.versions[file] += 1
        params = {
            "textDocument": {"uri": self.uri(file), "version": self.versions[file]},
            "contentChanges": [change],
        }
        self.published.pop(self.uri(file), None)
        self.client.text_document_did_change(CONVERTER.structure(params, types.DidChangeTextDocumentParams))

    async def close(self, step):
        document = types.TextDocumentIdentifier(self.uri(step["close"]))
        self.texts.pop(step["close"])
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    async def write(self, step):
        """Writes a file on disk, and reports it; without a text, it is removed."""
        path, text = ROOT / step["write"], step.get("text")
        kind = types.FileChangeType.Changed if path.exists() else types.FileChangeType.Created
        if text is None:
            path.unlink()
            kind = types.FileChangeType.Deleted
        else:
            path.write_text(text)
        event = types.FileEvent(path.as_uri(), kind)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    async def settings(self, step):
        params = types.DidChangeConfigurationParams(step["settings"])
        self.client.workspace_did_change_configuration(params)

    async def diagnostics(self, step):
        """Waits for the published diagnostics of a document."""
        uri = self.uri(step["diagnostics"])
        while uri not in self.published:
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), TIMEOUT)
        self.answers.append(CONVERTER.unstructure(self.published.pop(uri)))

    async def capabilities(self, step):
        self.answers.append(self.initialized)

    async def ask(self, step):
        """Sends a request. `file`, `at` and `range` become its parameters; `pick` is the path of a part of the answer before, by
        which the parameter `as` is set, or all of them."""
        params = dict(step.get("params", {}))
        file = step.get("file")
        if file is not None:
            params.setdefault("textDocument", {"uri": self.uri(file)})
        if "at" in step:
            params["position"] = self.position(file, step["at"])
        if "range" in step:
            start, end = step["range"]
            params["range"] = {"start": self.position(file, start), "end": self.position(file, end)}
        if "pick" in step:
            picked = self.answers[-1]
            for key in step["pick"]:
                picked = picked[key]
            if "as" in step:
                params[step["as"]] = picked
            else:
                params = picked
        try:
            self.answers.append(await self.request(step["ask"], params))
        except Exception as error:  # The errors of the server are answers.
            if not hasattr(error, "code"):
                raise
            self.answers.append({"error": {"code": error.code, "message": str(error)}})

    async def end(self):
        await self.client.shutdown_async(None)
        self.client.exit(None)
        code = await asyncio.wait_for(self.client._server.wait(), TIMEOUT)
        assert code == 0, f"exit code {code}"


KINDS = ["open", "change", "close", "write", "settings", "diagnostics", "capabilities", "ask"]

DEFAULT_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceEdit": {"documentChanges": True},
    },
    "textDocument": {
        "publishDiagnostics": {
            "relatedInformation": True,
            "codeDescriptionSupport": True,
            "tagSupport": {"valueSet": [1, 2]},
            "dataSupport": True,
        },
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "completion": {
            "completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"], "resolveSupport": {"properties": ["documentation"]}},
        },
        "hover": {"contentFormat": ["markdown"]},
        "signatureHelp": {"signatureInformation": {"parameterInformation": {"labelOffsetSupport": True}}},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source.fixAll"]}},
            "dataSupport": True,
            "isPreferredSupport": True,
        },
        "rename": {"prepareSupport": True},
        "semanticTokens": {
            "requests": {"full": {"delta": True}, "range": True},
            "tokenTypes": [],
            "tokenModifiers": [],
            "formats": ["relative"],
        },
    },
}


async def case(steps):
    session = Session()
    first = steps[0] if "start" in steps[0] else {}
    await session.start(first.get("start", {}))
    for step in steps[1:] if first else steps:
        try:
            await session.step(step)
        except Exception as error:
            raise RuntimeError(f"in the step {json.dumps(step)}: {error!r}") from error
    await session.end()
    return session.answers


async def main():
    answers = []
    for steps in json.load(sys.stdin):
        answers.append(await case(steps))
    text = json.dumps(answers, ensure_ascii=False)
    # The folder of the project is another one on each machine.
    print(re.sub(re.escape(ROOT.as_uri()), "file://PROJECT", text).replace(str(ROOT), "PROJECT"))


asyncio.run(main())
