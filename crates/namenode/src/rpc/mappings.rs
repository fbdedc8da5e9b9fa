//! Users and groups: RefreshUserMappingsProtocol, GetUserMappingsProtocol.

use super::datanode::put;
use crate::call::Run::{Read, Slow};
use crate::call::{Call, Method};
use crate::core::Core;
use surus_proto::hadoop::common::{
    GetGroupsForUserRequestProto, GetGroupsForUserResponseProto, RefreshSuperUserGroupsConfigurationResponseProto,
    RefreshUserToGroupsMappingsResponseProto,
};
use surus_types::HdfsError;

pub const REFRESH_NAME: &str = "org.apache.hadoop.security.RefreshUserMappingsProtocol";
pub const GET_NAME: &str = "org.apache.hadoop.tools.GetUserMappingsProtocol";

/// Sorted by name.
pub static REFRESH_METHODS: &[Method] = &[
    Method { name: "refreshSuperUserGroupsConfiguration", run: Slow(refresh_super_user_groups) },
    Method { name: "refreshUserToGroupsMappings", run: Read(refresh_user_to_groups) },
];

/// Sorted by name.
pub static GET_METHODS: &[Method] = &[Method { name: "getGroupsForUser", run: Slow(get_groups_for_user) }];

fn refresh_user_to_groups(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    core.callers.groups().refresh();
    put(out, &RefreshUserToGroupsMappingsResponseProto {});
    Ok(())
}

/// Takes the proxy user keys anew from where the NameNode's owner reads its configuration.
fn refresh_super_user_groups(core: &Core, _: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    core.reload_proxy_users()?;
    put(out, &RefreshSuperUserGroupsConfigurationResponseProto {});
    Ok(())
}

fn get_groups_for_user(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: GetGroupsForUserRequestProto = call.decode()?;
    let groups = core.callers.groups().get_blocking(&request.user.into(), core.clock.monotonic_ms());
    put(out, &GetGroupsForUserResponseProto { groups: groups.iter().map(|g| g.to_string()).collect() });
    Ok(())
}
