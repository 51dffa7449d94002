//! The catalogue of runtime errors.

use crate::codes;

codes! {
/// The codes of runtime errors.
pub enum RunCode {
    /// Memory is used up.
    Memory = "HARN-LIM-001", Error {
        title: "the run used up its memory",
        meaning: "All values of a run together may hold so much: 4 GiB, or what `--max-memory` or `memory` in `harn.toml` \
                  says. Nothing can catch this, and the exit code is 3.",
    },
    /// Time is used up.
    Time = "HARN-LIM-002", Error {
        title: "the run took too long",
        meaning: "The run went on for longer than `--timeout` or `timeout` in `harn.toml` allows, by the system's clock. It \
                  can catch this once and has a tenth of its time, at least 100 ms, to clean up; then it is ended, with \
                  exit code 3.",
    },
    /// A thrown value that nobody caught.
    Uncaught = "HARN-RUN-001", Error {
        title: "an error that nobody caught",
        meaning: "A value was thrown and no `catch` took it. Catch it where something can be done about it, or let the run end.",
        fails: "throw \"no such user\"\n",
        mended: "let r = try { throw \"no such user\" }\nprintln(is_err(r))\n",
    },
    /// An operator or builtin given a value of the wrong type.
    Type = "HARN-RUN-002", Error {
        title: "a value of the wrong type",
        meaning: "An operator or a builtin was given a value that it cannot work with. Nothing is turned into a string by \
                  itself: use `\"${…}\"` or `to_string`.",
        fails: "fn title(n) {\n  return \"turn \" + n\n}\nprintln(title(3))\n",
        mended: "fn title(n) {\n  return \"turn ${n}\"\n}\nprintln(title(3))\n",
    },
    /// Division or remainder by the integer zero.
    Zero = "HARN-RUN-003", Error {
        title: "division by zero",
        meaning: "An integer was divided by the integer zero. Floats give `inf` or `NaN` instead.",
        fails: "let n = 0\nprintln(10 / n)\n",
        mended: "let n = 0\nprintln(n == 0 ? 0 : 10 / n)\n",
    },
    /// An index that is out of range.
    Index = "HARN-RUN-004", Error {
        title: "an index out of range",
        meaning: "A list or string has no element there. `?[i]` gives nil instead; `-1` is the last one.",
        fails: "let xs = [1, 2]\nprintln(xs[2])\n",
        mended: "let xs = [1, 2]\nprintln(xs?[2])\n",
    },
    /// A method or field that the value does not have.
    Member = "HARN-RUN-005", Error {
        title: "no such method or field",
        meaning: "The value has no method or field of that name. Dicts give nil for a missing key; other values do not guess.",
        fails: "fn size(xs) {\n  return xs.lenght()\n}\nprintln(size([1, 2]))\n",
        mended: "fn size(xs) {\n  return xs.count()\n}\nprintln(size([1, 2]))\n",
    },
    /// A wrong number of arguments.
    Arity = "HARN-RUN-006", Error {
        title: "a wrong number of arguments",
        meaning: "A function was called with more or fewer arguments than it takes. Calls are positional; parameters with a \
                  default may be left out from the right.",
        fails: "fn one(f) {\n  return f(1)\n}\nprintln(one({ a, b -> a }))\n",
        mended: "fn one(f) {\n  return f(1)\n}\nprintln(one({ a -> a }))\n",
    },
    /// A call of something that is not a function.
    Call = "HARN-RUN-007", Error {
        title: "a call of something that is not a function",
        meaning: "What stands before the parentheses is not a function, closure or builtin.",
        fails: "fn ask(name) {\n  return name()\n}\nprintln(ask(\"harn\"))\n",
        mended: "fn ask(name) {\n  return name()\n}\nprintln(ask({ -> \"harn\" }))\n",
    },
    /// A `match` without a fitting arm.
    NoArm = "HARN-RUN-008", Error {
        title: "no arm of `match` fits",
        meaning: "The value fits none of the patterns. Add an arm for it, or `_ -> …` for all that is left.",
        fails: "let n = 7\nmatch n {\n  1 -> println(\"one\")\n}\n",
        mended: "let n = 7\nmatch n {\n  1 -> println(\"one\")\n  _ -> println(\"many\")\n}\n",
    },
    /// A `require` or assertion that does not hold.
    Require = "HARN-RUN-009", Error {
        title: "a requirement that does not hold",
        meaning: "A `require` or an assertion was false.",
        fails: "let n = 0\nrequire n > 0, \"n must be positive\"\n",
        mended: "let n = 1\nrequire n > 0, \"n must be positive\"\n",
    },
    /// Calls nested too deep.
    Depth = "HARN-RUN-010", Error {
        title: "calls nested too deep",
        meaning: "Functions called each other until the limit of call depth was passed, usually because a recursion has no \
                  end. A function whose last act is to call itself does not deepen the stack.",
        fails: "fn down(n) { return 1 + down(n + 1) }\ndown(0)\n",
        mended: "fn down(n) { return n > 10 ? n : 1 + down(n + 1) }\nprintln(down(0))\n",
    },
    /// Fuel is used up.
    Fuel = "HARN-RUN-011", Error {
        title: "the run used up its fuel",
        meaning: "The run executed more instructions than it was given with `--fuel`. Nothing can catch this.",
    },
    /// A variable read before it is bound.
    Unbound = "HARN-RUN-012", Error {
        title: "a variable read before it is bound",
        meaning: "A function reads a variable of the file, or of the block around it, that has not been bound yet when the \
                  function is called. Call it after the binding.",
        fails: "fn show() { println(name) }\nshow()\nlet name = \"harn\"\n",
        mended: "fn show() { println(name) }\nlet name = \"harn\"\nshow()\n",
    },
    /// An argument whose type is right and whose value is not.
    Value = "HARN-RUN-013", Error {
        title: "a value that a builtin cannot work with",
        meaning: "The argument has the right type and a value that makes no sense there. The message says which values do.",
        fails: "println(\"ab\".repeat(0 - 1))\n",
        mended: "println(\"ab\".repeat(2))\n",
    },
    /// A capability that the run was not given.
    Denied = "HARN-RUN-014", Error {
        title: "a capability that the run was not given",
        meaning: "The builtin needs a right (files, processes, network, environment, models) that was taken away with `--deny`.",
    },
    /// The run was cancelled.
    Cancelled = "HARN-RUN-015", Error {
        title: "the run was cancelled",
        meaning: "Somebody gave the task up. `defer` and `finally` still run; `catch` does not see it.",
    },
    /// Something outside failed: a file, a process, the network.
    Outside = "HARN-RUN-016", Error {
        title: "something outside failed",
        meaning: "A file, a process or the network did not do what was asked. The message has the reason the system gave.",
        fails: "println(read_file(\"no-such-file.txt\"))\n",
        mended: "println(file_exists(\"no-such-file.txt\"))\n",
    },
    /// A value larger than the run may make.
    Size = "HARN-RUN-017", Error {
        title: "a value larger than the run may make",
        meaning: "One operation would have made a string or list larger than the limit. Build it in pieces, or write it to a file.",
        fails: "println(len(\"ab\".repeat(999999999999)))\n",
        mended: "println(len(\"ab\".repeat(9)))\n",
    },
    /// An iterator that is asked for an item while it makes one.
    Running = "HARN-RUN-025", Error {
        title: "an iterator asked for an item while it makes one",
        meaning: "A generator, stream or lazy iterator makes one item at a time. While it does, neither its own body or \
                  closure nor another task can ask it for the next one. Make a second one, or ask from outside.",
        fails: "var g = nil\nfn numbers() {\n  yield 1\n  yield g.next().value\n}\ng = numbers()\nprintln(g.to_list())\n",
        mended: "fn numbers() {\n  yield 1\n  yield numbers().next().value\n}\nprintln(numbers().to_list())\n",
    },
    /// A struct that cannot be made from what a literal spreads, or a field that it does not have.
    NotMade = "HARN-RUN-020", Error {
        title: "a field that the struct does not have, or lacks",
        meaning: "A struct has exactly the fields of its declaration. What a literal spreads, or a path assigns, names \
                  another one, or a field without a default is missing.",
        fails: "struct Point { x: int, y: int }\nlet d = json_parse(\"{\\\"x\\\": 1}\")\nprintln(Point {...d})\n",
        mended: "struct Point { x: int, y: int = 0 }\nlet d = json_parse(\"{\\\"x\\\": 1}\")\nprintln(Point {...d})\n",
    },
    /// A deadline passed.
    Deadline = "HARN-RUN-030", Error {
        title: "a deadline passed",
        meaning: "What a `deadline` block holds was not done in time. `defer` and `finally` inside it have run; a `catch` around \
                  the block sees the error, one inside it does not. With `--timeout` the whole run is such a block.",
        fails: "mock_time()\ndeadline 1s { sleep(5s) }\n",
        mended: "mock_time()\nlet r = try { deadline 1s { sleep(5s) } }\nprintln(is_err(r))\n",
    },
    /// Every task waits for another.
    Deadlock = "HARN-RUN-031", Error {
        title: "every task waits for another",
        meaning: "All tasks wait for channels, mutexes or one another, and nothing is left that could wake one of them. The \
                  notes say where each one waits. Usually a channel was not closed, or the task that should send is the one \
                  that waits.",
        fails: "let jobs = channel(\"jobs\", 1)\nprintln(receive(jobs))\n",
        mended: "let jobs = channel(\"jobs\", 1)\nlet sender = spawn { send(jobs, 1) }\nprintln(receive(jobs))\nawait(sender)\n",
    },
    /// A send on a closed channel.
    Closed = "HARN-RUN-032", Error {
        title: "a send on a closed channel",
        meaning: "After `close_channel` nothing can be sent any more; what was sent before can still be received. The sender \
                  should be the one that closes.",
        fails: "let jobs = channel(\"jobs\", 1)\nclose_channel(jobs)\nsend(jobs, 1)\n",
        mended: "let jobs = channel(\"jobs\", 1)\nsend(jobs, 1)\nclose_channel(jobs)\n",
    },
    /// A cancelled task was awaited.
    TaskCancelled = "HARN-RUN-033", Error {
        title: "a cancelled task was awaited",
        meaning: "The task was given up before it had a result: by `cancel`, by a deadline around its `spawn`, or with the task \
                  that started it.",
        fails: "let h = spawn { sleep(1h) }\ncancel(h)\nawait(h)\n",
        mended: "let h = spawn { sleep(1h) }\ncancel(h)\nprintln(is_err(try { await(h) }))\n",
    },
    /// More tasks than a run may have.
    Tasks = "HARN-RUN-034", Error {
        title: "more tasks than a run may have",
        meaning: "So many tasks that are not over would fill the memory. Let `parallel each … with {max_concurrent: n}` start \
                  them as others end, or await some before more are started.",
        fails: "fn more() { return await(spawn { more() }) }\nmore()\n",
        mended: "fn more(n) { return n == 0 ? 0 : await(spawn { more(n - 1) }) }\nprintln(more(10))\n",
    },
    /// A task failed, and nobody awaited it.
    Unseen = "HARN-RUN-035", Warning {
        title: "a task failed, and nobody awaited it",
        meaning: "The error of a task surfaces where it is awaited. Nobody awaited this one, so the run went on without its \
                  result. Await it, or catch what may go wrong inside it.",
        fails: "spawn { throw \"no such user\" }\nsleep(1ms)\n",
        mended: "let h = spawn { throw \"no such user\" }\nprintln(try { await(h) })\n",
    },
}
}
