//! The catalogue of facts.

use base::codes;

codes! {
/// The codes of facts.
pub enum FactCode {
    /// A key, a type or a text that does not fit.
    Shape = "HARN-FACT-001", Error {
        title: "invalid fact or option",
        meaning: "A fact is `{kind, claim, confidence, evidence?, provenance?, valid_until?}`, a piece of evidence \
            `{kind, ref}`; the options are `root`, `namespace`, `now` and, for recall, `limit`. A key is unknown \
            or missing, a text is empty, or a value has the wrong type. `harn check` reports the same errors in \
            literals.",
        fails: "println(recall_facts(\"signals\", nil, nil, {namespace: \"\"}))\n",
        mended: "println(recall_facts(\"signals\", nil, nil, {namespace: \"radio\"}))\n",
    },
    /// An unknown kind of fact or evidence.
    Kind = "HARN-FACT-002", Error {
        title: "unknown kind of fact or evidence",
        meaning: "A fact is an `observation`, `claim`, `hypothesis`, `decision` or `constraint`; evidence is a \
            `trace_ref`, `file_range`, `tool_output` or `user_input`. Case and underscores do not matter: \
            `FileRange` works too.",
        fails: "store_fact({kind: \"descision\", claim: \"Tabs indent the sources.\", confidence: 0.9})\n",
        mended: "store_fact({kind: \"decision\", claim: \"Tabs indent the sources.\", confidence: 0.9})\n",
    },
    /// The confidence is not a number from 0 to 1.
    Confidence = "HARN-FACT-003", Error {
        title: "confidence is not a number from 0 to 1",
        meaning: "`confidence` and `min_confidence` state how certain a fact is: 1 is certain, 0.5 is as likely as \
            not.",
        fails: "store_fact({kind: \"claim\", claim: \"The parser is slow.\", confidence: 75.0})\n",
        mended: "store_fact({kind: \"claim\", claim: \"The parser is slow.\", confidence: 0.75})\n",
    },
    /// A namespace that is none or leads out of its root.
    Namespace = "HARN-FACT-004", Error {
        title: "namespace outside of its root",
        meaning: "A namespace is one or more names of letters, digits, `-`, `_` and `.`, joined by `/`. It must be \
            below its root: it cannot be absolute, contain `..`, or lead through a link.",
        fails: "println(recall_facts(\"signals\", nil, nil, {namespace: \"../elsewhere\"}))\n",
        mended: "println(recall_facts(\"signals\", nil, nil, {namespace: \"team/elsewhere\"}))\n",
    },
    /// A selector that selects nothing in particular.
    Selector = "HARN-FACT-005", Error {
        title: "empty fact selector",
        meaning: "`invalidate_facts` takes an id, a key, a record, `{id?, key?, tag?, kind?}` with at least one of \
            them, or a list of those. An empty selector is rejected, because it would match every fact.",
        fails: "invalidate_facts({})\n",
        mended: "invalidate_facts({tag: \"fact:evidence:file_range:src/lexer.rs:1\"})\n",
    },
    /// A store that cannot be read or written.
    Store = "HARN-FACT-006", Error {
        title: "facts cannot be read or written",
        meaning: "The file or its folder cannot be used: its permissions do not allow it, the disk is full, something \
            else has the same path, or another process has held the file for more than five seconds. The message \
            names the file. A reminder provider that encounters this error logs a warning and continues without \
            facts.",
        fails: "println(recall_facts(\"signals\", nil, nil, {root: \"/dev/null\"}))\n",
        mended: "println(recall_facts(\"signals\", nil, nil, {root: \".harn/memory\"}))\n",
    },
    /// A line of a store is not a record.
    Line = "HARN-FACT-007", Warning {
        title: "invalid line in a fact file",
        meaning: "The file was edited or damaged. The line is skipped and stays in the file; all other facts are \
            available. An incomplete last line, which a crash can cause, is removed by the next write.",
    },
    /// A part of a fact exceeds its limit.
    TooLarge = "HARN-FACT-008", Error {
        title: "fact too large",
        meaning: "A claim can have at most 8 KiB, a fact at most 64 pieces of evidence with references of at most \
            1 KiB each, and the whole record at most 128 KiB. Put long texts into files and refer to them as \
            evidence.",
    },
}
}
