//! `dfsadmin` commands to one DataNode, by the address of its IPC port.

use super::cluster::at;
use super::report::with_unit;
use super::{Done, Failure};
use surus_client::NameNodes;
use surus_conf::Configuration;
use surus_proto::hadoop::hdfs as proto;

const CLIENT_DATANODE: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";

fn datanode(conf: &Configuration, address: &str) -> Result<NameNodes, Failure> {
    at(conf, address, CLIENT_DATANODE)
}

pub fn get_datanode_info(conf: &Configuration, arguments: &[String]) -> Done {
    let [address] = arguments else { return Err(Failure::Usage) };
    let answer: proto::GetDatanodeInfoResponseProto =
        datanode(conf, address)?.call_idempotent("getDatanodeInfo", &proto::GetDatanodeInfoRequestProto {})?;
    let info = answer.local_info;
    println!(
        "Uptime: {}, Software version: {}, Config version: {}",
        info.uptime, info.software_version, info.config_version
    );
    Ok(0)
}

pub fn trigger_block_report(conf: &Configuration, arguments: &[String]) -> Done {
    let (mut incremental, mut address, mut namenode) = (false, None, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-incremental" => incremental = true,
            "-namenode" => namenode = Some(words.next().ok_or(Failure::Usage)?.clone()),
            _ if address.is_none() => address = Some(word.clone()),
            _ => return Err(Failure::Usage),
        }
    }
    let address = address.ok_or(Failure::Usage)?;
    let to = namenode.as_ref().map(|n| format!(" to namenode {n}")).unwrap_or_default();
    let request = proto::TriggerBlockReportRequestProto { incremental, nn_address: namenode };
    let _: proto::TriggerBlockReportResponseProto =
        datanode(conf, &address)?.call_idempotent("triggerBlockReport", &request)?;
    let kind = if incremental { "an incremental" } else { "a full" };
    println!("Triggering {kind} block report on {address}{to}.");
    Ok(0)
}

pub fn shutdown_datanode(conf: &Configuration, arguments: &[String]) -> Done {
    let (address, for_upgrade) = match arguments {
        [address] => (address, false),
        [address, word] if word == "upgrade" => (address, true),
        _ => return Err(Failure::Usage),
    };
    let request = proto::ShutdownDatanodeRequestProto { for_upgrade };
    let _: proto::ShutdownDatanodeResponseProto =
        datanode(conf, address)?.call_idempotent("shutdownDatanode", &request)?;
    println!("Submitted a shutdown request to datanode {address}");
    Ok(0)
}

pub fn evict_writers(conf: &Configuration, arguments: &[String]) -> Done {
    let [address] = arguments else { return Err(Failure::Usage) };
    let _: proto::EvictWritersResponseProto =
        datanode(conf, address)?.call_idempotent("evictWriters", &proto::EvictWritersRequestProto {})?;
    println!("Requested writer eviction to datanode {address}");
    Ok(0)
}

pub fn get_balancer_bandwidth(conf: &Configuration, arguments: &[String]) -> Done {
    let [address] = arguments else { return Err(Failure::Usage) };
    let answer: proto::GetBalancerBandwidthResponseProto = datanode(conf, address)?
        .call_idempotent("getBalancerBandwidth", &proto::GetBalancerBandwidthRequestProto {})?;
    println!("Balancer bandwidth is {} bytes per second.", answer.bandwidth);
    Ok(0)
}

pub fn get_volume_report(conf: &Configuration, arguments: &[String]) -> Done {
    let [address] = arguments else { return Err(Failure::Usage) };
    let answer: proto::GetVolumeReportResponseProto =
        datanode(conf, address)?.call_idempotent("getVolumeReport", &proto::GetVolumeReportRequestProto {})?;
    println!("Active Volumes : {}", answer.volume_info.len());
    for volume in &answer.volume_info {
        let size = |bytes: u64| format!("{bytes}({})", with_unit(bytes));
        let kind = surus_types::StorageType::from_proto(volume.storage_type).unwrap_or_default();
        println!("\nDirectory: {}\nStorageType: {}", volume.path, kind.name());
        println!("Capacity Used: {}\nCapacity Left: {}", size(volume.used_space), size(volume.free_space));
        println!("Capacity Reserved: {}", size(volume.reserved_space));
        println!("Reserved Space for Replicas: {}", size(volume.reserved_space_for_replicas));
        println!("Blocks: {}", volume.num_blocks);
    }
    Ok(0)
}

pub fn refresh_namenodes(conf: &Configuration, arguments: &[String]) -> Done {
    let [address] = arguments else { return Err(Failure::Usage) };
    let _: proto::RefreshNamenodesResponseProto =
        datanode(conf, address)?.call_idempotent("refreshNamenodes", &proto::RefreshNamenodesRequestProto {})?;
    Ok(0)
}

pub fn delete_block_pool(conf: &Configuration, arguments: &[String]) -> Done {
    let (address, pool, force) = match arguments {
        [address, pool] => (address, pool, false),
        [address, pool, word] if word == "force" => (address, pool, true),
        _ => return Err(Failure::Usage),
    };
    let request = proto::DeleteBlockPoolRequestProto { block_pool: pool.clone(), force };
    let _: proto::DeleteBlockPoolResponseProto =
        datanode(conf, address)?.call_idempotent("deleteBlockPool", &request)?;
    Ok(0)
}
