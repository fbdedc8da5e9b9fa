//! Inodes from XML.

use super::{Image, bytes, check_left, int, long, needed, text};
use crate::oev::parse_hex;
use crate::offline::Node;
use crate::oiv::strings::XATTR_NAMESPACES;
use surus_proto::hadoop::hdfs::fsimage::i_node_section as pb;
use surus_proto::hadoop::hdfs::{BlockProto, BlockTypeProto, StorageTypeProto};

impl Image {
    /// An inode from its element.
    pub(super) fn inode(&mut self, mut node: Node) -> Result<pb::INode, String> {
        let node = &mut node;
        let kind = needed(text(node, "type")?, "inode", "type")?;
        let mut inode = pb::INode {
            id: needed(long(node, "id")?, "inode", "id")?,
            name: bytes(node, "name")?,
            ..pb::INode::default()
        };
        match kind.as_str() {
            "FILE" => {
                inode.set_type(pb::i_node::Type::File);
                inode.file = Some(self.file(node)?);
            }
            "DIRECTORY" => {
                inode.set_type(pb::i_node::Type::Directory);
                inode.directory = Some(self.directory(node)?);
            }
            "SYMLINK" => {
                inode.set_type(pb::i_node::Type::Symlink);
                inode.symlink = Some(pb::INodeSymlink {
                    permission: self.permission(node)?,
                    target: bytes(node, "target")?,
                    modification_time: long(node, "mtime")?,
                    access_time: long(node, "atime")?,
                });
            }
            other => return Err(format!("INode XML found with unknown <type> tag {other}")),
        }
        check_left(node, "inode")?;
        Ok(inode)
    }

    pub(super) fn file(&mut self, node: &mut Node) -> Result<pb::INodeFile, String> {
        let mut file = pb::INodeFile {
            replication: int(node, "replication")?,
            modification_time: long(node, "mtime")?,
            access_time: long(node, "atime")?,
            preferred_block_size: long(node, "preferredBlockSize")?,
            permission: self.permission(node)?,
            blocks: blocks(node)?,
            acl: self.acl(node)?,
            x_attrs: self.xattrs(node)?,
            storage_policy_id: int(node, "storagePolicyId")?,
            ..pb::INodeFile::default()
        };
        if let Some(mut writer) = node.take("file-under-construction") {
            file.file_uc = Some(pb::FileUnderConstructionFeature {
                client_name: text(&mut writer, "clientName")?,
                client_machine: text(&mut writer, "clientMachine")?,
                // Not in the text.
                truncate: None,
            });
        }
        match text(node, "blockType")?.as_deref() {
            None => {}
            Some("CONTIGUOUS") => file.set_block_type(BlockTypeProto::Contiguous),
            Some("STRIPED") => {
                file.set_block_type(BlockTypeProto::Striped);
                // What the viewer shows as replication of a striped file is in no image.
                file.replication = None;
            }
            Some(other) => return Err(format!("INode XML found with unknown <blocktype> {other}")),
        }
        file.erasure_coding_policy_id = int(node, "erasureCodingPolicyId")?;
        Ok(file)
    }

    pub(super) fn directory(&mut self, node: &mut Node) -> Result<pb::INodeDirectory, String> {
        let mut quotas = Vec::new();
        for mut quota in node.take_all("typeQuota") {
            let name = needed(text(&mut quota, "type")?, "typeQuota", "type")?;
            let storage_type = StorageTypeProto::from_str_name(&name)
                .ok_or_else(|| format!("<typeQuota> had unknown <type> {name}"))?;
            quotas.push(pb::QuotaByStorageTypeEntryProto {
                storage_type: storage_type as i32,
                quota: needed(long(&mut quota, "quota")?, "typeQuota", "quota")?,
            });
        }
        Ok(pb::INodeDirectory {
            modification_time: long(node, "mtime")?,
            ns_quota: long(node, "nsquota")?,
            ds_quota: long(node, "dsquota")?,
            permission: self.permission(node)?,
            acl: self.acl(node)?,
            x_attrs: self.xattrs(node)?,
            type_quotas: (!quotas.is_empty()).then_some(pb::QuotaByStorageTypeFeatureProto { quotas }),
        })
    }

    /// `user:group:0755`. Names hold no colon; Java's `null` is no name.
    fn permission(&mut self, node: &mut Node) -> Result<Option<u64>, String> {
        let Some(permission) = text(node, "permission")? else { return Ok(None) };
        let parts: Vec<&str> = permission.split(':').collect();
        let &[user, group, mode] = parts.as_slice() else {
            return Err(format!(
                "Unable to parse permission string {permission}: expected 3 components, but only had {}",
                parts.len()
            ));
        };
        let mode = u16::from_str_radix(mode, 8).map_err(|_| format!("{mode} is no mode"))?;
        let mut number = |name: &str| if name == "null" { Ok(0) } else { self.string(name).map(u64::from) };
        Ok(Some(number(user)? << 40 | number(group)? << 16 | u64::from(mode)))
    }

    fn acl(&mut self, node: &mut Node) -> Result<Option<pb::AclFeatureProto>, String> {
        let Some(mut acls) = node.take("acls") else { return Ok(None) };
        let mut entries = Vec::new();
        for acl in acls.take_all("acl") {
            entries.push(self.acl_entry(&acl.text)?);
        }
        Ok(Some(pb::AclFeatureProto { entries }))
    }

    /// `default:user:bob:r-x` as a word: name 24 bits, scope, type 2 bits, permission 3 bits.
    fn acl_entry(&mut self, entry: &str) -> Result<u32, String> {
        let wrong = || format!("Invalid ACL entry: {entry}");
        let (scope, rest) = entry.strip_prefix("default:").map_or((0, entry), |rest| (1, rest));
        let (kind, rest) = rest.split_once(':').ok_or_else(wrong)?;
        let (name, permission) = rest.rsplit_once(':').ok_or_else(wrong)?;
        let kind = ["user", "group", "mask", "other"].iter().position(|known| *known == kind).ok_or_else(wrong)?;
        let name = if name.is_empty() { 0 } else { self.string(name)? };
        let bits = ["r", "w", "x"].iter().fold(0, |bits, letter| bits << 1 | u32::from(permission.contains(letter)));
        Ok(name << 6 | scope << 5 | (kind as u32) << 3 | bits)
    }

    fn xattrs(&mut self, node: &mut Node) -> Result<Option<pb::XAttrFeatureProto>, String> {
        let Some(mut all) = node.take("xattrs") else { return Ok(None) };
        let mut x_attrs = Vec::new();
        for mut xattr in all.take_all("xattr") {
            let namespace = needed(text(&mut xattr, "ns")?, "xattr", "ns")?;
            let namespace = XATTR_NAMESPACES.iter().position(|known| *known == namespace);
            let namespace = namespace.ok_or("<xattr> has an unknown <ns>")? as u32;
            let name = self.string(&needed(text(&mut xattr, "name")?, "xattr", "name")?)?;
            let value = match (bytes(&mut xattr, "val")?, text(&mut xattr, "valHex")?) {
                (Some(value), _) => value,
                (None, Some(digits)) => parse_hex(&digits).ok_or("<valHex> is not hexadecimal")?,
                (None, None) => return Err("<xattr> had no <val> or <valHex> entry.".to_owned()),
            };
            check_left(&xattr, "xattr")?;
            let name = name << 6 | (namespace & 3) << 30 | (namespace >> 2 & 1) << 5;
            x_attrs.push(pb::XAttrCompactProto { name, value: Some(value) });
        }
        check_left(&all, "xattrs")?;
        Ok(Some(pb::XAttrFeatureProto { x_attrs }))
    }
}

/// The blocks in `<blocks>`.
pub(super) fn blocks(node: &mut Node) -> Result<Vec<BlockProto>, String> {
    let Some(mut all) = node.take("blocks") else { return Ok(Vec::new()) };
    let block = |mut block: Node| {
        Ok(BlockProto {
            block_id: needed(long(&mut block, "id")?, "block", "id")?,
            gen_stamp: needed(long(&mut block, "genstamp")?, "block", "genstamp")?,
            num_bytes: Some(needed(long(&mut block, "numBytes")?, "block", "numBytes")?),
        })
    };
    all.take_all("block").into_iter().map(block).collect()
}
