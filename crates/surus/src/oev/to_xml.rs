//! One operation as a `<RECORD>`, in the bytes of Java's serializer: two blanks for each level, an empty element as `<A/>`.
//! Source: `XmlEditsVisitor.java`, Hadoop 3.5.0.

use super::fields::{Fields, visit};
use crate::offline::mangle;
use surus_namespace::EditOp;
use surus_types::TxId;

pub fn put_record(out: &mut Vec<u8>, txid: TxId, op: &mut EditOp) -> Result<(), String> {
    out.extend_from_slice(b"  <RECORD>\n    <OPCODE>");
    out.extend_from_slice(op.name().as_bytes());
    out.extend_from_slice(b"</OPCODE>\n    <DATA>\n");
    let mut show = Show { out, depth: 3 };
    show.number("TXID", &mut i128::from(txid.0))?;
    visit(op, &mut show)?;
    out.extend_from_slice(b"    </DATA>\n  </RECORD>\n");
    Ok(())
}

struct Show<'a> {
    out: &'a mut Vec<u8>,
    depth: usize,
}

impl Show<'_> {
    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.extend_from_slice(b"  ");
        }
    }

    fn open(&mut self, name: &str) {
        self.indent();
        self.out.push(b'<');
        self.out.extend_from_slice(name.as_bytes());
    }

    fn close(&mut self, name: &str) {
        self.out.extend_from_slice(b"</");
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b">\n");
    }
}

impl Fields for Show<'_> {
    fn number(&mut self, name: &str, value: &mut i128) -> Result<(), String> {
        self.open(name);
        self.out.push(b'>');
        match i64::try_from(*value) {
            Ok(value) => self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
            // Java has no unsigned numbers.
            Err(_) => self.out.extend_from_slice((*value as i64).to_string().as_bytes()),
        }
        self.close(name);
        Ok(())
    }

    fn optional_number(&mut self, name: &str, value: &mut Option<i128>) -> Result<(), String> {
        value.as_mut().map_or(Ok(()), |value| self.number(name, value))
    }

    fn text(&mut self, name: &str, value: &mut String) -> Result<(), String> {
        self.open(name);
        if value.is_empty() {
            self.out.extend_from_slice(b"/>\n");
            return Ok(());
        }
        self.out.push(b'>');
        put_text(self.out, value);
        self.close(name);
        Ok(())
    }

    fn optional_text(&mut self, name: &str, value: &mut Option<String>) -> Result<(), String> {
        value.as_mut().map_or(Ok(()), |value| self.text(name, value))
    }

    fn group(
        &mut self,
        name: &str,
        inside: &mut dyn FnMut(&mut dyn Fields) -> Result<(), String>,
    ) -> Result<(), String> {
        self.open(name);
        let at = self.out.len();
        self.out.extend_from_slice(b">\n");
        self.depth += 1;
        inside(self)?;
        self.depth -= 1;
        if self.out.len() == at + 2 {
            self.out.truncate(at);
            self.out.extend_from_slice(b"/>\n");
            return Ok(());
        }
        self.indent();
        self.close(name);
        Ok(())
    }

    fn repeated(
        &mut self,
        name: &str,
        count: usize,
        item: &mut dyn FnMut(&mut dyn Fields, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        (0..count).try_for_each(|at| self.group(name, &mut |fields| item(fields, at)))
    }
}

/// Text as Java's serializer writes it: what it thinks unsafe becomes a decimal reference.
fn put_text(out: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<' | b'>' | b'\\')) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let mut mangled = Vec::with_capacity(text.len());
    mangle(&mut mangled, text, false);
    for character in String::from_utf8_lossy(&mangled).chars() {
        match character {
            '&' => out.extend_from_slice(b"&amp;"),
            '<' => out.extend_from_slice(b"&lt;"),
            '>' => out.extend_from_slice(b"&gt;"),
            '\r' | '\x7F'..='\u{9F}' | '\u{2028}' | '\u{1_0000}'.. => {
                out.extend_from_slice(format!("&#{};", character as u32).as_bytes());
            }
            _ => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
