//! The string table of an image, and the packed words whose names it holds.
//! Source: `SerialNumberManager.java`, `FSImageFormatPBINode.java`, `fsimage.proto`, Hadoop 3.5.0.

use super::Problem;
use std::collections::HashMap;
use surus_journal::image::ImageFile;
use surus_proto::hadoop::hdfs::fsimage::i_node_section::{AclFeatureProto, XAttrCompactProto};
use surus_proto::hadoop::hdfs::fsimage::{StringTableSection, string_table_section};

/// Which table a string belongs to.
#[derive(Clone, Copy)]
pub enum Table {
    User = 1,
    Group = 2,
    XAttr = 3,
}

pub struct Strings {
    mask_bits: u32,
    by_id: HashMap<u32, String>,
}

pub struct Permission<'a> {
    pub user: &'a str,
    pub group: &'a str,
    /// Twelve bits or fewer.
    pub mode: u16,
}

/// Names of `XAttrNamespaceProto`.
pub const XATTR_NAMESPACES: [&str; 5] = ["USER", "TRUSTED", "SECURITY", "SYSTEM", "RAW"];

impl Strings {
    pub fn read(image: &ImageFile) -> Result<Strings, Problem> {
        let mut section = image.section("STRING_TABLE");
        let head: StringTableSection = section.expect()?;
        let mut by_id = HashMap::new();
        for _ in 0..head.num_entry() {
            let entry: string_table_section::Entry = section.expect()?;
            by_id.insert(entry.id(), entry.str.unwrap_or_default());
        }
        Ok(Strings { mask_bits: head.mask_bits().min(31), by_id })
    }

    /// Java's `null` where there is none.
    pub fn get(&self, table: Table, number: u32) -> &str {
        let id = if self.mask_bits == 0 { number } else { (table as u32) << (32 - self.mask_bits) | number };
        if number == 0 {
            return "null";
        }
        self.by_id.get(&id).map_or("null", String::as_str)
    }

    pub fn permission(&self, bits: u64) -> Permission<'_> {
        Permission {
            user: self.get(Table::User, (bits >> 40) as u32),
            group: self.get(Table::Group, (bits >> 16) as u32 & 0xFF_FFFF),
            mode: bits as u16 & 0o1777,
        }
    }

    /// Appends each entry's text, `default:user:bob:r-x`, by `put`.
    pub fn acl(&self, feature: Option<&AclFeatureProto>, mut put: impl FnMut(&str)) {
        for bits in feature.iter().flat_map(|feature| &feature.entries) {
            let (kind, name) = match bits >> 3 & 3 {
                0 => ("user", self.acl_name(Table::User, bits >> 6)),
                1 => ("group", self.acl_name(Table::Group, bits >> 6)),
                2 => ("mask", ""),
                _ => ("other", ""),
            };
            let scope = if bits >> 5 & 1 == 1 { "default:" } else { "" };
            put(&format!("{scope}{kind}:{name}:{}", rwx(*bits as u16 & 7)));
        }
    }

    fn acl_name(&self, table: Table, number: u32) -> &str {
        if number == 0 { "" } else { self.get(table, number) }
    }

    /// Namespace number and name.
    pub fn xattr(&self, xattr: &XAttrCompactProto) -> (usize, &str) {
        let bits = xattr.name;
        let namespace = (bits >> 30 & 3 | (bits >> 5 & 1) << 2) as usize;
        (namespace, self.get(Table::XAttr, bits >> 6 & 0xFF_FFFF))
    }
}

/// Three bits as `r-x`.
pub fn rwx(bits: u16) -> &'static str {
    ["---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx"][usize::from(bits & 7)]
}

/// `rwxr-xr-t`, as `FsPermission.toString`.
pub fn symbol(mode: u16) -> String {
    let mut text = [rwx(mode >> 6), rwx(mode >> 3), rwx(mode)].concat();
    if mode & 0o1000 != 0 {
        text.pop();
        text.push(if mode & 1 != 0 { 't' } else { 'T' });
    }
    text
}
