//! Exit codes as the shell sees them.

pub const OK: u8 = 0;
/// A daemon that cannot start, a refused format, a path that failed.
pub const FAILED: u8 = 1;
/// A JVM that was ended by SIGINT.
pub const SIGINT: u8 = 130;
/// A JVM that was ended by SIGTERM.
pub const SIGTERM: u8 = 143;
/// `--daemon status`: the pid file names a process that is gone.
pub const DAEMON_DEAD: u8 = 1;
/// `--daemon status`: there is no pid file.
pub const DAEMON_NOT_RUNNING: u8 = 3;
