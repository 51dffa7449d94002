//! Descriptions of the file tools for models.

use runtime::data::Data;
use runtime::message::ToolSpec;

/// A file tool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FileToolKind {
    Read,
    List,
    Search,
    Write,
    Edit,
}

/// A parameter: name, JSON type, what it is, whether it must be there.
type Param = (&'static str, &'static str, &'static str, bool);

impl FileToolKind {
    pub(super) const ALL: [FileToolKind; 5] =
        [FileToolKind::Read, FileToolKind::List, FileToolKind::Search, FileToolKind::Write, FileToolKind::Edit];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Read => "read_file",
            Self::List => "list_files",
            Self::Search => "search_files",
            Self::Write => "write_file",
            Self::Edit => "edit_file",
        }
    }

    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Edit)
    }

    fn description(self) -> &'static str {
        match self {
            Self::Read => "Reads a text file, or some of its lines.",
            Self::List => "Lists a folder: one name per line, folders end in a slash.",
            Self::Search => "Finds lines in the text files below a folder: `path:line: text`, one per line.",
            Self::Write => "Writes a text file, replacing what was there. Folders above it are made.",
            Self::Edit => "Replaces a text in a file. The old text must stand there exactly once, unless `all` is set.",
        }
    }

    fn params(self) -> &'static [Param] {
        match self {
            Self::Read => &[
                ("path", "string", "The file, relative to the root.", true),
                ("first_line", "integer", "The first line wanted, from 1.", false),
                ("last_line", "integer", "The last line wanted.", false),
            ],
            Self::List => &[
                ("path", "string", "The folder, relative to the root; `.` is the root.", false),
                ("recursive", "boolean", "Whether the folders in it are listed, too.", false),
            ],
            Self::Search => &[
                ("pattern", "string", "A regular expression.", true),
                ("path", "string", "The folder to search; `.` is the root.", false),
                ("glob", "string", "Only files whose path fits, as `**/*.rs`.", false),
                ("literal", "boolean", "Whether the pattern is a plain text.", false),
                ("ignored", "boolean", "Whether files that `.gitignore` excludes are searched, too.", false),
                ("max", "integer", "The most lines; 100 where it is left out, at most 1000.", false),
            ],
            Self::Write => &[
                ("path", "string", "The file, relative to the root.", true),
                ("content", "string", "All of the new text.", true),
            ],
            Self::Edit => &[
                ("path", "string", "The file, relative to the root.", true),
                ("old", "string", "The text to be replaced, exactly as it stands in the file.", true),
                ("new", "string", "The text in its place.", true),
                ("all", "boolean", "Whether it is replaced wherever it stands.", false),
            ],
        }
    }

    /// The tool below the folder `root`, an absolute path.
    pub(super) fn spec(self, root: &str) -> ToolSpec {
        let property = |(name, ty, text, _): &Param| {
            let mut property = Data::dict([("type", Data::from(*ty)), ("description", (*text).into())]);
            if *ty == "integer" {
                property.set("minimum", 1.into());
            }
            (*name, property)
        };
        let required = self.params().iter().filter(|param| param.3).map(|param| Data::from(param.0));
        let parameters = Data::dict([
            ("type", Data::from("object")),
            ("properties", Data::dict(self.params().iter().map(property))),
            ("required", required.collect()),
            ("additionalProperties", false.into()),
        ]);
        let mut spec = ToolSpec::new(self.name(), self.description(), parameters);
        let kind = match self {
            Self::Read | Self::List => "read",
            Self::Search => "search",
            Self::Write | Self::Edit => "edit",
        };
        spec.annotations = if self.writes() {
            // One that reads what another one writes shall not overtake it.
            Data::dict([("kind", Data::from(kind)), ("permission", true.into()), ("sequential", true.into())])
        } else {
            Data::dict([("kind", Data::from(kind)), ("read_only", true.into())])
        };
        spec.annotations.set("root", root.into());
        spec
    }
}
