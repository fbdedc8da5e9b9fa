//! Reads edits from XML. More lenient than Java's: blanks at the ends of names stay, and a block of OP_TRUNCATE reads.
//! Source: `OfflineEditsXmlLoader.java`, Hadoop 3.5.0.

use super::blank::blank;
use super::fields::{Fields, visit};
use super::{Flags, Renumber, Sink};
use crate::offline::{Node, Step, XmlReader, unmangle};
use surus_types::TxId;

pub fn read(path: &str, sink: &mut dyn Sink, flags: Flags) -> Result<(), String> {
    let mut reader = XmlReader::open(path).map_err(|e| e.to_string())?;
    expect(&mut reader, "EDITS")?;
    expect(&mut reader, "EDITS_VERSION")?;
    let version = reader.node()?.text;
    let layout = version.trim().parse().map_err(|_| format!("EDITS_VERSION is no number: {version}"))?;
    sink.start(layout)?;
    let mut numbers = Renumber::new();
    loop {
        match reader.step()? {
            Step::Start(name) if name == "RECORD" => record(reader.node()?, sink, flags, &mut numbers)?,
            Step::Start(name) => return Err(format!("expected a <RECORD> tag, found <{name}>")),
            Step::End => break,
            Step::Eof => return Err("expecting </EDITS>".to_owned()),
        }
    }
    match reader.step()? {
        Step::Eof => Ok(()),
        _ => Err("not expecting anything after </EDITS>".to_owned()),
    }
}

fn expect(reader: &mut XmlReader, name: &str) -> Result<(), String> {
    match reader.step()? {
        Step::Start(found) if found == name => Ok(()),
        Step::Start(found) => Err(format!("you must put <{name}> at the top of the XML file! Got tag {found} instead")),
        _ => Err(format!("expected <{name}/>")),
    }
}

fn record(mut record: Node, sink: &mut dyn Sink, flags: Flags, numbers: &mut Renumber) -> Result<(), String> {
    let name = record.take_text("OPCODE").ok_or("expected an <OPCODE> tag")?;
    let name = name.trim();
    let mut op = blank(name).ok_or_else(|| format!("No enum constant FSEditLogOpCodes.{name}"))?;
    let mut data = Fill { node: record.take("DATA").ok_or("expected a <DATA> tag")? };
    let mut txid = 0;
    let filled = data.number("TXID", &mut txid).and_then(|()| visit(&mut op, &mut data));
    filled.map_err(|problem| format!("{name}, transaction {txid}: {problem}"))?;
    let txid = u64::try_from(txid).map_err(|_| format!("TXID is out of range: {txid}"))?;
    sink.op(TxId(numbers.number(flags, txid)), &mut op)
}

struct Fill {
    node: Node,
}

fn parse(name: &str, text: &str) -> Result<i128, String> {
    text.trim().parse().map_err(|_| format!("{name} is no number: {text}"))
}

impl Fields for Fill {
    fn number(&mut self, name: &str, value: &mut i128) -> Result<(), String> {
        let text = self.node.take_text(name);
        // Hadoop itself does not read LENGTH.
        if let ("LENGTH", None) = (name, &text) {
            return Ok(());
        }
        *value = parse(name, &text.ok_or_else(|| format!("no entry found for {name}"))?)?;
        Ok(())
    }

    fn optional_number(&mut self, name: &str, value: &mut Option<i128>) -> Result<(), String> {
        *value = self.node.take_text(name).map(|text| parse(name, &text)).transpose()?;
        Ok(())
    }

    fn text(&mut self, name: &str, value: &mut String) -> Result<(), String> {
        let text = self.node.take_text(name).ok_or_else(|| format!("no entry found for {name}"))?;
        *value = unmangle(&text)?;
        Ok(())
    }

    fn optional_text(&mut self, name: &str, value: &mut Option<String>) -> Result<(), String> {
        *value = self.node.take_text(name).map(|text| unmangle(&text)).transpose()?;
        Ok(())
    }

    fn group(
        &mut self,
        name: &str,
        inside: &mut dyn FnMut(&mut dyn Fields) -> Result<(), String>,
    ) -> Result<(), String> {
        let node = self.node.take(name).ok_or_else(|| format!("no entry found for {name}"))?;
        inside(&mut Fill { node })
    }

    fn repeated(
        &mut self,
        name: &str,
        _count: usize,
        item: &mut dyn FnMut(&mut dyn Fields, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut nodes = self.node.take_all(name).into_iter().enumerate();
        nodes.try_for_each(|(at, node)| item(&mut Fill { node }, at))
    }
}
