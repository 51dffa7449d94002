/** The command lines of the commands that the language server offers above pipelines and tests. */

/** The commands, each with the arguments of `harn` that it runs. The server sends the file and, for a test, its name. */
export const COMMANDS: Record<string, (file: string, name: string) => string[]> = {
  "harn.run": (file) => ["run", file],
  "harn.test": (file, name) => ["test", file, "--filter", name],
  "harn.preview": (file) => ["preview", file],
};
