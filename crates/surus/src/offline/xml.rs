//! XML as Hadoop's viewers write and read it: elements without attributes, and a backslash form for what XML cannot hold.
//! Source: `XMLUtils.java`, Hadoop 3.5.0.

use super::files::Window;
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};
use std::io::BufReader;

/// Appends text in which the backslash and what XML 1.0 cannot hold stand as `\XXXX;`, four hexadecimal digits or more.
/// With `quotes`, `&<>"'` become entities as well.
pub fn mangle(out: &mut Vec<u8>, text: &str, quotes: bool) {
    let is_plain = |byte: u8| !matches!(byte, 0..=0x1F | b'\\' | b'&' | b'<' | b'>' | b'"' | b'\'' | 0xEF);
    if text.bytes().all(is_plain) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    for character in text.chars() {
        match character {
            '\\' | '\0'..='\x08' | '\x0B' | '\x0C' | '\x0E'..='\x1F' | '\u{FFFE}' | '\u{FFFF}' => {
                out.extend_from_slice(format!("\\{:04x};", character as u32).as_bytes());
            }
            '&' if quotes => out.extend_from_slice(b"&amp;"),
            '<' if quotes => out.extend_from_slice(b"&lt;"),
            '>' if quotes => out.extend_from_slice(b"&gt;"),
            '"' if quotes => out.extend_from_slice(b"&quot;"),
            '\'' if quotes => out.extend_from_slice(b"&apos;"),
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// The reverse of `mangle`, for the backslash form.
///
/// # Errors
/// Names a backslash that begins no such form.
pub fn unmangle(text: &str) -> Result<String, String> {
    if !text.contains('\\') {
        return Ok(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split('\\');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let form = part.split_once(';').filter(|(digits, _)| digits.len() >= 4);
        let decoded = form.and_then(|(digits, rest)| {
            let number = u32::from_str_radix(digits, 16).ok()?;
            Some((char::from_u32(number)?, rest))
        });
        let (character, rest) = decoded.ok_or_else(|| format!("a backslash that begins no \\XXXX; in \"{text}\""))?;
        out.push(character);
        out.push_str(rest);
    }
    Ok(out)
}

/// An element with what is in it.
#[derive(Default, Debug)]
pub struct Node {
    pub text: String,
    children: Vec<(String, Option<Node>)>,
    /// Children before this one are taken.
    first_left: usize,
}

impl Node {
    /// Takes the first child of that name.
    pub fn take(&mut self, name: &str) -> Option<Node> {
        let at =
            self.first_left + self.children[self.first_left..].iter().position(|c| c.1.is_some() && c.0 == name)?;
        let node = self.children[at].1.take();
        while self.children.get(self.first_left).is_some_and(|child| child.1.is_none()) {
            self.first_left += 1;
        }
        node
    }

    /// Takes all children of that name.
    pub fn take_all(&mut self, name: &str) -> Vec<Node> {
        self.children.iter_mut().filter(|child| child.0 == name).filter_map(|child| child.1.take()).collect()
    }

    pub fn take_text(&mut self, name: &str) -> Option<String> {
        self.take(name).map(|node| node.text)
    }

    /// Names of the children that nobody took.
    pub fn left(&self) -> String {
        let names: Vec<&str> =
            self.children.iter().filter(|child| child.1.is_some()).map(|child| child.0.as_str()).collect();
        names.join(", ")
    }
}

/// What stands next in the file.
pub enum Step {
    Start(String),
    End,
    Eof,
}

/// Reads a file element by element; never holds more than the one asked for.
pub struct XmlReader {
    reader: Reader<BufReader<Window>>,
    buffer: Vec<u8>,
    /// `<a/>` is a start and an end.
    pending_end: bool,
    text: String,
}

impl XmlReader {
    /// # Errors
    /// The disk's.
    pub fn open(path: &str) -> std::io::Result<XmlReader> {
        let reader = Reader::from_reader(BufReader::with_capacity(256 << 10, Window::open(path)?));
        Ok(XmlReader { reader, buffer: Vec::new(), pending_end: false, text: String::new() })
    }

    /// The next start or end of an element; text before it is in `text`.
    ///
    /// # Errors
    /// Says what is wrong with the file and where.
    pub fn step(&mut self) -> Result<Step, String> {
        self.text.clear();
        if std::mem::take(&mut self.pending_end) {
            return Ok(Step::End);
        }
        loop {
            self.buffer.clear();
            let at = self.reader.buffer_position();
            let event = self.reader.read_event_into(&mut self.buffer);
            match event.map_err(|e| format!("not well-formed XML at byte {at}: {e}"))? {
                Event::Start(element) => return Ok(Step::Start(element.name().as_ref().to_owned())),
                Event::Empty(element) => {
                    self.pending_end = true;
                    return Ok(Step::Start(element.name().as_ref().to_owned()));
                }
                Event::End(_) => return Ok(Step::End),
                // As it stands: a CR that is part of a name must not become a line feed.
                Event::Text(text) => self.text.push_str(&text.into_inner()),
                Event::CData(text) => self.text.push_str(&text.xml10_content()),
                Event::GeneralRef(reference) => self.text.push(resolve(&reference)?),
                Event::Eof => return Ok(Step::Eof),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
    }

    /// What is in the element that just began, to its end.
    ///
    /// # Errors
    /// As `step`; or the file ends inside.
    pub fn node(&mut self) -> Result<Node, String> {
        self.children_until(&[]).map(|(node, _)| node)
    }

    /// What is in the element that just began, to its end or to the start of an element in `stop`, whose name is given.
    ///
    /// # Errors
    /// As `node`.
    pub fn children_until(&mut self, stop: &[&str]) -> Result<(Node, Option<String>), String> {
        let mut open: Vec<(String, Node)> = vec![(String::new(), Node::default())];
        loop {
            let step = self.step()?;
            if let Some((_, node)) = open.last_mut() {
                node.text.push_str(&self.text);
            }
            match step {
                Step::Start(name) if open.len() == 1 && stop.contains(&&*name) => {
                    return Ok((open.pop().map(|(_, node)| node).unwrap_or_default(), Some(name)));
                }
                Step::Start(name) => open.push((name, Node::default())),
                Step::End => {
                    let (name, node) = open.pop().unwrap_or_default();
                    match open.last_mut() {
                        Some((_, parent)) => parent.children.push((name, Some(node))),
                        None => return Ok((node, None)),
                    }
                }
                Step::Eof => return Err("the file ends inside an element".to_owned()),
            }
        }
    }
}

/// `&lt;`, `&#65;`: the predefined entities and character references.
fn resolve(reference: &BytesRef<'_>) -> Result<char, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|e| e.to_string())? {
        return Ok(character);
    }
    match reference.xml10_content().as_ref() {
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "amp" => Ok('&'),
        "apos" => Ok('\''),
        "quot" => Ok('"'),
        other => Err(format!("unknown entity &{other};")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_and_back() {
        let text = "a\\b\0\u{1f}\t\n<&>\"'\u{ffff}é😀";
        let mut out = Vec::new();
        mangle(&mut out, text, true);
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, "a\\005c;b\\0000;\\001f;\t\n&lt;&amp;&gt;&quot;&apos;\\ffff;é😀");
        let mut plain = Vec::new();
        mangle(&mut plain, text, false);
        assert_eq!(unmangle(std::str::from_utf8(&plain).unwrap()).unwrap(), text);
        assert!(unmangle("a\\b").is_err() && unmangle("\\d800;").is_err());
    }
}
