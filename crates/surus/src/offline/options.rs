//! Options as commons-cli's PosixParser takes them: `-p xml`, `-pxml`, `--processor xml`, `--processor=xml`, `-rv`.
//! Source: `OfflineEditsViewer.java`, `OfflineImageViewerPB.java`, Hadoop 3.5.0.

use std::collections::BTreeMap;

/// An option that a command knows. Names are without hyphens; `long` may be empty.
#[derive(Clone, Copy)]
pub struct Opt {
    pub short: &'static str,
    pub long: &'static str,
    pub has_value: bool,
    pub is_required: bool,
}

/// Options by short name, with the first value of each.
#[derive(Default, Debug)]
pub struct Options(BTreeMap<&'static str, String>);

impl Options {
    pub fn has(&self, short: &str) -> bool {
        self.0.contains_key(short)
    }

    pub fn value(&self, short: &str) -> Option<&str> {
        self.0.get(short).map(String::as_str)
    }
}

/// # Errors
/// The text of commons-cli's exception.
pub fn parse(known: &'static [Opt], arguments: &[String]) -> Result<Options, String> {
    let mut found = Options::default();
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        let Some(name) = word.strip_prefix('-').filter(|name| !name.is_empty()) else { continue };
        let name = name.strip_prefix('-').unwrap_or(name);
        let (name, mut value) = match name.split_once('=') {
            Some((name, value)) if word.starts_with("--") => (name, Some(value.to_owned())),
            _ => (name, None),
        };
        let option = match known.iter().find(|opt| opt.short == name || !opt.long.is_empty() && opt.long == name) {
            Some(option) => option,
            None => {
                let (option, rest) = burst(known, name, &mut found).ok_or(format!("Unrecognized option: {word}"))?;
                value = Some(rest).filter(|rest| !rest.is_empty());
                option
            }
        };
        if option.has_value && value.is_none() {
            let next = words.next_if(|next| !next.starts_with('-') || next.len() == 1);
            value = Some(next.cloned().ok_or(format!("Missing argument for option: {}", option.short))?);
        }
        found.0.entry(option.short).or_insert(value.unwrap_or_default());
    }
    let missing: Vec<&str> =
        known.iter().filter(|opt| opt.is_required && !found.has(opt.short)).map(|opt| opt.short).collect();
    match missing.as_slice() {
        [] => Ok(found),
        [one] => Err(format!("Missing required option: {one}")),
        many => Err(format!("Missing required options: {}", many.join(", "))),
    }
}

/// `-rv` is `-r -v`; `-pxml` is `-p xml`. All but the last option are noted; what is left behind it may be its value.
fn burst(known: &'static [Opt], name: &str, found: &mut Options) -> Option<(&'static Opt, String)> {
    for (at, letter) in name.char_indices() {
        let rest = &name[at + letter.len_utf8()..];
        let option = known.iter().find(|opt| opt.short.chars().eq([letter]))?;
        if option.has_value || rest.is_empty() {
            return Some((option, rest.to_owned()));
        }
        found.0.entry(option.short).or_default();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Opt] = &[
        Opt { short: "o", long: "outputFilename", has_value: true, is_required: true },
        Opt { short: "i", long: "inputFilename", has_value: true, is_required: true },
        Opt { short: "p", long: "processor", has_value: true, is_required: false },
        Opt { short: "r", long: "recover", has_value: false, is_required: false },
        Opt { short: "v", long: "verbose", has_value: false, is_required: false },
    ];

    fn of(text: &str) -> Result<String, String> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        parse(KNOWN, &words).map(|found| format!("{:?}", found.0))
    }

    #[test]
    fn as_commons_cli() {
        let all = r#"{"i": "a", "o": "b", "p": "xml", "r": "", "v": ""}"#;
        assert_eq!(of("-i a -o b -p xml -r -v").unwrap(), all);
        assert_eq!(of("-ia -rvo b --processor=xml").unwrap(), all);
        assert_eq!(of("--inputFilename a -outputFilename b -pxml --recover --verbose").unwrap(), all);
        assert_eq!(of("-i a").unwrap_err(), "Missing required option: o");
        assert_eq!(of("-v").unwrap_err(), "Missing required options: o, i");
        assert_eq!(of("-i a -o").unwrap_err(), "Missing argument for option: o");
        assert_eq!(of("-x").unwrap_err(), "Unrecognized option: -x");
    }
}
