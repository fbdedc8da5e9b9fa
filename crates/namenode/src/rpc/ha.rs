//! HAServiceProtocol of a NameNode that is alone. Source: `NameNode.java` (`monitorHealth`, `getServiceStatus`), Hadoop 3.5.0.

use super::client::features::no_ha;
use super::datanode::put;
use crate::call::Run::Read;
use crate::call::{Call, Method};
use crate::core::Core;
use surus_namespace::blocks::SafeMode;
use surus_proto::hadoop::common::MonitorHealthResponseProto;
use surus_types::{ExceptionClass, HdfsError};

pub const NAME: &str = "org.apache.hadoop.ha.HAServiceProtocol";

/// Sorted by name.
pub static METHODS: &[Method] = &[
    Method { name: "getServiceStatus", run: Read(get_service_status) },
    Method { name: "monitorHealth", run: Read(monitor_health) },
    Method { name: "transitionToActive", run: Read(transition_to_active) },
    Method { name: "transitionToObserver", run: Read(transition_to_observer) },
    Method { name: "transitionToStandby", run: Read(transition_to_standby) },
];

fn get_service_status(_: &Core, _: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    Err(no_ha())
}

/// Healthy, as long as it can answer and its name directories have room.
fn monitor_health(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("monitorHealth")?;
    if matches!(core.namespace.read().blocks.safe_mode, SafeMode::LowResources) {
        let text = "The NameNode has no resources available";
        return Err(HdfsError::new(ExceptionClass::HealthCheckFailed, text));
    }
    put(out, &MonitorHealthResponseProto {});
    Ok(())
}

fn transition_to_active(_: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("transitionToActive")?;
    Err(no_ha())
}

fn transition_to_standby(_: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("transitionToStandby")?;
    Err(no_ha())
}

fn transition_to_observer(_: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("transitionToObserver")?;
    Err(no_ha())
}
