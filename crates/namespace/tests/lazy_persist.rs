//! Files that lived in the memory of a DataNode that is gone.

use crate::cluster::{BLOCK, Cluster};
use surus_namespace::ops::lazy_persist::{LazyPersistScrub, Scrubbed};
use surus_namespace::ops::mkdirs::Mkdirs;
use surus_namespace::ops::set_storage_policy::SetStoragePolicy;
use surus_types::FsPermission;

#[test]
fn only_lazy_files_without_replicas_are_deleted_and_not_in_safe_mode() {
    let mut c = Cluster::new(1);
    let mkdirs = Mkdirs { src: "/memory", permission: FsPermission(0o755), unmasked: None, create_parent: true };
    assert!(c.run(&mkdirs).done());
    c.run(&SetStoragePolicy { src: "/memory", policy: Some("LAZY_PERSIST") }).done();
    for path in ["/memory/lost", "/memory/two-blocks", "/disk"] {
        c.put(path, 1, if path == "/disk" { &[5] } else { &[BLOCK, 5] });
    }
    let scrub = LazyPersistScrub { cursor: 0 };
    assert_eq!(c.run(&scrub).done(), Scrubbed::default());
    c.nodes[0].up = false;
    c.tick(11 * 60 * 1000);
    c.namespace.blocks.enter_manual_safe_mode();
    assert_eq!(c.run(&scrub).done(), Scrubbed::default());
    c.namespace.blocks.leave_safe_mode();
    let logged = c.log.len();
    assert_eq!(c.run(&scrub).done().paths, ["/memory/lost", "/memory/two-blocks"]);
    assert_eq!(c.log_text(logged), "OP_DELETE\nOP_DELETE\n");
    assert!(c.namespace.tree.lookup("/disk").is_some() && c.namespace.tree.lookup("/memory/lost").is_none());
    assert_eq!(c.run(&scrub).done(), Scrubbed::default());
}
