//! Reads the inodes of ordinary files without a message object each: nearly all of an image. Whatever is unusual (ACLs, extended
//! attributes, open files, erasure coding, unknown fields) is left to the generated code.

use surus_types::{Block, BlockId, GenerationStamp};

/// A closed, replicated file without features; its name and its blocks lie at the end of what was lent.
#[derive(Default)]
pub struct PlainFile {
    pub id: u64,
    /// Length of the name, number of the blocks.
    pub name: usize,
    pub blocks: usize,
    pub replication: u64,
    pub modification_time: i64,
    pub access_time: i64,
    pub preferred_block_size: u64,
    pub permission: u64,
    pub storage_policy: u64,
}

/// Names and blocks of files, one behind the other.
#[derive(Default)]
pub struct Lent {
    pub names: Vec<u8>,
    pub blocks: Vec<Block>,
}

/// An inode that is such a file. None: `lent` is as before.
pub fn plain_file(message: &[u8], lent: &mut Lent) -> Option<PlainFile> {
    let (names, blocks) = (lent.names.len(), lent.blocks.len());
    let file = read_plain_file(message, lent);
    match &file {
        // A name that was there twice.
        Some(file) if lent.names.len() > names + file.name => _ = lent.names.drain(names..lent.names.len() - file.name),
        Some(_) => {}
        None => {
            lent.names.truncate(names);
            lent.blocks.truncate(blocks);
        }
    }
    file
}

fn read_plain_file(message: &[u8], lent: &mut Lent) -> Option<PlainFile> {
    let (mut file, mut has_file) = (PlainFile::default(), false);
    let before = lent.blocks.len();
    let mut fields = Fields { rest: message };
    while let Some(tag) = fields.tag()? {
        match tag {
            // Type: a file.
            0x08 if fields.varint()? == 1 => {}
            0x10 => file.id = fields.varint()?,
            0x1A => {
                let name = fields.bytes()?;
                lent.names.extend_from_slice(name);
                file.name = name.len();
            }
            0x22 if !has_file => {
                has_file = true;
                put_file(fields.bytes()?, &mut file, &mut lent.blocks)?;
                file.blocks = lent.blocks.len() - before;
            }
            _ => return None,
        }
    }
    has_file.then_some(file)
}

fn put_file(message: &[u8], file: &mut PlainFile, blocks: &mut Vec<Block>) -> Option<()> {
    let mut fields = Fields { rest: message };
    while let Some(tag) = fields.tag()? {
        match tag {
            0x08 => file.replication = fields.varint()?,
            0x10 => file.modification_time = fields.varint()? as i64,
            0x18 => file.access_time = fields.varint()? as i64,
            0x20 => file.preferred_block_size = fields.varint()?,
            0x29 => file.permission = fields.fixed64()?,
            0x32 => blocks.push(block(fields.bytes()?)?),
            0x50 => file.storage_policy = fields.varint()?,
            // Contiguous blocks.
            0x58 if fields.varint()? == 0 => {}
            _ => return None,
        }
    }
    Some(())
}

fn block(message: &[u8]) -> Option<Block> {
    let mut block = Block { id: BlockId(0), generation_stamp: GenerationStamp(0), num_bytes: 0 };
    let mut fields = Fields { rest: message };
    while let Some(tag) = fields.tag()? {
        match tag {
            0x08 => block.id = BlockId(fields.varint()? as i64),
            0x10 => block.generation_stamp = GenerationStamp(fields.varint()?),
            0x18 => block.num_bytes = fields.varint()?,
            _ => return None,
        }
    }
    Some(block)
}

/// The fields of a message, as far as they are well-formed.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The next field's tag; None inside at the end of the message.
    fn tag(&mut self) -> Option<Option<u8>> {
        match self.rest {
            [] => Some(None),
            [tag @ 0..=0x7F, rest @ ..] => {
                self.rest = rest;
                Some(Some(*tag))
            }
            _ => None,
        }
    }

    #[inline]
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for (at, byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7F) << (7 * at);
            if *byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Some(value);
            }
        }
        None
    }

    fn fixed64(&mut self) -> Option<u64> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;
    use surus_proto::hadoop::hdfs::BlockProto;
    use surus_proto::hadoop::hdfs::fsimage::i_node_section as pb;

    fn inode(file: pb::INodeFile) -> Vec<u8> {
        let mut inode = pb::INode { id: 16_390, name: Some("é".into()), file: Some(file), ..Default::default() };
        inode.set_type(pb::i_node::Type::File);
        inode.encode_to_vec()
    }

    #[test]
    fn plain_files_read_as_the_generated_code_reads_them() {
        let block = |id: i64| BlockProto { block_id: id as u64, gen_stamp: 1001, num_bytes: Some(u64::MAX >> 1) };
        let file = pb::INodeFile {
            replication: Some(3),
            modification_time: Some(-5i64 as u64),
            access_time: Some(7),
            preferred_block_size: Some(1 << 40),
            permission: Some(1 << 40 | 2 << 16 | 0o644),
            blocks: vec![block(1 << 30), block(-8)],
            storage_policy_id: Some(7),
            block_type: Some(0),
            ..Default::default()
        };
        let (message, mut lent) = (inode(file.clone()), Lent::default());
        let plain = plain_file(&message, &mut lent).unwrap();
        assert_eq!((plain.id, &lent.names[..], plain.name, plain.replication), (16_390, "é".as_bytes(), 2, 3));
        assert_eq!((plain.modification_time, plain.access_time, plain.preferred_block_size), (-5, 7, 1 << 40));
        assert_eq!((plain.permission, plain.storage_policy), (1 << 40 | 2 << 16 | 0o644, 7));
        assert_eq!((plain.blocks, lent.blocks[1].id, lent.blocks[0].num_bytes), (2, BlockId(-8), u64::MAX >> 1));
        for cut in 0..message.len() {
            let read = plain_file(&message[..cut], &mut lent);
            assert!(read.is_none() || pb::INode::decode(&message[..cut]).is_ok(), "cut at {cut}");
        }
        for unusual in [
            pb::INodeFile { file_uc: Some(Default::default()), ..file.clone() },
            pb::INodeFile { acl: Some(Default::default()), ..file.clone() },
            pb::INodeFile { x_attrs: Some(Default::default()), ..file.clone() },
            pb::INodeFile { block_type: Some(1), ..file.clone() },
            pb::INodeFile { erasure_coding_policy_id: Some(1), ..file },
        ] {
            let before = (lent.names.len(), lent.blocks.len());
            assert!(plain_file(&inode(unusual), &mut lent).is_none());
            assert_eq!((lent.names.len(), lent.blocks.len()), before);
        }
    }
}
