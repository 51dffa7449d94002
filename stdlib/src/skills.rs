//! Skills of a loop: folders with instructions that the model reads when a task needs them.
//!
//! A skill is a folder with a file `SKILL.md`, whose front matter has a `name` and a `description`. The system text lists both; the
//! tool `read_skill` returns the instructions, and other files of the folder.

use crate::capability::Capability;
use crate::confined_folder::{Root, small_bytes};
use crate::convert::to_data_lossy;
use crate::structured_text::front_matter_of;
use crate::trust::is_trusted_folder;
use crate::world::World;
use base::call::{Answer, Outcome};
use base::data::Data;
use lang::value::article;
use lang::vm::{Cx, Raise, RunCode};
use runtime::message::{ToolCall, ToolSpec};
use runtime::seam::{Output, Tool, Turn};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The file with the instructions.
const FILE: &str = "SKILL.md";

/// The tool that reads skills.
const TOOL: &str = "read_skill";

/// Skills of a loop, and names of one folder that are looked at.
const MOST_SKILLS: usize = 64;
const MOST_NAMES: usize = 10_000;

/// The largest file of a skill, in bytes.
const LARGEST: u64 = 256 << 10;

/// Characters of a name and of a description.
const LONGEST_NAME: usize = 64;
const LONGEST_DESCRIPTION: usize = 1024;

/// The skills of a loop.
pub(crate) struct Skills {
    skills: Vec<LoopSkill>,
}

struct LoopSkill {
    name: String,
    /// Its purpose, on one line.
    description: String,
    root: Root,
    /// The instructions.
    body: String,
}

fn failed(path: &Path, why: &str) -> Box<Raise> {
    Raise::error(RunCode::Outside, format!("cannot use the skill `{}`: {why}", path.display()))
}

impl Skills {
    /// Reads the skills in folders: each is a skill, or has folders that are.
    pub(crate) fn read(cx: &Cx<'_>, world: &World, folders: &[Arc<str>]) -> Result<Self, Box<Raise>> {
        let mut skills: Vec<LoopSkill> = Vec::new();
        if !folders.is_empty() && cx.isolate.is_denied(Capability::FsRead) {
            let message = "`skills` needs the capability `fs.read`, which this run does not have";
            return Err(Raise::error(RunCode::Denied, message)
                .help("run without `--deny` for this capability, or remove `skills`"));
        }
        for folder in folders {
            // They are a part of the program, as packs are.
            let written = world.agents.files.script_folder().join(&**folder);
            let whole = written.canonicalize();
            let whole = whole.map_err(|error| failed(&written, &crate::system::reason(&error, "folder")))?;
            check_trust(world, &whole, folder)?;
            for place in places(&whole, &written)? {
                if skills.len() == MOST_SKILLS {
                    return Err(Raise::error(RunCode::Value, format!("more than {MOST_SKILLS} skills")));
                }
                let skill = LoopSkill::read(cx, &place)?;
                if skills.iter().any(|known| known.name == skill.name) {
                    return Err(failed(&place, &format!("another skill has the name `{}`", skill.name)));
                }
                skills.push(skill);
            }
        }
        Ok(Self { skills })
    }

    /// Returns the text that lists the skills, for the system text.
    pub(crate) fn list(&self) -> Option<String> {
        if self.skills.is_empty() {
            return None;
        }
        let mut text = format!(
            "# Skills\n\nInstructions for special tasks. If a skill fits the task, call `{TOOL}` with its name before you begin.\n"
        );
        for skill in &self.skills {
            let _ = write!(text, "\n- {}: {}", skill.name, skill.description);
        }
        Some(text)
    }

    /// Returns the tool that reads them.
    pub(crate) fn tool(self) -> Option<Rc<dyn Tool>> {
        if self.skills.is_empty() {
            return None;
        }
        let text = |text: &str| Data::dict([("type", Data::from("string")), ("description", text.into())]);
        let properties = Data::dict([
            ("name", text("The name of the skill.")),
            ("file", text("A file that the instructions name, relative to the skill. Default: the instructions.")),
        ]);
        let parameters = Data::dict([
            ("type", Data::from("object")),
            ("properties", properties),
            ("required", Data::list([Data::from("name")])),
        ]);
        let description = "Returns the instructions of a skill, or another file of it.";
        let mut spec = ToolSpec::new(TOOL, description, parameters);
        spec.annotations = Data::dict([("kind", Data::from("read")), ("read_only", true.into())]);
        Some(Rc::new(SkillTool { spec, skills: self.skills }))
    }
}

/// Refuses a folder of others: one that is neither below the folder of the script nor below one that the user trusts.
fn check_trust(world: &World, folder: &Path, written: &str) -> Result<(), Box<Raise>> {
    let script = world.agents.files.script_folder();
    let is_own = script.canonicalize().is_ok_and(|script| folder.starts_with(script));
    if is_own || folder.ancestors().any(is_trusted_folder) {
        return Ok(());
    }
    Err(Raise::error(RunCode::Denied, format!("the skills in `{written}` are not trusted")).help(
        "read them; if you trust them, move them below the folder of the script, or run `harn trust` in a folder above \
         them that has a `harn.toml`",
    ))
}

/// Returns the folders that have a `SKILL.md`: the folder itself, or those in it.
fn places(folder: &Path, written: &Path) -> Result<Vec<PathBuf>, Box<Raise>> {
    if folder.join(FILE).is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let entries = folder.read_dir().map_err(|error| failed(written, &crate::system::reason(&error, "folder")))?;
    let inside = entries.take(MOST_NAMES).filter_map(Result::ok);
    // A link could lead to a folder that is not trusted.
    let folders = inside.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = folders.filter(|path| path.join(FILE).is_file()).collect();
    if found.is_empty() {
        return Err(failed(written, &format!("neither the folder nor one in it has a `{FILE}`")));
    }
    found.sort();
    Ok(found)
}

impl LoopSkill {
    fn read(cx: &Cx<'_>, folder: &Path) -> Result<Self, Box<Raise>> {
        let root = Root::open(folder).map_err(|why| failed(folder, &why))?;
        let text = text_of(&root, FILE).map_err(|why| failed(folder, &why))?;
        cx.check_copy(text.len())?;
        let (data, body) =
            front_matter_of(cx, &text).map_err(|raise| failed(folder, &format!("`{FILE}`: {}", raise.message)))?;
        let data = to_data_lossy(&data);
        let field = |key: &str, longest: usize| match data.get(key).as_str().map(str::trim) {
            Some("") => Err(failed(folder, &format!("the `{key}` in `{FILE}` is blank"))),
            Some(text) if text.chars().count() > longest => {
                Err(failed(folder, &format!("the `{key}` in `{FILE}` has more than {longest} characters")))
            }
            Some(text) => Ok(text.split_whitespace().collect::<Vec<_>>().join(" ")),
            None if data.get(key).is_nil() => {
                Err(failed(folder, &format!("the front matter of `{FILE}` has no `{key}`"))
                    .help("begin the file with `---`, `name: …`, `description: …` and another `---`"))
            }
            None => {
                let found = article(data.get(key).type_name());
                Err(failed(folder, &format!("the `{key}` in `{FILE}` must be a string, found {found}")))
            }
        };
        let (name, description) = (field("name", LONGEST_NAME)?, field("description", LONGEST_DESCRIPTION)?);
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
            return Err(failed(
                folder,
                &format!("the name {name:?} has other characters than letters, digits, `-` and `_`"),
            ));
        }
        let body = body.trim().to_owned();
        Ok(Self { name, description, root, body })
    }
}

/// Returns the text of a file inside of a folder.
fn text_of(root: &Root, path: &str) -> Result<String, String> {
    String::from_utf8(small_bytes(root, path, LARGEST)?).map_err(|_| format!("`{path}` is not UTF-8 text"))
}

/// The tool that reads skills.
struct SkillTool {
    spec: ToolSpec,
    skills: Vec<LoopSkill>,
}

impl SkillTool {
    fn answer(&self, arguments: &Data) -> Result<String, String> {
        let name = arguments.get("name").as_str().unwrap_or_default().trim();
        let Some(skill) = self.skills.iter().find(|skill| skill.name == name) else {
            let names: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
            return Err(format!("unknown skill `{}`; the skills are: {}", name.escape_debug(), names.join(", ")));
        };
        match arguments.get("file").as_str().map(str::trim) {
            None | Some("" | FILE) => Ok(skill.body.clone()),
            Some(path) => text_of(&skill.root, path),
        }
    }
}

impl Tool for SkillTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, _: Turn<'a>, call: &'a ToolCall) -> Answer<'a, Outcome<Output>> {
        Answer::Now(Ok(match self.answer(&call.arguments) {
            Ok(text) => Output::of(text.into()),
            Err(why) => Output::error(why),
        }))
    }
}
