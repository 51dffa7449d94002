//! The catalogue of what goes wrong between files.

use crate::codes;

codes! {
/// The codes of imports.
pub enum ModuleCode {
    /// A file that is not there.
    Missing = "HARN-IMP-001", Error {
        title: "an imported file that is not there",
        meaning: "The path of an import is relative to the importing file, and `.harn` is added to it. The message names \
                  the file that was looked for. Standard modules begin with `std/`.",
        fails: "import {area} from \"no/such/shapes\"\nprintln(area(2))\n",
        mended: "fn area(r) { return 3 * r * r }\nprintln(area(2))\n",
    },
    /// Files that import one another.
    Cycle = "HARN-IMP-002", Error {
        title: "files that import one another",
        meaning: "A file is evaluated before those that import it, so files cannot import one another in a circle. Move \
                  what they share into a file that imports none of them.",
    },
    /// A name that the file does not have.
    NoName = "HARN-IMP-003", Error {
        title: "an imported name that the file does not have",
        meaning: "The file binds no such name at its top.",
    },
    /// A name that the file has and does not offer.
    Private = "HARN-IMP-004", Error {
        title: "an imported name that the file keeps to itself",
        meaning: "Where a file marks names with `pub`, only those can be imported; where it marks none, all can. What it \
                  imports itself is passed on by `pub import` only.",
    },
    /// A name that two files offer.
    Ambiguous = "HARN-IMP-005", Error {
        title: "a name that comes from two files",
        meaning: "Two imports without a list of names bring the same name, and the script uses it. List the names of one, \
                  and rename there what would clash: `import {area as room_area} from \"rooms\"`.",
    },
    /// A standard module that does not exist.
    NoStandard = "HARN-IMP-006", Error {
        title: "a standard module that does not exist",
        meaning: "Paths that begin with `std/` name standard modules. What they offer is global as well.",
        fails: "import {llm_text} from \"std/tesing\"\nprintln(llm_text(\"a\").text)\n",
        mended: "import {llm_text} from \"std/testing\"\nprintln(llm_text(\"a\").text)\n",
    },
    /// An import inside a block.
    Inside = "HARN-IMP-007", Error {
        title: "an import inside a block",
        meaning: "Imports are evaluated before the file that they stand in, whatever it does. They stand at its top.",
        fails: "if true {\n  import {llm_text} from \"std/testing\"\n  println(llm_text(\"a\").text)\n}\n",
        mended: "import {llm_text} from \"std/testing\"\nif true {\n  println(llm_text(\"a\").text)\n}\n",
    },
    /// More files than a run may load.
    TooMany = "HARN-IMP-008", Error {
        title: "more files than a run may load",
        meaning: "A script and what it imports may be 4,096 files. More are most likely made by a program that does not end.",
    },
    /// A file that the host does not let scripts import.
    Refused = "HARN-IMP-009", Error {
        title: "a file that the host does not let scripts import",
        meaning: "Who runs the script decides which files it may import, and this one is not among them.",
    },
}
}
