//! `surus oev`: the edits viewer. Edits to XML, XML to edits, or how many there are of each operation.
//! Source: `OfflineEditsViewer.java`, Hadoop 3.5.0.

mod binary;
mod blank;
mod fields;
pub use fields::{hex, parse_hex};
mod from_xml;
mod sink;
mod to_xml;

use crate::offline::{Opt, Output, parse};
use crate::output;
use sink::{Binary, Sink, Stats, Xml};

const OPTIONS: &[Opt] = &[
    Opt { short: "o", long: "outputFilename", has_value: true, is_required: true },
    Opt { short: "i", long: "inputFilename", has_value: true, is_required: true },
    Opt { short: "p", long: "processor", has_value: true, is_required: false },
    Opt { short: "v", long: "verbose", has_value: false, is_required: false },
    Opt { short: "f", long: "fix-txids", has_value: false, is_required: false },
    Opt { short: "r", long: "recover", has_value: false, is_required: false },
    Opt { short: "h", long: "help", has_value: false, is_required: false },
];

pub const USAGE: &str = "Usage: bin/hdfs oev [OPTIONS] -i INPUT_FILE -o OUTPUT_FILE
Offline edits viewer: reads the edits file INPUT_FILE and writes it to OUTPUT_FILE in another form.
-i,--inputFile <arg>   edits file; a name that ends in .xml (in any case) means XML, any other the binary form
-o,--outputFile <arg>  file to write; overwritten if it exists
-p,--processor <arg>   xml (the default), binary, or stats: how many there are of each operation
-h,--help              this text
-f,--fix-txids         number the transactions anew, so that there are no gaps
-r,--recover           pass over what is damaged in a binary file
-v,--verbose           show the names of the files, and what is written, on the screen too

Generic options: -D key=value, -conf FILE, -fs URI.
";

/// How the input is read.
#[derive(Clone, Copy)]
struct Flags {
    fix_txids: bool,
    recover: bool,
}

/// Runs the viewer; the value is Java's exit code.
pub fn run(_conf: &surus_conf::Configuration, arguments: &[String]) -> i32 {
    if arguments.is_empty() || matches!(arguments, [only] if ["-h", "--help"].contains(&&*only.to_lowercase())) {
        output::print(USAGE);
        return 0;
    }
    let options = match parse(OPTIONS, arguments) {
        Ok(options) if !options.has("h") => options,
        Ok(_) => {
            output::print(USAGE);
            return -1;
        }
        Err(problem) => {
            output::print(&format!("Error parsing command-line options: {problem}\n{USAGE}"));
            return -1;
        }
    };
    let input = options.value("i").unwrap_or_default();
    let target = options.value("o").unwrap_or_default();
    let processor = options.value("p").unwrap_or("xml");
    let is_verbose = options.has("v");
    let flags = Flags { fix_txids: options.has("f"), recover: options.has("r") };
    let is_xml = input.to_lowercase().ends_with(".xml");
    if is_verbose {
        output::print(&format!("input  [{input}]\noutput [{target}]\n"));
    }
    if let ("xml", true) | ("binary", false) = (&*processor.to_lowercase(), is_xml) {
        let form = if is_xml { "XML" } else { "Binary" };
        output::print(&format!("{form} format input file is not allowed to be processed by {form} processor.\n"));
        return -1;
    }
    match view(input, is_xml, target, processor, is_verbose, flags) {
        Ok(()) => 0,
        Err(problem) => {
            eprintln!("Encountered exception. Exiting: {problem}");
            -1
        }
    }
}

fn view(
    input: &str,
    is_xml: bool,
    target: &str,
    processor: &str,
    is_verbose: bool,
    flags: Flags,
) -> Result<(), String> {
    let create = |to_screen| Output::create(target, to_screen).map_err(|e| e.to_string());
    let mut sink: Box<dyn Sink> = match &*processor.to_lowercase() {
        "xml" => Box::new(Xml::new(create(is_verbose)?)),
        "stats" => Box::new(Stats::new(create(is_verbose)?)),
        "binary" => Box::new(Binary::new(create(false)?)),
        _ => return Err(format!("Unknown processor {processor} (valid processors: xml, binary, stats)")),
    };
    let read = if is_xml { from_xml::read(input, &mut *sink, flags) } else { binary::read(input, &mut *sink, flags) };
    let closed = sink.close(read.as_ref().err().map(String::as_str));
    read.and(closed)
}

/// Gives transactions new numbers without gaps, beginning with the first one found.
struct Renumber {
    next: Option<u64>,
}

impl Renumber {
    fn new() -> Renumber {
        Renumber { next: None }
    }

    fn number(&mut self, flags: Flags, txid: u64) -> u64 {
        if !flags.fix_txids {
            return txid;
        }
        let number = self.next.unwrap_or(txid.max(1));
        self.next = Some(number + 1);
        number
    }
}
