//! Everything an image holds, as XML. Source: `PBImageXmlWriter.java`, Hadoop 3.5.0.

use super::policies::{CELL_BYTES, built_in};
use super::strings::{Strings, XATTR_NAMESPACES};
use super::{Problem, ordered};
use crate::oev::hex;
use crate::offline::{Output, mangle};
use surus_journal::image::{ImageFile, OpenSection};
use surus_namenode::BUILD_VERSION;
use surus_proto::hadoop::hdfs::fsimage::i_node_section as pb;
use surus_proto::hadoop::hdfs::fsimage::{
    CacheManagerSection, ErasureCodingSection, INodeSection, NameSystemSection, SecretManagerSection, SnapshotSection,
    files_under_construction_section, i_node_directory_section, i_node_reference_section, secret_manager_section,
    snapshot_diff_section, snapshot_section,
};
use surus_proto::hadoop::hdfs::{
    BlockProto, CacheDirectiveInfoProto, CachePoolInfoProto, ErasureCodingPolicyProto, ErasureCodingPolicyState,
    StorageTypeProto,
};
use surus_types::date::{Utc, days_from_civil};

/// Writes the document.
pub fn write(image: &ImageFile, output: &mut Output) -> Result<(), Problem> {
    let sections = ordered(image)?;
    let strings = Strings::read(image)?;
    let mut xml = Xml { output, strings };
    xml.raw("<?xml version=\"1.0\"?>\n<fsimage><version>");
    xml.number("layoutVersion", i64::from(image.layout_version));
    xml.number("onDiskVersion", i64::from(image.on_disk_version));
    xml.text("oivRevision", BUILD_VERSION);
    xml.raw("</version>\n");
    for entry in sections {
        let mut section = image.open_entry(entry);
        match &*entry.name {
            "NS_INFO" => xml.name_system(&section.expect()?),
            "ERASURE_CODING" => xml.erasure_coding(&section.expect()?),
            "INODE" => xml.inodes(&mut section)?,
            "INODE_REFERENCE" => xml.references(&mut section)?,
            "INODE_DIR" => xml.directories(&mut section)?,
            "FILES_UNDERCONSTRUCTION" => xml.under_construction(&mut section)?,
            "SNAPSHOT" => xml.snapshots(&mut section)?,
            "SNAPSHOT_DIFF" => xml.diffs(&mut section)?,
            "SECRET_MANAGER" => xml.secrets(&mut section)?,
            "CACHE_MANAGER" => xml.caches(&mut section)?,
            _ => {}
        }
    }
    xml.raw("</fsimage>\n");
    Ok(())
}

struct Xml<'a> {
    output: &'a mut Output,
    strings: Strings,
}

impl Xml<'_> {
    fn raw(&mut self, text: &str) {
        self.output.buffer().extend_from_slice(text.as_bytes());
    }

    fn open(&mut self, name: &str) {
        let out = self.output.buffer();
        out.push(b'<');
        out.extend_from_slice(name.as_bytes());
        out.push(b'>');
    }

    fn close(&mut self, name: &str, behind: &str) {
        let out = self.output.buffer();
        out.extend_from_slice(b"</");
        out.extend_from_slice(name.as_bytes());
        out.push(b'>');
        out.extend_from_slice(behind.as_bytes());
    }

    fn number(&mut self, name: &str, value: i64) {
        self.open(name);
        self.output.buffer().extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        self.close(name, "");
    }

    fn text(&mut self, name: &str, value: &str) {
        self.open(name);
        mangle(self.output.buffer(), value, true);
        self.close(name, "");
    }

    fn bytes(&mut self, name: &str, value: Option<&[u8]>) {
        self.text(name, &String::from_utf8_lossy(value.unwrap_or_default()));
    }

    fn date(&mut self, name: &str, ms: u64) {
        self.text(name, &iso_date(ms as i64));
    }

    fn name_system(&mut self, section: &NameSystemSection) {
        self.open("NameSection");
        self.number("namespaceId", i64::from(section.namespace_id() as i32));
        self.number("genstampV1", section.genstamp_v1() as i64);
        self.number("genstampV2", section.genstamp_v2() as i64);
        self.number("genstampV1Limit", section.genstamp_v1_limit() as i64);
        self.number("lastAllocatedBlockId", section.last_allocated_block_id() as i64);
        self.number("txid", section.transaction_id() as i64);
        self.close("NameSection", "\n");
    }

    fn erasure_coding(&mut self, section: &ErasureCodingSection) {
        if section.policies.is_empty() {
            return;
        }
        self.raw("<ErasureCodingSection>\n");
        for policy in &section.policies {
            self.policy(policy);
        }
        self.raw("</ErasureCodingSection>\n\n");
    }

    fn policy(&mut self, policy: &ErasureCodingPolicyProto) {
        let known = built_in(policy.id);
        let schema = policy.schema.clone().unwrap_or_default();
        self.raw("<erasureCodingPolicy>\n");
        self.number("policyId", i64::from(policy.id));
        self.text("policyName", known.map_or(policy.name(), |known| known.name));
        self.number("cellSize", i64::from(known.map_or(policy.cell_size(), |_| CELL_BYTES)));
        self.text(
            "policyState",
            match policy.state() {
                ErasureCodingPolicyState::Disabled => "DISABLED",
                ErasureCodingPolicyState::Enabled => "ENABLED",
                ErasureCodingPolicyState::Removed => "REMOVED",
            },
        );
        self.raw("<ecSchema>\n");
        self.text("codecName", known.map_or(&schema.codec_name, |known| known.codec));
        self.number("dataUnits", i64::from(known.map_or(schema.data_units, |known| known.data_units)));
        self.number("parityUnits", i64::from(known.map_or(schema.parity_units, |known| known.parity_units)));
        if !schema.options.is_empty() {
            self.raw("<extraOptions>\n");
            for option in &schema.options {
                self.raw("<option>\n");
                self.text("key", &option.key);
                self.text("value", &option.value);
                self.raw("</option>\n");
            }
            self.raw("</extraOptions>\n");
        }
        self.raw("</ecSchema>\n</erasureCodingPolicy>\n\n");
    }

    fn inodes(&mut self, section: &mut OpenSection<'_>) -> Result<(), Problem> {
        let head: INodeSection = section.expect()?;
        self.open("INodeSection");
        self.number("lastInodeId", head.last_inode_id() as i64);
        self.number("numInodes", head.num_inodes() as i64);
        for _ in 0..head.num_inodes() {
            let inode: pb::INode = section.expect()?;
            self.open("inode");
            self.inode(&inode);
            self.close("inode", "\n");
            self.output.spill()?;
        }
        self.close("INodeSection", "\n");
        Ok(())
    }

    fn inode(&mut self, inode: &pb::INode) {
        self.number("id", inode.id as i64);
        let kind = match inode.r#type() {
            pb::i_node::Type::File => "FILE",
            pb::i_node::Type::Directory => "DIRECTORY",
            pb::i_node::Type::Symlink => "SYMLINK",
        };
        self.text("type", kind);
        self.bytes("name", inode.name.as_deref());
        if let Some(file) = &inode.file {
            self.file(file);
        } else if let Some(directory) = &inode.directory {
            self.directory(directory);
        } else if let Some(link) = &inode.symlink {
            self.permission(link.permission());
            self.bytes("target", link.target.as_deref());
            self.number("mtime", link.modification_time() as i64);
            self.number("atime", link.access_time() as i64);
        }
    }

    fn permission(&mut self, bits: u64) {
        self.open("permission");
        let permission = self.strings.permission(bits);
        let out = self.output.buffer();
        mangle(out, permission.user, true);
        out.push(b':');
        mangle(out, permission.group, true);
        let mode = permission.mode;
        out.push(b':');
        out.extend([9, 6, 3, 0].map(|shift| b'0' + (mode >> shift & 7) as u8));
        self.close("permission", "");
    }

    fn file(&mut self, file: &pb::INodeFile) {
        // Java shows striped files with its constant, whatever the image says.
        let replication = if file.erasure_coding_policy_id.is_some() { 1 } else { file.replication() as i32 };
        self.number("replication", i64::from(replication));
        self.number("mtime", file.modification_time() as i64);
        self.number("atime", file.access_time() as i64);
        self.number("preferredBlockSize", file.preferred_block_size() as i64);
        self.permission(file.permission());
        self.xattrs(file.x_attrs.as_ref());
        self.acl(file.acl.as_ref());
        self.blocks(&file.blocks);
        if let Some(policy) = file.storage_policy_id {
            self.number("storagePolicyId", i64::from(policy));
        }
        if let Some(policy) = file.erasure_coding_policy_id {
            self.text("blockType", if file.block_type() as i32 == 0 { "CONTIGUOUS" } else { "STRIPED" });
            self.number("erasureCodingPolicyId", i64::from(policy));
        }
        if let Some(writer) = &file.file_uc {
            self.open("file-under-construction");
            self.text("clientName", writer.client_name());
            self.text("clientMachine", writer.client_machine());
            self.close("file-under-construction", "\n");
        }
    }

    fn blocks(&mut self, blocks: &[BlockProto]) {
        if blocks.is_empty() {
            return;
        }
        self.open("blocks");
        for block in blocks {
            self.open("block");
            self.number("id", block.block_id as i64);
            self.number("genstamp", block.gen_stamp as i64);
            self.number("numBytes", block.num_bytes() as i64);
            self.close("block", "\n");
        }
        self.close("blocks", "\n");
    }

    fn directory(&mut self, directory: &pb::INodeDirectory) {
        self.number("mtime", directory.modification_time() as i64);
        self.permission(directory.permission());
        self.xattrs(directory.x_attrs.as_ref());
        self.acl(directory.acl.as_ref());
        if let (Some(names), Some(space)) = (directory.ns_quota, directory.ds_quota) {
            self.number("nsquota", names as i64);
            self.number("dsquota", space as i64);
        }
        for entry in directory.type_quotas.iter().flat_map(|quotas| &quotas.quotas) {
            self.open("typeQuota");
            let name = StorageTypeProto::try_from(entry.storage_type).unwrap_or(StorageTypeProto::Disk);
            self.text("type", name.as_str_name());
            self.number("quota", entry.quota as i64);
            self.close("typeQuota", "");
        }
    }

    fn acl(&mut self, feature: Option<&pb::AclFeatureProto>) {
        if feature.is_none_or(|feature| feature.entries.is_empty()) {
            return;
        }
        self.open("acls");
        let mut entries = Vec::new();
        self.strings.acl(feature, |entry| entries.push(entry.to_owned()));
        for entry in entries {
            self.text("acl", &entry);
        }
        self.close("acls", "");
    }

    fn xattrs(&mut self, feature: Option<&pb::XAttrFeatureProto>) {
        let Some(feature) = feature else { return };
        self.open("xattrs");
        for xattr in &feature.x_attrs {
            self.open("xattr");
            let (namespace, name) = self.strings.xattr(xattr);
            let name = name.to_owned();
            self.text("ns", XATTR_NAMESPACES.get(namespace).copied().unwrap_or("null"));
            self.text("name", &name);
            let value = xattr.value.as_deref().unwrap_or_default();
            match std::str::from_utf8(value) {
                Ok(text) => self.text("val", text),
                Err(_) => self.text("valHex", &hex(value)),
            }
            self.close("xattr", "");
        }
        self.close("xattrs", "");
    }

    fn references(&mut self, section: &mut OpenSection<'_>) -> Result<(), Problem> {
        self.open("INodeReferenceSection");
        while let Some(reference) = section.message::<i_node_reference_section::INodeReference>()? {
            self.open("ref");
            self.number("referredId", reference.referred_id() as i64);
            self.bytes("name", reference.name.as_deref());
            self.number("dstSnapshotId", i64::from(reference.dst_snapshot_id() as i32));
            self.number("lastSnapshotId", i64::from(reference.last_snapshot_id() as i32));
            self.close("ref", "\n");
            self.output.spill()?;
        }
        self.close("INodeReferenceSection", "");
        Ok(())
    }

    fn directories(&mut self, section: &mut OpenSection<'_>) -> Result<(), Problem> {
        self.open("INodeDirectorySection");
        while let Some(entry) = section.message::<i_node_directory_section::DirEntry>()? {
            self.open("directory");
            self.number("parent", entry.parent() as i64);
            for child in &entry.children {
                self.number("child", *child as i64);
            }
            for child in &entry.ref_children {
                self.number("refChild", i64::from(*child as i32));
            }
            self.close("directory", "\n");
            self.output.spill()?;
        }
        self.close("INodeDirectorySection", "\n");
        Ok(())
    }

    fn under_construction(&mut self, section: &mut OpenSection<'_>) -> Result<(), Problem> {
        use files_under_construction_section::FileUnderConstructionEntry;
        self.open("FileUnderConstructionSection");
        while let Some(entry) = section.message::<FileUnderConstructionEntry>()? {
            self.open("inode");
            self.number("id", entry.inode_id() as i64);
            self.text("path", entry.full_path());
            self.close("inode", "\n");
            self.output.spill()?;
        }
        self.close("FileUnderConstructionSection", "\n");
        Ok(())
    }

    fn snapshots(&mut self, section: &mut OpenSection<'_>) -> Result<(), Problem> {
        let head: SnapshotSection = section.expect()?;
        self.open("SnapshotSection");
        self.number("snapshotCounter", i64::from(head.snapshot_counter() as i32));
        self.number("numSnapshots", i64::from(head.num_snapshots() as i32));
        if !head.snapshottable_dir.is_empty() {
            self.open("snapshottableDir");
            for directory in &head.snapshottable_dir {
                self.number("dir", *directory as i64);
            }
            self.close("snapshottableDir", "\n");
        }
        for _ in 0..head.num_snapshots() {
            let snapshot: snapshot_section::Snapshot = section.expect()?;
            self.open("snapshot");
            self.number("id", i64::from(snapshot.snapshot_id() as i32));
            self.open("root");
            self.inode(&snapshot.root.unwrap_or_default());
            self.close("root", "");
            self.close("snapshot", "");
            self.output.spill()?;
        }
        self.close("SnapshotSection", "\n");
        Ok(())
    }

    fn diffs(&mut self, section: &mut OpenSection<'_>) -> Result<(), Problem> {
        self.open("SnapshotDiffSection");
        while let Some(entry) = section.message::<snapshot_diff_section::DiffEntry>()? {
            let is_file = entry.r#type() == snapshot_diff_section::diff_entry::Type::Filediff;
            let name = if is_file { "fileDiffEntry" } else { "dirDiffEntry" };
            self.open(name);
            self.number("inodeId", entry.inode_id() as i64);
            self.number("count", i64::from(entry.num_of_diff() as i32));
            for _ in 0..entry.num_of_diff() {
                if is_file {
                    self.file_diff(&section.expect()?)
                } else {
                    self.directory_diff(section)?
                }
                self.output.spill()?;
            }
            self.close(name, "");
        }
        self.close("SnapshotDiffSection", "\n");
        Ok(())
    }

    fn file_diff(&mut self, diff: &snapshot_diff_section::FileDiff) {
        self.open("fileDiff");
        self.number("snapshotId", i64::from(diff.snapshot_id() as i32));
        self.number("size", diff.file_size() as i64);
        self.bytes("name", diff.name.as_deref());
        // Java shows one that is not there as an empty one.
        self.open("snapshotCopy");
        self.file(diff.snapshot_copy.as_ref().unwrap_or(&pb::INodeFile::default()));
        self.close("snapshotCopy", "\n");
        self.blocks(&diff.blocks);
        self.close("fileDiff", "\n");
    }

    fn directory_diff(&mut self, section: &mut OpenSection<'_>) -> Result<(), Problem> {
        let diff: snapshot_diff_section::DirectoryDiff = section.expect()?;
        self.open("dirDiff");
        self.number("snapshotId", i64::from(diff.snapshot_id() as i32));
        self.number("childrenSize", i64::from(diff.children_size() as i32));
        if diff.is_snapshot_root() {
            self.raw("<isSnapshotRoot/>");
        }
        self.bytes("name", diff.name.as_deref());
        if let Some(copy) = &diff.snapshot_copy {
            self.open("snapshotCopy");
            self.directory(copy);
            self.close("snapshotCopy", "\n");
        }
        self.number("createdListSize", i64::from(diff.created_list_size() as i32));
        for deleted in &diff.deleted_i_node {
            self.number("deletedInode", *deleted as i64);
        }
        for deleted in &diff.deleted_i_node_ref {
            self.number("deletedInoderef", i64::from(*deleted as i32));
        }
        for _ in 0..diff.created_list_size() {
            let created: snapshot_diff_section::CreatedListEntry = section.expect()?;
            self.open("created");
            self.bytes("name", created.name.as_deref());
            self.close("created", "\n");
        }
        self.close("dirDiff", "\n");
        Ok(())
    }

    fn secrets(&mut self, section: &mut OpenSection<'_>) -> Result<(), Problem> {
        let head: SecretManagerSection = section.expect()?;
        self.open("SecretManagerSection");
        self.number("currentId", i64::from(head.current_id() as i32));
        self.number("tokenSequenceNumber", i64::from(head.token_sequence_number() as i32));
        self.number("numDelegationKeys", i64::from(head.num_keys() as i32));
        self.number("numTokens", i64::from(head.num_tokens() as i32));
        for _ in 0..head.num_keys() {
            let key: secret_manager_section::DelegationKey = section.expect()?;
            self.open("delegationKey");
            self.number("id", i64::from(key.id() as i32));
            self.text("key", &hex(key.key.as_deref().unwrap_or_default()));
            if let Some(date) = key.expiry_date {
                self.date("expiry", date);
            }
            self.close("delegationKey", "");
        }
        for _ in 0..head.num_tokens() {
            let token: secret_manager_section::PersistToken = section.expect()?;
            self.token(&token);
            self.output.spill()?;
        }
        self.close("SecretManagerSection", "");
        Ok(())
    }

    fn token(&mut self, token: &secret_manager_section::PersistToken) {
        let number = |value: Option<u32>| value.map(|value| i64::from(value as i32));
        self.open("token");
        if let Some(version) = number(token.version) {
            self.number("version", version);
        }
        for (name, text) in [("owner", &token.owner), ("renewer", &token.renewer), ("realUser", &token.real_user)] {
            if let Some(text) = text {
                self.text(name, text);
            }
        }
        for (name, date) in [("issueDate", token.issue_date), ("maxDate", token.max_date)] {
            if let Some(date) = date {
                self.date(name, date);
            }
        }
        let numbers = [("sequenceNumber", token.sequence_number), ("masterKeyId", token.master_key_id)];
        for (name, value) in numbers.map(|(name, value)| (name, number(value))) {
            if let Some(value) = value {
                self.number(name, value);
            }
        }
        if let Some(date) = token.expiry_date {
            self.date("expiryDate", date);
        }
        self.close("token", "");
    }

    fn caches(&mut self, section: &mut OpenSection<'_>) -> Result<(), Problem> {
        let head: CacheManagerSection = section.expect()?;
        self.open("CacheManagerSection");
        self.number("nextDirectiveId", head.next_directive_id as i64);
        self.number("numDirectives", i64::from(head.num_directives as i32));
        self.number("numPools", i64::from(head.num_pools as i32));
        for _ in 0..head.num_pools {
            let pool: CachePoolInfoProto = section.expect()?;
            self.open("pool");
            self.text("poolName", pool.pool_name());
            self.text("ownerName", pool.owner_name());
            self.text("groupName", pool.group_name());
            self.number("mode", i64::from(pool.mode()));
            self.number("limit", pool.limit());
            self.number("maxRelativeExpiry", pool.max_relative_expiry());
            self.close("pool", "\n");
        }
        for _ in 0..head.num_directives {
            let directive: CacheDirectiveInfoProto = section.expect()?;
            self.open("directive");
            self.number("id", directive.id());
            self.text("path", directive.path());
            self.number("replication", i64::from(directive.replication() as i32));
            self.text("pool", directive.pool());
            self.open("expiration");
            let expiration = directive.expiration.unwrap_or_default();
            self.number("millis", expiration.millis);
            if expiration.is_relative {
                self.raw("<relative/>");
            }
            self.close("expiration", "\n");
            self.close("directive", "\n");
        }
        self.close("CacheManagerSection", "\n");
        Ok(())
    }
}

/// `2026-12-07T10:51:52.430`, UTC.
pub fn iso_date(ms: i64) -> String {
    let Utc { year, month, day, hour, minute, second, millisecond, .. } = Utc::at(ms);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}")
}

/// Milliseconds since 1970 of a date in the form of `iso_date`.
pub fn parse_iso_date(text: &str) -> Option<i64> {
    let (date, time) = text.split_once('T')?;
    let numbers = |text: &str, at: char| text.split(at).map(|part| part.parse().ok()).collect::<Option<Vec<i64>>>();
    let (clock, ms) = time.split_once('.')?;
    let (&[year, month, day], &[hour, minute, second]) = (&*numbers(date, '-')?, &*numbers(clock, ':')?) else {
        return None;
    };
    let days = days_from_civil(year, month, day);
    Some(days * 86_400_000 + (hour * 3600 + minute * 60 + second) * 1000 + ms.parse::<i64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000"),
            (951_782_400_001, "2000-02-29T00:00:00.001"),
            (1_796_727_112_430, "2026-12-08T10:51:52.430"),
            (-1, "1969-12-31T23:59:59.999"),
        ] {
            assert_eq!((iso_date(ms).as_str(), parse_iso_date(text)), (text, Some(ms)));
        }
        assert_eq!(parse_iso_date("2026-12-07"), None);
    }
}
