//! HAServiceProtocol of a NameNode that is alone. Source: `NameNode.java` (`monitorHealth`, `getServiceStatus`), Hadoop 3.5.0.

use super::client::features::no_ha;
use crate::call::Run::Read;
use crate::call::{Call, Method};
use crate::core::Core;
use surus_types::HdfsError;

pub const NAME: &str = "org.apache.hadoop.ha.HAServiceProtocol";

/// Sorted by name.
pub static METHODS: &[Method] = &[
    Method { name: "getServiceStatus", run: Read(refuse) },
    Method { name: "monitorHealth", run: Read(refuse_monitor) },
    Method { name: "transitionToActive", run: Read(refuse) },
    Method { name: "transitionToObserver", run: Read(refuse) },
    Method { name: "transitionToStandby", run: Read(refuse) },
];

fn refuse(_: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("getServiceStatus")?;
    Err(no_ha())
}

fn refuse_monitor(_: &Core, call: &Call<'_>, _: &mut Vec<u8>) -> Result<(), HdfsError> {
    call.check_superuser("monitorHealth")?;
    Err(no_ha())
}
