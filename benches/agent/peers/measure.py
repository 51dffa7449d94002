"""What both programs share: a mark at each tool call, and the figures that the bench reads."""

import gc
import json
import resource
import sys
import time

WARM_UP = 20
MARKS = []


def mark():
    """Called by the tool: everything between two marks is the loop's own."""
    MARKS.append(time.perf_counter_ns())


def resident_kib():
    with open("/proc/self/status") as status:
        return int(next(line.split()[1] for line in status if line.startswith("VmRSS")))


def main(run):
    """Runs `run(turns)` once to warm up, then as often as the command line says."""
    turns = int(sys.argv[1])
    run(WARM_UP)
    gc.collect()
    before = resident_kib()
    MARKS.clear()
    run(turns)
    assert len(MARKS) == turns, f"{len(MARKS)} tool calls, not {turns}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    json.dump({"marks_ns": MARKS, "before_kib": before, "peak_kib": peak}, sys.stdout)
