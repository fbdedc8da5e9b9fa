//! `metaSave`: writes a text file into the log directory.

use crate::call::Call;
use crate::core::Core;
use crate::rpc::datanode::put;
use std::path::PathBuf;
use surus_disk::{Disk, OpenMode, RealDisk};
use surus_proto::hadoop::hdfs::{MetaSaveRequestProto, MetaSaveResponseProto};
use surus_types::HdfsError;

/// Runs on a thread that may wait for the disk.
pub(super) fn meta_save(core: &Core, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), HdfsError> {
    let request: MetaSaveRequestProto = call.decode()?;
    call.check_superuser("metaSave")?;
    let mut text = String::new();
    core.namespace.read().meta_save(&mut text, &|ms| crate::http::java_date(ms as i64));
    let path = log_dir().join(request.filename.trim_start_matches('/'));
    let failed = |error: std::io::Error| HdfsError::file_not_found(format!("{} ({error})", path.display()));
    let file = RealDisk.open(&path, OpenMode::Create).map_err(failed)?;
    file.write_all_at(text.as_bytes(), 0).map_err(failed)?;
    tracing::info!("metaSave wrote {}", path.display());
    put(out, &MetaSaveResponseProto {});
    Ok(())
}

/// Where Hadoop's scripts tell daemons to log: `HADOOP_LOG_DIR`; without it the working directory.
fn log_dir() -> PathBuf {
    std::env::var_os("HADOOP_LOG_DIR").map(PathBuf::from).unwrap_or_default()
}
