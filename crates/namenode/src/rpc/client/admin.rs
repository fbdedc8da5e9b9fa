//! Cluster administration and reports.

use crate::call::{Call, Done, Refused};
use crate::core::Core;
use crate::rpc::datanode::{bad_blocks, put};
use crate::to_proto;
use surus_namespace::blocks::{DatanodeHandle, DatanodeReportType};
use surus_namespace::{Namespace, WaitFor, storage_policy};
use surus_proto::hadoop::hdfs::{
    CorruptFileBlocksProto, DatanodeInfoProto, DatanodeStorageReportProto, FinalizeUpgradeResponseProto,
    FsServerDefaultsProto, GetCurrentEditLogTxidResponseProto, GetDatanodeReportRequestProto,
    GetDatanodeReportResponseProto, GetDatanodeStorageReportRequestProto, GetDatanodeStorageReportResponseProto,
    GetFsEcBlockGroupStatsResponseProto, GetFsReplicatedBlockStatsResponseProto, GetServerDefaultsResponseProto,
    GetSlowDatanodeReportResponseProto, ListCorruptFileBlocksRequestProto, ListCorruptFileBlocksResponseProto,
    RefreshNodesResponseProto, ReportBadBlocksRequestProto, ReportBadBlocksResponseProto,
    RestoreFailedStorageRequestProto, RestoreFailedStorageResponseProto, RollEditsResponseProto,
    RollingUpgradeActionProto, RollingUpgradeInfoProto, RollingUpgradeRequestProto, RollingUpgradeResponseProto,
    RollingUpgradeStatusProto, SafeModeActionProto, SaveNamespaceRequestProto, SaveNamespaceResponseProto,
    SetBalancerBandwidthRequestProto, SetBalancerBandwidthResponseProto, SetSafeModeRequestProto,
    SetSafeModeResponseProto, UpgradeStatusResponseProto,
};
use surus_types::{ExceptionClass, HdfsError};

/// Files in one answer of `listCorruptFileBlocks`. Source: `FSNamesystem.DEFAULT_MAX_CORRUPT_FILEBLOCKS_RETURNED`, Hadoop 3.5.0.
const CORRUPT_FILES_MAX: usize = 100;
/// Bytes per second. Source: `HdfsServerConstants.java`, Hadoop 3.5.0.
const BALANCER_BANDWIDTH_MAX: i64 = 1_099_511_627_776;

pub(super) fn get_server_defaults(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let defaults = &core.config.server_defaults;
    let server_defaults = FsServerDefaultsProto {
        block_size: defaults.block_size,
        bytes_per_checksum: defaults.bytes_per_checksum,
        write_packet_size: defaults.write_packet_size,
        replication: defaults.replication,
        file_buffer_size: defaults.file_buffer_size,
        encrypt_data_transfer: Some(false),
        trash_interval: Some(defaults.trash_interval_minutes),
        checksum_type: Some(defaults.checksum_type),
        key_provider_uri: Some(core.config.key_provider_uri.clone()),
        policy_id: Some(u32::from(storage_policy::DEFAULT_ID)),
        snapshot_trash_root_enabled: Some(core.namespace.read().config.snapshots.trash_roots),
    };
    put(out, &GetServerDefaultsResponseProto { server_defaults });
    Ok(())
}

pub(super) fn get_fs_stats(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let stats = core.namespace.read().blocks.fs_stats();
    put(out, &surus_wire::to_proto::fs_stats(&stats));
    Ok(())
}

pub(super) fn get_fs_replicated_block_stats(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let stats = core.namespace.read().blocks.stats();
    put(
        out,
        &GetFsReplicatedBlockStatsResponseProto {
            low_redundancy: stats.low_redundancy,
            corrupt_blocks: stats.corrupt,
            missing_blocks: stats.missing,
            missing_repl_one_blocks: stats.missing_replication_one,
            blocks_in_future: stats.bytes_in_future,
            pending_deletion_blocks: stats.pending_deletion,
            highest_prio_low_redundancy_blocks: Some(stats.highest_priority),
            badly_distributed_blocks: Some(0),
        },
    );
    Ok(())
}

pub(super) fn get_fs_ec_block_group_stats(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let none = GetFsEcBlockGroupStatsResponseProto {
        highest_prio_low_redundancy_blocks: Some(0),
        badly_distributed_blocks: Some(0),
        ..Default::default()
    };
    put(out, &none);
    Ok(())
}

/// # Errors
/// The caller is no superuser, where permissions are checked at all.
fn check_report_rights(namespace: &Namespace, call: &Call<'_>, operation: &str) -> Result<(), HdfsError> {
    if namespace.config.permissions_enabled { call.check_superuser(operation) } else { Ok(()) }
}

fn report_type(number: i32) -> Result<DatanodeReportType, HdfsError> {
    DatanodeReportType::from_proto(number)
        .ok_or_else(|| HdfsError::new(ExceptionClass::IllegalArgument, format!("{number} is no DataNode report type")))
}

fn datanode_info(namespace: &Namespace, handle: DatanodeHandle) -> DatanodeInfoProto {
    let node = namespace.blocks.datanodes.datanode(handle);
    to_proto::datanode(node)
}

pub(super) fn get_datanode_report(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetDatanodeReportRequestProto = call.decode()?;
    let namespace = core.namespace.read();
    check_report_rights(&namespace, call, "datanodeReport")?;
    let handles = namespace.blocks.datanode_report(report_type(request.r#type)?);
    let di = handles.into_iter().map(|h| datanode_info(&namespace, h)).collect();
    put(out, &GetDatanodeReportResponseProto { di });
    Ok(())
}

pub(super) fn get_datanode_storage_report(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetDatanodeStorageReportRequestProto = call.decode()?;
    let namespace = core.namespace.read();
    check_report_rights(&namespace, call, "getDatanodeStorageReport")?;
    let datanodes = &namespace.blocks.datanodes;
    let report = |handle: DatanodeHandle| DatanodeStorageReportProto {
        datanode_info: datanode_info(&namespace, handle),
        storage_reports: datanodes
            .datanode(handle)
            .storages
            .iter()
            .map(|s| surus_wire::to_proto::storage_report(&datanodes.storage(*s).report))
            .collect(),
    };
    let handles = namespace.blocks.datanode_report(report_type(request.r#type)?);
    let datanode_storage_reports = handles.into_iter().map(report).collect();
    put(out, &GetDatanodeStorageReportResponseProto { datanode_storage_reports });
    Ok(())
}

pub(super) fn get_slow_datanode_report(_: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    put(out, &GetSlowDatanodeReportResponseProto { datanode_info_proto: Vec::new() });
    Ok(())
}

pub(super) fn report_bad_blocks(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ReportBadBlocksRequestProto = call.decode()?;
    bad_blocks(core, &request.blocks);
    put(out, &ReportBadBlocksResponseProto {});
    Ok(())
}

pub(super) fn set_safe_mode(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: SetSafeModeRequestProto = call.decode()?;
    let action = request.action();
    match action {
        SafeModeActionProto::SafemodeGet => {}
        SafeModeActionProto::SafemodeEnter => call.check_superuser("safemode_enter")?,
        SafeModeActionProto::SafemodeLeave => call.check_superuser("safemode_leave")?,
        SafeModeActionProto::SafemodeForceExit => call.check_superuser("safemode_force_exit")?,
    }
    let leaves = matches!(action, SafeModeActionProto::SafemodeLeave | SafeModeActionProto::SafemodeForceExit);
    if leaves && !core.namespace.read().blocks.safe_mode.is_on() {
        put(out, &SetSafeModeResponseProto { result: false });
        return Ok(());
    }
    let result = match action {
        SafeModeActionProto::SafemodeGet => core.namespace.read().blocks.safe_mode.is_on(),
        SafeModeActionProto::SafemodeEnter => {
            core.namespace.write().blocks.enter_manual_safe_mode();
            true
        }
        // Refused where blocks newer than this metadata would be lost.
        SafeModeActionProto::SafemodeLeave => !core.namespace.write().blocks.leave_safe_mode(),
        SafeModeActionProto::SafemodeForceExit => {
            core.namespace.write().blocks.force_leave_safe_mode();
            false
        }
    };
    if leaves && !result {
        core.wake(&[WaitFor::SafeMode]);
        core.provision_snapshot_trash();
    }
    if action != SafeModeActionProto::SafemodeGet {
        tracing::info!("safe mode is {} by order of {}", if result { "ON" } else { "OFF" }, call.caller.user);
    }
    put(out, &SetSafeModeResponseProto { result });
    Ok(())
}

/// # Errors
/// Images are saved by order only while nothing changes.
fn check_in_safe_mode(core: &Core) -> Result<(), HdfsError> {
    match core.namespace.read().blocks.safe_mode.is_on() {
        true => Ok(()),
        false => Err(HdfsError::io("Safe mode should be turned ON in order to create namespace image.")),
    }
}

pub(super) fn save_namespace(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: SaveNamespaceRequestProto = call.decode()?;
    call.check_superuser("saveNamespace")?;
    check_in_safe_mode(core)?;
    let saved = core.save_namespace_unless_recent(request.time_window(), request.tx_gap())?;
    put(out, &SaveNamespaceResponseProto { saved: Some(saved) });
    Ok(())
}

pub(super) fn roll_edits(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<Done, Refused> {
    call.check_superuser("rollEditLog")?;
    let txid = core.roll_edits()?;
    put(out, &RollEditsResponseProto { new_segment_tx_id: txid.0 });
    Ok(Done { txid, keep: false })
}

pub(super) fn refresh_nodes(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("refreshNodes")?;
    core.refresh_nodes()?;
    put(out, &RefreshNodesResponseProto {});
    Ok(())
}

pub(super) fn finalize_upgrade(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("finalizeUpgrade")?;
    core.journal.upgrades().finalize()?;
    core.namespace.write().keeps_previous = false;
    put(out, &FinalizeUpgradeResponseProto {});
    Ok(())
}

pub(super) fn upgrade_status(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    put(out, &UpgradeStatusResponseProto { upgrade_finalized: !core.journal.upgrades().has_previous() });
    Ok(())
}

pub(super) fn rolling_upgrade(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: RollingUpgradeRequestProto = call.decode()?;
    let info = match request.action() {
        RollingUpgradeActionProto::Query => {
            call.check_superuser("queryRollingUpgrade")?;
            core.rolling_upgrade().map(|upgrade| (upgrade, 0))
        }
        RollingUpgradeActionProto::Start => {
            call.check_superuser("startRollingUpgrade")?;
            if core.rolling_upgrade().is_none() {
                check_in_safe_mode(core)?;
                core.start_rolling_upgrade()?;
            }
            core.rolling_upgrade().map(|upgrade| (upgrade, 0))
        }
        RollingUpgradeActionProto::Finalize => {
            call.check_superuser("finalizeRollingUpgrade")?;
            core.finalize_rolling_upgrade()?
        }
    };
    let rolling_upgrade_info = info.map(|(upgrade, finalize_time)| RollingUpgradeInfoProto {
        status: RollingUpgradeStatusProto {
            block_pool_id: core.id.block_pool_id.clone(),
            finalized: Some(finalize_time != 0),
        },
        start_time: upgrade.start_time as u64,
        finalize_time: finalize_time as u64,
        created_rollback_images: core.journal.upgrades().has_rollback_image(),
    });
    put(out, &RollingUpgradeResponseProto { rolling_upgrade_info });
    Ok(())
}

/// The audit log's name of `restoreFailedStorage`, by its argument.
pub fn restore_command(arg: &str) -> &'static str {
    match arg {
        "check" => "checkRestoreFailedStorage",
        "true" => "enableRestoreFailedStorage",
        _ => "disableRestoreFailedStorage",
    }
}

/// `true` and `false` set it, anything else asks. Source: `FSNamesystem.restoreFailedStorage`, Hadoop 3.5.0.
pub(super) fn restore_failed_storage(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: RestoreFailedStorageRequestProto = call.decode()?;
    call.check_superuser(restore_command(&request.arg))?;
    let upgrades = core.journal.upgrades();
    if request.arg != "check" {
        upgrades.set_restore(request.arg == "true");
    }
    put(out, &RestoreFailedStorageResponseProto { result: upgrades.restores() });
    Ok(())
}

pub(super) fn set_balancer_bandwidth(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: SetBalancerBandwidthRequestProto = call.decode()?;
    if request.bandwidth > BALANCER_BANDWIDTH_MAX {
        let text = format!("Bandwidth should not exceed maximum limit {BALANCER_BANDWIDTH_MAX} bytes per second");
        return Err(HdfsError::new(ExceptionClass::IllegalArgument, text));
    }
    call.check_superuser("setBalancerBandwidth")?;
    core.namespace.write().blocks.set_balancer_bandwidth(request.bandwidth as u64);
    put(out, &SetBalancerBandwidthResponseProto {});
    Ok(())
}

pub(super) fn get_current_edit_log_txid(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("getCurrentEditLogTxid")?;
    put(out, &GetCurrentEditLogTxidResponseProto { txid: core.last_txid().0 as i64 });
    Ok(())
}

pub(super) fn list_corrupt_file_blocks(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: ListCorruptFileBlocksRequestProto = call.decode()?;
    call.check_superuser("listCorruptFileBlocks")?;
    let (files, cookie) =
        corrupt_files(&core.namespace.read(), &request.path, request.cookie.as_deref().unwrap_or("0"));
    let files = files.into_iter().map(|(_, path)| path).collect();
    put(out, &ListCorruptFileBlocksResponseProto { corrupt: CorruptFileBlocksProto { files, cookie } });
    Ok(())
}

/// Blocks without any good replica and their files below `path`, a page of them. The cookie is where the walk goes on;
/// one that is no number begins anew and stays.
pub fn corrupt_files(namespace: &Namespace, path: &str, cookie: &str) -> (Vec<(String, String)>, String) {
    let from = cookie.parse().unwrap_or(0);
    let prefix = path.trim_end_matches('/');
    let below = |path: &str| path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let (missing, next) = namespace.blocks.missing_blocks(from, CORRUPT_FILES_MAX);
    let path_of = |id| namespace.tree.path_of(namespace.tree.get(id)?);
    let mut files = Vec::new();
    for (handle, owner) in &missing {
        if let Some(path) = path_of(*owner).filter(|path| below(path)) {
            files.push((format!("blk_{}", namespace.blocks.block(*handle).id), path));
        }
    }
    // Past the end the cookie stays behind the last block, so that the next call finds nothing.
    let next = next.or(missing.last().map(|(handle, _)| handle.0 + 1));
    (files, next.map_or_else(|| cookie.to_owned(), |next| next.to_string()))
}
