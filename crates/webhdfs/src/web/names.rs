//! What a file's name says of it: its media type, and the name to save it under.

use crate::url::encode_component;

/// By the extension; `application/octet-stream` where it says nothing.
pub fn content_type(path: &str) -> &'static str {
    mime_guess::from_path(path).first_raw().unwrap_or(crate::OCTET_STREAM)
}

/// Whether a browser may run what a file of this type says. The file is somebody's, and the page is the NameNode's.
pub fn is_active(content_type: &str) -> bool {
    ["html", "xml", "svg", "javascript"].iter().any(|word| content_type.contains(word))
}

/// The value of a `Content-Disposition` by which a browser saves the file under `name`, or under the path's last component
/// where that is empty. Source: RFC 6266.
pub fn disposition(name: &str, path: &str) -> String {
    let name = if name.is_empty() { path.rsplit('/').next().unwrap_or_default() } else { name };
    // For those who do not know the second form: quoted, of plain ASCII.
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ' { c } else { '_' })
        .collect();
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{}", encode_component(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_names() {
        let types: Vec<_> = ["/a.txt", "/a.HTML", "/x/a.tar.gz", "/a.json", "/a", "/a.b/c", "/.svg", "/i.svg"]
            .iter()
            .map(|path| content_type(path))
            .collect();
        let want = [
            "text/plain",
            "text/html",
            "application/gzip",
            "application/json",
            "application/octet-stream",
            "application/octet-stream",
            "application/octet-stream",
            "image/svg+xml",
        ];
        assert_eq!(types, want);
        assert!(is_active("text/html") && is_active("image/svg+xml") && !is_active("text/plain"));
        assert_eq!(disposition("a b.txt", "/x"), "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt");
        assert_eq!(disposition("", "/d/é\".x"), "attachment; filename=\"__.x\"; filename*=UTF-8''%C3%A9%22.x");
        assert_eq!(disposition("a\r\nX: y", "/"), "attachment; filename=\"a__X: y\"; filename*=UTF-8''a%0D%0AX%3A%20y");
    }
}
