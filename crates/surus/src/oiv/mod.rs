//! `surus oiv`: the image viewer. It reads the sections of an fsimage, one message at a time, and knows no namespace: what an
//! image holds is shown, whether Surus uses it or not. Source: `OfflineImageViewerPB.java`, Hadoop 3.5.0.

mod distribution;
mod policies;
mod reverse;
mod strings;
mod text;
mod web;
mod xml;

use crate::offline::{Opt, Output, parse};
use crate::output;
use std::path::Path;
use surus_disk::RealDisk;
use surus_journal::JournalError;
use surus_journal::image::{ImageFile, SectionEntry};

const fn opt(short: &'static str, long: &'static str, has_value: bool) -> Opt {
    Opt { short, long, has_value, is_required: false }
}

const OPTIONS: &[Opt] = &[
    Opt { short: "i", long: "inputFile", has_value: true, is_required: true },
    opt("o", "outputFile", true),
    opt("p", "processor", true),
    opt("h", "help", false),
    opt("maxSize", "", true),
    opt("step", "", true),
    opt("format", "", false),
    opt("addr", "", true),
    opt("delimiter", "", true),
    opt("sp", "", false),
    opt("ec", "", false),
    opt("t", "temp", true),
    opt("m", "multiThread", true),
];

pub const USAGE: &str = "Usage: bin/hdfs oiv [OPTIONS] -i INPUTFILE -o OUTPUTFILE
Offline Image Viewer: reads the fsimage INPUTFILE and writes it to OUTPUTFILE in another form. No cluster need run.

-i,--inputFile <arg>   fsimage, or XML file for ReverseXML
-o,--outputFile <arg>  file to write; overwritten if it exists (default: standard output)
                       ReverseXML also writes <outputFile>.md5
-p,--processor <arg>   what to make of it (default: Web):
  XML                  an XML document with everything the image holds
  ReverseXML           from such a document an fsimage with the same content
  Delimited            a line for each file and directory
    -delimiter <arg>   between the columns (default: tab)
    -sp                with the storage policy
    -ec                with the erasure coding policy
  FileDistribution     how many files there are of each size
    -maxSize <arg>     sizes up to this one, in bytes (default: 128 GB)
    -step <arg>        in steps of so many bytes (default: 2 MB)
    -format            ranges in words
  DetectCorruption     inodes that directories name but the image lacks; -delimiter as above
  Web                  read-only WebHDFS on the image
    -addr <arg>        where to listen (default: localhost:5978)
-t,--temp <arg>        accepted; no temporary files are needed
-m,--multiThread <arg> accepted
-h,--help              this text
";

/// The sections that the viewers show, in their order. Source: `FSImageFormatProtobuf.java` (`SectionName`), Hadoop 3.5.0.
const ORDER: [&str; 14] = [
    "NS_INFO",
    "STRING_TABLE",
    "EXTENDED_ACL",
    "ERASURE_CODING",
    "INODE",
    "INODE_SUB",
    "INODE_REFERENCE",
    "SNAPSHOT",
    "INODE_DIR",
    "INODE_DIR_SUB",
    "FILES_UNDERCONSTRUCTION",
    "SNAPSHOT_DIFF",
    "SNAPSHOT_DIFF_SUB",
    "SECRET_MANAGER",
];
const LAST: &str = "CACHE_MANAGER";

/// Why a viewer ends early.
pub enum Problem {
    /// The file ends where more must come.
    Eof,
    Text(String),
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Problem {
        Problem::Text(error.to_string())
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Problem {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Problem::Eof,
            _ => Problem::Text(error.to_string()),
        }
    }
}

impl From<String> for Problem {
    fn from(text: String) -> Problem {
        Problem::Text(text)
    }
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
            eprintln!("{problem}");
            output::print(&format!("Error parsing command-line options: \n{USAGE}"));
            return -1;
        }
    };
    let input = options.value("i").unwrap_or_default();
    let target = options.value("o").unwrap_or("-");
    let processor = options.value("p").unwrap_or("Web");
    let number = |name: &str| options.value(name).unwrap_or("0").trim().parse::<u64>().unwrap_or(0);
    let delimiter = options.value("delimiter").unwrap_or("\t");
    let view = |make: &dyn Fn(&ImageFile, &mut Output) -> Result<(), Problem>| {
        let mut out = Output::create(target, false)?;
        let image = open(input)?;
        let made = make(&image, &mut out);
        std::io::Write::flush(&mut out)?;
        made
    };
    let columns = text::Columns { delimiter, storage_policy: options.has("sp"), ec_policy: options.has("ec") };
    let result = match &*processor.to_uppercase() {
        "XML" => view(&xml::write),
        "FILEDISTRIBUTION" => {
            let (max_size, step, format) = (number("maxSize"), number("step"), options.has("format"));
            view(&|image, out| distribution::write(image, out, max_size, step, format))
        }
        "DELIMITED" => view(&|image, out| text::delimited(image, out, &columns)),
        "DETECTCORRUPTION" => view(&|image, out| text::detect_corruption(image, out, delimiter)),
        "WEB" => {
            let address = options.value("addr").unwrap_or("localhost:5978");
            open(input).and_then(|image| web::serve(&image, address))
        }
        "REVERSEXML" => {
            return match reverse::run(input, target) {
                Ok(()) => 0,
                Err(problem) => {
                    eprintln!("OfflineImageReconstructor failed: {problem}");
                    1
                }
            };
        }
        _ => {
            eprintln!("Invalid processor specified : {processor}");
            output::print(USAGE);
            return -1;
        }
    };
    match result {
        Ok(()) => 0,
        Err(Problem::Eof) => {
            eprintln!("Input file ended unexpectedly. Exiting");
            -1
        }
        Err(Problem::Text(text)) => {
            eprintln!("Encountered exception.  Exiting: {text}");
            -1
        }
    }
}

fn open(path: &str) -> Result<ImageFile, Problem> {
    // For the text of its error, which names the file as Java does.
    let mut window = crate::offline::Window::open(path)?;
    if window.get(0, 8)? != b"HDFSIMG1" {
        return Err(Problem::Text("Unrecognized FSImage".to_owned()));
    }
    Ok(ImageFile::open(&RealDisk, Path::new(path))?)
}

/// The sections in the viewers' order.
fn ordered(image: &ImageFile) -> Result<Vec<&SectionEntry>, Problem> {
    let rank = |entry: &SectionEntry| match &*entry.name {
        LAST => Some(ORDER.len()),
        name => ORDER.iter().position(|known| *known == name),
    };
    let mut sections: Vec<(usize, &SectionEntry)> = Vec::new();
    for entry in image.sections() {
        let rank = rank(entry).ok_or_else(|| format!("Unrecognized section {}", entry.name))?;
        sections.push((rank, entry));
    }
    sections.sort_by_key(|(rank, _)| *rank);
    Ok(sections.into_iter().map(|(_, entry)| entry).collect())
}
