//! A DataNode that keeps blocks in memory, for itself and for those behind it in a pipeline, and fails as scripted.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use surus_net::data::DataReader;
use surus_proto::hadoop::hdfs as proto;
use surus_proto::hadoop::hdfs::Status;
use surus_proto::hadoop::hdfs::op_write_block_proto::BlockConstructionStage as Stage;
use surus_wire::datatransfer::op::put_message;
use surus_wire::datatransfer::{DataChecksum, HEARTBEAT_SEQNO, OpRequest, PacketHeader, PipelineAck};

/// Data of a packet when it sends a block.
const SEND_LEN: usize = 32 << 10;

/// What happens to the next connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// Refuses to set up the pipeline.
    Refuse,
    /// Says that the second DataNode cannot be reached.
    BadLink,
    /// Closes the connection after so many packets, of which all but the last are acknowledged.
    DieAfter(usize),
    /// Acknowledges that packet with an error of that DataNode of the pipeline.
    AckError { packet: usize, index: usize },
    /// Sends a flipped byte.
    Corrupt,
}

/// Blocks of all DataNodes of a test, by data port and block id.
pub type Store = Arc<Mutex<HashMap<(u32, u64), Vec<u8>>>>;

pub struct FakeDatanode {
    pub port: u32,
    store: Store,
    scripts: Arc<Mutex<VecDeque<Script>>>,
    log: Arc<Mutex<Vec<String>>>,
}

impl FakeDatanode {
    pub fn start(store: &Store, scripts: &[Script]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let datanode = FakeDatanode {
            port: u32::from(listener.local_addr().unwrap().port()),
            store: store.clone(),
            scripts: Arc::new(Mutex::new(scripts.iter().copied().collect())),
            log: Arc::default(),
        };
        let shared = (datanode.port, store.clone(), datanode.scripts.clone(), datanode.log.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (port, store, scripts, log) = shared.clone();
                // A client that goes away mid-operation is no failure of the test.
                std::thread::spawn(move || Connection { port, store, scripts, log }.serve(stream));
            }
        });
        datanode
    }

    pub fn info(&self) -> proto::DatanodeInfoProto {
        proto::DatanodeInfoProto {
            id: proto::DatanodeIdProto {
                ip_addr: "127.0.0.1".into(),
                host_name: "localhost".into(),
                datanode_uuid: format!("uuid-{}", self.port),
                xfer_port: self.port,
                info_port: 1,
                ipc_port: 1,
                info_secure_port: None,
            },
            ..Default::default()
        }
    }

    /// What happens to the next connections.
    pub fn set_scripts(&self, scripts: &[Script]) {
        *self.scripts.lock().unwrap() = scripts.iter().copied().collect();
    }

    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// The whole file, from the blocks of this DataNode.
    pub fn file(&self, blocks: &[proto::ExtendedBlockProto]) -> Vec<u8> {
        let store = self.store.lock().unwrap();
        let block = |b: &proto::ExtendedBlockProto| store.get(&(self.port, b.block_id)).cloned().unwrap_or_default();
        blocks.iter().flat_map(block).collect()
    }
}

struct Connection {
    port: u32,
    store: Store,
    scripts: Arc<Mutex<VecDeque<Script>>>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Connection {
    fn serve(&self, stream: TcpStream) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        let mut input = DataReader::new(stream);
        while let Ok(Some(op)) = input.read_op() {
            let script = self.scripts.lock().unwrap().pop_front();
            match op {
                OpRequest::WriteBlock(op) => return self.write_block(&mut input, &op, script),
                OpRequest::ReadBlock(op) => self.read_block(&mut input, &op, script)?,
                OpRequest::TransferBlock(op) => self.transfer(&mut input, &op)?,
                _ => return None,
            }
        }
        Some(())
    }

    fn answer(input: &mut DataReader<TcpStream>, answer: &proto::BlockOpResponseProto) -> Option<()> {
        let mut bytes = Vec::new();
        put_message(&mut bytes, answer);
        input.source_mut().write_all(&bytes).ok()
    }

    fn write_block(
        &self,
        input: &mut DataReader<TcpStream>,
        op: &proto::OpWriteBlockProto,
        script: Option<Script>,
    ) -> Option<()> {
        let stage = Stage::try_from(op.stage).ok()?;
        self.log.lock().unwrap().push(format!("{} of {}", stage.as_str_name(), op.pipeline_size));
        let (status, bad_link) = match script {
            Some(Script::Refuse) => (Status::Error, None),
            Some(Script::BadLink) => {
                (Status::Error, op.targets.first().map(|t| format!("127.0.0.1:{}", t.id.xfer_port)))
            }
            _ => (Status::Success, None),
        };
        let answer =
            proto::BlockOpResponseProto { status: status as i32, first_bad_link: bad_link, ..Default::default() };
        Self::answer(input, &answer)?;
        if status != Status::Success || stage == Stage::PipelineCloseRecovery {
            return Some(());
        }
        let block_id = op.header.base_header.block.block_id;
        let ports: Vec<u32> =
            std::iter::once(self.port).chain(op.targets.iter().map(|target| target.id.xfer_port)).collect();
        let checksum = DataChecksum::from_proto(&op.requested_checksum)?;
        for number in 1.. {
            let packet = input.read_packet().ok()?;
            let header = packet.header;
            checksum.verify(packet.data, packet.checksums).expect("the client's checksums agree");
            let data = packet.data.to_vec();
            let mut ack =
                PipelineAck { seqno: header.seqno, replies: vec![Status::Success; ports.len()], ..Default::default() };
            match script {
                Some(Script::DieAfter(packets)) if packets == number => return None,
                Some(Script::AckError { packet, index }) if packet == number => ack.replies[index] = Status::Error,
                _ => {}
            }
            if header.seqno != HEARTBEAT_SEQNO {
                for port in &ports {
                    let mut store = self.store.lock().unwrap();
                    let block = store.entry((*port, block_id)).or_default();
                    block.truncate(header.offset_in_block as usize);
                    assert_eq!(block.len() as u64, header.offset_in_block, "no hole in block {block_id} on {port}");
                    block.extend_from_slice(&data);
                }
            }
            let mut bytes = Vec::new();
            ack.put(&mut bytes);
            input.source_mut().write_all(&bytes).ok()?;
            if header.last_packet_in_block || !ack.is_success() {
                return Some(());
            }
        }
        None
    }

    fn read_block(
        &self,
        input: &mut DataReader<TcpStream>,
        op: &proto::OpReadBlockProto,
        script: Option<Script>,
    ) -> Option<()> {
        let block_id = op.header.base_header.block.block_id;
        let data = self.store.lock().unwrap().get(&(self.port, block_id)).cloned();
        let Some(data) = data.filter(|_| script != Some(Script::Refuse)) else {
            let message = Some("no such replica".into());
            return Self::answer(
                input,
                &proto::BlockOpResponseProto { status: Status::Error as i32, message, ..Default::default() },
            );
        };
        let checksum = DataChecksum::default();
        let start = op.offset as usize / 512 * 512;
        let end = ((op.offset + op.len) as usize).next_multiple_of(512).min(data.len());
        let info = proto::ReadOpChecksumInfoProto { checksum: checksum.to_proto(), chunk_offset: start as u64 };
        let answer = proto::BlockOpResponseProto {
            status: Status::Success as i32,
            read_op_checksum_info: Some(info),
            ..Default::default()
        };
        Self::answer(input, &answer)?;
        let mut seqno = 0;
        for (i, piece) in data[start..end].chunks(SEND_LEN).enumerate() {
            let mut sums = Vec::new();
            checksum.append(piece, &mut sums);
            let mut piece = piece.to_vec();
            if script == Some(Script::Corrupt) && i == 1 {
                piece[3] ^= 1;
            }
            let header = PacketHeader {
                offset_in_block: (start + i * SEND_LEN) as u64,
                seqno,
                data_len: piece.len() as u32,
                ..Default::default()
            };
            seqno += 1;
            let bytes = [&header.encode(sums.len())[..], &sums, &piece].concat();
            input.source_mut().write_all(&bytes).ok()?;
        }
        let last =
            PacketHeader { offset_in_block: end as u64, seqno, last_packet_in_block: true, ..Default::default() };
        input.source_mut().write_all(&last.encode(0)).ok()?;
        let status: proto::ClientReadStatusProto = input.read_message().ok()?;
        (status.status == Status::ChecksumOk as i32).then_some(())
    }

    fn transfer(&self, input: &mut DataReader<TcpStream>, op: &proto::OpTransferBlockProto) -> Option<()> {
        self.log.lock().unwrap().push("transfer".into());
        let block_id = op.header.base_header.block.block_id;
        let mut store = self.store.lock().unwrap();
        let data = store.get(&(self.port, block_id)).cloned()?;
        for target in &op.targets {
            store.insert((target.id.xfer_port, block_id), data.clone());
        }
        drop(store);
        Self::answer(input, &proto::BlockOpResponseProto { status: Status::Success as i32, ..Default::default() })
    }
}
