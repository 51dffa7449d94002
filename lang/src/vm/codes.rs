//! The catalogue of runtime errors.

use crate::codes;

codes! {
/// The codes of runtime errors.
pub enum RunCode {
    /// Memory limit reached.
    Memory = "HARN-LIM-001", Error {
        title: "memory limit reached",
        meaning: "The values of the run use more memory in total than its limit allows. The error cannot be caught.",
    },
    /// Time limit reached.
    Time = "HARN-LIM-002", Error {
        title: "time limit reached",
        meaning: "The run took longer than its limit allows, by the system clock. The script can catch the error once \
                  and then has a tenth of its time, at least 100 ms, to clean up; then the run is stopped.",
    },
    /// Uncaught error.
    Uncaught = "HARN-RUN-001", Error {
        title: "uncaught error",
        meaning: "A value was thrown, and no `catch` caught it. Catch it where the script can handle it, or let the run end.",
        fails: "throw \"no such user\"\n",
        mended: "let r = try { throw \"no such user\" }\nprintln(is_err(r))\n",
    },
    /// Value of the wrong type.
    Type = "HARN-RUN-002", Error {
        title: "value of the wrong type",
        meaning: "An operator or a builtin cannot work with a value of this type, or a variable, parameter, result or field is \
            declared with another type. Values are not converted to strings \
                  implicitly: use `\"${…}\"` or `to_string`.",
        fails: "fn title(n) {\n  return \"turn \" + n\n}\nprintln(title(3))\n",
        mended: "fn title(n) {\n  return \"turn ${n}\"\n}\nprintln(title(3))\n",
    },
    /// Division by zero.
    Zero = "HARN-RUN-003", Error {
        title: "division by zero",
        meaning: "An int was divided by the int zero. Floats return `inf` or `NaN` instead.",
        fails: "let n = 0\nprintln(10 / n)\n",
        mended: "let n = 0\nprintln(n == 0 ? 0 : 10 / n)\n",
    },
    /// Index out of range.
    Index = "HARN-RUN-004", Error {
        title: "index out of range",
        meaning: "The list or string has no element at this index. `?[i]` returns nil instead; `-1` is the last element.",
        fails: "let xs = [1, 2]\nprintln(xs[2])\n",
        mended: "let xs = [1, 2]\nprintln(xs?[2])\n",
    },
    /// Unknown method or field.
    Member = "HARN-RUN-005", Error {
        title: "unknown method or field",
        meaning: "The value has no method or field with this name. Only dicts return nil for a missing key.",
        fails: "fn size(xs) {\n  return xs.lenght()\n}\nprintln(size([1, 2]))\n",
        mended: "fn size(xs) {\n  return xs.count()\n}\nprintln(size([1, 2]))\n",
    },
    /// Wrong number of arguments.
    Arity = "HARN-RUN-006", Error {
        title: "wrong number of arguments",
        meaning: "A function was called with more or fewer arguments than it takes. Arguments are passed by position; \
                  parameters with a default can be omitted from the right.",
        fails: "fn one(f) {\n  return f(1)\n}\nprintln(one({ a, b -> a }))\n",
        mended: "fn one(f) {\n  return f(1)\n}\nprintln(one({ a -> a }))\n",
    },
    /// Call of a value that is not a function.
    Call = "HARN-RUN-007", Error {
        title: "call of a value that is not a function",
        meaning: "The value before the parentheses is not a function, closure or builtin.",
        fails: "fn ask(name) {\n  return name()\n}\nprintln(ask(\"harn\"))\n",
        mended: "fn ask(name) {\n  return name()\n}\nprintln(ask({ -> \"harn\" }))\n",
    },
    /// No matching arm in a `match`.
    NoArm = "HARN-RUN-008", Error {
        title: "no matching arm in a `match`",
        meaning: "The value matches none of the patterns. Add an arm for it, or `_ -> …` for all other values.",
        fails: "let n = 7\nmatch n {\n  1 -> println(\"one\")\n}\n",
        mended: "let n = 7\nmatch n {\n  1 -> println(\"one\")\n  _ -> println(\"many\")\n}\n",
    },
    /// Assertion failed.
    Require = "HARN-RUN-009", Error {
        title: "assertion failed",
        meaning: "The condition of a `require` or an assertion was false.",
        fails: "let n = 0\nrequire n > 0, \"n must be positive\"\n",
        mended: "let n = 1\nrequire n > 0, \"n must be positive\"\n",
    },
    /// Calls nested too deeply.
    Depth = "HARN-RUN-010", Error {
        title: "calls nested too deeply",
        meaning: "The limit on the call depth was exceeded, usually by infinite recursion. A function whose last step \
                  is to call itself uses no additional stack.",
        fails: "fn down(n) { return n < 0 ? n : 1 + down(n + 1) }\ndown(0)\n",
        mended: "fn down(n) { return n > 10 ? n : 1 + down(n + 1) }\nprintln(down(0))\n",
    },
    /// Fuel limit reached.
    Fuel = "HARN-RUN-011", Error {
        title: "fuel limit reached",
        meaning: "The run executed more instructions than its limit allows. The error cannot be caught.",
    },
    /// Variable read before it is bound.
    Unbound = "HARN-RUN-012", Error {
        title: "variable read before it is bound",
        meaning: "A function reads a variable of the file, or of a surrounding block, that is not yet bound when the function \
                  is called. Call the function after the binding.",
        fails: "fn show() { println(name) }\nshow()\nlet name = \"harn\"\n",
        mended: "fn show() { println(name) }\nlet name = \"harn\"\nshow()\n",
    },
    /// Invalid argument.
    Value = "HARN-RUN-013", Error {
        title: "invalid argument",
        meaning: "The argument has the right type, but its value is not allowed. The message says which values are.",
        fails: "println(\"ab\".repeat(0 - 1))\n",
        mended: "println(\"ab\".repeat(2))\n",
    },
    /// Missing capability.
    Denied = "HARN-RUN-014", Error {
        title: "missing capability",
        meaning: "The builtin needs a capability (files, processes, network, environment, models) that the run does not have.",
    },
    /// Run cancelled.
    Cancelled = "HARN-RUN-015", Error {
        title: "run cancelled",
        meaning: "The run or task was cancelled. `defer` and `finally` still run; `catch` does not see the error.",
    },
    /// System operation failed.
    Outside = "HARN-RUN-016", Error {
        title: "system operation failed",
        meaning: "An operation on a file, a process or the network failed. The message contains the reason that the system \
                  reported.",
        fails: "println(read_file(\"no-such-file.txt\"))\n",
        mended: "println(file_exists(\"no-such-file.txt\"))\n",
    },
    /// Result too large.
    Size = "HARN-RUN-017", Error {
        title: "result too large",
        meaning: "One operation would have made a string or list that exceeds the size limit. Build it in pieces, or write it \
                  to a file.",
        fails: "println(len(\"ab\".repeat(999999999999)))\n",
        mended: "println(len(\"ab\".repeat(9)))\n",
    },
    /// Integer overflow.
    Overflow = "HARN-RUN-018", Error {
        title: "integer overflow",
        meaning: "The result does not fit into an int, which has 64 bits: from -9223372036854775808 to 9223372036854775807. \
                  An int never becomes a float by itself. Convert an operand to a float, which is inexact above 2^53.",
        fails: "let n = 9223372036854775807\nprintln(n + 1)\n",
        mended: "let n = 9223372036854775807\nprintln(to_float(n) + 1)\n",
    },
    /// Iterator used while it produces an item.
    Running = "HARN-RUN-025", Error {
        title: "iterator used while it produces an item",
        meaning: "A generator, stream or lazy iterator produces one item at a time. Meanwhile neither its own body or closure \
                  nor another task can request the next item. Make a second iterator, or request the item from outside.",
        fails: "var g = nil\nfn numbers() {\n  yield 1\n  yield g.next().value\n}\ng = numbers()\nprintln(g.to_list())\n",
        mended: "fn numbers() {\n  yield 1\n  yield numbers().next().value\n}\nprintln(numbers().to_list())\n",
    },
    /// Invalid struct field.
    NotMade = "HARN-RUN-020", Error {
        title: "invalid struct field",
        meaning: "A struct has exactly the fields of its declaration. A spread or an assignment uses another field, or a field \
                  without a default is missing.",
        fails: "struct Point { x: int, y: int }\nlet d = json_parse(\"{\\\"x\\\": 1}\")\nprintln(Point {...d})\n",
        mended: "struct Point { x: int, y: int = 0 }\nlet d = json_parse(\"{\\\"x\\\": 1}\")\nprintln(Point {...d})\n",
    },
    /// Data of another type.
    Decode = "HARN-RUN-021", Error {
        title: "data of another type",
        meaning: "Data was decoded into a type that it does not have. The message names the place in the data, what was \
                  expected there and what was found.",
        fails: "struct Finding { file: string, line: int }\n\
                let text = \"{\\\"file\\\": \\\"a.rs\\\", \\\"line\\\": \\\"12\\\"}\"\n\
                println(json_parse(text, {as: Finding}).line)\n",
        mended: "struct Finding { file: string, line: int }\n\
                 let text = \"{\\\"file\\\": \\\"a.rs\\\", \\\"line\\\": 12}\"\n\
                 println(json_parse(text, {as: Finding}).line)\n",
    },
    /// Deadline exceeded.
    Deadline = "HARN-RUN-030", Error {
        title: "deadline exceeded",
        meaning: "The body of a `deadline` block did not finish in time. `defer` and `finally` inside it have run. A \
                  `catch` around the block sees the error; one inside it does not.",
        fails: "mock_time()\ndeadline 1s { sleep(5s) }\n",
        mended: "mock_time()\nlet r = try { deadline 1s { sleep(5s) } }\nprintln(is_err(r))\n",
    },
    /// Deadlock.
    Deadlock = "HARN-RUN-031", Error {
        title: "deadlock",
        meaning: "All tasks wait for channels, mutexes or one another, and nothing can wake any of them. The notes say where \
                  each task waits. The usual causes are a channel that was not closed, and a task that waits for a value that it \
                  should send itself.",
        fails: "let jobs = channel(\"jobs\", 1)\nprintln(receive(jobs))\n",
        mended: "let jobs = channel(\"jobs\", 1)\nlet sender = spawn { send(jobs, 1) }\nprintln(receive(jobs))\nawait(sender)\n",
    },
    /// Send on a closed channel.
    Closed = "HARN-RUN-032", Error {
        title: "send on a closed channel",
        meaning: "Nothing can be sent after `close_channel`. Values that were sent earlier can still be received. The sender \
                  should close the channel.",
        fails: "let jobs = channel(\"jobs\", 1)\nclose_channel(jobs)\nsend(jobs, 1)\n",
        mended: "let jobs = channel(\"jobs\", 1)\nsend(jobs, 1)\nclose_channel(jobs)\n",
    },
    /// Awaited task was cancelled.
    TaskCancelled = "HARN-RUN-033", Error {
        title: "awaited task was cancelled",
        meaning: "The task was cancelled before it had a result: by `cancel`, by a deadline around its `spawn`, or together \
                  with the task that started it.",
        fails: "let h = spawn { sleep(1h) }\ncancel(h)\nawait(h)\n",
        mended: "let h = spawn { sleep(1h) }\ncancel(h)\nprintln(is_err(try { await(h) }))\n",
    },
    /// Too many tasks.
    Tasks = "HARN-RUN-034", Error {
        title: "too many tasks",
        meaning: "The run has reached its limit of unfinished tasks. Let `parallel each … with {max_concurrent: n}` start \
                  tasks as others end, or await some before you start more.",
        fails: "fn more() { return await(spawn { more() }) }\nmore()\n",
        mended: "fn more(n) { return n == 0 ? 0 : await(spawn { more(n - 1) }) }\nprintln(more(10))\n",
    },
    /// Task failed and was not awaited.
    Unseen = "HARN-RUN-035", Warning {
        title: "task failed and was not awaited",
        meaning: "The error of a task is raised where the task is awaited. This task was never awaited, so the run \
                  continued without its result. Await it, or catch the error inside it.",
        fails: "spawn { throw \"no such user\" }\nsleep(1ms)\n",
        mended: "let h = spawn { throw \"no such user\" }\nprintln(try { await(h) })\n",
    },
}
}
