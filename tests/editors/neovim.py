"""Shows a script in Neovim in a pseudo-terminal, types keys, and prints the screen as text or as SVG.

The environment has HARN_EDITORS, the folder `editors` of the repository, and `harn` in PATH.
"""

import argparse
import pathlib
import subprocess
import sys
import time
from xml.sax.saxutils import escape

import pexpect
import pyte

arguments = argparse.ArgumentParser(description=__doc__)
arguments.add_argument("nvim")
arguments.add_argument("format", choices=["text", "svg"])
arguments.add_argument("file", type=pathlib.Path)
arguments.add_argument("--rows", type=int, help="rows of the screen; by default one more than the file has lines")
arguments.add_argument("--shows", nargs="+", default=[], help="texts that must appear, each on one line")
arguments.add_argument("--keys", default="", help="keys that are typed then")
arguments.add_argument("--shows-then", nargs="+", default=[], help="texts that must appear after the keys")
ARGUMENTS = arguments.parse_args()
NVIM, FORMAT, FILE = ARGUMENTS.nvim, ARGUMENTS.format, ARGUMENTS.file
COLUMNS, TIMEOUT = 80, 60
ROWS = ARGUMENTS.rows or len(FILE.read_text().splitlines()) + 1
SETUP = ["--clean", "-n", "-u", str(pathlib.Path(__file__).with_suffix(".lua"))]

subprocess.run([NVIM, "--headless", *SETUP, "+HarnBuildParser", "+qa"], check=True, capture_output=True, timeout=TIMEOUT)
screen = pyte.Screen(COLUMNS, ROWS)
stream = pyte.ByteStream(screen)
child = pexpect.spawn(NVIM, [*SETUP, str(FILE)], dimensions=(ROWS, COLUMNS), timeout=TIMEOUT)


def read(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            stream.feed(child.read_nonblocking(65536, timeout=0.05))
        except pexpect.TIMEOUT:
            pass
        except pexpect.EOF:
            sys.exit("Neovim ended:\n" + "\n".join(screen.display))


def wait_for(texts):
    end = time.monotonic() + TIMEOUT
    while not all(any(text in line for line in screen.display) for text in texts):
        if time.monotonic() > end:
            sys.exit("never shown: %s\n%s" % (texts, "\n".join(screen.display)))
        read(0.1)


wait_for(ARGUMENTS.shows)
for key in ARGUMENTS.keys:
    child.send(key)
    read(0.05)
wait_for(ARGUMENTS.shows_then)
# Highlights follow, part by part.
before = None
while before != (now := [[cell for cell in line.values()] for line in screen.buffer.values()]):
    before = now
    read(1.0)
child.terminate(force=True)


def colour(value, default):
    return default if value == "default" else "#" + value if len(value) == 6 else value


def runs(line):
    """The parts of a line that look alike: start, text, character."""
    start, text, last = 0, "", None
    for column in range(COLUMNS):
        cell = line[column]
        style = (cell.fg, cell.bg, cell.bold, cell.italics, cell.reverse)
        if last is not None and style != last:
            yield start, text, last
            start, text = column, ""
        last, text = style, text + (cell.data or " ")
    yield start, text, last


def svg():
    width, height = 8.4, 20
    # What fills the empty cells is the colour of the paper.
    paper = screen.buffer[ROWS - 1][COLUMNS - 1].bg
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="14">'
        % (COLUMNS * width + 16, ROWS * height + 16),
        '<rect width="100%%" height="100%%" rx="6" fill="%s"/>' % colour(paper, "#ffffff"),
    ]
    for row in range(ROWS):
        for start, text, (fg, bg, bold, italics, reverse) in runs(screen.buffer[row]):
            x, y = 8 + start * width, 8 + row * height
            if reverse:
                fg, bg = bg, fg
            if bg not in ("default", paper) and not reverse:
                box = '<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>'
                out.append(box % (x, y, len(text) * width, height, colour(bg, "#ffffff")))
            if not text.strip():
                continue
            look = ' font-weight="bold"' * bold + ' font-style="italic"' * italics
            part = '<text x="%.1f" y="%.1f" fill="%s"%s textLength="%.1f" xml:space="preserve">%s</text>'
            kept = text.rstrip()
            out.append(part % (x, y + 15, colour(fg, "#14161b"), look, len(kept) * width, escape(kept)))
    return "\n".join([*out, "</svg>"])


print(svg() if FORMAT == "svg" else "\n".join(line.rstrip() for line in screen.display).rstrip())
