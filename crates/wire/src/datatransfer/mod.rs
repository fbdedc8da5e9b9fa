//! The data-transfer protocol between clients and DataNodes, and among DataNodes. Bytes in, bytes out.
//!
//! ```text
//! operation: u16 version 28 | u8 opcode | varint | message
//! answer:    varint | BlockOpResponseProto
//! packet:    u32 PLEN | u16 HLEN | PacketHeaderProto | checksums | data      PLEN = 4 + checksums + data
//! ack:       varint | PipelineAckProto
//! ```

pub mod ack;
pub mod block_checksum;
pub mod checksum;
pub mod op;
pub mod packet;

pub use ack::PipelineAck;
pub use block_checksum::{CompositeCrc, Md5OfCrcs, md5};
pub use checksum::{ChecksumType, DataChecksum};
pub use op::{Op, OpError, OpRequest};
pub use packet::{Packet, PacketError, PacketHeader};

/// Version of the protocol, the same since Hadoop 0.23. Source: `DataTransferProtocol.java`, Hadoop 3.5.0.
pub const DATA_TRANSFER_VERSION: u16 = 28;

/// Longest operation or answer that is accepted, in bytes. The longest real one carries a pipeline of DataNodes.
pub const MESSAGE_LEN_MAX: usize = 1 << 20;

/// Longest packet that is accepted, in bytes. Source: `PacketReceiver.MAX_PACKET_SIZE`, Hadoop 3.5.0.
pub const PACKET_LEN_MAX: usize = 16 << 20;

/// Chunks of this many bytes have one checksum (`dfs.bytes-per-checksum`).
pub const BYTES_PER_CHECKSUM: u32 = 512;

/// The `seqno` of packets that only keep a pipeline alive. Source: `DFSPacket.HEART_BEAT_SEQNO`, Hadoop 3.5.0.
pub const HEARTBEAT_SEQNO: i64 = -1;

/// The `seqno` of acknowledgements that answer no packet. Source: `PipelineAck.UNKOWN_SEQNO`, Hadoop 3.5.0.
pub const UNKNOWN_SEQNO: i64 = -2;
