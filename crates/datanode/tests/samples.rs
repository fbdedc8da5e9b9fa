//! Data directories written by Java 3.5.0 load with each replica in the state that Java reports.

use crate::store::store_on;
use std::path::Path;
use std::process::Command;
use surus_datanode::store::{PoolVersion, ReplicaState};
use surus_types::{Block, BlockId};

const POOL: &str = "BP-1496414357-127.0.0.1-1796036825198";
const CLUSTER: &str = "CID-273723d6-a5a2-486f-a1ee-c1dd2e21a666";

fn unpack(name: &str, into: &Path) {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.tar.gz"));
    let status = Command::new("tar").arg("xzf").arg(archive).arg("-C").arg(into).status().expect("tar runs");
    assert!(status.success());
}

/// Every replica as `blk_ID_STAMP LENGTH STATE`, sorted.
fn replicas(name: &str) -> (tempfile::TempDir, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    unpack(name, dir.path());
    let store = store_on(&[&dir.path().join(name)]).unwrap();
    let version = PoolVersion {
        namespace_id: 1_210_690_239,
        pool_id: POOL.into(),
        ctime: 1_796_036_825_200,
        layout_version: -57,
    };
    let pool = store.open_pool(&version, CLUSTER).unwrap();
    let mut lines = Vec::new();
    pool.report(0, |block, state| lines.push(format!("{block} {} {}", block.num_bytes, state.name())));
    lines.sort();
    // Every readable byte is there and matches its checksums.
    for volume_block in 1_073_741_825..=1_073_741_850 {
        let block = Block { id: BlockId(volume_block), ..Block::default() };
        let reader = pool.open(&block).unwrap();
        let meta = reader.meta.expect("a meta file");
        let (verified, _) = surus_datanode::store::meta::verified_length(&*reader.data, &*meta).unwrap();
        assert_eq!(verified, reader.info.block.num_bytes, "blk_{volume_block}");
        let mut bytes = vec![0; verified as usize];
        reader.data.read_exact_at(&mut bytes, 0).unwrap();
        // Byte i of a part is (31 i + seed) mod 251; two files were appended to, with a seed of its own.
        let steps = bytes.windows(2).filter(|w| (u16::from(w[0]) + 31) % 251 != u16::from(w[1])).count();
        assert_eq!(steps, usize::from([1_073_741_845, 1_073_741_850].contains(&volume_block)), "blk_{volume_block}");
        assert_eq!(reader.info.visible_length.is_some(), reader.info.state == ReplicaState::Finalized);
    }
    assert_eq!(store.datanode_uuid(), "5a7454bf-524c-40c6-9543-fb0f0531687c");
    (dir, lines)
}

const FINALIZED: &str = "\
blk_1073741825_1001 1 FINALIZED
blk_1073741826_1002 511 FINALIZED
blk_1073741827_1003 512 FINALIZED
blk_1073741828_1004 513 FINALIZED
blk_1073741829_1005 65536 FINALIZED
blk_1073741830_1006 1048579 FINALIZED
blk_1073741831_1007 1 FINALIZED
blk_1073741832_1008 1 FINALIZED
blk_1073741833_1009 512 FINALIZED
blk_1073741834_1010 512 FINALIZED
blk_1073741835_1011 513 FINALIZED
blk_1073741836_1012 513 FINALIZED
blk_1073741837_1013 65536 FINALIZED
blk_1073741838_1014 65536 FINALIZED
blk_1073741839_1015 4095 FINALIZED
blk_1073741840_1016 4097 FINALIZED
blk_1073741841_1017 20000 FINALIZED
blk_1073741842_1018 65536 FINALIZED
blk_1073741843_1019 65536 FINALIZED
blk_1073741844_1020 18928 FINALIZED
blk_1073741845_1022 1600 FINALIZED
blk_1073741846_1024 1300 FINALIZED
blk_1073741847_1025 0 FINALIZED
";

#[test]
fn a_killed_datanode() {
    let (dir, lines) = replicas("data-killed");
    let open = "blk_1073741848_1026 100000 RWR\nblk_1073741849_1027 1000 RWR\nblk_1073741850_1029 900 RWR\n";
    assert_eq!(lines.join("\n") + "\n", format!("{FINALIZED}{open}"));
    let tmp = dir.path().join("data-killed/current").join(POOL).join("tmp");
    assert_eq!(std::fs::read_dir(tmp).unwrap().count(), 0);
}

#[test]
fn a_restarted_datanode() {
    let (_dir, lines) = replicas("data-restarted");
    assert_eq!(lines.iter().filter(|l| l.ends_with("RWR")).count(), 3);
    assert_eq!(lines.len(), 26);
}

#[test]
fn a_stopped_datanode() {
    let (_dir, lines) = replicas("data-stopped");
    assert!(lines.iter().all(|l| l.ends_with("FINALIZED")), "{lines:?}");
    assert_eq!(lines.len(), 26);
}

#[test]
fn another_cluster_is_refused_with_hadoops_text() {
    let dir = tempfile::tempdir().unwrap();
    unpack("data-stopped", dir.path());
    let root = dir.path().join("data-stopped");
    let store = store_on(&[&root]).unwrap();
    let version = PoolVersion { namespace_id: 1, pool_id: POOL.into(), ctime: 1_796_036_825_200, layout_version: -57 };
    let error = store.open_pool(&version, "CID-other").map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "Incompatible clusterIDs in {}: namenode clusterID = CID-other; datanode clusterID = {CLUSTER}",
            root.display()
        )
    );
    let error = store.open_pool(&version, CLUSTER).map(|_| ()).unwrap_err().to_string();
    assert!(error.ends_with("namenode namespaceID = 1; datanode namespaceID = 1210690239"), "{error}");
}
