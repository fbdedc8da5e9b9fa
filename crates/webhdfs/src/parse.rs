//! Method, path and query to a typed request.

use crate::params::{Params, illegal};
use crate::request::{Create, CreateFlags, Method, Operation, Request, Side};
use crate::url;
use surus_types::{ExceptionClass, FsAction, FsPermission, HdfsError, StorageType, XAttrCodec};

/// Where all WebHDFS paths begin.
pub const PREFIX: &str = "/webhdfs/v1";

/// Hadoop's operations that Surus has not, per method: known names, so that the answer is not "not a valid operation".
const UNSUPPORTED: &[(Method, &[&str])] = &[
    (Method::Get, &["GETSNAPSHOTDIFF", "GETSNAPSHOTDIFFLISTING", "GETSNAPSHOTTABLEDIRECTORYLIST", "GETSNAPSHOTLIST"]),
    (Method::Put, &["CREATESYMLINK", "RENEWDELEGATIONTOKEN", "CANCELDELEGATIONTOKEN"]),
    (Method::Delete, &[]),
];

/// Mode of a file that HttpFS creates for a request that names none. Source: `HttpFSFileSystem.java`, Hadoop 3.4.2.
const HTTPFS_PERMISSION: FsPermission = FsPermission(0o755);

/// The still encoded path behind `/webhdfs/v1`; `None` for a URL that is not WebHDFS.
pub fn path_below_prefix(path: &str) -> Option<&str> {
    path.strip_prefix(PREFIX).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Parses one request. `path` and `query` are as they stand in the URL, still encoded; `path` with the prefix `/webhdfs/v1`.
///
/// # Errors
/// What Hadoop answers, with its class and text: unknown operation, a parameter outside its domain, a missing one.
pub fn parse(side: Side, method: Method, path: &str, query: &str) -> Result<Request, HdfsError> {
    let rest =
        path_below_prefix(path).ok_or_else(|| HdfsError::file_not_found(format!("{path} is not below {PREFIX}")))?;
    let mut path = url::decode_path(if rest.is_empty() { "/" } else { rest });
    let params = Params::new(side, query);
    let operation = match side {
        Side::NameNode => {
            let name = operation_name(method, &params)?;
            params.check_all(method)?;
            namenode_operation(method, &name, &params)?
        }
        Side::DataNode => datanode_operation(method, &params)?,
        Side::HttpFs => {
            // The gateway makes a `Path` of it.
            path = url::normalize(&path);
            let name = httpfs_operation_name(method, &params)?;
            httpfs_operation(method, &name, &path, &params)?
        }
    };
    Ok(Request {
        path,
        user: params.user()?,
        do_as: params.text("doas").map(str::to_string),
        namenode_address: params.text("namenoderpcaddress").map(str::to_string),
        no_redirect: params.boolean("noredirect", false)?,
        one_hop: params.text("onehop").map(|_| params.boolean("onehop", false)).transpose()?,
        excluded_datanodes: params.list("excludedatanodes"),
        filter: params.text("filter").map(str::to_string),
        has_data: side == Side::HttpFs && params.boolean("data", false)?,
        operation,
    })
}

/// `op` in upper case. Hadoop's PUT text has two blanks.
fn operation_name(method: Method, params: &Params) -> Result<String, HdfsError> {
    match params.raw("op") {
        Some(name) if !name.is_empty() && !name.eq_ignore_ascii_case("null") => {
            let upper = name.to_ascii_uppercase();
            if is_operation(method, &upper) {
                return Ok(upper);
            }
            Err(params.invalid("op", &format!("{name} is not a valid {} operation.", method.name())))
        }
        _ => {
            let blanks = if method == Method::Put { "  " } else { " " };
            Err(HdfsError::new(ExceptionClass::UnsupportedOperation, format!("op=NULL{blanks}is not supported")))
        }
    }
}

/// `op` in upper case. Source: `HttpFSServer.java`, Hadoop 3.4.2.
fn httpfs_operation_name(method: Method, params: &Params) -> Result<String, HdfsError> {
    let name = params.raw("op").ok_or_else(|| illegal("Missing Operation parameter [op]"))?;
    let upper = name.to_ascii_uppercase();
    if is_operation(method, &upper) || method == Method::Get && upper == "INSTRUMENTATION" {
        return Ok(upper);
    }
    let known = [Method::Get, Method::Put, Method::Post, Method::Delete].into_iter().any(|m| is_operation(m, &upper));
    match known || upper == "INSTRUMENTATION" {
        true => Err(HdfsError::io(format!("Invalid HTTP {} operation [{upper}]", method.name()))),
        false => Err(illegal(format!("Invalid Operation [{name}]"))),
    }
}

/// As the NameNode's, but for the paths of renames, the place that some operations want, and what HttpFS has alone.
fn httpfs_operation(method: Method, name: &str, path: &str, params: &Params) -> Result<Operation, HdfsError> {
    if matches!(name, "GETHOMEDIRECTORY" | "INSTRUMENTATION") && path != "/" {
        let text = format!("Operation [{name}], invalid path [{path}], must be /");
        return Err(HdfsError::new(ExceptionClass::UnsupportedOperation, text));
    }
    match name {
        "INSTRUMENTATION" => Ok(Operation::Unsupported("INSTRUMENTATION")),
        "RENAME" => {
            let destination = params.text("destination");
            let destination = destination.ok_or_else(|| illegal("Can not create a Path from a null string"))?;
            // A relative one is of the caller's home, which is not known here.
            let destination = match destination.starts_with('/') {
                true => url::normalize(destination),
                false => destination.to_string(),
            };
            Ok(Operation::Rename { destination, options: None })
        }
        "GETXATTRS" if params.text("encoding").is_none() => {
            Ok(Operation::GetXAttrs { codec: XAttrCodec::Text, names: params.xattr_names()? })
        }
        "CHECKACCESS" if params.text("fsaction").is_none() => Ok(Operation::CheckAccess { action: FsAction::NONE }),
        "SETOWNER" if params.text("owner").is_none() && params.text("group").is_none() => {
            Err(HdfsError::io("username == null && groupname == null"))
        }
        _ => namenode_operation(method, name, params),
    }
}

fn is_operation(method: Method, name: &str) -> bool {
    let supported: &[&str] = match method {
        Method::Get => &[
            "OPEN",
            "GETFILESTATUS",
            "GETFILELINKSTATUS",
            "LISTSTATUS",
            "LISTSTATUS_BATCH",
            "GETCONTENTSUMMARY",
            "GETQUOTAUSAGE",
            "GETFILECHECKSUM",
            "GETHOMEDIRECTORY",
            "GETTRASHROOT",
            "GETTRASHROOTS",
            "GETLINKTARGET",
            "GETALLSTORAGEPOLICY",
            "GETSTORAGEPOLICY",
            "GETECPOLICY",
            "GETECPOLICIES",
            "GETECCODECS",
            "GETDELEGATIONTOKEN",
            "GETSERVERDEFAULTS",
            "GETSTATUS",
            "CHECKACCESS",
            "GETFILEBLOCKLOCATIONS",
            "GET_BLOCK_LOCATIONS",
            "GETSNAPSHOTDIFF",
            "GETSNAPSHOTDIFFLISTING",
            "GETSNAPSHOTTABLEDIRECTORYLIST",
            "GETSNAPSHOTLIST",
            "GETACLSTATUS",
            "GETXATTRS",
            "LISTXATTRS",
        ],
        Method::Put => &[
            "CREATE",
            "MKDIRS",
            "RENAME",
            "SETREPLICATION",
            "SETOWNER",
            "SETPERMISSION",
            "SETTIMES",
            "SETSTORAGEPOLICY",
            "ENABLEECPOLICY",
            "DISABLEECPOLICY",
            "SETECPOLICY",
            "SATISFYSTORAGEPOLICY",
            "SETQUOTA",
            "SETQUOTABYSTORAGETYPE",
            "ALLOWSNAPSHOT",
            "DISALLOWSNAPSHOT",
            "CREATESNAPSHOT",
            "RENAMESNAPSHOT",
            "MODIFYACLENTRIES",
            "REMOVEACLENTRIES",
            "REMOVEDEFAULTACL",
            "REMOVEACL",
            "SETACL",
            "SETXATTR",
            "REMOVEXATTR",
        ],
        Method::Post => &["APPEND", "TRUNCATE", "CONCAT", "UNSETSTORAGEPOLICY", "UNSETECPOLICY"],
        Method::Delete => &["DELETE", "DELETESNAPSHOT"],
    };
    supported.contains(&name) || unsupported(method, name).is_some()
}

fn unsupported(method: Method, name: &str) -> Option<&'static str> {
    let (_, names) = UNSUPPORTED.iter().find(|(m, _)| *m == method)?;
    names.iter().find(|n| **n == name).copied()
}

fn namenode_operation(method: Method, name: &str, params: &Params) -> Result<Operation, HdfsError> {
    let offset = || params.length("offset").map(Option::unwrap_or_default);
    let text = |param: &str| params.text(param).unwrap_or("").to_string();
    Ok(match name {
        "OPEN" => Operation::Open { offset: offset()?, length: params.length("length")? },
        "GETFILESTATUS" => Operation::GetFileStatus,
        "GETFILELINKSTATUS" => Operation::GetFileLinkStatus,
        "LISTSTATUS" => Operation::ListStatus,
        "LISTSTATUS_BATCH" => {
            Operation::ListStatusBatch { start_after: params.text("startafter").unwrap_or("").to_string() }
        }
        "GETCONTENTSUMMARY" => Operation::GetContentSummary,
        "GETQUOTAUSAGE" => Operation::GetQuotaUsage,
        "GETFILECHECKSUM" => Operation::GetFileChecksum,
        "GETHOMEDIRECTORY" => Operation::GetHomeDirectory,
        "GETTRASHROOT" => Operation::GetTrashRoot,
        "GETTRASHROOTS" => Operation::GetTrashRoots { all_users: params.boolean("allusers", false)? },
        "GETLINKTARGET" => Operation::GetLinkTarget,
        "GETALLSTORAGEPOLICY" => Operation::GetAllStoragePolicy,
        "GETSTORAGEPOLICY" => Operation::GetStoragePolicy,
        "GETECPOLICY" => Operation::GetEcPolicy,
        "GETDELEGATIONTOKEN" => Operation::GetDelegationToken,
        "GETSERVERDEFAULTS" => Operation::GetServerDefaults,
        "GETSTATUS" => Operation::GetStatus,
        "CHECKACCESS" => Operation::CheckAccess { action: params.action(name)? },
        "GETFILEBLOCKLOCATIONS" => {
            Operation::GetFileBlockLocations { offset: offset()?, length: params.length("length")? }
        }
        "GET_BLOCK_LOCATIONS" => Operation::GetBlockLocations { offset: offset()?, length: params.length("length")? },
        "CREATE" => Operation::Create(create(params)?),
        "MKDIRS" => Operation::Mkdirs {
            permission: params.permission("permission")?,
            unmasked: params.permission("unmaskedpermission")?,
        },
        "RENAME" => Operation::Rename {
            destination: url::normalize(params.required("destination", name)?),
            options: params.rename_options()?,
        },
        "SETREPLICATION" => Operation::SetReplication { replication: params.replication()? },
        "SETOWNER" => set_owner(params)?,
        // Hadoop's default for a directory, whatever the path is.
        "SETPERMISSION" => {
            Operation::SetPermission { permission: params.permission("permission")?.unwrap_or(FsPermission(0o755)) }
        }
        "SETTIMES" => Operation::SetTimes {
            modification_time_ms: params.long("modificationtime", -1)?.unwrap_or(-1),
            access_time_ms: params.long("accesstime", -1)?.unwrap_or(-1),
        },
        "GETECPOLICIES" => Operation::GetEcPolicies,
        "GETECCODECS" => Operation::GetEcCodecs,
        "SETECPOLICY" => Operation::SetEcPolicy { policy: params.required("ecpolicy", name)?.to_string() },
        "UNSETECPOLICY" => Operation::UnsetEcPolicy,
        "ENABLEECPOLICY" => Operation::EnableEcPolicy { policy: params.required("ecpolicy", name)?.to_string() },
        "DISABLEECPOLICY" => Operation::DisableEcPolicy { policy: params.required("ecpolicy", name)?.to_string() },
        "SETSTORAGEPOLICY" => {
            let policy =
                params.text("storagepolicy").ok_or_else(|| illegal("Storage policy name is empty."))?.to_string();
            Operation::SetStoragePolicy { policy }
        }
        "UNSETSTORAGEPOLICY" => Operation::UnsetStoragePolicy,
        "SATISFYSTORAGEPOLICY" => Operation::SatisfyStoragePolicy,
        "SETQUOTA" => Operation::SetQuota {
            namespace_quota: params.long("namespacequota", i64::MIN)?.unwrap_or(i64::MAX),
            space_quota: params.long("storagespacequota", i64::MIN)?.unwrap_or(i64::MAX),
        },
        "SETQUOTABYSTORAGETYPE" => {
            let wanted = params.required("storagetype", name)?;
            let constant = wanted.to_ascii_uppercase();
            let storage_type = StorageType::from_name(wanted)
                .ok_or_else(|| illegal(format!("No enum constant org.apache.hadoop.fs.StorageType.{constant}")))?;
            let space_quota = params.long("storagespacequota", i64::MIN)?.unwrap_or(i64::MAX);
            Operation::SetQuotaByStorageType { storage_type, space_quota }
        }
        "APPEND" => Operation::Append { buffer_size: params.buffer_size()? },
        "TRUNCATE" => {
            params.required("newlength", name)?;
            Operation::Truncate { new_length: params.length("newlength")?.unwrap_or_default() }
        }
        "CONCAT" => {
            params.required("sources", name)?;
            Operation::Concat { sources: params.list("sources") }
        }
        "DELETE" => Operation::Delete { recursive: params.boolean("recursive", false)? },
        "ALLOWSNAPSHOT" => Operation::AllowSnapshot,
        "DISALLOWSNAPSHOT" => Operation::DisallowSnapshot,
        "CREATESNAPSHOT" => Operation::CreateSnapshot { name: text("snapshotname") },
        "RENAMESNAPSHOT" => Operation::RenameSnapshot {
            old_name: params.required("oldsnapshotname", name)?.to_string(),
            new_name: params.required("snapshotname", name)?.to_string(),
        },
        "DELETESNAPSHOT" => Operation::DeleteSnapshot { name: params.required("snapshotname", name)?.to_string() },
        "GETSNAPSHOTTABLEDIRECTORYLIST" => Operation::GetSnapshottableDirectoryList,
        "GETSNAPSHOTLIST" => Operation::GetSnapshotList,
        "GETSNAPSHOTDIFF" => Operation::GetSnapshotDiff { from: text("oldsnapshotname"), to: text("snapshotname") },
        "GETSNAPSHOTDIFFLISTING" => Operation::GetSnapshotDiffListing {
            from: text("oldsnapshotname"),
            to: text("snapshotname"),
            start_path: text("snapshotdiffstartpath"),
            index: params.long("snapshotdiffindex", i64::from(i32::MIN))?.unwrap_or(-1) as i32,
        },
        "GETACLSTATUS" => Operation::GetAclStatus,
        "MODIFYACLENTRIES" => Operation::ModifyAclEntries { entries: params.acl_spec(name, true)? },
        "REMOVEACLENTRIES" => Operation::RemoveAclEntries { entries: params.acl_spec(name, false)? },
        "REMOVEDEFAULTACL" => Operation::RemoveDefaultAcl,
        "REMOVEACL" => Operation::RemoveAcl,
        "SETACL" => Operation::SetAcl { entries: params.acl_spec(name, true)? },
        "GETXATTRS" => Operation::GetXAttrs { codec: params.codec(name)?, names: params.xattr_names()? },
        "LISTXATTRS" => Operation::ListXAttrs,
        "SETXATTR" => {
            params.required("xattr.name", name)?;
            params.required("flag", name)?;
            Operation::SetXAttr { xattr: params.xattr(true)?, flags: params.xattr_flags()? }
        }
        "REMOVEXATTR" => {
            params.required("xattr.name", name)?;
            Operation::RemoveXAttr { xattr: params.xattr(false)? }
        }
        other => {
            required_of_unsupported(other, params)?;
            Operation::Unsupported(unsupported(method, other).unwrap_or("op"))
        }
    })
}

/// Parameters that Hadoop asks for before it looks whether the operation is possible.
fn required_of_unsupported(name: &str, params: &Params) -> Result<(), HdfsError> {
    let needed: &[&str] = match name {
        "CREATESYMLINK" => &["destination"],
        "RENEWDELEGATIONTOKEN" | "CANCELDELEGATIONTOKEN" => &["token"],
        _ => &[],
    };
    needed.iter().try_for_each(|param| params.required(param, name).map(|_| ()))?;
    match params.raw("token") {
        // Without security nobody ever got a token. Hadoop decodes what comes, and fails at its end.
        Some(_) if needed.contains(&"token") => Err(HdfsError::new(ExceptionClass::Eof, "null")),
        _ => Ok(()),
    }
}

fn create(params: &Params) -> Result<Create, HdfsError> {
    if params.side() == Side::HttpFs {
        return Ok(Create {
            permission: params.permission("permission")?.or(Some(HTTPFS_PERMISSION)),
            unmasked: params.permission("unmaskedpermission")?,
            overwrite: params.boolean("overwrite", true)?,
            buffer_size: None,
            replication: params.replication()?,
            block_size: params.long("blocksize", 1)?.and_then(|v| u64::try_from(v).ok()),
            create_parent: true,
            flags: CreateFlags::default(),
        });
    }
    Ok(Create {
        permission: params.permission("permission")?,
        unmasked: params.permission("unmaskedpermission")?,
        overwrite: params.boolean("overwrite", false)?,
        buffer_size: params.buffer_size()?,
        replication: params.replication()?,
        block_size: params.long("blocksize", 1)?.and_then(|v| u64::try_from(v).ok()),
        create_parent: params.boolean("createparent", true)?,
        flags: params.create_flags()?,
    })
}

fn set_owner(params: &Params) -> Result<Operation, HdfsError> {
    let owner = params.text("owner").map(str::to_string);
    let group = params.text("group").map(str::to_string);
    if owner.is_none() && group.is_none() {
        return Err(illegal("Both owner and group are empty."));
    }
    Ok(Operation::SetOwner { owner, group })
}

/// The four operations that move data. Without the NameNode's address there is nobody to ask.
fn datanode_operation(method: Method, params: &Params) -> Result<Operation, HdfsError> {
    let given = params.raw("op").unwrap_or("null");
    let operation = match (method, given.to_ascii_uppercase().as_str()) {
        (Method::Get, "OPEN") => {
            Operation::Open { offset: params.length("offset")?.unwrap_or_default(), length: params.length("length")? }
        }
        (Method::Get, "GETFILECHECKSUM") => Operation::GetFileChecksum,
        (Method::Put, "CREATE") => Operation::Create(create(params)?),
        (Method::Post, "APPEND") => Operation::Append { buffer_size: params.buffer_size()? },
        _ => return Err(illegal(format!("Invalid operation {given}"))),
    };
    if params.text("namenoderpcaddress").is_none() {
        return Err(illegal("java.net.UnknownHostException: null"));
    }
    Ok(operation)
}

/// The user that a query names, where it is a user's name.
pub fn user_name(query: &str) -> Option<String> {
    Params::new(Side::NameNode, query).user().ok().flatten()
}

/// Where a request is sent that is to come again with its data, or without `noredirect`: the path and query of the URL, still
/// encoded. Source: `HttpFSServer.java` (`createUploadRedirectionURL`, `createOpenRedirectionURL`), Hadoop 3.4.2.
pub fn httpfs_location(path: &str, query: &str, upload: Option<&str>) -> String {
    let is_kept = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or("");
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        !pair.is_empty() && !is("noredirect") && !(upload.is_some() && (is("op") || is("data")))
    };
    let op = upload.map(|op| format!("op={op}&data=true"));
    let pairs: Vec<&str> = op.as_deref().into_iter().chain(query.split('&').filter(is_kept)).collect();
    format!("{path}?{}", pairs.join("&"))
}

/// The answer to an operation that Hadoop has and Surus has not: the class by which Java's client knows to fall back.
pub fn unsupported_error(name: &str) -> HdfsError {
    let text = if name == "CREATESYMLINK" {
        "Symlinks not supported".to_string()
    } else {
        format!("op={name} is not supported")
    };
    HdfsError::new(ExceptionClass::UnsupportedOperation, text)
}
