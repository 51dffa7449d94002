//! Options of formats: CSV, differences, templates and URLs.

use super::{Count, Flag, Raw, Text};

options! {
    /// Options of `csv_parse`.
    CsvReadOptions {
        headers: Flag = true, "Whether the first row names the fields, and rows are dicts.";
        separator: Text = (shown "\",\""), "The character between fields.";
        types: Flag = false, "Whether numbers, bools and empty fields become ints, floats, bools and nil.";
    }

    /// Options of `csv_stringify`.
    CsvWriteOptions {
        headers: Raw as "bool | list<string>" = (shown "true"), "Whether the names of the fields are written first; a list says which fields.";
        separator: Text = (shown "\",\""), "The character between fields.";
    }

    /// Options of `diff`.
    DiffOptions {
        context: Count<usize> = 3, "Number of equal lines around a change.";
        old_name: Text = "a", "The name of the old text.";
        new_name: Text = "b", "The name of the changed text.";
    }

    /// Options of `render` and `render_file`.
    TemplateOptions {
        html: Flag = false, "Whether values are escaped for HTML.";
    }

    /// Parts of a URL, for `url_build`.
    UrlParts {
        base: Text, "The URL that the parts change.";
        scheme: Text = (shown "\"https\""), "The scheme. Default: that of `base`, else `https`.";
        host: Text, "The host.";
        port: Count<u16>, "The port.";
        path: Text, "The path. A relative one follows that of `base`.";
        query: Raw as "dict", "Values that are added to the query.";
        fragment: Text, "The fragment.";
        username: Text, "The user name.";
        password: Text, "The password.";
    }
}
