//! Where operations go: XML, a binary edits file, or a count of each.

use super::to_xml;
use crate::offline::{Output, mangle};
use std::io::Write;
use surus_journal::ops::{encode_op_for, op_name};
use surus_namespace::EditOp;
use surus_types::TxId;

pub trait Sink {
    /// The layout version comes first.
    fn start(&mut self, layout: i32) -> Result<(), String>;
    fn op(&mut self, txid: TxId, op: &mut EditOp) -> Result<(), String>;
    /// At the end, or behind the last operation that could be read.
    fn close(&mut self, problem: Option<&str>) -> Result<(), String>;
}

fn io(error: std::io::Error) -> String {
    error.to_string()
}

pub struct Xml {
    output: Output,
}

impl Xml {
    pub fn new(output: Output) -> Xml {
        Xml { output }
    }
}

impl Sink for Xml {
    fn start(&mut self, layout: i32) -> Result<(), String> {
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<EDITS>\n";
        writeln!(self.output, "{head}  <EDITS_VERSION>{layout}</EDITS_VERSION>").map_err(io)
    }

    fn op(&mut self, txid: TxId, op: &mut EditOp) -> Result<(), String> {
        to_xml::put_record(self.output.buffer(), txid, op)?;
        self.output.spill().map_err(io)
    }

    fn close(&mut self, problem: Option<&str>) -> Result<(), String> {
        let out = self.output.buffer();
        out.extend_from_slice(b"</EDITS>");
        if let Some(problem) = problem {
            out.extend_from_slice(b"<ERROR>");
            mangle(out, problem, true);
            out.extend_from_slice(b"</ERROR>");
        }
        out.push(b'\n');
        self.output.flush().map_err(io)
    }
}

pub struct Binary {
    output: Output,
    layout: i32,
}

impl Binary {
    pub fn new(output: Output) -> Binary {
        Binary { output, layout: 0 }
    }
}

impl Sink for Binary {
    fn start(&mut self, layout: i32) -> Result<(), String> {
        self.layout = layout;
        let out = self.output.buffer();
        out.extend_from_slice(&layout.to_be_bytes());
        // No layout flags.
        out.extend_from_slice(&[0; 4]);
        Ok(())
    }

    fn op(&mut self, txid: TxId, op: &mut EditOp) -> Result<(), String> {
        encode_op_for(self.layout, op, txid, self.output.buffer());
        self.output.spill().map_err(io)
    }

    fn close(&mut self, _problem: Option<&str>) -> Result<(), String> {
        self.output.flush().map_err(io)
    }
}

/// Codes 0 to 52 are known.
const CODES: usize = 53;

pub struct Stats {
    output: Output,
    layout: i32,
    counts: [u64; CODES],
}

impl Stats {
    pub fn new(output: Output) -> Stats {
        Stats { output, layout: -1, counts: [0; CODES] }
    }
}

impl Sink for Stats {
    fn start(&mut self, layout: i32) -> Result<(), String> {
        self.layout = layout;
        Ok(())
    }

    fn op(&mut self, _txid: TxId, op: &mut EditOp) -> Result<(), String> {
        let name = op.name();
        if let Some(code) = (0..CODES).find(|code| op_name(*code as u8) == name) {
            self.counts[code] += 1;
        }
        Ok(())
    }

    fn close(&mut self, problem: Option<&str>) -> Result<(), String> {
        let out = &mut self.output;
        writeln!(out, "    {:30}      : {}", "VERSION", self.layout).map_err(io)?;
        for (code, count) in self.counts.iter().enumerate() {
            let name = match code {
                // Nothing is behind them any more, but they have names.
                5 => "OP_DATANODE_ADD",
                6 => "OP_DATANODE_REMOVE",
                _ => op_name(code as u8),
            };
            writeln!(out, "    {name:30.30} ({code:3}): {count}").map_err(io)?;
        }
        writeln!(out, "    {:30} ({:3}): 0", "OP_INVALID", -1).map_err(io)?;
        if let Some(problem) = problem {
            writeln!(out, "EXITING ON ERROR: {problem}").map_err(io)?;
        }
        self.output.flush().map_err(io)
    }
}
