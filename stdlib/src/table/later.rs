//! Builtins that the language has and this version does not: calling one is told apart from a misspelt name.

/// Their names, as scripts write them.
pub(crate) static LATER: &[&str] = &[
    // Transcripts.
    "transcript_fork",
    "transcript_reset",
    // Sessions.
    "agent_session_compact",
    "agent_session_push_bridge_injection",
    "agent_session_pending_injections",
    "agent_session_revoke_reminder",
    "agent_session_drain_bridge_injections",
    // Models and loops.
    "llm_stream",
    "with_audit_log",
    "shell_tool",
    // Sub-agents and workers.
    "spawn_agent",
    "wait_agent",
    "send_input",
    "close_agent",
    "list_agents",
    "suspend_agent",
    "resume_agent",
    "agent_lifecycle_tools",
    "handoff",
];
