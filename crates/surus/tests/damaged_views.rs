//! The viewers on damaged files: they say what is wrong, or get by; they never panic, hang or fill the memory.
//! `SURUS_FUZZ_RUNS` makes it longer, `SURUS_FUZZ_SEED` plays one again.

use crate::command_line::{show, surus};
use crate::viewers::{NAMES, VIEWS, unpack};
use std::path::Path;
use std::process::Command;
use surus_testkit::fuzz::Mutator;

const RUNS: u64 = 60;
/// Longer files would take long to view.
const SEED_BYTES_MAX: usize = 30_000;
/// KiB of memory, and seconds of processor time.
const LIMITS: &str = "ulimit -v 4000000 && ulimit -t 20 && exec \"$0\" \"$@\"";

/// What is viewed: the seeds, the name of the damaged file, and the viewer's words.
struct View {
    seeds: Vec<Vec<u8>>,
    file: &'static str,
    words: &'static [&'static str],
    is_xml: bool,
}

fn views() -> Vec<View> {
    let golden = |prefix: &str, suffix: &str| -> Vec<Vec<u8>> {
        let archives = NAMES.iter().map(|(_, archive)| *archive).chain([VIEWS]);
        let files = archives.flat_map(|archive| unpack(archive).into_iter());
        files
            .filter(|(path, bytes)| {
                let name = path.rsplit('/').next().unwrap_or_default();
                let is_plain = !name.trim_start_matches(prefix).contains('.');
                name.starts_with(prefix)
                    && if suffix.is_empty() { is_plain } else { name.ends_with(suffix) }
                    && bytes.len() <= SEED_BYTES_MAX
            })
            .map(|(_, bytes)| bytes)
            .collect()
    };
    // What was never written behind the last operation says nothing.
    let mut edits = golden("edits_", "");
    edits.iter_mut().for_each(|bytes| bytes.truncate(8_000));
    vec![
        View { seeds: edits.clone(), file: "edits", words: &["oev", "-p", "xml"], is_xml: false },
        View { seeds: edits, file: "edits", words: &["oev", "-r", "-p", "stats"], is_xml: false },
        View { seeds: golden("edits_", ".xml"), file: "edits.xml", words: &["oev", "-p", "binary"], is_xml: true },
        View { seeds: golden("fsimage_", ""), file: "fsimage", words: &["oiv", "-p", "XML"], is_xml: false },
        View { seeds: golden("fsimage_", ""), file: "fsimage", words: &["oiv", "-p", "Delimited"], is_xml: false },
        View {
            seeds: golden("fsimage_", ".XML"),
            file: "fsimage.xml",
            words: &["oiv", "-p", "ReverseXML"],
            is_xml: true,
        },
    ]
}

/// A document with a few tags gone or twice, and texts in them that fit less well.
fn mutate_xml(random: &mut Mutator, seeds: &[Vec<u8>]) -> Vec<u8> {
    const FEARED: [&str; 9] =
        ["", "-1", "99999999999999999999999", "9223372036854775807", "x", "\\d800;", "&#0;", "&amp;", "OP_INVALID"];
    let text = String::from_utf8_lossy(&seeds[random.below(seeds.len())]).into_owned();
    let mut parts: Vec<String> = text.split('<').map(str::to_owned).collect();
    for _ in 0..=random.below(4) {
        let at = 1 + random.below(parts.len().saturating_sub(1));
        match random.below(4) {
            0 => drop(parts.remove(at)),
            1 => parts.insert(at, parts[at].clone()),
            _ => {
                let feared = FEARED[random.below(FEARED.len())];
                if let Some((tag, _)) = parts[at].split_once('>') {
                    parts[at] = format!("{tag}>{feared}");
                }
            }
        }
    }
    parts.join("<").into_bytes()
}

fn view(dir: &Path, view: &View, input: &[u8]) -> (i32, String) {
    let (file, out) = (dir.join(view.file), dir.join("out"));
    std::fs::write(&file, input).unwrap();
    let plain = surus(view.words);
    let mut command = Command::new("sh");
    command.args(["-c", LIMITS]).arg(plain.get_program()).args(plain.get_args());
    command.arg("-i").arg(&file).arg("-o").arg(&out).env("HOME", "/nonexistent").env_remove("HADOOP_CONF_DIR");
    let (code, _, err) = show(&command.output().unwrap());
    (code, err)
}

#[test]
fn the_viewers_survive_damaged_files() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let runs = number("SURUS_FUZZ_RUNS").unwrap_or(RUNS).min(RUNS * 10);
    let first = number("SURUS_FUZZ_SEED").unwrap_or_else(|| u64::from(std::process::id()) << 32);
    let dir = tempfile::tempdir().unwrap();
    for one in views() {
        assert!(one.seeds.len() > 1, "{:?}", one.words);
        let mut refused = 0;
        for seed in first..first + runs {
            let mut random = Mutator::new(seed);
            let input = if one.is_xml { mutate_xml(&mut random, &one.seeds) } else { random.mutate(&one.seeds) };
            let (code, err) = view(dir.path(), &one, &input);
            // -1, or 1 of ReverseXML, for a file that cannot be read.
            let what = format!("{:?} SURUS_FUZZ_SEED={seed} SURUS_FUZZ_RUNS=1: {code} {err}", one.words);
            assert!([0, 1, 255].contains(&code) && !err.contains("panicked"), "{what}");
            assert!(code == 0 || !err.is_empty(), "{what}");
            refused += u64::from(code != 0);
        }
        assert!(runs < RUNS || refused > 0, "{:?}: nothing was noticed", one.words);
    }
}
