//! Starts the language server of harn in Zed.

use zed_extension_api::serde_json::Value;
use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

/// The command that contains the language server.
const COMMAND: &str = "harn";

struct HarnExtension;

impl zed::Extension for HarnExtension {
    fn new() -> Self {
        Self
    }

    /// Returns the command of the settings `lsp.harn.binary`, or `harn lsp` with the command from the `PATH` of the project.
    fn language_server_command(&mut self, server: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let binary = LspSettings::for_worktree(server.as_ref(), worktree)?.binary;
        let (path, arguments, env) = match binary {
            Some(binary) => (binary.path, binary.arguments, binary.env),
            None => (None, None, None),
        };
        let command = path.or_else(|| worktree.which(COMMAND)).ok_or_else(|| {
            format!("command not found: {COMMAND}; install it, or set `lsp.harn.binary.path` in the settings of Zed")
        })?;
        let mut variables = worktree.shell_env();
        variables.extend(env.unwrap_or_default());
        Ok(Command { command, args: arguments.unwrap_or_else(|| vec!["lsp".to_owned()]), env: variables })
    }

    fn language_server_initialization_options(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.settings)
    }
}

zed::register_extension!(HarnExtension);
