//! The catalogue of what goes wrong between files.

use crate::codes;

codes! {
/// The codes of imports.
pub enum ModuleCode {
    /// Imported file not found.
    Missing = "HARN-IMP-001", Error {
        title: "imported file not found",
        meaning: "The path of an import is relative to the importing file, and `.harn` is added to it. The message names the \
                  file that was not found. Standard modules begin with `std/`.",
        fails: "import {area} from \"no/such/shapes\"\nprintln(area(2))\n",
        mended: "fn area(r) { return 3 * r * r }\nprintln(area(2))\n",
    },
    /// Import cycle.
    Cycle = "HARN-IMP-002", Error {
        title: "import cycle",
        meaning: "A file is evaluated before the files that import it, so imports cannot form a cycle. Move the shared code \
                  into a file that imports none of them.",
    },
    /// Imported name not found.
    NoName = "HARN-IMP-003", Error {
        title: "imported name not found",
        meaning: "The file binds no such name at its top level.",
    },
    /// Imported name is private.
    Private = "HARN-IMP-004", Error {
        title: "imported name is private",
        meaning: "If a file marks names with `pub`, only those can be imported; if it marks none, all can. Imported \
                  names are exported again only by `pub import`.",
    },
    /// Ambiguous imported name.
    Ambiguous = "HARN-IMP-005", Error {
        title: "ambiguous imported name",
        meaning: "Two imports without a list of names both provide the name, and the script uses it. List the names of \
                  one import and rename the conflicting one: `import {area as room_area} from \"rooms\"`.",
    },
    /// Unknown standard module.
    NoStandard = "HARN-IMP-006", Error {
        title: "unknown standard module",
        meaning: "Paths that begin with `std/` name standard modules. Their functions are also available without an import.",
        fails: "import {llm_text} from \"std/tesing\"\nprintln(llm_text(\"a\").text)\n",
        mended: "import {llm_text} from \"std/testing\"\nprintln(llm_text(\"a\").text)\n",
    },
    /// Import inside a block.
    Inside = "HARN-IMP-007", Error {
        title: "import inside a block",
        meaning: "Imports are evaluated before the file that contains them, so they must be at its top level.",
        fails: "if true {\n  import {llm_text} from \"std/testing\"\n  println(llm_text(\"a\").text)\n}\n",
        mended: "import {llm_text} from \"std/testing\"\nif true {\n  println(llm_text(\"a\").text)\n}\n",
    },
    /// Too many imported files.
    TooMany = "HARN-IMP-008", Error {
        title: "too many imported files",
        meaning: "A script and its imports can have at most 4,096 files. A larger number usually means that a program \
                  generates files endlessly.",
    },
    /// Import not permitted.
    Refused = "HARN-IMP-009", Error {
        title: "import not permitted",
        meaning: "The host decides which files a script may import, and this one is not permitted.",
    },
}
}
