//! The sections from XML, item by item.

use super::inodes::blocks;
use super::{Image, bytes, check_left, int, long, needed, text};
use crate::oev::parse_hex;
use crate::offline::{Node, Step, XmlReader};
use crate::oiv::xml::parse_iso_date;
use surus_proto::hadoop::hdfs::fsimage::{
    CacheManagerSection, ErasureCodingSection, INodeSection, NameSystemSection, SecretManagerSection, SnapshotSection,
    files_under_construction_section, i_node_directory_section, i_node_reference_section, secret_manager_section,
    snapshot_diff_section, snapshot_section,
};
use surus_proto::hadoop::hdfs::{
    CacheDirectiveInfoExpirationProto, CacheDirectiveInfoProto, CachePoolInfoProto, EcSchemaOptionEntryProto,
    EcSchemaProto, ErasureCodingPolicyProto, ErasureCodingPolicyState,
};

type Done = Result<(), String>;

/// Reads the section whose element just began, to its end.
pub(super) fn read(name: &str, reader: &mut XmlReader, image: &mut Image) -> Done {
    match name {
        "NameSection" => name_system(&mut reader.node()?, image),
        "ErasureCodingSection" => erasure_coding(&mut reader.node()?, image),
        "INodeSection" => inodes(reader, image),
        "INodeReferenceSection" => items(reader, "ref", |node| reference(node, image)),
        "SnapshotSection" => snapshots(reader, image),
        "INodeDirectorySection" => items(reader, "directory", |node| directory(node, image)),
        "FileUnderConstructionSection" => items(reader, "inode", |mut node| {
            image.put(&files_under_construction_section::FileUnderConstructionEntry {
                inode_id: long(&mut node, "id")?,
                full_path: text(&mut node, "path")?,
            })?;
            check_left(&node, "inode")
        }),
        "SnapshotDiffSection" => diffs(reader, image),
        "SecretManagerSection" => secrets(reader, image),
        _ => caches(reader, image),
    }
}

/// Items of one name to the end of the section.
fn items(reader: &mut XmlReader, name: &str, mut item: impl FnMut(Node) -> Done) -> Done {
    loop {
        match reader.step()? {
            Step::Start(found) if found == name => item(reader.node()?)?,
            Step::Start(found) => return Err(format!("Failed to find <{name}>; got {found} instead.")),
            Step::End => return Ok(()),
            Step::Eof => return Err("the file ends inside the section".to_owned()),
        }
    }
}

/// What stands before the first item, and the items: `first` is the one whose element began already.
struct Items {
    first: Option<String>,
}

impl Items {
    /// The next item with its name; None at the end of the section.
    fn next(&mut self, reader: &mut XmlReader) -> Result<Option<(String, Node)>, String> {
        let name = match self.first.take() {
            Some(name) => name,
            None => match reader.step()? {
                Step::Start(name) => name,
                Step::End => return Ok(None),
                Step::Eof => return Err("the file ends inside the section".to_owned()),
            },
        };
        Ok(Some((name, reader.node()?)))
    }
}

/// The fields before the items, and the items; None where the section ends before any.
fn head(reader: &mut XmlReader, stop: &[&str]) -> Result<(Node, Option<Items>), String> {
    let (node, first) = reader.children_until(stop)?;
    Ok((node, first.map(|first| Items { first: Some(first) })))
}

fn check_count(what: &str, found: u64, expected: u64) -> Done {
    if found == expected { Ok(()) } else { Err(format!("Only read {found} {what} out of {expected}")) }
}

fn name_system(node: &mut Node, image: &mut Image) -> Done {
    image.put(&NameSystemSection {
        namespace_id: Some(needed(int(node, "namespaceId")?, "NameSection", "namespaceId")?),
        genstamp_v1: long(node, "genstampV1")?,
        genstamp_v2: long(node, "genstampV2")?,
        genstamp_v1_limit: long(node, "genstampV1Limit")?,
        last_allocated_block_id: long(node, "lastAllocatedBlockId")?,
        transaction_id: long(node, "txid")?,
        rolling_upgrade_start_time: long(node, "rollingUpgradeStartTime")?,
        last_allocated_striped_block_id: long(node, "lastAllocatedStripedBlockId")?,
    })?;
    check_left(node, "NameSection")
}

fn erasure_coding(node: &mut Node, image: &mut Image) -> Done {
    let mut policies = Vec::new();
    for mut policy in node.take_all("erasureCodingPolicy") {
        let mut schema = needed(policy.take("ecSchema"), "erasureCodingPolicy", "ecSchema")?;
        let mut options = Vec::new();
        for mut option in schema.take("extraOptions").map(|mut all| all.take_all("option")).unwrap_or_default() {
            options.push(EcSchemaOptionEntryProto {
                key: needed(text(&mut option, "key")?, "option", "key")?,
                value: needed(text(&mut option, "value")?, "option", "value")?,
            });
        }
        let state = match text(&mut policy, "policyState")?.as_deref() {
            None => None,
            Some("DISABLED") => Some(ErasureCodingPolicyState::Disabled as i32),
            Some("ENABLED") => Some(ErasureCodingPolicyState::Enabled as i32),
            Some("REMOVED") => Some(ErasureCodingPolicyState::Removed as i32),
            Some(other) => return Err(format!("<policyState> is no state: {other}")),
        };
        policies.push(ErasureCodingPolicyProto {
            name: text(&mut policy, "policyName")?,
            schema: Some(EcSchemaProto {
                codec_name: needed(text(&mut schema, "codecName")?, "ecSchema", "codecName")?,
                data_units: needed(int(&mut schema, "dataUnits")?, "ecSchema", "dataUnits")?,
                parity_units: needed(int(&mut schema, "parityUnits")?, "ecSchema", "parityUnits")?,
                options,
            }),
            cell_size: int(&mut policy, "cellSize")?,
            id: needed(int(&mut policy, "policyId")?, "erasureCodingPolicy", "policyId")?,
            state,
        });
    }
    image.put(&ErasureCodingSection { policies })?;
    check_left(node, "ErasureCodingSection")
}

fn inodes(reader: &mut XmlReader, image: &mut Image) -> Done {
    let (mut node, items) = head(reader, &["inode"])?;
    let expected = needed(long(&mut node, "numInodes")?, "INodeSection", "numInodes")?;
    image.put(&INodeSection { last_inode_id: long(&mut node, "lastInodeId")?, num_inodes: Some(expected) })?;
    check_left(&node, "INodeSection")?;
    let mut found = 0;
    if let Some(mut items) = items {
        while let Some((_, node)) = items.next(reader)? {
            let inode = image.inode(node)?;
            image.put(&inode)?;
            found += 1;
        }
    }
    check_count("<inode> entries", found, expected)
}

fn reference(mut node: Node, image: &mut Image) -> Done {
    image.put(&i_node_reference_section::INodeReference {
        referred_id: long(&mut node, "referredId")?,
        name: bytes(&mut node, "name")?,
        dst_snapshot_id: int(&mut node, "dstSnapshotId")?,
        last_snapshot_id: int(&mut node, "lastSnapshotId")?,
    })?;
    check_left(&node, "ref")
}

fn directory(mut node: Node, image: &mut Image) -> Done {
    let ids = |nodes: Vec<Node>| -> Result<Vec<i64>, String> {
        let parse = |node: Node| node.text.trim().parse().map_err(|_| format!("{} is no number", node.text));
        nodes.into_iter().map(parse).collect()
    };
    image.put(&i_node_directory_section::DirEntry {
        parent: long(&mut node, "parent")?,
        children: ids(node.take_all("child"))?.into_iter().map(|id| id as u64).collect(),
        ref_children: ids(node.take_all("refChild"))?.into_iter().map(|id| id as u32).collect(),
    })?;
    check_left(&node, "directory")
}

fn snapshots(reader: &mut XmlReader, image: &mut Image) -> Done {
    let (mut node, items) = head(reader, &["snapshot"])?;
    let expected = needed(int(&mut node, "numSnapshots")?, "SnapshotSection", "numSnapshots")?;
    let counter = needed(int(&mut node, "snapshotCounter")?, "SnapshotSection", "snapshotCounter")?;
    let mut snapshottable_dir = Vec::new();
    for mut directories in node.take_all("snapshottableDir") {
        for directory in directories.take_all("dir") {
            let id: i64 = directory.text.trim().parse().map_err(|_| format!("{} is no number", directory.text))?;
            snapshottable_dir.push(id as u64);
        }
    }
    check_left(&node, "SnapshotSection")?;
    image.put(&SnapshotSection {
        snapshot_counter: Some(counter),
        snapshottable_dir,
        num_snapshots: Some(expected),
    })?;
    let mut found = 0;
    if let Some(mut items) = items {
        while let Some((_, mut node)) = items.next(reader)? {
            let snapshot_id = Some(needed(int(&mut node, "id")?, "snapshot", "id")?);
            let root = Some(image.inode(needed(node.take("root"), "snapshot", "root")?)?);
            image.put(&snapshot_section::Snapshot { snapshot_id, root })?;
            found += 1;
        }
    }
    check_count("<snapshot> entries", found, u64::from(expected))
}

fn diffs(reader: &mut XmlReader, image: &mut Image) -> Done {
    use snapshot_diff_section::{DiffEntry, diff_entry::Type};
    loop {
        let (name, kind) = match reader.step()? {
            Step::Start(name) if name == "dirDiffEntry" => ("dirDiff", Type::Directorydiff),
            Step::Start(name) if name == "fileDiffEntry" => ("fileDiff", Type::Filediff),
            Step::Start(name) => return Err(format!("SnapshotDiffSection contained unexpected tag {name}")),
            Step::End => return Ok(()),
            Step::Eof => return Err("the file ends inside the section".to_owned()),
        };
        let (mut node, items) = head(reader, &[name])?;
        let inode_id = Some(needed(long(&mut node, "inodeId")?, name, "inodeId")?);
        let expected = needed(int(&mut node, "count")?, name, "count")?;
        check_left(&node, name)?;
        image.put(&DiffEntry { r#type: kind as i32, inode_id, num_of_diff: Some(expected) })?;
        let mut found = 0;
        if let Some(mut items) = items {
            while let Some((_, node)) = items.next(reader)? {
                match kind {
                    Type::Filediff => file_diff(node, image)?,
                    Type::Directorydiff => directory_diff(node, image)?,
                }
                found += 1;
            }
        }
        check_count("diffs", found, u64::from(expected))?;
    }
}

fn file_diff(mut node: Node, image: &mut Image) -> Done {
    let (snapshot_id, file_size) = (int(&mut node, "snapshotId")?, long(&mut node, "size")?);
    let name = bytes(&mut node, "name")?;
    let snapshot_copy = match node.take("snapshotCopy") {
        Some(mut copy) => Some(image.file(&mut copy)?).filter(|copy| !is_shown_for_none(copy)),
        None => None,
    };
    let blocks = blocks(&mut node)?;
    check_left(&node, "fileDiff")?;
    image.put(&snapshot_diff_section::FileDiff { snapshot_id, file_size, name, snapshot_copy, blocks })
}

/// The viewer shows the copy of a difference that has none as a file of zeros and without names.
fn is_shown_for_none(copy: &surus_proto::hadoop::hdfs::fsimage::i_node_section::INodeFile) -> bool {
    copy.permission() == 0 && copy.preferred_block_size() == 0 && copy.modification_time() == 0
}

fn directory_diff(mut node: Node, image: &mut Image) -> Done {
    use snapshot_diff_section::{CreatedListEntry, DirectoryDiff};
    let ids = |nodes: Vec<Node>| -> Result<Vec<i64>, String> {
        let parse = |node: Node| node.text.trim().parse().map_err(|_| format!("{} is no number", node.text));
        nodes.into_iter().map(parse).collect()
    };
    let snapshot_copy = match node.take("snapshotCopy") {
        Some(mut copy) => Some(image.directory(&mut copy)?),
        None => None,
    };
    let created_list_size = needed(int(&mut node, "createdListSize")?, "dirDiff", "createdListSize")?;
    let created = node.take_all("created");
    check_count("<created> entries", created.len() as u64, u64::from(created_list_size))?;
    image.put(&DirectoryDiff {
        snapshot_id: int(&mut node, "snapshotId")?,
        children_size: Some(needed(int(&mut node, "childrenSize")?, "dirDiff", "childrenSize")?),
        is_snapshot_root: Some(node.take("isSnapshotRoot").is_some()),
        name: bytes(&mut node, "name")?,
        snapshot_copy,
        created_list_size: Some(created_list_size),
        deleted_i_node: ids(node.take_all("deletedInode"))?.into_iter().map(|id| id as u64).collect(),
        deleted_i_node_ref: ids(node.take_all("deletedInoderef"))?.into_iter().map(|id| id as u32).collect(),
    })?;
    for mut created in created {
        image.put(&CreatedListEntry { name: bytes(&mut created, "name")? })?;
    }
    check_left(&node, "dirDiff")
}

fn date(node: &mut Node, name: &str) -> Result<Option<u64>, String> {
    let Some(text) = text(node, name)? else { return Ok(None) };
    let ms = parse_iso_date(text.trim()).ok_or_else(|| format!("Failed to parse ISO date string {text}"))?;
    Ok(Some(ms as u64))
}

fn secrets(reader: &mut XmlReader, image: &mut Image) -> Done {
    const NAME: &str = "SecretManagerSection";
    let (mut node, items) = head(reader, &["delegationKey", "token"])?;
    let mut field = |name: &str| needed(int(&mut node, name)?, NAME, name);
    let section = SecretManagerSection {
        current_id: Some(field("currentId")?),
        token_sequence_number: Some(field("tokenSequenceNumber")?),
        num_keys: Some(field("numDelegationKeys")?),
        num_tokens: Some(field("numTokens")?),
    };
    check_left(&node, NAME)?;
    image.put(&section)?;
    let (mut keys, mut tokens) = (0, 0);
    if let Some(mut items) = items {
        while let Some((name, mut node)) = items.next(reader)? {
            if name == "delegationKey" {
                let digits = needed(text(&mut node, "key")?, "delegationKey", "key")?;
                image.put(&secret_manager_section::DelegationKey {
                    id: Some(needed(int(&mut node, "id")?, "delegationKey", "id")?),
                    expiry_date: date(&mut node, "expiry")?,
                    key: Some(parse_hex(&digits).ok_or("<key> is not hexadecimal")?),
                })?;
                keys += 1;
            } else {
                image.put(&token(&mut node)?)?;
                tokens += 1;
            }
            check_left(&node, &name)?;
        }
    }
    check_count("delegation keys", keys, u64::from(section.num_keys()))?;
    check_count("tokens", tokens, u64::from(section.num_tokens()))
}

fn token(node: &mut Node) -> Result<secret_manager_section::PersistToken, String> {
    Ok(secret_manager_section::PersistToken {
        version: int(node, "version")?,
        owner: text(node, "owner")?,
        renewer: text(node, "renewer")?,
        real_user: text(node, "realUser")?,
        issue_date: date(node, "issueDate")?,
        max_date: date(node, "maxDate")?,
        sequence_number: int(node, "sequenceNumber")?,
        master_key_id: int(node, "masterKeyId")?,
        expiry_date: date(node, "expiryDate")?,
    })
}

fn caches(reader: &mut XmlReader, image: &mut Image) -> Done {
    const NAME: &str = "CacheManagerSection";
    let (mut node, items) = head(reader, &["pool", "directive"])?;
    let section = CacheManagerSection {
        next_directive_id: needed(long(&mut node, "nextDirectiveId")?, NAME, "nextDirectiveId")?,
        num_pools: needed(int(&mut node, "numPools")?, NAME, "numPools")?,
        num_directives: needed(int(&mut node, "numDirectives")?, NAME, "numDirectives")?,
    };
    check_left(&node, NAME)?;
    image.put(&section)?;
    let (mut pools, mut directives) = (0, 0);
    if let Some(mut items) = items {
        while let Some((name, mut node)) = items.next(reader)? {
            if name == "pool" {
                image.put(&pool(&mut node)?)?;
                pools += 1;
            } else {
                image.put(&directive(&mut node)?)?;
                directives += 1;
            }
            check_left(&node, &name)?;
        }
    }
    check_count("cache pools", pools, u64::from(section.num_pools))?;
    check_count("cache directives", directives, u64::from(section.num_directives))
}

fn pool(node: &mut Node) -> Result<CachePoolInfoProto, String> {
    Ok(CachePoolInfoProto {
        pool_name: Some(needed(text(node, "poolName")?, "pool", "poolName")?),
        owner_name: Some(needed(text(node, "ownerName")?, "pool", "ownerName")?),
        group_name: Some(needed(text(node, "groupName")?, "pool", "groupName")?),
        mode: Some(needed(int(node, "mode")?, "pool", "mode")? as i32),
        limit: Some(needed(long(node, "limit")?, "pool", "limit")? as i64),
        max_relative_expiry: Some(needed(long(node, "maxRelativeExpiry")?, "pool", "maxRelativeExpiry")? as i64),
        default_replication: None,
    })
}

fn directive(node: &mut Node) -> Result<CacheDirectiveInfoProto, String> {
    let expiration = match node.take("expiration") {
        Some(mut expiration) => Some(CacheDirectiveInfoExpirationProto {
            millis: needed(long(&mut expiration, "millis")?, "expiration", "millis")? as i64,
            is_relative: expiration.take("relative").is_some(),
        }),
        None => None,
    };
    Ok(CacheDirectiveInfoProto {
        id: Some(needed(long(node, "id")?, "directive", "id")? as i64),
        path: Some(needed(text(node, "path")?, "directive", "path")?),
        replication: Some(needed(int(node, "replication")?, "directive", "replication")?),
        pool: text(node, "pool")?,
        expiration,
    })
}
