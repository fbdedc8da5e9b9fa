//! `oev` and `oiv` beside Java 3.5.0's: the same text for every edits file and image of the golden name directories.

use crate::command_line::{show, surus};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

/// Name directories that Apache Hadoop wrote, by release, and what Java 3.5.0's viewers made of them.
pub const NAMES: &[(&str, &[u8])] = &[
    ("2.7.3", include_bytes!("../../journal/tests/data/name-2.7.3.tar.gz")),
    ("3.3.6", include_bytes!("../../journal/tests/data/name-3.3.6.tar.gz")),
    ("3.4.2", include_bytes!("../../journal/tests/data/name-3.4.2.tar.gz")),
    ("3.5.0", include_bytes!("../../journal/tests/data/name-3.5.0.tar.gz")),
    ("symlink", include_bytes!("../../journal/tests/data/symlink-3.5.0.tar.gz")),
];
pub const VIEWS: &[u8] = include_bytes!("data/views.tar.gz");

/// Files of a gzipped tar archive by path.
pub fn unpack(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(archive).read_to_end(&mut tar).unwrap();
    let (mut files, mut at) = (BTreeMap::new(), 0);
    while at + 512 <= tar.len() && tar[at] != 0 {
        let text = |range: std::ops::Range<usize>| {
            let field = &tar[at + range.start..at + range.end];
            String::from_utf8_lossy(field).trim_end_matches(['\0', ' ']).to_owned()
        };
        let len = usize::from_str_radix(text(124..136).trim(), 8).unwrap();
        if tar[at + 156] == b'0' {
            files.insert(text(0..100), tar[at + 512..at + 512 + len].to_vec());
        }
        at += 512 + len.next_multiple_of(512);
    }
    files
}

/// The files of a golden name directory whose names begin with `prefix`, written to `dir`: release, file name, path.
fn golden(dir: &Path, prefix: &str) -> Vec<(&'static str, String, PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for (release, archive) in NAMES {
        for (path, bytes) in unpack(archive) {
            let name = path.rsplit('/').next().unwrap().to_owned();
            if name.starts_with(prefix) && !name.ends_with(".md5") {
                let file = dir.join(format!("{release}-{name}"));
                std::fs::write(&file, &bytes).unwrap();
                found.push((*release, name, file, bytes));
            }
        }
    }
    assert!(found.len() > 4, "{prefix}: {}", found.len());
    found
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    show(&surus(arguments).env("TZ", "UTC").output().unwrap())
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Where two texts differ first, for a message that can be read.
fn assert_same(ours: &[u8], javas: &[u8], what: &str) {
    if ours != javas {
        let at = ours.iter().zip(javas).take_while(|(a, b)| a == b).count();
        let near = |bytes: &[u8]| {
            String::from_utf8_lossy(&bytes[at.saturating_sub(60)..bytes.len().min(at + 60)]).into_owned()
        };
        panic!("{what} differs at byte {at}:\nours  {}\nJava's {}", near(ours), near(javas));
    }
}

#[test]
fn edits_to_xml_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let views = unpack(VIEWS);
    for (release, name, file, bytes) in golden(dir.path(), "edits_") {
        let (xml, binary) = (dir.path().join("out.xml"), dir.path().join("out.bin"));
        assert_eq!(run(&["oev", "-i", path(&file), "-o", path(&xml)]), (0, String::new(), String::new()), "{name}");
        let text = std::fs::read(&xml).unwrap();
        assert_same(&text, &views[&format!("{release}/{name}.xml")], &format!("{release} {name}"));
        assert_eq!(run(&["oev", "-i", path(&xml), "-o", path(&binary), "-p", "binary"]).0, 0, "{name}");
        let ours = std::fs::read(&binary).unwrap();
        // Java's XML has neither the extended attributes nor the storage policy of OP_ADD.
        let is_lossy = release == "3.5.0" && (name.contains("_0000000000000000001-") || name.contains("2609"));
        if is_lossy {
            let again = dir.path().join("again.xml");
            assert_eq!(run(&["oev", "-i", path(&binary), "-o", path(&again), "-p", "XML"]).0, 0);
            assert_same(&std::fs::read(&again).unwrap(), &text, &name);
        } else {
            assert_same(&ours, &bytes[..ours.len()], &name);
            assert!(bytes[ours.len()..].iter().all(|b| *b == 0xFF), "{name}: what is left is fill");
        }
    }
}

#[test]
fn edits_are_counted_and_recovered() {
    let dir = tempfile::tempdir().unwrap();
    let (_, _, file, mut bytes) =
        golden(dir.path(), "edits_").into_iter().find(|(_, name, ..)| name.contains("2388-")).unwrap();
    let out = dir.path().join("out");
    let run_on = |file: &Path, more: &[&str]| {
        let (code, _, err) = run(&[&["oev", "-i", path(file), "-o", path(&out)], more].concat());
        (code, String::from_utf8_lossy(&std::fs::read(&out).unwrap()).into_owned(), err)
    };
    let (code, text, _) = run_on(&file, &["-p", "stats"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((code, lines.len()), (0, 55), "{text}");
    assert_eq!(lines[0], "    VERSION                             : -67");
    assert_eq!(lines[22], "    OP_UPDATE_MASTER_KEY           ( 21): 2");
    assert_eq!(lines[51], "    OP_ENABLE_ERASURE_CODING_POLIC ( 50): 0");
    assert_eq!(lines[54], "    OP_INVALID                     ( -1): 0");
    // The length of the third operation is wrong.
    bytes[60] ^= 1;
    let bad = dir.path().join("bad");
    std::fs::write(&bad, &bytes).unwrap();
    let (code, text, err) = run_on(&bad, &[]);
    assert!(code == 255 && text.ends_with("</EDITS><ERROR>Premature EOF from inputStream</ERROR>\n"), "{code} {text}");
    assert!(err.contains("Encountered exception. Exiting: Premature EOF from inputStream"), "{err}");
    let (code, text, err) = run_on(&bad, &["-r", "-f"]);
    let txids: Vec<&str> = text.lines().filter(|line| line.contains("<TXID>")).map(str::trim).collect();
    assert_eq!((code, txids), (0, vec!["<TXID>2388</TXID>", "<TXID>2389</TXID>", "<TXID>2390</TXID>"]), "{err}");
}

#[test]
fn what_oev_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.xml");
    std::fs::write(&file, "<EDITS><EDITS_VERSION>-67</EDITS_VERSION><RECORD><OPCODE>OP_X</OPCODE></RECORD></EDITS>")
        .unwrap();
    let out = dir.path().join("out");
    let (code, text, _) = run(&["oev", "-i", path(&file), "-o", path(&out)]);
    let want = "XML format input file is not allowed to be processed by XML processor.\n";
    assert_eq!((code, &*text), (255, want));
    let (code, _, err) = run(&["oev", "-i", path(&file), "-o", path(&out), "-p", "stats"]);
    assert!(code == 255 && err.contains("No enum constant FSEditLogOpCodes.OP_X"), "{code} {err}");
    let (code, _, err) = run(&["oev", "-i", "/nonexistent", "-o", path(&out)]);
    assert!(code == 255 && err.contains("/nonexistent"), "{code} {err}");
    let (code, text, _) = run(&["oev", "-i", "a"]);
    assert!(
        code == 255 && text.starts_with("Error parsing command-line options: Missing required option: o\n"),
        "{text}"
    );
    assert_eq!(run(&["oev"]).0, 0);
}

/// Java names the revision of the tool that wrote the XML; ours is another tool.
fn with_javas_revision(xml: &[u8]) -> Vec<u8> {
    let (ours, javas) = ("<oivRevision>surus<", "<oivRevision>dbcc7cd797100e6b32cd84f85b53a5193a5f9af0<");
    String::from_utf8_lossy(xml).replacen(ours, javas, 1).into_bytes()
}

#[test]
fn images_to_xml_and_text() {
    let dir = tempfile::tempdir().unwrap();
    let views = unpack(VIEWS);
    let kinds: [(&str, &str, &[&str]); 5] = [
        ("XML", "XML", &[]),
        ("Delimited", "delimited", &[]),
        ("Delimited.sp_ec", "Delimited", &["-sp", "-ec"]),
        ("FileDistribution", "FileDistribution", &[]),
        ("DetectCorruption", "DetectCorruption", &[]),
    ];
    let mut compared = 0;
    for (release, name, file, _) in golden(dir.path(), "fsimage_") {
        for (suffix, processor, more) in kinds {
            let Some(javas) = views.get(&format!("{release}/{name}.{suffix}")) else { continue };
            let out = dir.path().join("out");
            let arguments = [&["oiv", "-i", path(&file), "-o", path(&out), "-p", processor], more].concat();
            assert_eq!(run(&arguments), (0, String::new(), String::new()), "{name}");
            let ours = with_javas_revision(&std::fs::read(&out).unwrap());
            assert_same(&ours, javas, &format!("{release} {name} {suffix}"));
            compared += 1;
        }
    }
    assert_eq!(compared, 48);
}

#[test]
fn images_from_xml() {
    let dir = tempfile::tempdir().unwrap();
    let [xml, image, again] = ["a.xml", "fsimage", "b.xml"].map(|name| dir.path().join(name));
    let oiv = |processor, from: &Path, to: &Path| run(&["oiv", "-p", processor, "-i", path(from), "-o", path(to)]);
    for (release, name, file, _) in golden(dir.path(), "fsimage_") {
        assert_eq!(oiv("XML", &file, &xml).0, 0);
        let (code, _, err) = oiv("ReverseXML", &xml, &image);
        if ["2.7.3", "3.3.6"].contains(&release) {
            assert!(code == 1 && err.contains("Layout version mismatch"), "{code} {err}");
            continue;
        }
        assert_eq!((code, err), (0, String::new()), "{release} {name}");
        let md5 = std::fs::read_to_string(dir.path().join("fsimage.md5")).unwrap();
        assert!(md5.len() == 42 && md5.ends_with(" *fsimage\n"), "{md5}");
        assert_eq!(oiv("XML", &image, &again).0, 0);
        assert_same(&std::fs::read(&again).unwrap(), &std::fs::read(&xml).unwrap(), &format!("{release} {name}"));
    }
    std::fs::write(&xml, "<fsimage><version><layoutVersion>-67</layoutVersion></version></fsimage>").unwrap();
    let (code, _, err) = oiv("ReverseXML", &xml, &image);
    assert!(code == 1 && err.contains("lacks <onDiskVersion>"), "{code} {err}");
}

/// Inodes that are taken out of an image, and what Java 3.5.0 then says.
const MISSING: [u64; 2] = [16387, 16394];
const CORRUPTIONS: &str = "CorruptionType|Id|IsSnapshot|ParentPath|ParentId|Name|NodeType|CorruptChildren
MissingChild|16386|false|/|16385|a|Node|2
CorruptNode|16387|true||16386||Unknown|0
CorruptNode|16394|true||16386||Unknown|0
";

/// Without an inode that a directory names, and without a directory that has children. Java 3.5.0 wrote the lines.
#[test]
fn corruption_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let (.., file, _) = golden(dir.path(), "fsimage_")
        .into_iter()
        .find(|(release, name, ..)| *release == "3.4.2" && name.ends_with("49"))
        .unwrap();
    let [xml, image] = ["a.xml", "fsimage"].map(|name| dir.path().join(name));
    assert_eq!(run(&["oiv", "-p", "XML", "-i", path(&file), "-o", path(&xml)]).0, 0);
    let text = std::fs::read_to_string(&xml).unwrap();
    let without = |text: String, id: u64| {
        let from = text.find(&format!("<inode><id>{id}</id>")).unwrap();
        let to = from + text[from..].find("</inode>\n").unwrap() + 9;
        let count: u64 = text.split("<numInodes>").nth(1).unwrap().split('<').next().unwrap().parse().unwrap();
        let text = [&text[..from], &text[to..]].concat();
        text.replace(&format!("<numInodes>{count}<"), &format!("<numInodes>{}<", count - 1))
    };
    std::fs::write(&xml, without(without(text, MISSING[0]), MISSING[1])).unwrap();
    assert_eq!(run(&["oiv", "-p", "ReverseXML", "-i", path(&xml), "-o", path(&image)]).0, 0);
    let (code, out, _) = run(&["oiv", "-p", "DetectCorruption", "-i", path(&image), "-delimiter", "|"]);
    assert_eq!((code, out.as_str()), (0, CORRUPTIONS));
}

#[test]
fn what_oiv_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a");
    std::fs::write(&file, "no image").unwrap();
    let (code, _, err) = run(&["oiv", "-p", "XML", "-i", "/nonexistent"]);
    assert_eq!((code, &*err), (255, "Encountered exception.  Exiting: /nonexistent (No such file or directory)\n"));
    let (code, _, err) = run(&["oiv", "-p", "XML", "-i", path(&file)]);
    assert_eq!((code, &*err), (255, "Encountered exception.  Exiting: Unrecognized FSImage\n"));
    let (code, out, err) = run(&["oiv", "-p", "nosuch", "-i", path(&file)]);
    assert!(code == 255 && out.starts_with("Usage: bin/hdfs oiv") && err == "Invalid processor specified : nosuch\n");
    let (code, out, _) = run(&["oiv", "-x"]);
    assert!(code == 255 && out.starts_with("Error parsing command-line options: \nUsage"), "{out}");
    assert_eq!(run(&["oiv", "--help"]).0, 0);
}

/// What Java 3.5.0's viewer answered on the same image: `== PATH?QUERY`, then body, a blank and status.
const WEB: &str = include_str!("data/oiv-web-3.5.0.txt");

#[test]
fn an_image_over_webhdfs() {
    let dir = tempfile::tempdir().unwrap();
    let (.., file, _) =
        golden(dir.path(), "fsimage_").into_iter().find(|(_, name, ..)| name.ends_with("2808")).unwrap();
    let mut viewer = surus(&["oiv", "-i", path(&file), "-addr", "127.0.0.1:0"]);
    let mut viewer = viewer.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(viewer.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("Listening on ").nth(1).unwrap().split(". ").next().unwrap().to_owned();
    let ask = |method: &str, target: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "{method} {target} HTTP/1.0\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        format!("{body} {}", head.split(' ').nth(1).unwrap())
    };
    for case in WEB.split("== ").skip(1) {
        let (target, javas) = case.split_once('\n').unwrap();
        assert_same(ask("GET", &format!("/webhdfs/v1{target}")).as_bytes(), javas.trim_end().as_bytes(), target);
    }
    assert!(ask("GET", "/x").contains("Path: /x should start with /webhdfs/v1"));
    assert_eq!(ask("PUT", "/webhdfs/v1/a?op=MKDIRS"), " 405");
    viewer.kill().unwrap();
    viewer.wait().unwrap();
}
