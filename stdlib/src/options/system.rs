//! Options of files and programs.

use super::{Count, Flag, Ms, Raw, Text};

options! {
    /// Options of `glob`.
    GlobOptions {
        hidden: Flag = false, "Whether `*` matches names that begin with a dot.";
    }

    /// Options of `walk`.
    WalkOptions {
        dirs: Flag = false, "Whether folders are listed, too.";
        hidden: Flag = false, "Whether names that begin with a dot are listed.";
        depth: Count<usize>, "Number of levels. Default: all.";
    }

    /// Options of `remove`.
    RemoveOptions {
        recursive: Flag = false, "Whether a folder is removed with its contents.";
    }

    /// Options of `watch`.
    WatchOptions {
        idle_ms: Ms, "Time without a change after which the stream ends, in milliseconds. Default: it never ends.";
    }

    /// Options of `exec`, in a dict after the arguments.
    ExecOptions {
        cwd: Text, "The folder to run in. Default: that of the run.";
        stdin: Raw as "string | bytes", "The standard input. Default: empty.";
        env: Raw as "dict", "Environment variables. nil removes one.";
        timeout: Ms, "Time after which the program is ended, in milliseconds. Default: no limit.";
        check: Flag = false, "Whether an exit code other than 0 is an error.";
    }
}
