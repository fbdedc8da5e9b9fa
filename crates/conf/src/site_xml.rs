//! One site file: XML text to properties in file order. Source: `Configuration.java` (`Parser`), Hadoop 3.5.0.

use crate::error::ConfError;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// Largest site file read, in bytes. Real ones have a few kilobytes.
const SITE_FILE_BYTES_MAX: usize = 16 << 20;

/// One `<property>` of a site file. A property without name or value is left out, as Hadoop does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Property {
    pub name: String,
    pub value: String,
    pub is_final: bool,
}

/// Reads the properties of one site file.
///
/// # Errors
/// `ConfError::File` with file and line: not well formed, another top element than `configuration`, `xi:include`.
pub(crate) fn parse(file: &str, text: &str) -> Result<Vec<Property>, ConfError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
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
        parser.handle(event).map_err(|problem| fail(reader.buffer_position(), problem))?;
        if done {
            return Ok(parser.properties);
        }
    }
}

/// Where in the file the reader stands.
#[derive(Default)]
struct Parser {
    properties: Vec<Property>,
    /// Names of the open elements.
    open: Vec<String>,
    name: Option<String>,
    value: Option<String>,
    is_final: bool,
    text: String,
    seen_root: bool,
}

impl Parser {
    fn handle(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Start(element) => self.handle_start(&element)?,
            Event::Empty(element) => {
                self.handle_start(&element)?;
                self.handle_end();
            }
            Event::End(_) => self.handle_end(),
            Event::Text(text) => self.text.push_str(&text.xml10_content()),
            Event::CData(text) => self.text.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => self.text.push(resolve(&reference)?),
            Event::Eof if !self.open.is_empty() => {
                return Err(format!("the file ends inside <{}>", self.open.join("><")));
            }
            Event::Eof if !self.seen_root => return Err("there is no <configuration> element".to_string()),
            Event::Eof | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        Ok(())
    }

    fn handle_start(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        let tag = element.name().as_ref().to_string();
        if tag == "include" || tag.ends_with(":include") {
            return Err("XInclude is not supported: put the included properties into this file".to_string());
        }
        if self.open.is_empty() && tag != "configuration" {
            return Err(format!("the top element is <{tag}>, it must be <configuration>"));
        }
        self.seen_root = true;
        if tag == "property" {
            (self.name, self.value, self.is_final) = (None, None, false);
            for attribute in element.attributes() {
                let attribute = attribute.map_err(|e| e.to_string())?;
                let value =
                    attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|e| e.to_string())?.into_owned();
                match attribute.key.as_ref() {
                    "name" => self.name = Some(value),
                    "value" => self.value = Some(value),
                    "final" => self.is_final = value.trim() == "true",
                    _ => {}
                }
            }
        }
        self.text.clear();
        self.open.push(tag);
        Ok(())
    }

    fn handle_end(&mut self) {
        let text = std::mem::take(&mut self.text);
        match self.open.pop().as_deref() {
            Some("name") => self.name = Some(text),
            Some("value") => self.value = Some(text),
            Some("final") => self.is_final = text.trim() == "true",
            Some("property") => {
                if let (Some(name), Some(value)) = (self.name.take(), self.value.take())
                    && !name.trim().is_empty()
                {
                    self.properties.push(Property { name: name.trim().to_string(), value, is_final: self.is_final });
                }
            }
            _ => {}
        }
    }
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
        match parse("core-site.xml", text) {
            Ok(properties) => properties
                .iter()
                .map(|p| format!("{}={}{}", p.name, p.value, if p.is_final { "!" } else { "" }))
                .collect::<Vec<_>>()
                .join("\n"),
            Err(e) => e.to_string(),
        }
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
            (
                "<configuration>\n<xi:include href=\"a.xml\"/></configuration>",
                "core-site.xml, line 2: XInclude is not supported: put the included properties into this file",
            ),
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
            let _ = parse("f", &text);
        }
    }
}
