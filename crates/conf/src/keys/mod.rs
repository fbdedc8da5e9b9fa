//! Every key that Surus reads: type, default, limits, old names and a sentence, one row each. The manual page is made from it.

mod families;
mod table;

use crate::configuration::Configuration;
use crate::error::ConfError;
use crate::value::Value;
pub use families::{FAMILIES, FamilyRow};
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::LazyLock;
pub use table::*;

/// The NameNode's RPC port where `fs.defaultFS` names none. Source: `HdfsClientConfigKeys.java`, Hadoop 3.5.0.
pub const NAMENODE_RPC_PORT: u16 = 8020;

/// One row of the table.
pub struct KeyRow {
    pub name: &'static str,
    /// As Hadoop's `*-default.xml` writes it; empty: not set.
    pub default: &'static str,
    pub section: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// What the manual calls the type.
    pub kind: &'static str,
    /// Deprecated names that set this key too. Source: `DeprecatedProperties.md`, Hadoop 3.5.0.
    pub old_names: &'static [&'static str],
    /// Allowed whole numbers, both ends included, in the key's own unit.
    pub range: (i64, i64),
    /// Allowed words, for `OneOf`.
    pub choices: &'static [&'static str],
    pub(crate) check: fn(&Configuration) -> Result<(), ConfError>,
}

impl KeyRow {
    pub(crate) fn allows(&self, number: i64) -> bool {
        (self.range.0..=self.range.1).contains(&number)
    }
}

/// A key whose value is a `T`.
pub struct Key<T>(&'static KeyRow, PhantomData<fn() -> T>);

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Key<T> {}

impl<T: Value> Key<T> {
    pub(crate) const fn new(row: &'static KeyRow) -> Self {
        Key(row, PhantomData)
    }
    pub const fn name(self) -> &'static str {
        self.0.name
    }
    pub const fn row(self) -> &'static KeyRow {
        self.0
    }
}

/// Old names of keys that the table has not, so that a file with the old name and one with the new name agree.
const OTHER_OLD_NAMES: &[(&str, &str)] = &[
    ("dfs.https.address", "dfs.namenode.https-address"),
    ("fs.checkpoint.dir", "dfs.namenode.checkpoint.dir"),
    ("fs.checkpoint.edits.dir", "dfs.namenode.checkpoint.edits.dir"),
    ("session.id", "dfs.metrics.session-id"),
    ("topology.script.file.name", "net.topology.script.file.name"),
    ("topology.node.switch.mapping.impl", "net.topology.node.switch.mapping.impl"),
    ("dfs.df.interval", "fs.df.interval"),
];

struct Index {
    rows: HashMap<&'static str, &'static KeyRow>,
    old: HashMap<&'static str, &'static str>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| Index {
    rows: ALL.iter().map(|row| (row.name, *row)).collect(),
    old: ALL
        .iter()
        .flat_map(|row| row.old_names.iter().map(|old| (*old, row.name)))
        .chain(OTHER_OLD_NAMES.iter().copied())
        .collect(),
});

/// The row of a current name.
pub fn find(name: &str) -> Option<&'static KeyRow> {
    INDEX.rows.get(name).copied()
}

/// The default that Hadoop 3.5.0 documents for a key, also for one that Surus does not read: `getconf -confKey` tells it.
pub fn hadoop_default(name: &str) -> Option<&'static str> {
    let mut rows = include_str!("hadoop-defaults.tsv").lines().map(|line| line.split('\t'));
    let mut row = rows.find(|row| row.clone().next() == Some(name))?;
    row.nth(2).filter(|default| *default != "(empty)")
}

/// Whether Surus or Hadoop's documentation knows the key; a key of a family (`hadoop.proxyuser.USER.hosts`) counts too.
pub fn is_known(name: &str) -> bool {
    let listed = |line: &str| line.split('\t').next() == Some(name);
    find(current_name(name)).is_some()
        || INDEX.old.contains_key(name)
        || name.starts_with("ipc.")
        || FAMILIES.iter().any(|family| family.has(name))
        || include_str!("hadoop-defaults.tsv").lines().any(listed)
}

/// The name that is used now for a name that may be an old one.
pub(crate) fn current_name(name: &str) -> &str {
    INDEX.old.get(name).copied().unwrap_or(name)
}

/// Turns the table into one constant a key and `ALL`.
macro_rules! keys {
    ($($section:literal { $(
        $(#[doc = $doc:literal])+
        $constant:ident: $kind:ty = $name:literal, $default:literal
        $(, range $min:literal ..= $max:expr)? $(, choices [$($choice:literal),*])? $(, old [$($old:literal),*])?;
    )* })*) => {
        $($(
            $(#[doc = $doc])+
            pub const $constant: $crate::keys::Key<$kind> = $crate::keys::Key::new(&$crate::keys::KeyRow {
                name: $name,
                default: $default,
                section: $section,
                doc: concat!($($doc),+),
                kind: <$kind as $crate::value::Value>::KIND,
                old_names: &[$($($old),*)?],
                range: $crate::keys::range(&[$($min, $max as i64)?]),
                choices: &[$($($choice),*)?],
                check: |conf| conf.get($constant).map(|_| ()),
            });
        )*)*
        /// Every row, in the order of the manual.
        pub const ALL: &[&$crate::keys::KeyRow] = &[$($($constant.row()),*),*];
    };
}
use keys;

/// Smallest and largest of a row, or no limits.
const fn range(limits: &[i64]) -> (i64, i64) {
    match limits {
        [min, max] => (*min, *max),
        _ => (i64::MIN, i64::MAX),
    }
}

/// The sections of the manual, in their order.
fn sections() -> Vec<&'static str> {
    let mut sections: Vec<&str> = ALL.iter().map(|row| row.section).collect();
    sections.dedup();
    sections
}

/// The manual of all keys as text: a heading a section, then name, type, default, old names and sentence.
pub fn manual() -> String {
    let mut out = String::new();
    for section in sections() {
        out.push_str(&format!("{}{section}\n\n", if out.is_empty() { "" } else { "\n" }));
        for row in ALL.iter().filter(|row| row.section == section) {
            out.push_str(&format!("  {} ({}; {})\n     {}", row.name, row.kind, shown(row.default), row.doc.trim()));
            match row.range {
                (i64::MIN, i64::MAX) => {}
                (min, max) if max >= i64::from(i32::MAX) => out.push_str(&format!(" At least {min}.")),
                (min, max) => out.push_str(&format!(" From {min} to {max}.")),
            }
            out.push_str(&words_and_old_names(row));
            out.push('\n');
        }
        for row in families::of_section(section) {
            out.push_str(&format!("  {} ({}; {})\n     {}\n", row.pattern, row.kind, shown(row.default), row.doc));
        }
    }
    out
}

fn shown(default: &'static str) -> &'static str {
    if default.is_empty() { "not set" } else { default }
}

fn words_and_old_names(row: &KeyRow) -> String {
    let mut out = String::new();
    if !row.choices.is_empty() {
        out.push_str(&format!(" One of {}.", row.choices.join(", ")));
    }
    if !row.old_names.is_empty() {
        out.push_str(&format!(" Old name: {}.", row.old_names.join(", ")));
    }
    out
}

/// The same as Markdown: docs/configuration.md.
pub fn manual_markdown() -> String {
    let mut out = String::from(
        "# Configuration keys\n\nEvery key that Surus reads, made from the table in crates/conf (`surus keys` prints the same). Types, defaults and \
         names are Hadoop 3.5.0's;\nother keys of a site file are ignored. Times take a suffix (ns, us, ms, s, m, h, d), sizes too (k, m, g, t, p, e); `${...}` is \
         expanded. What is\nin capitals in a key's name stands for a name. A site file may include others with `<xi:include href=\"...\">`, relative to itself.\n",
    );
    for section in sections() {
        out.push_str(&format!("\n## {section}\n\n| key | type | default | meaning |\n| --- | --- | --- | --- |\n"));
        let mut line = |name: &str, kind: &str, default: &str, meaning: &str| {
            let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
            out.push_str(&format!("| {name} | {kind} | {default} | {} |\n", meaning.replace('|', "\\|")));
        };
        for row in ALL.iter().filter(|row| row.section == section) {
            line(row.name, row.kind, row.default, &format!("{}{}", row.doc.trim(), words_and_old_names(row)));
        }
        for row in families::of_section(section) {
            line(row.pattern, row.kind, row.default, row.doc);
        }
    }
    out
}
