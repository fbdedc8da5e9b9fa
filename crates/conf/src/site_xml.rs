//! One site file with what it includes: XML text to properties in file order.
//! Source: `Configuration.java` (`Parser`, `handleInclude`), Hadoop 3.5.0.

use crate::error::ConfError;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::cell::Cell;

/// Largest site file read, in bytes. Real ones have a few kilobytes.
const SITE_FILE_BYTES_MAX: usize = 16 << 20;

/// How deep included files include others. Hadoop has no limit and ends in a stack overflow.
const INCLUDE_DEPTH_MAX: usize = 16;
/// How many files one site file includes, directly or not.
const INCLUDES_MAX: usize = 1000;

/// Finds what `<xi:include href="...">` names: given the including file and the `href`, the found file's name and text; `None`
/// where there is no such file; the text of an error where it cannot be read.
pub type FindInclude<'a> = dyn Fn(&str, &str) -> Result<Option<(String, String)>, String> + 'a;

/// One `<property>` of a site file. A property without name or value is left out, as Hadoop does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Property {
    pub name: String,
    pub value: String,
    pub is_final: bool,
}

/// Reads the properties of one site file and, in their places, those of the files it includes.
///
/// # Errors
/// `ConfError::File` with file and line: not well formed, another top element than `configuration`, an included file that is
/// not there (without `<xi:fallback>`) or is wrong itself.
pub(crate) fn parse(file: &str, text: &str, find: &FindInclude<'_>) -> Result<Vec<Property>, ConfError> {
    Includes { find, count: Cell::new(0) }.parse(file, text, 0)
}

/// The included files of one site file.
struct Includes<'a> {
    find: &'a FindInclude<'a>,
    count: Cell<usize>,
}

impl Includes<'_> {
    fn parse(&self, file: &str, text: &str, depth: usize) -> Result<Vec<Property>, ConfError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        let fail = |position: u64, problem: String| {
            let end = usize::try_from(position).unwrap_or(usize::MAX).min(text.len());
            let line = 1 + text.as_bytes()[..end].iter().filter(|b| **b == b'\n').count();
            ConfError::File { file: file.to_string(), line, problem }
        };
        if text.len() > SITE_FILE_BYTES_MAX {
            return Err(fail(0, format!("larger than {SITE_FILE_BYTES_MAX} bytes")));
        }
        let mut parser = Parser::default();
        loop {
            let event =
                reader.read_event().map_err(|e| fail(reader.error_position(), format!("not well-formed XML: {e}")))?;
            let done = matches!(event, Event::Eof);
            let wanted = parser.handle(event).map_err(|problem| fail(reader.buffer_position(), problem))?;
            if let Some(href) = wanted {
                let found = self.open(file, &href, depth).map_err(|text| fail(reader.buffer_position(), text))?;
                let properties = found.map(|(name, text)| self.parse(&name, &text, depth + 1)).transpose()?;
                parser.included(properties);
            }
            if done {
                return Ok(parser.properties);
            }
        }
    }

    fn open(&self, file: &str, href: &str, depth: usize) -> Result<Option<(String, String)>, String> {
        if depth >= INCLUDE_DEPTH_MAX {
            return Err(format!(
                "xi:include of {href}: files include one another more than {INCLUDE_DEPTH_MAX} levels deep"
            ));
        }
        self.count.set(self.count.get() + 1);
        if self.count.get() > INCLUDES_MAX {
            return Err(format!("xi:include of {href}: more than {INCLUDES_MAX} files are included"));
        }
        (self.find)(file, href).map_err(|problem| format!("xi:include of {href}: {problem}"))
    }
}

/// An `<xi:include>` that is open.
struct Include {
    href: String,
    found: bool,
    in_fallback: bool,
    had_fallback: bool,
}

/// Where in the file the reader stands.
#[derive(Default)]
struct Parser {
    properties: Vec<Property>,
    /// Names of the open elements, without the prefix of a name space.
    open: Vec<String>,
    includes: Vec<Include>,
    name: Option<String>,
    value: Option<String>,
    is_final: bool,
    text: String,
    seen_root: bool,
}

impl Parser {
    /// The `href` of an include that begins here.
    fn handle(&mut self, event: Event<'_>) -> Result<Option<String>, String> {
        match event {
            Event::Start(element) => return self.handle_start(&element),
            Event::End(_) => self.handle_end()?,
            Event::Text(text) => self.text.push_str(&text.xml10_content()),
            Event::CData(text) => self.text.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => self.text.push(resolve(&reference)?),
            Event::Eof if !self.open.is_empty() => {
                return Err(format!("the file ends inside <{}>", self.open.join("><")));
            }
            Event::Eof if !self.seen_root => return Err("there is no <configuration> element".to_string()),
            // Elements without content come as a start and an end.
            Event::Empty(_) | Event::Eof | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        Ok(None)
    }

    fn handle_start(&mut self, element: &BytesStart<'_>) -> Result<Option<String>, String> {
        let tag = element.local_name().as_ref().to_string();
        if self.open.is_empty() && tag != "configuration" {
            return Err(format!("the top element is <{tag}>, it must be <configuration>"));
        }
        self.seen_root = true;
        let mut wanted = None;
        match tag.as_str() {
            "include" => {
                wanted = attribute(element, "href")?;
                // Without a href it names nothing, which Hadoop passes over.
                let found = wanted.is_none();
                self.includes.push(Include {
                    href: wanted.clone().unwrap_or_default(),
                    found,
                    in_fallback: false,
                    had_fallback: false,
                });
            }
            "fallback" => {
                if let Some(include) = self.includes.last_mut() {
                    (include.in_fallback, include.had_fallback) = (true, true);
                }
            }
            "property" => {
                self.name = attribute(element, "name")?;
                self.value = attribute(element, "value")?;
                self.is_final = attribute(element, "final")?.is_some_and(|value| value.trim() == "true");
            }
            _ => {}
        }
        self.text.clear();
        self.open.push(tag);
        // What a fallback that is not needed includes is not looked for.
        if wanted.is_some() && self.is_passed_over() {
            self.included(Some(Vec::new()));
            wanted = None;
        }
        Ok(wanted)
    }

    /// What the include that was begun last holds; `None`: there is no such file.
    fn included(&mut self, properties: Option<Vec<Property>>) {
        if let (Some(include), Some(properties)) = (self.includes.last_mut(), properties) {
            include.found = true;
            self.properties.extend(properties);
        }
    }

    /// Whether this is in the fallback of a file that was found.
    fn is_passed_over(&self) -> bool {
        self.includes.iter().any(|include| include.found && include.in_fallback)
    }

    fn handle_end(&mut self) -> Result<(), String> {
        let text = std::mem::take(&mut self.text);
        match self.open.pop().as_deref() {
            Some("name") => self.name = Some(text),
            Some("value") => self.value = Some(text),
            Some("final") => self.is_final = text.trim() == "true",
            Some("fallback") => {
                if let Some(include) = self.includes.last_mut() {
                    include.in_fallback = false;
                }
            }
            Some("include") => {
                if let Some(include) = self.includes.pop()
                    && !include.found
                    && !include.had_fallback
                {
                    return Err(format!(
                        "xi:include of {}: there is no such file, and no <xi:fallback> for that case",
                        include.href
                    ));
                }
            }
            Some("property") => {
                if let (Some(name), Some(value)) = (self.name.take(), self.value.take())
                    && !name.trim().is_empty()
                    && !self.is_passed_over()
                {
                    self.properties.push(Property { name: name.trim().to_string(), value, is_final: self.is_final });
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|e| e.to_string())?;
        if attribute.key.as_ref() == name {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|e| e.to_string())?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

/// `&lt;`, `&#65;`: the predefined entities and character references; all else is refused.
fn resolve(reference: &quick_xml::events::BytesRef<'_>) -> Result<char, String> {
    if let Some(c) = reference.resolve_char_ref().map_err(|e| e.to_string())? {
        return Ok(c);
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

    /// `name=value` lines, `!` behind the final ones; or the error.
    fn show(text: &str) -> String {
        match parse("core-site.xml", text, &find) {
            Ok(properties) => properties
                .iter()
                .map(|p| format!("{}={}{}", p.name, p.value, if p.is_final { "!" } else { "" }))
                .collect::<Vec<_>>()
                .join("\n"),
            Err(e) => e.to_string(),
        }
    }

    /// The files that can be included.
    fn find(from: &str, href: &str) -> Result<Option<(String, String)>, String> {
        let text = match href {
            "a.xml" => {
                "<configuration><property name='a' value='1' final='true'/><include href='b.xml'/></configuration>"
            }
            "b.xml" => "<configuration><property name='b' value='2'/></configuration>",
            "self.xml" => "<configuration><include href='self.xml'/></configuration>",
            "twice.xml" => "<configuration><include href='twice.xml'/><include href='twice.xml'/></configuration>",
            "bad.xml" => "<configuration>\n\n<x></configuration>",
            "locked.xml" => return Err(format!("not for {from}")),
            _ => return Ok(None),
        };
        Ok(Some((href.to_string(), text.to_string())))
    }

    #[test]
    fn included_files_stand_where_they_are_included() {
        let cases = [
            ("<xi:include href='a.xml'/><property name='b' value='3'/>", "a=1!\nb=2\nb=3"),
            ("<include/>", ""),
            ("<include href='no.xml'><fallback/></include><property name='c' value='4'/>", "c=4"),
            (
                "<xi:include href='no.xml'><xi:fallback><property name='c' value='4'/><xi:include href='b.xml'/></xi:fallback></xi:include>",
                "c=4\nb=2",
            ),
            (
                "<include href='b.xml'><fallback><property name='c' value='4'/><include href='no.xml'/></fallback></include>",
                "b=2",
            ),
        ];
        for (text, want) in cases {
            assert_eq!(show(&format!("<configuration>{text}</configuration>")), want, "{text}");
        }
    }

    #[test]
    fn includes_that_are_refused() {
        let cases = [
            (
                "no.xml",
                "core-site.xml, line 1: xi:include of no.xml: there is no such file, and no <xi:fallback> for that case",
            ),
            ("locked.xml", "core-site.xml, line 1: xi:include of locked.xml: not for core-site.xml"),
            (
                "self.xml",
                "self.xml, line 1: xi:include of self.xml: files include one another more than 16 levels deep",
            ),
            (
                "twice.xml",
                "twice.xml, line 1: xi:include of twice.xml: files include one another more than 16 levels deep",
            ),
        ];
        for (href, want) in cases {
            assert_eq!(show(&format!("<configuration><include href='{href}'/></configuration>")), want);
        }
        let bad = show("<configuration><include href='bad.xml'/></configuration>");
        assert!(bad.starts_with("bad.xml, line 3: not well-formed"), "{bad}");
    }

    #[test]
    fn both_forms_of_a_property() {
        let text = "<?xml version=\"1.0\"?>\n<?xml-stylesheet href=\"c.xsl\"?>\n<configuration>
            <!-- a comment --><property><name> a </name><value> 1 </value><final>true</final></property>
            <property name=\"b\" value=\"x&amp;y\" final=\"true\"/>
            <configuration><property><name>c</name><value>&lt;&#65;<![CDATA[<&>]]></value></property></configuration>
            <property><name>no.value</name></property>
            <property><name>empty</name><value></value><description>d &gt; e</description></property>
            </configuration>";
        assert_eq!(show(text), "a= 1 !\nb=x&y!\nc=<A<&>\nempty=");
    }

    #[test]
    fn what_is_refused() {
        let cases = [
            ("<configuration>\n<property>", "core-site.xml, line 2: the file ends inside <configuration><property>"),
            ("<x/>", "core-site.xml, line 1: the top element is <x>, it must be <configuration>"),
            ("", "core-site.xml, line 1: there is no <configuration> element"),
            ("<configuration>&foo;</configuration>", "core-site.xml, line 1: unknown entity &foo;"),
        ];
        for (text, want) in cases {
            assert_eq!(show(text), want, "{text}");
        }
        assert!(show("<configuration><a></b></configuration>").contains("not well-formed"));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in ".{0,200}") {
            let _ = parse("f", &text, &find);
        }
    }
}
