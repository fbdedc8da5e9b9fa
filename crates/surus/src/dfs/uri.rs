//! Paths as users write them: with or without scheme and authority, absolute or below the working directory.
//! Source: `Path.java`, `PathData.java`, Hadoop 3.5.0.

/// The parts of a path, none of them normalised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUri<'a> {
    pub scheme: Option<&'a str>,
    pub authority: Option<&'a str>,
    pub path: &'a str,
}

impl<'a> PathUri<'a> {
    pub fn parse(text: &'a str) -> Self {
        let (scheme, rest) = match text.split_once(':') {
            Some((scheme, rest)) if !scheme.is_empty() && !scheme.contains('/') => (Some(scheme), rest),
            _ => (None, text),
        };
        match rest.strip_prefix("//") {
            Some(rest) if scheme.is_some() || text.starts_with("//") => {
                let end = rest.find('/').unwrap_or(rest.len());
                let authority = Some(&rest[..end]).filter(|a| !a.is_empty());
                // `//a` without scheme is an absolute path with a slash too many.
                if scheme.is_none() {
                    return PathUri { scheme, authority: None, path: text };
                }
                PathUri { scheme, authority, path: &rest[end..] }
            }
            _ => PathUri { scheme, authority: None, path: rest },
        }
    }
}

/// The absolute path: below `working_dir` where it is relative, without empty components, `.` and `..`.
pub fn normalize(path: &str, working_dir: &str) -> String {
    let mut components: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { working_dir };
    for component in base.split('/').chain(path.split('/')) {
        match component {
            "" | "." => {}
            ".." if matches!(components.last(), Some(last) if *last != "..") => {
                components.pop();
            }
            // What lies above the root stays, for the server to refuse.
            component => components.push(component),
        }
    }
    let mut out = String::with_capacity(path.len() + 1);
    for component in components {
        out.push('/');
        out.push_str(component);
    }
    if out.is_empty() { "/".to_string() } else { out }
}

/// `path` as seen from `cwd`; both absolute.
pub fn relativize(cwd: &str, path: &str, is_dir: bool) -> String {
    if cwd == path {
        return ".".to_string();
    }
    let with_slash = |text: &str, wanted: bool| match wanted && !text.ends_with('/') {
        true => format!("{text}/"),
        false => text.to_string(),
    };
    let (from, to) = (with_slash(cwd, true), with_slash(path, is_dir));
    let common = from.bytes().zip(to.bytes()).take_while(|(a, b)| a == b).count();
    let last_slash = from[..floor(&from, common)].rfind('/');
    let below = last_slash.and_then(|at| path.get(at + 1..)).unwrap_or("");
    let ups = last_slash.and_then(|at| cwd.get(at + 1..)).map_or(0, |rest| match rest {
        "" => 0,
        rest => rest.split('/').count(),
    });
    let mut parts = vec![".."; ups];
    if !below.is_empty() {
        parts.push(below);
    }
    parts.join("/")
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The directory that holds a path; `None` for the root.
pub fn parent(path: &str) -> Option<&str> {
    match path.rfind('/') {
        _ if path == "/" => None,
        Some(0) | None => Some("/"),
        Some(at) => Some(&path[..at]),
    }
}

/// Whether a path as written can only mean a directory: it ends in `/`, `.` or `..`.
pub fn represents_directory(text: &str) -> bool {
    let name = PathUri::parse(text).path.rsplit('/').next().unwrap_or("");
    matches!(name, "" | "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_path() {
        let parts = |text| {
            let uri = PathUri::parse(text);
            (uri.scheme, uri.authority, uri.path)
        };
        assert_eq!(parts("/a/b"), (None, None, "/a/b"));
        assert_eq!(parts("hdfs://h:1/a"), (Some("hdfs"), Some("h:1"), "/a"));
        assert_eq!(parts("hdfs://h:1"), (Some("hdfs"), Some("h:1"), ""));
        assert_eq!(parts("hdfs:///a"), (Some("hdfs"), None, "/a"));
        assert_eq!(parts("file:/a"), (Some("file"), None, "/a"));
        assert_eq!(parts("a/b:c"), (None, None, "a/b:c"));
        assert_eq!(parts("//a"), (None, None, "//a"));
    }

    #[test]
    fn normal_paths() {
        for (path, normal) in [
            ("/a//b/", "/a/b"),
            ("x", "/u/r/x"),
            (".", "/u/r"),
            ("..", "/u"),
            ("/a/../b", "/b"),
            ("/", "/"),
            ("/..", "/.."),
        ] {
            assert_eq!(normalize(path, "/u/r"), normal, "{path}");
        }
    }

    #[test]
    fn relative_paths() {
        for (path, is_dir, relative) in [
            ("/user/root", true, "."),
            ("/user/root/a", false, "a"),
            ("/user/root/a/b", true, "a/b"),
            ("/user", true, ".."),
            ("/user/x", false, "../x"),
            ("/tmp/x", false, "../../tmp/x"),
            ("/user/rootx", false, "../rootx"),
        ] {
            assert_eq!(relativize("/user/root", path, is_dir), relative, "{path}");
        }
    }

    #[test]
    fn what_looks_like_a_directory() {
        assert!(represents_directory("/a/") && represents_directory(".") && represents_directory("a/.."));
        assert!(!represents_directory("/a"));
        assert_eq!((parent("/a/b"), parent("/a"), parent("/")), (Some("/a"), Some("/"), None));
    }
}
