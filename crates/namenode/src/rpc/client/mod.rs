//! ClientProtocol. Handlers stand in groups; this is the table of them.
//! Source: `ClientNamenodeProtocolServerSideTranslatorPB.java`, `NameNodeRpcServer.java`, Hadoop 3.5.0.

mod admin;
pub(crate) mod attributes;
mod cache;
pub(crate) mod ec;
pub(crate) mod encryption;
pub(crate) mod features;
mod files;
mod inotify;
mod listings;
mod metasave;
mod namespace;
mod policies;
mod quota;
mod reencryption;
mod snapshots;
pub(crate) mod storage;
mod tokens;

pub(crate) use admin::{corrupt_files, restore_command};
pub(crate) use ec::added_policy;
pub(crate) use files::replayed;

use crate::call::Run::{AtMostOnce, Read, Slow, Write};
use crate::call::{Method, Run};

pub const NAME: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

const fn method(name: &'static str, run: Run) -> Method {
    Method { name, run }
}

/// Sorted by name.
pub static METHODS: &[Method] = &[
    method("abandonBlock", Write(files::abandon_block)),
    method("addBlock", Write(files::add_block)),
    method("addCacheDirective", AtMostOnce(cache::add_cache_directive)),
    method("addCachePool", AtMostOnce(cache::add_cache_pool)),
    method("addErasureCodingPolicies", AtMostOnce(ec::add_erasure_coding_policies)),
    method("allowSnapshot", Write(snapshots::allow_snapshot)),
    method("append", AtMostOnce(files::append)),
    method("cancelDelegationToken", Read(tokens::cancel_delegation_token)),
    method("checkAccess", Read(namespace::check_access)),
    method("complete", Write(files::complete)),
    method("concat", AtMostOnce(namespace::concat)),
    method("create", AtMostOnce(files::create)),
    method("createEncryptionZone", AtMostOnce(encryption::create_encryption_zone)),
    method("createSnapshot", AtMostOnce(snapshots::create_snapshot)),
    method("createSymlink", Read(namespace::create_symlink)),
    method("delete", AtMostOnce(namespace::delete)),
    method("deleteSnapshot", AtMostOnce(snapshots::delete_snapshot)),
    method("disableErasureCodingPolicy", AtMostOnce(ec::disable_erasure_coding_policy)),
    method("disallowSnapshot", Write(snapshots::disallow_snapshot)),
    method("enableErasureCodingPolicy", AtMostOnce(ec::enable_erasure_coding_policy)),
    method("finalizeUpgrade", Read(admin::finalize_upgrade)),
    method("fsync", Write(files::fsync)),
    method("getAclStatus", Read(attributes::get_acl_status)),
    method("getAdditionalDatanode", Write(files::get_additional_datanode)),
    method("getBatchedListing", Read(listings::get_batched_listing)),
    method("getBlockLocations", Read(files::get_block_locations)),
    method("getContentSummary", Read(namespace::get_content_summary)),
    method("getCurrentEditLogTxid", Read(admin::get_current_edit_log_txid)),
    method("getDataEncryptionKey", Read(features::get_data_encryption_key)),
    method("getDatanodeReport", Read(admin::get_datanode_report)),
    method("getDatanodeStorageReport", Read(admin::get_datanode_storage_report)),
    method("getDelegationToken", Read(tokens::get_delegation_token)),
    method("getECTopologyResultForPolicies", Read(ec::get_ec_topology_result)),
    method("getEZForPath", Read(encryption::get_ez_for_path)),
    method("getEditsFromTxid", Slow(inotify::get_edits_from_txid)),
    method("getEnclosingRoot", Read(features::get_enclosing_root)),
    method("getErasureCodingCodecs", Read(ec::get_erasure_coding_codecs)),
    method("getErasureCodingPolicies", Read(ec::get_erasure_coding_policies)),
    method("getErasureCodingPolicy", Read(ec::get_erasure_coding_policy)),
    method("getFileInfo", Read(namespace::get_file_info)),
    method("getFileLinkInfo", Read(namespace::get_file_link_info)),
    method("getFsECBlockGroupStats", Read(admin::get_fs_ec_block_group_stats)),
    method("getFsReplicatedBlockStats", Read(admin::get_fs_replicated_block_stats)),
    method("getFsStats", Read(admin::get_fs_stats)),
    method("getHAServiceState", Read(features::get_ha_service_state)),
    method("getLinkTarget", Read(namespace::get_link_target)),
    method("getListing", Read(listings::get_listing)),
    method("getLocatedFileInfo", Read(files::get_located_file_info)),
    method("getPreferredBlockSize", Read(namespace::get_preferred_block_size)),
    method("getQuotaUsage", Read(namespace::get_quota_usage)),
    method("getServerDefaults", Read(admin::get_server_defaults)),
    method("getSlowDatanodeReport", Read(admin::get_slow_datanode_report)),
    method("getSnapshotDiffReport", Read(snapshots::get_snapshot_diff_report)),
    method("getSnapshotDiffReportListing", Read(snapshots::get_snapshot_diff_report_listing)),
    method("getSnapshotListing", Read(snapshots::get_snapshot_listing)),
    method("getSnapshottableDirListing", Read(snapshots::get_snapshottable_dir_listing)),
    method("getStoragePolicies", Read(storage::get_storage_policies)),
    method("getStoragePolicy", Read(storage::get_storage_policy)),
    method("getXAttrs", Read(attributes::get_xattrs)),
    method("isFileClosed", Read(namespace::is_file_closed)),
    method("listCacheDirectives", Read(cache::list_cache_directives)),
    method("listCachePools", Read(cache::list_cache_pools)),
    method("listCorruptFileBlocks", Read(admin::list_corrupt_file_blocks)),
    method("listEncryptionZones", Read(encryption::list_encryption_zones)),
    method("listOpenFiles", Read(listings::list_open_files)),
    method("listReencryptionStatus", Read(reencryption::list_reencryption_status)),
    method("listXAttrs", Read(attributes::list_xattrs)),
    method("metaSave", Slow(metasave::meta_save)),
    method("mkdirs", Write(namespace::mkdirs)),
    method("modifyAclEntries", Write(attributes::modify_acl_entries)),
    method("modifyCacheDirective", AtMostOnce(cache::modify_cache_directive)),
    method("modifyCachePool", AtMostOnce(cache::modify_cache_pool)),
    method("msync", Read(features::msync)),
    method("recoverLease", Write(files::recover_lease)),
    method("reencryptEncryptionZone", AtMostOnce(reencryption::reencrypt_encryption_zone)),
    method("refreshNodes", Read(admin::refresh_nodes)),
    method("removeAcl", Write(attributes::remove_acl)),
    method("removeAclEntries", Write(attributes::remove_acl_entries)),
    method("removeCacheDirective", AtMostOnce(cache::remove_cache_directive)),
    method("removeCachePool", AtMostOnce(cache::remove_cache_pool)),
    method("removeDefaultAcl", Write(attributes::remove_default_acl)),
    method("removeErasureCodingPolicy", AtMostOnce(ec::remove_erasure_coding_policy)),
    method("removeXAttr", AtMostOnce(attributes::remove_xattr)),
    method("rename", AtMostOnce(namespace::rename)),
    method("rename2", AtMostOnce(namespace::rename2)),
    method("renameSnapshot", AtMostOnce(snapshots::rename_snapshot)),
    method("renewDelegationToken", Read(tokens::renew_delegation_token)),
    method("renewLease", Read(namespace::renew_lease)),
    method("reportBadBlocks", Read(admin::report_bad_blocks)),
    method("restoreFailedStorage", Read(admin::restore_failed_storage)),
    method("rollEdits", Write(admin::roll_edits)),
    method("rollingUpgrade", Read(admin::rolling_upgrade)),
    method("satisfyStoragePolicy", Read(storage::satisfy_storage_policy)),
    method("saveNamespace", Slow(admin::save_namespace)),
    method("setAcl", Write(attributes::set_acl)),
    method("setBalancerBandwidth", Read(admin::set_balancer_bandwidth)),
    method("setErasureCodingPolicy", AtMostOnce(ec::set_erasure_coding_policy)),
    method("setOwner", Write(namespace::set_owner)),
    method("setPermission", Write(namespace::set_permission)),
    method("setQuota", Write(quota::set_quota)),
    method("setReplication", Write(files::set_replication)),
    method("setSafeMode", Read(admin::set_safe_mode)),
    method("setStoragePolicy", Write(storage::set_storage_policy)),
    method("setTimes", Write(namespace::set_times)),
    method("setXAttr", AtMostOnce(attributes::set_xattr)),
    method("truncate", Write(files::truncate)),
    method("unsetErasureCodingPolicy", AtMostOnce(ec::unset_erasure_coding_policy)),
    method("unsetStoragePolicy", Write(storage::unset_storage_policy)),
    method("updateBlockForPipeline", Write(files::update_block_for_pipeline)),
    method("updatePipeline", AtMostOnce(files::update_pipeline)),
    method("upgradeStatus", Read(admin::upgrade_status)),
];
