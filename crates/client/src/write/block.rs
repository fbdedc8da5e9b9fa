//! The block a writer is at: its pipeline, the packets under way, and what happens when a DataNode fails.
//! Source: `DataStreamer.java`, `ReplaceDatanodeOnFailure.java`, Hadoop 3.5.0.

use super::calls::FileCalls;
use super::packet::PacketBuf;
use super::pipeline::{Broken, Pipeline, Setup, Targets, transfer_block};
use crate::config::{ReplaceDatanode, ReplacePolicy};
use crate::error::{ClientError, Result};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use surus_proto::hadoop::hdfs as proto;
use surus_proto::hadoop::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use surus_wire::datatransfer::DataChecksum;

/// After so many packets the acknowledgements that are there are taken, so that few buffers go round and stay in cache.
const DRAIN_EVERY: usize = 8;
/// How often a DataNode is looked for that takes a failed one's place.
const REPLACE_TRIES: usize = 3;
/// Between attempts to reach the only DataNode of a pipeline while it restarts.
const RESTART_PAUSE: Duration = Duration::from_secs(2);

/// What does not change while a file is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSettings {
    pub checksum: DataChecksum,
    /// The replication asked for.
    pub replication: u16,
    pub lazy_persist: bool,
    pub packets_in_flight: usize,
}

/// Where the pipeline is in the block's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SetupAppend,
    Streaming,
    /// Everything but the last, empty packet is acknowledged.
    Closing,
}

pub(crate) struct OpenBlock {
    calls: FileCalls,
    settings: BlockSettings,
    /// With the current generation stamp; its length is what all DataNodes have acknowledged.
    located: proto::LocatedBlockProto,
    targets: Targets,
    pipeline: Option<Pipeline>,
    phase: Phase,
    in_flight: VecDeque<PacketBuf>,
    bytes_sent: u64,
    failed: Vec<proto::DatanodeInfoProto>,
    /// Recoveries since the last acknowledgement.
    recoveries: u32,
    restart_until: Option<Instant>,
    is_append: bool,
    is_hflushed: bool,
    since_drain: usize,
}

impl OpenBlock {
    /// A fresh block over an open pipeline.
    pub fn new(
        calls: &FileCalls,
        settings: BlockSettings,
        located: proto::LocatedBlockProto,
    ) -> std::result::Result<Self, Box<(Self, Broken)>> {
        let mut block = Self::unconnected(calls, settings, located);
        let stamp = block.located.b.generation_stamp;
        match block.open_pipeline(Stage::PipelineSetupCreate, &block.located, stamp) {
            Ok(pipeline) => {
                block.pipeline = Some(pipeline);
                Ok(block)
            }
            Err(broken) => Err(Box::new((block, broken))),
        }
    }

    /// The last block of a file that is appended to.
    pub fn append(calls: &FileCalls, settings: BlockSettings, located: proto::LocatedBlockProto) -> Result<Self> {
        let mut block = Self::unconnected(calls, settings, located);
        block.phase = Phase::SetupAppend;
        block.is_append = true;
        if block.targets.nodes.is_empty() {
            return Err(ClientError::io(format!(
                "Could not get block locations. Source file \"{}\" - Aborting...",
                calls.src
            )));
        }
        block.recover(None)?;
        Ok(block)
    }

    fn unconnected(calls: &FileCalls, settings: BlockSettings, mut located: proto::LocatedBlockProto) -> Self {
        let length = located.b.num_bytes.unwrap_or(0);
        located.b.num_bytes = Some(length);
        OpenBlock {
            calls: calls.clone(),
            settings,
            targets: Targets::of(&located),
            located,
            pipeline: None,
            phase: Phase::Streaming,
            in_flight: VecDeque::new(),
            bytes_sent: length,
            failed: Vec::new(),
            recoveries: 0,
            restart_until: None,
            is_append: false,
            is_hflushed: false,
            since_drain: 0,
        }
    }

    pub fn block(&self) -> &proto::ExtendedBlockProto {
        &self.located.b
    }

    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Bytes that every DataNode of the pipeline has acknowledged.
    pub fn bytes_acked(&self) -> u64 {
        self.located.b.num_bytes.unwrap_or(0)
    }

    /// Bytes that were sent, acknowledged or not.
    pub fn bytes_sent(&self) -> u64 {
        self.bytes_sent
    }

    pub fn set_hflushed(&mut self) {
        self.is_hflushed = true;
    }

    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }

    /// Sends a sealed packet; acknowledged ones go to `free`.
    pub fn send(&mut self, packet: PacketBuf, free: &mut Vec<PacketBuf>) -> Result<()> {
        self.bytes_sent = self.bytes_sent.max(packet.end_in_block());
        let sent = match &mut self.pipeline {
            Some(pipeline) => pipeline.send(&packet),
            None => Err(self.no_pipeline()),
        };
        self.in_flight.push_back(packet);
        if let Err(broken) = sent {
            self.recover(Some(broken))?;
        }
        self.since_drain += 1;
        if self.since_drain >= DRAIN_EVERY {
            self.since_drain = 0;
            // A recovery of the close leaves nothing in flight, and no pipeline.
            while !self.in_flight.is_empty()
                && let Some(seqno) = self.guarded(Pipeline::try_next_ack)?.flatten()
            {
                self.acknowledged(seqno, free)?;
            }
        }
        while self.in_flight.len() >= self.settings.packets_in_flight {
            self.wait_one(free)?;
        }
        Ok(())
    }

    /// Waits until all DataNodes have everything that was sent.
    pub fn wait_all(&mut self, free: &mut Vec<PacketBuf>) -> Result<()> {
        while !self.in_flight.is_empty() {
            self.wait_one(free)?;
        }
        Ok(())
    }

    /// Sends the last packet, which is empty, once all others are acknowledged, and waits for it.
    pub fn close(&mut self, last: PacketBuf, free: &mut Vec<PacketBuf>) -> Result<proto::ExtendedBlockProto> {
        self.wait_all(free)?;
        self.phase = Phase::Closing;
        self.send(last, free)?;
        self.wait_all(free)?;
        self.pipeline = None;
        Ok(self.located.b.clone())
    }

    fn wait_one(&mut self, free: &mut Vec<PacketBuf>) -> Result<()> {
        match self.guarded(Pipeline::next_ack)? {
            Some(seqno) => self.acknowledged(seqno, free),
            None => Ok(()),
        }
    }

    /// Runs `act` on the pipeline; when that breaks, recovers it and gives `None`.
    fn guarded<T>(&mut self, act: impl FnOnce(&mut Pipeline) -> std::result::Result<T, Broken>) -> Result<Option<T>> {
        let result = match &mut self.pipeline {
            Some(pipeline) => act(pipeline),
            None => Err(self.no_pipeline()),
        };
        match result {
            Ok(value) => Ok(Some(value)),
            Err(broken) => {
                self.recover(Some(broken))?;
                Ok(None)
            }
        }
    }

    fn no_pipeline(&self) -> Broken {
        Broken { bad_index: 0, text: "the pipeline is closed".into(), restarting: false, token: false }
    }

    fn acknowledged(&mut self, seqno: i64, free: &mut Vec<PacketBuf>) -> Result<()> {
        match self.in_flight.front() {
            Some(packet) if packet.seqno == seqno => {
                let end = packet.end_in_block().max(self.bytes_acked());
                self.located.b.num_bytes = Some(end);
                self.recoveries = 0;
                self.restart_until = None;
                free.extend(self.in_flight.pop_front());
                Ok(())
            }
            expected => {
                let expected = expected.map_or(-1, |packet| packet.seqno);
                let text = format!("Expecting seqno for block {expected} but received {seqno}");
                self.recover(Some(Broken { bad_index: 0, text, restarting: false, token: false }))
            }
        }
    }

    /// Makes a pipeline of the DataNodes that are left, with a new generation stamp, and sends again what was not
    /// acknowledged. `None`: the first pipeline of an append.
    fn recover(&mut self, mut broken: Option<Broken>) -> Result<()> {
        loop {
            self.pipeline = None;
            if let Some(broken) = broken.take() {
                tracing::warn!("{}: {}", crate::datanode::block_text(&self.located.b), broken.text);
                self.leave_out(&broken)?;
            }
            self.replace_failed()?;
            let fresh = self.calls.update_block_for_pipeline(&self.located.b)?;
            let stamp = fresh.b.generation_stamp;
            let mut located = self.located.clone();
            located.block_token = fresh.block_token;
            let mut pipeline = match self.open_pipeline(self.recovery_stage(), &located, stamp) {
                Ok(pipeline) => pipeline,
                Err(failed) => {
                    broken = Some(failed);
                    continue;
                }
            };
            let mut new_block = located.b.clone();
            new_block.generation_stamp = stamp;
            self.calls.update_pipeline(&self.located.b, &new_block, &self.targets)?;
            located.b = new_block;
            self.located = located;
            if self.phase == Phase::Closing {
                // The set-up itself has closed the replicas.
                self.in_flight.clear();
                return Ok(());
            }
            self.phase = Phase::Streaming;
            match self.in_flight.iter().try_for_each(|packet| pipeline.send(packet)) {
                Ok(()) => {
                    self.pipeline = Some(pipeline);
                    return Ok(());
                }
                Err(failed) => broken = Some(failed),
            }
        }
    }

    fn recovery_stage(&self) -> Stage {
        match (self.phase, self.recoveries) {
            (Phase::SetupAppend, 0) => Stage::PipelineSetupAppend,
            (Phase::SetupAppend, _) => Stage::PipelineSetupAppendRecovery,
            (Phase::Streaming, _) => Stage::PipelineSetupStreamingRecovery,
            (Phase::Closing, _) => Stage::PipelineCloseRecovery,
        }
    }

    /// Takes the DataNode to blame out of the pipeline, or waits for it where it is the only one and restarting.
    fn leave_out(&mut self, broken: &Broken) -> Result<()> {
        self.recoveries += 1;
        let config = &self.calls.client.config().write;
        let alone = self.targets.nodes.len() == 1;
        if alone && (broken.restarting || self.restart_until.is_some()) {
            let until = *self.restart_until.get_or_insert_with(|| Instant::now() + config.datanode_restart_timeout);
            if Instant::now() < until {
                self.recoveries = self.recoveries.min(1);
                std::thread::sleep(RESTART_PAUSE);
                return Ok(());
            }
        }
        if self.recoveries > config.recovery_retries {
            return Err(ClientError::io(format!(
                "Failing write. Tried pipeline recovery {} times without success.",
                config.recovery_retries
            )));
        }
        if broken.token {
            return Ok(());
        }
        let nodes = self.targets.text();
        self.failed.extend(self.targets.remove(broken.bad_index.min(self.targets.nodes.len().saturating_sub(1))));
        if self.targets.nodes.is_empty() {
            return Err(ClientError::io(format!("All datanodes {nodes} are bad. Aborting...")));
        }
        Ok(())
    }

    /// Brings a new DataNode into the pipeline where the policy asks for it.
    fn replace_failed(&mut self) -> Result<()> {
        let policy = self.calls.client.config().write.replace;
        let live = self.targets.nodes.len();
        let open = self.is_append || self.is_hflushed;
        if self.phase == Phase::Closing
            || self.failed.is_empty()
            || !wants_replacement(&policy, usize::from(self.settings.replication), live, open)
        {
            return Ok(());
        }
        let mut excluded = self.failed.clone();
        let mut last_error = None;
        for attempt in 0..REPLACE_TRIES {
            match self.add_datanode(&mut excluded, attempt) {
                Ok(()) => return Ok(()),
                Err(error) => last_error = Some(error),
            }
        }
        let enough = policy.min_replication > 0 && live >= usize::from(policy.min_replication);
        match last_error {
            Some(error) if !policy.best_effort && !enough => Err(error),
            _ => Ok(()),
        }
    }

    fn add_datanode(&mut self, excluded: &mut Vec<proto::DatanodeInfoProto>, attempt: usize) -> Result<()> {
        let answer = self.calls.get_additional_datanode(&self.located.b, &self.targets, excluded)?;
        let with_new = Targets::of(&answer);
        let is_old = |d: &proto::DatanodeInfoProto| {
            self.targets.nodes.iter().any(|old| old.id.datanode_uuid == d.id.datanode_uuid)
        };
        let Some(new) = with_new.nodes.iter().position(|d| !is_old(d)) else {
            return Err(ClientError::io(format!(
                "Failed to replace a bad datanode on the existing pipeline due to no more good datanodes being available to try. (Nodes: current={}). \
                 The current failed datanode replacement policy is {}, and a client may configure this via \
                 'dfs.client.block.write.replace-datanode-on-failure.policy' in its configuration.",
                self.targets.text(),
                policy_name(self.calls.client.config().write.replace.policy)
            )));
        };
        let to = Targets {
            nodes: vec![with_new.nodes[new].clone()],
            storage_types: vec![with_new.storage_types[new]],
            storage_ids: vec![with_new.storage_ids[new].clone()],
        };
        let from = &self.targets.nodes[attempt % self.targets.nodes.len()];
        let mut located = self.located.clone();
        located.block_token = answer.block_token.clone();
        let client = &self.calls.client;
        match transfer_block(&client.config().write, &client.inner.client_name, &located, from, &to) {
            Ok(()) => {
                self.targets = with_new;
                Ok(())
            }
            Err(text) => {
                excluded.extend(to.nodes);
                Err(ClientError::io(text))
            }
        }
    }

    fn open_pipeline(
        &self,
        stage: Stage,
        located: &proto::LocatedBlockProto,
        generation_stamp: u64,
    ) -> std::result::Result<Pipeline, Broken> {
        let client = &self.calls.client;
        Pipeline::open(&Setup {
            config: &client.config().write,
            client_name: &client.inner.client_name,
            located,
            targets: &self.targets,
            stage,
            generation_stamp,
            bytes_acked: self.bytes_acked(),
            bytes_sent: self.bytes_sent,
            checksum: self.settings.checksum,
            lazy_persist: self.settings.lazy_persist,
        })
    }
}

fn policy_name(policy: ReplacePolicy) -> &'static str {
    match policy {
        ReplacePolicy::Never => "NEVER",
        ReplacePolicy::Default => "DEFAULT",
        ReplacePolicy::Always => "ALWAYS",
    }
}

/// Whether a pipeline of `live` DataNodes for `replication` replicas gets another one. `open`: readers may rely on what is
/// there already (appended to or flushed).
fn wants_replacement(replace: &ReplaceDatanode, replication: usize, live: usize, open: bool) -> bool {
    if !replace.enabled || live == 0 || live >= replication {
        return false;
    }
    match replace.policy {
        ReplacePolicy::Never => false,
        ReplacePolicy::Always => true,
        ReplacePolicy::Default => replication >= 3 && (live <= replication / 2 || open),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_policy_replaces_below_half_and_where_data_was_flushed() {
        let replace = |policy| ReplaceDatanode { enabled: true, policy, best_effort: false, min_replication: 0 };
        let default = replace(ReplacePolicy::Default);
        assert!(wants_replacement(&default, 3, 1, false));
        assert!(!wants_replacement(&default, 3, 2, false));
        assert!(wants_replacement(&default, 3, 2, true));
        assert!(!wants_replacement(&default, 2, 1, true));
        assert!(!wants_replacement(&default, 3, 3, true));
        assert!(wants_replacement(&replace(ReplacePolicy::Always), 2, 1, false));
        assert!(!wants_replacement(&replace(ReplacePolicy::Never), 3, 1, true));
    }
}
