"""Compiles the tree-sitter grammar and checks it: `tree_sitter_harn.py LIBRARY EDITORS`.

Standard input is JSON: a list of texts. Standard output is JSON: `trees`, for each text the range of its first error or
null, and its nodes as kind, field, kind of the parent, start and end in bytes; `corpus` and `queries`, the problems of
the files in `test/corpus` and of the queries of all editors.
"""

import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path

from tree_sitter import Language, Parser, Query

# The language's own tree keeps nothing of these.
SKIPPED = {"type_parameters", "where_clause"}


def compiled(library: str, grammar: Path) -> Language:
    source = grammar / "src"
    files = [str(source / "parser.c"), str(source / "scanner.c")]
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-I", str(source), *files, "-o", library], check=True)
    function = ctypes.CDLL(library).tree_sitter_harn
    function.restype = ctypes.c_void_p
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return Language(new_capsule(function(), b"tree_sitter.Language", None))


def first_error(node):
    if node.is_error or node.is_missing:
        return [node.start_byte, node.end_byte]
    return next((found for child in node.children if child.has_error and (found := first_error(child))), None)


def nodes(tree) -> list:
    found = []
    cursor = tree.walk()
    parents = ["source_file"]
    going = cursor.goto_first_child()
    while going:
        node = cursor.node
        if node.is_named:
            found.append([node.type, cursor.field_name, parents[-1], node.start_byte, node.end_byte])
        kind = node.type
        if kind not in SKIPPED and cursor.goto_first_child():
            parents.append(kind)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent() or len(parents) == 1:
                return found
            parents.pop()
    return found


def corpus_problems(parser: Parser, folder: Path) -> list:
    problems = []
    for path in sorted(folder.glob("*.txt")):
        cases = re.split(r"^={80}\n(.+)\n={80}\n", path.read_text(), flags=re.MULTILINE)[1:]
        for name, case in zip(cases[::2], cases[1::2]):
            text, wanted = case.split("-" * 80)
            tree = re.sub(r"\w+: ", "", str(parser.parse(text.encode()).root_node))
            if tree != re.sub(r"\s+", " ", wanted).strip().replace("( ", "("):
                problems.append(f"{path.name}: {name}\n{tree}")
    return problems


def query_problems(language: Language, editors: Path) -> list:
    problems = []
    for path in sorted(editors.rglob("*.scm")):
        if "node_modules" in path.parts:
            continue
        try:
            Query(language, path.read_text())
        except Exception as error:
            problems.append(f"{path.relative_to(editors)}: {error}")
    return problems


def main() -> None:
    library, editors = sys.argv[1], Path(sys.argv[2])
    grammar = editors / "tree-sitter-harn"
    language = compiled(library, grammar)
    parser = Parser(language)
    trees = []
    for text in json.load(sys.stdin):
        tree = parser.parse(text.encode())
        trees.append({"error": first_error(tree.root_node) if tree.root_node.has_error else None, "nodes": nodes(tree)})
    corpus = corpus_problems(parser, grammar / "test/corpus")
    json.dump({"trees": trees, "corpus": corpus, "queries": query_problems(language, editors)}, sys.stdout)


main()
