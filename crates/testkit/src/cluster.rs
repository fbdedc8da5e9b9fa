//! A NameNode and any number of DataNodes, started and stopped one by one.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use surus_client::{ClientConfig, DatanodeReportType, DfsClient};
use surus_conf::{Configuration, keys};
use surus_datanode::{DataNode, DataNodeConfig};
use surus_disk::{Disk, RealDisk};
use surus_namenode::{NameNode, NameNodeOptions};
use surus_net::rpc::RpcUser;
use tempfile::TempDir;

/// How long a cluster may take to become what a test waits for.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// What kind of cluster.
#[derive(Clone)]
pub struct ClusterBuilder {
    datanodes: usize,
    volumes: usize,
    disk: Arc<dyn Disk>,
    settings: Vec<(String, String)>,
}

/// A running cluster. Everything stops and goes when it is dropped.
pub struct Cluster {
    dir: TempDir,
    volumes: usize,
    disk: Arc<dyn Disk>,
    /// With `fs.defaultFS` as the clients need it.
    conf: Configuration,
    user: String,
    namenode: Option<NameNode>,
    datanodes: Vec<Option<DataNode>>,
}

impl ClusterBuilder {
    /// A configuration key for all daemons and clients.
    pub fn set(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.to_string(), value.to_string()));
        self
    }

    /// The disk of all daemons, instead of the kernel's; it is formatted past it.
    pub fn on_disk(self, disk: Arc<dyn Disk>) -> Self {
        ClusterBuilder { disk, ..self }
    }

    /// Data directories of each DataNode, instead of one.
    pub fn volumes(self, volumes: usize) -> Self {
        ClusterBuilder { volumes, ..self }
    }

    /// Formats, starts, and waits until all DataNodes are there and safe mode is over.
    ///
    /// # Panics
    /// When that does not happen: a test cannot go on then.
    pub fn start(self) -> Cluster {
        let dir = tempfile::tempdir().expect("a directory for the cluster");
        let mut conf = Configuration::new();
        for (key, value) in [
            (keys::FS_DEFAULT_FS.name(), "hdfs://127.0.0.1:0"),
            (keys::DFS_NAMENODE_RPC_BIND_HOST.name(), "127.0.0.1"),
            (keys::DFS_NAMENODE_HTTP_ADDRESS.name(), "127.0.0.1:0"),
            (keys::DFS_DATANODE_ADDRESS.name(), "127.0.0.1:0"),
            (keys::DFS_DATANODE_HTTP_ADDRESS.name(), "127.0.0.1:0"),
            (keys::DFS_DATANODE_IPC_ADDRESS.name(), "127.0.0.1:0"),
            (keys::DFS_DATANODE_HOSTNAME.name(), "127.0.0.1"),
            (keys::DFS_NAMENODE_SAFEMODE_EXTENSION.name(), "0"),
            (keys::DFS_NAMENODE_FS_LIMITS_MIN_BLOCK_SIZE.name(), "0"),
            (keys::DFS_HEARTBEAT_INTERVAL.name(), "1"),
            (keys::IPC_CLIENT_CONNECT_RETRY_INTERVAL.name(), "100"),
        ] {
            conf.set(key, value);
        }
        conf.set(keys::DFS_REPLICATION.name(), self.datanodes.clamp(1, 3).to_string());
        conf.set(keys::DFS_NAMENODE_NAME_DIR.name(), format!("file://{}", dir.path().join("name").display()));
        for (key, value) in &self.settings {
            conf.set(key, value);
        }
        let user = surus_client::login_name();
        surus_namenode::format(&conf, &user, None).expect("format");
        let mut cluster =
            Cluster { dir, volumes: self.volumes, disk: self.disk, conf, user, namenode: None, datanodes: Vec::new() };
        cluster.start_namenode();
        for index in 0..self.datanodes {
            cluster.datanodes.push(None);
            cluster.start_datanode(index);
        }
        cluster.wait_for_datanodes(self.datanodes);
        cluster
    }
}

impl Cluster {
    pub fn with_datanodes(datanodes: usize) -> ClusterBuilder {
        ClusterBuilder { datanodes, volumes: 1, disk: Arc::new(RealDisk), settings: Vec::new() }
    }

    /// The clients' configuration.
    pub fn conf(&self) -> &Configuration {
        &self.conf
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn name_dir(&self) -> PathBuf {
        self.dir.path().join("name")
    }

    /// What holds all data directories of one DataNode.
    pub fn data_dir(&self, index: usize) -> PathBuf {
        self.dir.path().join(format!("data{index}"))
    }

    /// One of them.
    pub fn volume_dir(&self, index: usize, volume: usize) -> PathBuf {
        self.data_dir(index).join(volume.to_string())
    }

    pub fn namenode(&self) -> &NameNode {
        self.namenode.as_ref().expect("the NameNode runs")
    }

    pub fn datanode(&self, index: usize) -> &DataNode {
        self.datanodes[index].as_ref().expect("the DataNode runs")
    }

    /// A client that is the cluster's superuser.
    pub fn client(&self) -> DfsClient {
        self.client_as(&self.user)
    }

    /// A client of its own connections and leases.
    pub fn client_as(&self, user: &str) -> DfsClient {
        let config = ClientConfig::from_conf(&self.conf, None).expect("a client's configuration");
        DfsClient::new(config.with_user(RpcUser { effective: user.to_string(), real: None }))
    }

    pub fn stop_namenode(&mut self) {
        if let Some(namenode) = self.namenode.take() {
            namenode.stop();
        }
    }

    /// Starts the NameNode, on the port it had before.
    pub fn start_namenode(&mut self) {
        let options = NameNodeOptions { user: self.user.clone(), ..NameNodeOptions::default() };
        let namenode = NameNode::start_on(self.disk.clone(), &self.conf, options).expect("the NameNode starts");
        self.conf.set(keys::FS_DEFAULT_FS.name(), format!("hdfs://{}", namenode.rpc_address()));
        self.namenode = Some(namenode);
    }

    /// Stops the NameNode, starts it from its directory, and waits for the DataNodes that run.
    pub fn restart_namenode(&mut self) {
        self.stop_namenode();
        self.start_namenode();
        self.wait_for_datanodes(self.datanodes.iter().flatten().count());
    }

    /// One more.
    pub fn add_datanode(&mut self) {
        self.datanodes.push(None);
        self.start_datanode(self.datanodes.len() - 1);
    }

    pub fn stop_datanode(&mut self, index: usize) {
        if let Some(datanode) = self.datanodes[index].take() {
            datanode.stop();
        }
    }

    pub fn start_datanode(&mut self, index: usize) {
        let mut conf = self.conf.clone();
        let volumes: Vec<String> =
            (0..self.volumes).map(|volume| format!("file://{}", self.volume_dir(index, volume).display())).collect();
        conf.set(keys::DFS_DATANODE_DATA_DIR.name(), volumes.join(","));
        let config = DataNodeConfig::from_configuration(&conf).expect("a DataNode's configuration");
        self.datanodes[index] = Some(DataNode::start_on(self.disk.clone(), config).expect("the DataNode starts"));
    }

    /// From now on HTTP requests to the NameNode read and write through this DataNode, as in `surus start`.
    pub fn serve_data_of(&self, index: usize) {
        self.namenode().serve_data_of(self.datanode(index).local_data());
    }

    /// Waits until `count` DataNodes are live and the NameNode has left safe mode.
    pub fn wait_for_datanodes(&self, count: usize) {
        let client = self.client();
        self.wait("DataNodes and the end of safe mode", || {
            let live = client.get_datanode_report(DatanodeReportType::Live).is_ok_and(|nodes| nodes.len() >= count);
            let safe_mode = client.set_safe_mode(surus_client::SafeModeAction::SafemodeGet, false);
            live && safe_mode.is_ok_and(|on| !on)
        });
    }

    /// Waits until `condition` holds.
    ///
    /// # Panics
    /// When it does not within 20 seconds.
    pub fn wait(&self, what: &str, condition: impl FnMut() -> bool) {
        wait(what, condition);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.datanodes.clear();
        self.stop_namenode();
    }
}

fn wait(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + WAIT_MAX;
    while !condition() {
        assert!(Instant::now() < deadline, "waited {WAIT_MAX:?} for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
