"""Drives `harn repl` in a pseudo-terminal and prints what is on its screen.

Standard input holds one step a line: a JSON list of the word of the step and its argument.

    ["type", TEXT]     types text; a newline is the enter key
    ["key", NAME]      presses tab, up, ctrl-c, ctrl-d or ctrl-r
    ["paste", TEXT]    pastes text
    ["wait", TEXT]     waits until the screen shows the text
    ["break", ""]      presses Ctrl-C, and waits until there is another prompt
    ["line", TEXT]     types a line, and waits until there is another prompt
"""

import json
import sys
import time

import pexpect
import pyte

COLUMNS, ROWS, PATIENCE = 120, 200, 120
PROMPT = "harn>"
KEYS = {"tab": "\t", "up": "\x1b[A", "ctrl-c": "\x03", "ctrl-d": "\x04", "ctrl-r": "\x12"}

screen = pyte.Screen(COLUMNS, ROWS)
stream = pyte.ByteStream(screen)
child = pexpect.spawn(sys.argv[1], sys.argv[2:], dimensions=(ROWS, COLUMNS), timeout=PATIENCE)
child.delaybeforesend = None


def lines():
    text = [line.rstrip() for line in screen.display]
    while text and not text[-1]:
        text.pop()
    return text


def prompts():
    return sum(line.startswith(PROMPT) for line in lines())


def read():
    try:
        stream.feed(child.read_nonblocking(65536, timeout=0.05))
        return True
    except pexpect.TIMEOUT:
        return True
    except pexpect.EOF:
        return False


def until(what, is_done):
    end = time.monotonic() + PATIENCE
    while not is_done():
        if not read() and not is_done() or time.monotonic() > end:
            sys.exit("never shown: %s\n%s" % (what, "\n".join(lines())))


for step in sys.stdin:
    word, argument = json.loads(step)
    if word == "type":
        child.send(argument.replace("\n", "\r"))
    elif word == "key":
        child.send(KEYS[argument])
    elif word == "paste":
        child.send("\x1b[200~" + argument + "\x1b[201~")
    elif word == "wait":
        until(argument, lambda: any(argument in line for line in lines()))
    elif word in ("line", "break"):
        before = prompts()
        child.send(argument + "\r" if word == "line" else KEYS["ctrl-c"])
        until("a prompt after " + argument, lambda: prompts() > before and lines()[-1] == PROMPT)
end = time.monotonic() + PATIENCE
while read():
    if time.monotonic() > end:
        sys.exit("never ends:\n%s" % "\n".join(lines()))
child.wait()
print("\n".join(lines()))
sys.exit(child.exitstatus or 0)
