//! `harn new NAME`: a folder with a project that runs, from one of the templates in `cli/new`.

use crate::report::visible;
use crate::stdout;
use clap::ValueEnum;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

/// A kind of project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Template {
    /// A pipeline with a task
    Pipeline,
    /// An agent with a tool and a reminder provider
    Agent,
    /// A pack of reminder providers in Rhai
    ProviderPack,
    /// An agent that other agents call over A2A
    A2a,
}

#[derive(clap::Args)]
pub(crate) struct NewArgs {
    /// Folder to make; its last part is the name of the project. A folder that exists must be empty
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// Kind of project
    #[arg(long, value_enum, default_value = "pipeline")]
    template: Template,
}

/// A file of a template: its path, and its text, in which `{{name}}` is the name of the project.
type TemplateFile = (&'static str, &'static str);

/// Files of all templates; those of a template replace them.
const COMMON: &[TemplateFile] = &[
    (".gitignore", include_str!("new/common/gitignore")),
    ("AGENTS.md", include_str!("new/common/AGENTS.md")),
    ("ci.sh", include_str!("new/common/ci.sh")),
    ("harn.toml", include_str!("new/common/harn.toml")),
];

impl Template {
    /// Returns the command that runs a new project.
    const fn first_command(self) -> &'static str {
        match self {
            Self::A2a => "harn run main.harn --task hello",
            Self::Pipeline | Self::Agent | Self::ProviderPack => "harn run main.harn",
        }
    }

    /// Returns the page of the documentation about the project.
    const fn page(self) -> Option<&'static str> {
        match self {
            Self::Agent => Some("docs/guide/providers.md, about reminder providers"),
            Self::ProviderPack => Some("docs/reference/reminder-providers.md, about packs"),
            Self::Pipeline | Self::A2a => None,
        }
    }

    const fn files(self) -> &'static [TemplateFile] {
        match self {
            Self::Pipeline => &[
                ("README.md", include_str!("new/pipeline/README.md")),
                ("main.harn", include_str!("new/pipeline/main.harn")),
                ("words.harn", include_str!("new/pipeline/words.harn")),
                ("words_test.harn", include_str!("new/pipeline/words_test.harn")),
            ],
            Self::Agent => &[
                ("README.md", include_str!("new/agent/README.md")),
                ("agent.harn", include_str!("new/agent/agent.harn")),
                ("agent_test.harn", include_str!("new/agent/agent_test.harn")),
                ("main.harn", include_str!("new/agent/main.harn")),
            ],
            Self::ProviderPack => &[
                ("README.md", include_str!("new/provider-pack/README.md")),
                ("demo.harn", include_str!("new/provider-pack/demo.harn")),
                ("demo_test.harn", include_str!("new/provider-pack/demo_test.harn")),
                ("long_runs.rhai", include_str!("new/provider-pack/long_runs.rhai")),
                ("main.harn", include_str!("new/provider-pack/main.harn")),
            ],
            Self::A2a => &[
                ("README.md", include_str!("new/a2a/README.md")),
                ("harn.toml", include_str!("new/a2a/harn.toml")),
                ("main.harn", include_str!("new/a2a/main.harn")),
                ("shout.harn", include_str!("new/a2a/shout.harn")),
                ("shout_test.harn", include_str!("new/a2a/shout_test.harn")),
            ],
        }
    }
}

pub(crate) fn run(args: &NewArgs) -> i32 {
    let shown = visible(&args.folder.display().to_string());
    let Some(name) = name(&args.folder) else {
        eprintln!("error: invalid project name in `{shown}`");
        eprintln!("  help: use letters, digits, `-` and `_`, beginning with a letter");
        return 2;
    };
    match is_free(&args.folder) {
        Ok(true) => {}
        Ok(false) => {
            eprintln!("error: `{shown}` exists and is not an empty folder");
            eprintln!("  help: choose another name; `harn new` overwrites nothing");
            return 1;
        }
        Err(error) => {
            eprintln!("error: cannot read `{shown}`: {error}");
            return 1;
        }
    }
    let own = args.template.files();
    let common = COMMON.iter().filter(|(path, _)| !own.iter().any(|(other, _)| path == other));
    let mut files: Vec<&TemplateFile> = common.chain(own).collect();
    files.sort_unstable();
    if let Err((path, error)) = write(&args.folder, &name, &files) {
        eprintln!("error: cannot write `{}`: {error}", visible(&path.display().to_string()));
        eprintln!("  help: use a folder in which you can write");
        return 1;
    }
    let mut text = format!("made {shown}\n");
    for (path, _) in files {
        text.push_str(&format!("  {path}\n"));
    }
    text.push_str(&format!("\nnext: cd {shown} && {}\n", args.template.first_command()));
    if let Some(page) = args.template.page() {
        text.push_str(&format!("read: {page}\n"));
    }
    stdout::exit_code(stdout::print(&text), 0)
}

/// Returns the name of a project: the last part of its folder.
fn name(folder: &Path) -> Option<String> {
    let name = match folder.file_name() {
        Some(name) => name.to_owned(),
        // `.` is named like the folder that it means.
        None => fs::canonicalize(folder).ok()?.file_name()?.to_owned(),
    };
    let name = name.into_string().ok()?;
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_name = begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    is_name.then_some(name)
}

/// Returns whether a folder does not exist or is empty.
fn is_free(folder: &Path) -> Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(fs::symlink_metadata(folder).is_err()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(error),
    }
}

fn write(folder: &Path, name: &str, files: &[&TemplateFile]) -> std::result::Result<(), (PathBuf, std::io::Error)> {
    fs::create_dir_all(folder).map_err(|error| (folder.to_owned(), error))?;
    for (path, text) in files {
        let path = folder.join(path);
        create(&path, &text.replace("{{name}}", name)).map_err(|error| (path, error))?;
    }
    Ok(())
}

/// Creates a file; scripts of the shell can be executed.
fn create(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())?;
    if path.extension().is_some_and(|end| end == "sh") {
        file.set_permissions(fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
