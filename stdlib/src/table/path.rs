//! Paths as text: nothing here looks at files.

use crate::here;
use lang::builtins::args;
use lang::value::Value;
use lang::vm::{Cx, Raise};
use std::path::{Component, Path, PathBuf};

lang::builtins! { "" =>
    /// Returns the folder in which relative paths of the script begin.
    ///
    /// ```harn
    /// path_is_absolute(cwd()) // => true
    /// ```
    plain "cwd() -> string" cwd;
    /// Returns the path without its last part: `.` for a path of one part.
    ///
    /// ```harn
    /// path_dirname("docs/guide/a.md") // => "docs/guide"
    /// path_dirname("a.md") // => "."
    /// ```
    plain "path_dirname(path: string) -> string" path_dirname;
    /// Returns the last part of a path.
    ///
    /// ```harn
    /// path_basename("docs/guide/a.md") // => "a.md"
    /// ```
    plain "path_basename(path: string) -> string" path_basename;
    /// Returns the last part of a path without its extension.
    ///
    /// ```harn
    /// path_stem("docs/archive.tar.gz") // => "archive.tar"
    /// ```
    plain "path_stem(path: string) -> string" path_stem;
    /// Returns the extension of a path without its point, empty if there is none.
    ///
    /// ```harn
    /// path_ext("docs/a.md") // => "md"
    /// path_ext(".bashrc") // => ""
    /// ```
    plain "path_ext(path: string) -> string" path_ext;
    /// Replaces the extension of a path; an empty one removes it.
    ///
    /// ```harn
    /// path_with_ext("docs/a.md", "html") // => "docs/a.html"
    /// ```
    plain "path_with_ext(path: string, ext: string) -> string" path_with_ext;
    /// Removes `.`, `..` and repeated separators from a path, as far as that is possible without a look at files.
    ///
    /// ```harn
    /// path_normalize("./docs//guide/../a.md") // => "docs/a.md"
    /// path_normalize("../a/..") // => ".."
    /// ```
    plain "path_normalize(path: string) -> string" path_normalize;
    /// Returns the path from the root, without `.` and `..`. A relative path begins in the folder of the script's run.
    ///
    /// ```harn
    /// path_absolute("/srv/../etc") // => "/etc"
    /// path_absolute("a.md") == path_join(cwd(), "a.md") // => true
    /// ```
    plain "path_absolute(path: string) -> string" path_absolute;
    /// Returns the path that leads from a folder to another path.
    ///
    /// ```harn
    /// path_relative("docs/guide", "docs/img/a.png") // => "../img/a.png"
    /// ```
    plain "path_relative(folder: string, path: string) -> string" path_relative;
    /// Returns whether a path is inside of a folder, or is this folder. Links are not followed.
    ///
    /// ```harn
    /// path_is_inside("docs/a.md", "docs") // => true
    /// path_is_inside("docs/../secret", "docs") // => false
    /// ```
    plain "path_is_inside(path: string, folder: string) -> bool" path_is_inside;
    /// Returns whether a path begins at the root.
    ///
    /// ```harn
    /// path_is_absolute("/etc") // => true
    /// ```
    plain "path_is_absolute(path: string) -> bool" path_is_absolute;
    /// Returns the parts of a path.
    ///
    /// ```harn
    /// path_parts("docs/guide/a.md") // => ["docs", "guide", "a.md"]
    /// ```
    plain "path_parts(path: string) -> list<string>" path_parts;
}

fn text(path: &Path) -> Value {
    Value::from(path.to_string_lossy().into_owned())
}

/// The path of an argument. What is made of it is not longer than a few copies.
fn path<'a>(cx: &Cx<'_>, args: &'a [Value], i: usize) -> Result<&'a Path, Box<Raise>> {
    let text = args::str(args, i)?;
    cx.charge(text.len(), 1);
    cx.check_size(text.len().checked_mul(4))?;
    Ok(Path::new(text.as_str()))
}

fn cwd(cx: &mut Cx<'_>, _: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(text(&folder(cx)?))
}

fn folder(cx: &Cx<'_>) -> Result<PathBuf, Box<Raise>> {
    let folder = here::world(cx)?.path("");
    // The folder of the process, if the run has no other one.
    let folder = if folder.is_absolute() { folder } else { std::env::current_dir().unwrap_or_default().join(folder) };
    Ok(normalized(&folder))
}

fn path_dirname(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let path = path(cx, args, 0)?;
    Ok(match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Value::str("."),
        Some(parent) => text(parent),
        None => text(path),
    })
}

fn path_basename(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(path(cx, args, 0)?.file_name().map_or_else(|| Value::str(""), |name| text(Path::new(name))))
}

fn path_stem(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(path(cx, args, 0)?.file_stem().map_or_else(|| Value::str(""), |name| text(Path::new(name))))
}

fn path_ext(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(path(cx, args, 0)?.extension().map_or_else(|| Value::str(""), |ext| text(Path::new(ext))))
}

fn path_with_ext(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let ext = args::str(args, 1)?;
    if ext.contains('/') {
        return Err(args::mismatch(args, 1, "an extension without a separator"));
    }
    cx.check_size(ext.len().checked_mul(2))?;
    Ok(text(&path(cx, args, 0)?.with_extension(ext.strip_prefix('.').unwrap_or(ext))))
}

/// Removes `.` and `..` without a look at files; the empty path is `.`.
fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => drop(out.pop()),
                // Above the root is the root.
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    if out.as_os_str().is_empty() { PathBuf::from(".") } else { out }
}

fn path_normalize(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(text(&normalized(path(cx, args, 0)?)))
}

fn absolute(cx: &Cx<'_>, path: &Path) -> Result<PathBuf, Box<Raise>> {
    Ok(if path.is_absolute() { normalized(path) } else { normalized(&folder(cx)?.join(path)) })
}

fn path_absolute(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(text(&absolute(cx, path(cx, args, 0)?)?))
}

fn path_relative(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (from, to) = (absolute(cx, path(cx, args, 0)?)?, absolute(cx, path(cx, args, 1)?)?);
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    let out: PathBuf = up.chain(to.components().skip(common)).collect();
    Ok(if out.as_os_str().is_empty() { Value::str(".") } else { text(&out) })
}

fn path_is_inside(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let (path, folder) = (absolute(cx, path(cx, args, 0)?)?, absolute(cx, path(cx, args, 1)?)?);
    Ok(Value::Bool(path.starts_with(folder)))
}

fn path_is_absolute(_: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    Ok(Value::Bool(Path::new(args::str(args, 0)?.as_str()).is_absolute()))
}

fn path_parts(cx: &mut Cx<'_>, args: &mut [Value]) -> Result<Value, Box<Raise>> {
    let path = path(cx, args, 0)?;
    let mut parts = Vec::new();
    for part in path.components() {
        if parts.len() == parts.capacity() {
            cx.check_size(parts.len().checked_mul(2 * size_of::<Value>()))?;
        }
        parts.push(text(Path::new(part.as_os_str())));
    }
    Ok(Value::list(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_normalized_without_files() {
        for (path, wanted) in [
            ("", "."),
            (".", "."),
            ("a/./b//c/", "a/b/c"),
            ("a/../..", ".."),
            ("../../a", "../../a"),
            ("/..", "/"),
            ("/a/../../b", "/b"),
        ] {
            assert_eq!(normalized(Path::new(path)), Path::new(wanted), "{path}");
        }
    }
}
