//! Descriptions of the file tools for models.

use base::data::Data;
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
            Self::Read => "Reads a text file or a range of its lines.",
            Self::List => "Lists a folder, one name per line. Folders end with a slash.",
            Self::Search => "Searches the text files below a folder. Returns `path:line: text`, one match per line.",
            Self::Write => "Writes a text file and replaces its previous content. Creates missing folders.",
            Self::Edit => "Replaces text in a file. The old text must occur exactly once, unless `all` is set.",
        }
    }

    fn params(self) -> &'static [Param] {
        match self {
            Self::Read => &[
                ("path", "string", "The file, relative to the root.", true),
                ("first_line", "integer", "The first line to read, starting at 1.", false),
                ("last_line", "integer", "The last line to read.", false),
            ],
            Self::List => &[
                ("path", "string", "The folder, relative to the root; `.` is the root.", false),
                ("recursive", "boolean", "Set to true to include subfolders.", false),
            ],
            Self::Search => &[
                ("pattern", "string", "A regular expression.", true),
                ("path", "string", "The folder to search; `.` is the root.", false),
                ("glob", "string", "Search only files whose path matches, for example `**/*.rs`.", false),
                ("literal", "boolean", "Set to true if the pattern is plain text.", false),
                ("ignored", "boolean", "Set to true to search files that `.gitignore` excludes, too.", false),
                ("max", "integer", "The maximum number of lines; default 100, at most 1000.", false),
            ],
            Self::Write => &[
                ("path", "string", "The file, relative to the root.", true),
                ("content", "string", "The complete new text.", true),
            ],
            Self::Edit => &[
                ("path", "string", "The file, relative to the root.", true),
                ("old", "string", "The text to replace, exactly as it is in the file.", true),
                ("new", "string", "The new text.", true),
                ("all", "boolean", "Set to true to replace every occurrence.", false),
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
