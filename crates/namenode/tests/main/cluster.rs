//! What the tests share: a NameNode on a directory of its own, a client, and a DataNode that is only words.

use prost::{Message, Name};
use std::path::Path;
use std::time::Duration;
use surus_conf::Configuration;
use surus_namenode::{NameNode, NameNodeOptions};
use surus_net::rpc::{CallId, RpcClient, RpcClientOptions, RpcError};
use surus_proto::hadoop::hdfs::datanode::*;
use surus_proto::hadoop::hdfs::*;
use tempfile::TempDir;

pub const CLIENT: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
pub const DATANODE: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";
/// The user that runs the NameNode of every test.
pub const SUPERUSER: &str = "hdfs";

/// A formatted directory and, most of the time, a NameNode on it.
pub struct Cluster {
    // Before the directory, so that it stops before that is removed.
    pub namenode: Option<NameNode>,
    settings: Vec<(&'static str, &'static str)>,
    /// Start as if the only DataNode were in this process.
    pub own_datanode: bool,
    dir: TempDir,
}

impl Cluster {
    pub fn new() -> Self {
        Self::with(&[])
    }

    pub fn with(settings: &[(&'static str, &'static str)]) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut cluster = Cluster { dir, settings: settings.to_vec(), own_datanode: false, namenode: None };
        surus_namenode::format(&cluster.conf(), SUPERUSER, Some("CID-test")).expect("formats");
        cluster.start();
        cluster
    }

    pub fn conf(&self) -> Configuration {
        let mut conf = Configuration::new();
        conf.set("dfs.namenode.name.dir", self.name_dir().display().to_string());
        conf.set("dfs.namenode.rpc-address", "127.0.0.1:0");
        conf.set("dfs.namenode.http-address", "127.0.0.1:0");
        conf.set("dfs.namenode.fs-limits.min-block-size", "0");
        conf.set("hadoop.user.group.static.mapping.overrides", "hdfs=hadoop;alice=users;bob=users;carol=supergroup");
        for (key, value) in &self.settings {
            conf.set(key, *value);
        }
        conf
    }

    /// Counts from the next start on.
    pub fn set(&mut self, key: &'static str, value: &'static str) {
        self.settings.push((key, value));
    }

    pub fn name_dir(&self) -> std::path::PathBuf {
        self.dir.path().join("name")
    }

    pub fn start(&mut self) {
        let options = NameNodeOptions {
            own_datanode: self.own_datanode,
            user: SUPERUSER.to_owned(),
            ..NameNodeOptions::default()
        };
        self.namenode = Some(NameNode::start(&self.conf(), options).expect("starts"));
    }

    pub fn restart(&mut self) {
        self.namenode.take().expect("runs").stop();
        self.start();
    }

    pub fn rpc(&self) -> String {
        self.namenode.as_ref().expect("runs").rpc_address().to_string()
    }

    pub fn http(&self) -> String {
        self.namenode.as_ref().expect("runs").http_address().to_string()
    }

    pub fn client(&self) -> Client {
        self.client_as(SUPERUSER)
    }

    pub fn client_as(&self, user: &str) -> Client {
        Client::new(&self.rpc(), user, CLIENT)
    }
}

/// A client with shorthands for the calls that tests make again and again.
pub struct Client(pub RpcClient);

impl Client {
    pub fn new(address: &str, user: &str, protocol: &str) -> Self {
        let options = RpcClientOptions { call_timeout: Some(Duration::from_secs(20)), ..Default::default() };
        Client(RpcClient::connect(address, user, protocol, options).expect("connects"))
    }

    pub fn call<Req: Message, Resp: Message + Default>(&self, method: &str, request: &Req) -> Result<Resp, RpcError> {
        self.0.call(method, request)
    }

    pub fn again<Req: Message, Resp: Message + Default>(&self, id: CallId, method: &str, request: &Req) -> Resp {
        self.0.call_again(id, 1, method, request).expect("answers")
    }

    pub fn mkdirs(&self, src: &str) -> Result<bool, RpcError> {
        self.call("mkdirs", &mkdirs(src)).map(|r: MkdirsResponseProto| r.result)
    }

    pub fn exists(&self, src: &str) -> bool {
        self.status(src).is_some()
    }

    pub fn status(&self, src: &str) -> Option<HdfsFileStatusProto> {
        let request = GetFileInfoRequestProto { src: src.to_owned() };
        self.call("getFileInfo", &request).map(|r: GetFileInfoResponseProto| r.fs).expect("answers")
    }

    pub fn create(&self, src: &str) -> u64 {
        let response: CreateResponseProto = self.call("create", &create(src)).expect("creates");
        response.fs.and_then(|fs| fs.file_id).expect("has an id")
    }

    pub fn add_block(&self, src: &str, file_id: u64) -> Result<LocatedBlockProto, RpcError> {
        let request = AddBlockRequestProto {
            src: src.to_owned(),
            client_name: WRITER.to_owned(),
            file_id: Some(file_id),
            ..Default::default()
        };
        self.call("addBlock", &request).map(|r: AddBlockResponseProto| r.block)
    }

    pub fn complete(&self, src: &str, file_id: u64, last: Option<ExtendedBlockProto>) -> bool {
        let request =
            CompleteRequestProto { src: src.to_owned(), client_name: WRITER.to_owned(), last, file_id: Some(file_id) };
        self.call("complete", &request).map(|r: CompleteResponseProto| r.result).expect("answers")
    }

    pub fn safe_mode(&self, action: SafeModeActionProto) -> Result<bool, RpcError> {
        let request = SetSafeModeRequestProto { action: action as i32, checked: Some(false) };
        self.call("setSafeMode", &request).map(|r: SetSafeModeResponseProto| r.result)
    }
}

const WRITER: &str = "DFSClient_test_1";

pub fn mkdirs(src: &str) -> MkdirsRequestProto {
    let masked = FsPermissionProto { perm: 0o755 };
    MkdirsRequestProto { src: src.to_owned(), masked, create_parent: true, unmasked: None }
}

pub fn create(src: &str) -> CreateRequestProto {
    CreateRequestProto {
        src: src.to_owned(),
        masked: FsPermissionProto { perm: 0o644 },
        client_name: WRITER.to_owned(),
        create_flag: 1,
        create_parent: true,
        replication: 1,
        block_size: 1 << 20,
        ..Default::default()
    }
}

pub fn message(error: RpcError) -> String {
    let error = error.to_hdfs_error();
    format!("{}: {}", error.class.simple_name(), error.message.lines().next().unwrap_or(""))
}

/// A DataNode that says whatever the test wants it to.
pub struct Words {
    client: Client,
    registration: DatanodeRegistrationProto,
    pool_id: String,
    pub storage: String,
}

impl Words {
    pub fn register(address: &str, uuid: &str) -> Self {
        Self::register_with(address, uuid, &[])
    }

    /// Registers and reports these replicas.
    pub fn register_with(address: &str, uuid: &str, blocks: &[&ExtendedBlockProto]) -> Self {
        let client = Client::new(address, SUPERUSER, DATANODE);
        let response: VersionResponseProto = client.call("versionRequest", &VersionRequestProto {}).expect("a version");
        let registration = DatanodeRegistrationProto {
            datanode_id: DatanodeIdProto {
                ip_addr: "127.0.0.1".to_owned(),
                host_name: "localhost".to_owned(),
                datanode_uuid: uuid.to_owned(),
                xfer_port: 9866,
                info_port: 9864,
                ipc_port: 9867,
                info_secure_port: None,
            },
            storage_info: StorageInfoProto { layout_version: -57_i32 as u32, ..response.info.storage_info },
            keys: ExportedBlockKeysProto::default(),
            software_version: "3.5.0".to_owned(),
        };
        let pool_id = response.info.block_pool_id;
        let node = Words { client, registration, pool_id, storage: format!("DS-{uuid}") };
        let request = RegisterDatanodeRequestProto { registration: node.registration.clone() };
        let _: RegisterDatanodeResponseProto = node.call("registerDatanode", &request);
        node.heartbeat();
        node.report(blocks);
        node
    }

    fn call<Req: Message + Name, Resp: Message + Default>(&self, method: &str, request: &Req) -> Resp {
        self.client.call(method, request).expect("answers")
    }

    pub fn heartbeat(&self) -> HeartbeatResponseProto {
        let report = StorageReportProto {
            storage_uuid: self.storage.clone(),
            capacity: Some(100 << 30),
            remaining: Some(90 << 30),
            ..Default::default()
        };
        let registration = self.registration.clone();
        self.call("sendHeartbeat", &HeartbeatRequestProto { registration, reports: vec![report], ..Default::default() })
    }

    fn storage(&self) -> DatanodeStorageProto {
        DatanodeStorageProto { storage_uuid: self.storage.clone(), state: Some(0), storage_type: Some(1) }
    }

    /// A full block report of finalized replicas, in the older form.
    pub fn report(&self, blocks: &[&ExtendedBlockProto]) {
        let mut longs = vec![blocks.len() as u64, 0];
        longs.extend(blocks.iter().flat_map(|b| [b.block_id, b.num_bytes.unwrap_or(0), b.generation_stamp]));
        longs.extend([u64::MAX; 3]);
        let report = StorageBlockReportProto { storage: self.storage(), blocks: longs, ..Default::default() };
        let request = BlockReportRequestProto {
            registration: self.registration.clone(),
            block_pool_id: self.pool_id.clone(),
            reports: vec![report],
            context: None,
        };
        let _: BlockReportResponseProto = self.call("blockReport", &request);
    }

    pub fn received(&self, block: &ExtendedBlockProto) {
        let info = ReceivedDeletedBlockInfoProto {
            block: BlockProto {
                block_id: block.block_id,
                gen_stamp: block.generation_stamp,
                num_bytes: block.num_bytes,
            },
            status: received_deleted_block_info_proto::BlockStatus::Received as i32,
            delete_hint: None,
        };
        let blocks = StorageReceivedDeletedBlocksProto {
            storage_uuid: self.storage.clone(),
            blocks: vec![info],
            storage: Some(self.storage()),
        };
        let request = BlockReceivedAndDeletedRequestProto {
            registration: self.registration.clone(),
            block_pool_id: self.pool_id.clone(),
            blocks: vec![blocks],
        };
        let _: BlockReceivedAndDeletedResponseProto = self.call("blockReceivedAndDeleted", &request);
    }
}

/// The names of files in a directory, sorted.
pub fn files(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a directory");
    let mut names: Vec<String> =
        entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The body of a page.
pub fn http_get(address: &str, target: &str) -> String {
    let answer = surus_net::http::get(address, target, Duration::from_secs(20)).expect("answers");
    std::io::read_to_string(answer.body).expect("is text")
}
