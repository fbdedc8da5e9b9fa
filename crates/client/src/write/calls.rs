//! The NameNode's side of writing: blocks asked for, given up, committed.

use crate::client::DfsClient;
use crate::error::{ClientError, Result};
use crate::namenode::Repeat::{AtMostOnce, Idempotent};
use std::time::{Duration, Instant};
use surus_proto::hadoop::hdfs as proto;
use surus_types::ExceptionClass;

/// First pause before a question is asked again: a DataNode's report usually takes a few milliseconds.
const POLL_FIRST: Duration = Duration::from_millis(1);

/// One file being written, as the NameNode knows it.
#[derive(Clone)]
pub(crate) struct FileCalls {
    pub client: DfsClient,
    pub src: String,
    pub file_id: u64,
}

/// Pauses that double, from a millisecond to the configured delay and beyond, as long in all as Hadoop's client waits.
struct Patience {
    pause: Duration,
    until: Instant,
}

impl Patience {
    fn new(client: &DfsClient) -> Self {
        let write = &client.config().write;
        let factor = 1u32.checked_shl(write.locate_retries).unwrap_or(u32::MAX).saturating_sub(1);
        Patience { pause: POLL_FIRST, until: Instant::now() + write.locate_delay.saturating_mul(factor) }
    }

    /// Sleeps; false once the patience is at its end.
    fn wait(&mut self) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        std::thread::sleep(self.pause);
        self.pause *= 2;
        true
    }
}

impl FileCalls {
    fn holder(&self) -> String {
        self.client.inner.client_name.clone()
    }

    /// Commits `previous` and gets the next block. Waits while the previous blocks lack their minimum of replicas.
    pub fn add_block(
        &self,
        previous: Option<&proto::ExtendedBlockProto>,
        excluded: &[proto::DatanodeInfoProto],
        flags: &[i32],
    ) -> Result<proto::LocatedBlockProto> {
        let request = proto::AddBlockRequestProto {
            src: self.src.clone(),
            client_name: self.holder(),
            previous: previous.cloned(),
            exclude_nodes: excluded.to_vec(),
            file_id: Some(self.file_id),
            favored_nodes: Vec::new(),
            flags: flags.to_vec(),
        };
        let mut patience = Patience::new(&self.client);
        loop {
            match self.client.call::<_, proto::AddBlockResponseProto>("addBlock", Idempotent, &request) {
                Ok(answer) => return Ok(answer.block),
                Err(error) if error.is(ExceptionClass::NotReplicatedYet) && patience.wait() => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub fn abandon_block(&self, block: &proto::ExtendedBlockProto) -> Result<()> {
        let request = proto::AbandonBlockRequestProto {
            b: block.clone(),
            src: self.src.clone(),
            holder: self.holder(),
            file_id: Some(self.file_id),
        };
        let _: proto::AbandonBlockResponseProto = self.client.call("abandonBlock", Idempotent, &request)?;
        Ok(())
    }

    /// Closes the file; waits until the last block has its minimum of replicas.
    pub fn complete(&self, last: Option<&proto::ExtendedBlockProto>) -> Result<()> {
        let request = proto::CompleteRequestProto {
            src: self.src.clone(),
            client_name: self.holder(),
            last: last.cloned(),
            file_id: Some(self.file_id),
        };
        let mut patience = Patience::new(&self.client);
        loop {
            let answer: proto::CompleteResponseProto = self.client.call("complete", Idempotent, &request)?;
            if answer.result {
                return Ok(());
            }
            if !patience.wait() {
                let last = last.map(crate::datanode::block_text).unwrap_or_default();
                return Err(ClientError::io(format!(
                    "Unable to close file because the last block {last} does not have enough number of replicas."
                )));
            }
        }
    }

    /// Puts the file's blocks into the edit log, with the length of the last one where it is given.
    pub fn fsync(&self, last_block_length: Option<u64>) -> Result<()> {
        let length = last_block_length.and_then(|length| i64::try_from(length).ok()).unwrap_or(-1);
        let request = proto::FsyncRequestProto {
            src: self.src.clone(),
            client: self.holder(),
            last_block_length: Some(length),
            file_id: Some(self.file_id),
        };
        let _: proto::FsyncResponseProto = self.client.call("fsync", Idempotent, &request)?;
        Ok(())
    }

    /// A new generation stamp and token for a block whose pipeline broke.
    pub fn update_block_for_pipeline(&self, block: &proto::ExtendedBlockProto) -> Result<proto::LocatedBlockProto> {
        let request = proto::UpdateBlockForPipelineRequestProto { block: block.clone(), client_name: self.holder() };
        let answer: proto::UpdateBlockForPipelineResponseProto =
            self.client.call("updateBlockForPipeline", Idempotent, &request)?;
        Ok(answer.block)
    }

    pub fn update_pipeline(
        &self,
        old: &proto::ExtendedBlockProto,
        new: &proto::ExtendedBlockProto,
        targets: &super::pipeline::Targets,
    ) -> Result<()> {
        let request = proto::UpdatePipelineRequestProto {
            client_name: self.holder(),
            old_block: old.clone(),
            new_block: new.clone(),
            new_nodes: targets.nodes.iter().map(|d| d.id.clone()).collect(),
            storage_i_ds: targets.storage_ids.clone(),
        };
        let _: proto::UpdatePipelineResponseProto = self.client.call("updatePipeline", AtMostOnce, &request)?;
        Ok(())
    }

    /// One more DataNode for a pipeline that lost some: the answer lists the existing ones and it.
    pub fn get_additional_datanode(
        &self,
        block: &proto::ExtendedBlockProto,
        existing: &super::pipeline::Targets,
        excluded: &[proto::DatanodeInfoProto],
    ) -> Result<proto::LocatedBlockProto> {
        let request = proto::GetAdditionalDatanodeRequestProto {
            src: self.src.clone(),
            blk: block.clone(),
            existings: existing.nodes.clone(),
            excludes: excluded.to_vec(),
            num_additional_nodes: 1,
            client_name: self.holder(),
            existing_storage_uuids: existing.storage_ids.clone(),
            file_id: Some(self.file_id),
        };
        let answer: proto::GetAdditionalDatanodeResponseProto =
            self.client.call("getAdditionalDatanode", Idempotent, &request)?;
        Ok(answer.block)
    }
}
