//! Facts and options about them, which the core reads. Kinds are texts for the checker: a lint reports wrong ones by their
//! codes.

lang::option_tables! {
    /// Options of facts.
    pub(crate) FACT_OPTIONS: "FactOptions" {
        root: "string", "Folder of the facts.";
        namespace: "string", "Namespace of the facts.";
        now: "ms | string", "The current time: milliseconds since 1970, or a date. Default: the clock.";
    }

    /// Options of `recall_facts`.
    pub(crate) RECALL_OPTIONS: "RecallOptions" extends [&FACT_OPTIONS] {
        limit: "positive", "Maximum number of records. Default: all.";
    }

    /// A fact.
    pub(crate) FACT: "Fact" {
        kind: "string" = required, "`observation`, `claim`, `hypothesis`, `decision` or `constraint`.";
        claim: "string" = required, "The claim, at most 8 KiB.";
        confidence: "float" = required, "A number from 0 to 1.";
        evidence: "list<FactEvidence>" = [], "Up to 64 items `{kind, ref}`.";
        provenance: "any", "Any data.";
        valid_until: "ms | string", "The time when the fact stops being valid: milliseconds since 1970, or a date.";
    }

    /// A piece of evidence for a fact.
    pub(crate) FACT_EVIDENCE: "FactEvidence" {
        kind: "string" = required, "`trace_ref`, `file_range`, `tool_output` or `user_input`.";
        r#ref: "string" = required, "The object, such as `src/a.rs:1-9`.";
    }
}
