//! The catalogue of facts.

use runtime::codes;

codes! {
/// The codes of facts.
pub enum FactCode {
    /// A key, a type or a text that does not fit.
    Shape = "HARN-FACT-001", Error {
        title: "a fact or an option of the wrong shape",
        meaning: "A fact is `{kind, claim, confidence, evidence?, provenance?, valid_until?}`, a piece of evidence `{kind, ref}`; \
                  the options are `root`, `namespace`, `now` and, where facts are recalled, `limit`. A key is unknown or missing, \
                  a text is empty, or a value does not fit. What `check` sees in literals it reports as it does for every \
                  dict.",
        fails: "println(recall_facts(\"signals\", nil, nil, {limit: 0}))\n",
        mended: "println(recall_facts(\"signals\", nil, nil, {limit: 5}))\n",
    },
    /// An unknown kind of fact or evidence.
    Kind = "HARN-FACT-002", Error {
        title: "an unknown kind of fact or evidence",
        meaning: "A fact is an `observation`, `claim`, `hypothesis`, `decision` or `constraint`; evidence is a `trace_ref`, \
                  `file_range`, `tool_output` or `user_input`. Both may be written in any case: `FileRange`.",
        fails: "store_fact({kind: \"descision\", claim: \"Tabs indent the sources.\", confidence: 0.9})\n",
        mended: "store_fact({kind: \"decision\", claim: \"Tabs indent the sources.\", confidence: 0.9})\n",
    },
    /// The confidence is not a number from 0 to 1.
    Confidence = "HARN-FACT-003", Error {
        title: "a confidence that is no number from 0 to 1",
        meaning: "`confidence` and `min_confidence` say how sure a fact is: 1 is certain, 0.5 is as likely as not.",
        fails: "store_fact({kind: \"claim\", claim: \"The parser is slow.\", confidence: 75.0})\n",
        mended: "store_fact({kind: \"claim\", claim: \"The parser is slow.\", confidence: 0.75})\n",
    },
    /// A namespace that is none or leads out of its root.
    Namespace = "HARN-FACT-004", Error {
        title: "a namespace that leads out of its root",
        meaning: "A namespace is one or more names of letters, digits, `-`, `_` and `.`, joined by `/`. It stays below its root: \
                  it is not absolute, no name in it is `..`, and no folder or file on the way is a link.",
        fails: "println(recall_facts(\"signals\", nil, nil, {namespace: \"../elsewhere\"}))\n",
        mended: "println(recall_facts(\"signals\", nil, nil, {namespace: \"team/elsewhere\"}))\n",
    },
    /// A selector that selects nothing in particular.
    Selector = "HARN-FACT-005", Error {
        title: "a selector of facts that says nothing",
        meaning: "`invalidate_facts` takes an id, a key, a record, `{id?, key?, tag?, kind?}` with at least one of them, or a list \
                  of those. An empty selector would mean every fact there is, so it is refused.",
        fails: "invalidate_facts({})\n",
        mended: "invalidate_facts({tag: \"fact:evidence:file_range:src/lexer.rs:1\"})\n",
    },
    /// A store that cannot be read or written.
    Store = "HARN-FACT-006", Error {
        title: "facts that cannot be read or written",
        meaning: "The file or its folder cannot be used: no permission, no space, something else in its place, or another process \
                  holds it for more than five seconds. The message names the file. A reminder provider that meets this goes on \
                  without facts and says so as a warning.",
        fails: "println(recall_facts(\"signals\", nil, nil, {root: \"/dev/null\"}))\n",
        mended: "println(recall_facts(\"signals\", nil, nil, {root: \".harn/memory\"}))\n",
    },
    /// A line of a store is not a record.
    Line = "HARN-FACT-007", Warning {
        title: "a line in a store of facts that is no record",
        meaning: "Somebody has edited the file, or it was damaged. The line is passed over and stays where it is; all other facts \
                  are there. An incomplete last line, which a crash leaves behind, is cut off by the next who stores.",
    },
    /// A part of a fact exceeds its limit.
    TooLarge = "HARN-FACT-008", Error {
        title: "a fact that is too large",
        meaning: "A claim may have 8 KiB, a fact 64 pieces of evidence with references of 1 KiB, its whole record 128 KiB. Put long \
                  texts into files and refer to them as evidence.",
    },
}
}
