//! Every exception that crosses the wire: one table from a kind to its Java class name and HTTP status.
//! Clients branch on the class name, so it is part of the protocol.

use alloc::string::String;
use core::fmt;

macro_rules! exceptions {
    ($($kind:ident $class:literal $status:literal),+ $(,)?) => {
        /// The kind of an exception. Its Java class name and its HTTP status in WebHDFS come from one table.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ExceptionClass { $($kind),+ }

        impl ExceptionClass {
            /// Fully qualified Java class name.
            pub const fn java_name(self) -> &'static str {
                match self { $(Self::$kind => $class),+ }
            }
            /// HTTP status of a `RemoteException` answer. Source: `ExceptionHandler.java`, Hadoop 3.5.0.
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$kind => $status),+ }
            }
            /// The kind of a Java class name; `None` for one this table lacks.
            pub fn from_java_name(name: &str) -> Option<Self> {
                match name { $($class => Some(Self::$kind),)+ _ => None }
            }
        }
    };
}

exceptions! {
    FileNotFound "java.io.FileNotFoundException" 404,
    IllegalArgument "java.lang.IllegalArgumentException" 400,
    AccessControl "org.apache.hadoop.security.AccessControlException" 403,
    Io "java.io.IOException" 403,
    Eof "java.io.EOFException" 403,
    HadoopIllegalArgument "org.apache.hadoop.HadoopIllegalArgumentException" 400,
    SafeMode "org.apache.hadoop.hdfs.server.namenode.SafeModeException" 403,
    InvalidPath "org.apache.hadoop.fs.InvalidPathException" 400,
    Snapshot "org.apache.hadoop.hdfs.protocol.SnapshotException" 403,
    SnapshotAccessControl "org.apache.hadoop.hdfs.protocol.SnapshotAccessControlException" 403,
    FileAlreadyExists "org.apache.hadoop.fs.FileAlreadyExistsException" 403,
    Acl "org.apache.hadoop.hdfs.protocol.AclException" 403,
    AlreadyBeingCreated "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException" 403,
    LeaseExpired "org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException" 403,
    ParentNotDirectory "org.apache.hadoop.fs.ParentNotDirectoryException" 403,
    UnsupportedOperation "java.lang.UnsupportedOperationException" 400,
    PathComponentTooLong "org.apache.hadoop.hdfs.protocol.FSLimitException$PathComponentTooLongException" 403,
    MaxDirectoryItemsExceeded "org.apache.hadoop.hdfs.protocol.FSLimitException$MaxDirectoryItemsExceededException" 403,
    InvalidRequest "org.apache.hadoop.fs.InvalidRequestException" 403,
    NsQuotaExceeded "org.apache.hadoop.hdfs.protocol.NSQuotaExceededException" 403,
    DsQuotaExceeded "org.apache.hadoop.hdfs.protocol.DSQuotaExceededException" 403,
    QuotaByStorageTypeExceeded "org.apache.hadoop.hdfs.protocol.QuotaByStorageTypeExceededException" 403,
    Assertion "java.lang.AssertionError" 500,
    UnsupportedAction "org.apache.hadoop.hdfs.server.namenode.UnsupportedActionException" 403,
    XAttrNotFound "org.apache.hadoop.hdfs.protocol.XAttrNotFoundException" 403,
    NoEcPolicySet "org.apache.hadoop.hdfs.protocol.NoECPolicySetException" 403,
    PathIsNotEmptyDirectory "org.apache.hadoop.fs.PathIsNotEmptyDirectoryException" 403,
    PathIsNotDirectory "org.apache.hadoop.fs.PathIsNotDirectoryException" 403,
    Authorization "org.apache.hadoop.security.authorize.AuthorizationException" 403,
    RecoveryInProgress "org.apache.hadoop.hdfs.protocol.RecoveryInProgressException" 403,
    ServiceFailed "org.apache.hadoop.ha.ServiceFailedException" 403,
    DirectoryListingStartAfterNotFound "org.apache.hadoop.fs.DirectoryListingStartAfterNotFoundException" 403,
    NotReplicatedYet "org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException" 403,
    Standby "org.apache.hadoop.ipc.StandbyException" 403,
    Retriable "org.apache.hadoop.ipc.RetriableException" 403,
    RetryStartFile "org.apache.hadoop.hdfs.server.namenode.RetryStartFileException" 403,
    UnresolvedLink "org.apache.hadoop.fs.UnresolvedLinkException" 403,
    UnresolvedPath "org.apache.hadoop.hdfs.protocol.UnresolvedPathException" 403,
    DisallowedDatanode "org.apache.hadoop.hdfs.server.protocol.DisallowedDatanodeException" 403,
    UnregisteredNode "org.apache.hadoop.hdfs.protocol.UnregisteredNodeException" 403,
    IncorrectVersion "org.apache.hadoop.hdfs.server.common.IncorrectVersionException" 403,
    ReplicaNotFound "org.apache.hadoop.hdfs.server.datanode.ReplicaNotFoundException" 403,
    NoSuchMethod "org.apache.hadoop.ipc.RpcNoSuchMethodException" 403,
    NoSuchProtocol "org.apache.hadoop.ipc.RpcNoSuchProtocolException" 403,
    RpcServer "org.apache.hadoop.ipc.RpcServerException" 403,
    RpcVersionMismatch "org.apache.hadoop.ipc.RPC$VersionMismatch" 403,
    Ipc "org.apache.hadoop.ipc.IpcException" 403,
    InvalidProtocolBuffer "org.apache.hadoop.thirdparty.protobuf.InvalidProtocolBufferException" 403,
    InvalidToken "org.apache.hadoop.security.token.SecretManager$InvalidToken" 403,
    NullPointer "java.lang.NullPointerException" 500,
    Runtime "java.lang.RuntimeException" 500,
    IllegalState "java.lang.IllegalStateException" 500,
    ArrayIndexOutOfBounds "java.lang.ArrayIndexOutOfBoundsException" 500,
    StringIndexOutOfBounds "java.lang.StringIndexOutOfBoundsException" 500,
    NumberFormat "java.lang.NumberFormatException" 400,
    Security "java.lang.SecurityException" 403,
    UnknownCryptoProtocolVersion "org.apache.hadoop.hdfs.UnknownCryptoProtocolVersionException" 403,
    RollingUpgrade "org.apache.hadoop.hdfs.protocol.RollingUpgradeException" 403,
    Connect "java.net.ConnectException" 403,
    HealthCheckFailed "org.apache.hadoop.ha.HealthCheckFailedException" 403,
}

impl ExceptionClass {
    /// Class name without package, with `$` of nested classes kept: what WebHDFS calls `exception`.
    pub fn simple_name(self) -> &'static str {
        let name = self.java_name();
        let last = &name[name.rfind('.').map_or(0, |i| i + 1)..];
        &last[last.rfind('$').map_or(0, |i| i + 1)..]
    }
}

/// An exception as a Hadoop client will see it: class and message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HdfsError {
    pub class: ExceptionClass,
    pub message: String,
}

impl HdfsError {
    pub fn new(class: ExceptionClass, message: impl Into<String>) -> Self {
        HdfsError { class, message: message.into() }
    }
    /// A plain `java.io.IOException`.
    pub fn io(message: impl Into<String>) -> Self {
        Self::new(ExceptionClass::Io, message)
    }
    pub fn file_not_found(message: impl Into<String>) -> Self {
        Self::new(ExceptionClass::FileNotFound, message)
    }
    pub fn access_control(message: impl Into<String>) -> Self {
        Self::new(ExceptionClass::AccessControl, message)
    }
}

impl fmt::Display for HdfsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class.java_name(), self.message)
    }
}

impl core::error::Error for HdfsError {}
