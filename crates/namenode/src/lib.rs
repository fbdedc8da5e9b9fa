//! The NameNode: the shell round `namespace`. RPC services, commit order, parked calls, retry cache, safe mode,
//! DataNode commands, groups, WebHDFS and the status pages.

mod groups;
mod held;
mod parked;
mod retry_cache;
mod safe_mode;
