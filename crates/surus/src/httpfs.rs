//! `surus httpfs`: the HttpFS gateway, until a signal.

use crate::signals::Signals;
use crate::{conf_files, daemons, exit, output};
use anyhow::Result;
use surus_httpfs::HttpFs;

/// Where Hadoop keeps the gateway's own settings.
const SITE_FILE: &str = "httpfs-site.xml";

const USAGE: &str = "Usage: surus httpfs

WebHDFS's REST interface of the file system in fs.defaultFS, on one port and without redirects to DataNodes:
  curl \"http://HOST:14000/webhdfs/v1/PATH?op=LISTSTATUS&user.name=USER\"
  curl -L -T FILE -H Content-Type:application/octet-stream \"http://HOST:14000/webhdfs/v1/PATH?op=CREATE&user.name=USER\"
Operations, parameters and answers are those of Hadoop's HttpFS. The gateway connects as its own user in the name of each
caller: the NameNode has to allow that (hadoop.proxyuser.USER.hosts and .groups).
Keys: httpfs.http.port, httpfs.http.hostname, httpfs.access.mode, httpfs.proxyuser.USER.hosts, .groups and .users (surus keys).
Generic options: -D key=value, -conf FILE, -fs URI. The configuration is that of HADOOP_CONF_DIR or --config: core-site.xml,
hdfs-site.xml and httpfs-site.xml.";

/// `surus httpfs ARGUMENTS`.
///
/// # Errors
/// What keeps it from starting.
pub fn run(config: Option<&str>, arguments: &[String]) -> Result<u8> {
    let mut conf = conf_files::load_with(config, SITE_FILE)?;
    let rest = conf_files::take_generic_options(&mut conf, arguments)?;
    match rest.first().map(String::as_str) {
        None => {}
        Some("-help" | "--help" | "-h") => {
            output::print(&format!("{USAGE}\n"));
            return Ok(exit::OK);
        }
        Some(other) => {
            eprintln!("surus: httpfs: unknown option {other}\n{USAGE}");
            return Ok(exit::FAILED);
        }
    }
    daemons::prepare("httpfs", &conf)?;
    let mut signals = Signals::catch()?;
    let httpfs = HttpFs::start(&conf)?;
    tracing::info!(target: "server.HttpFSServerWebServer", "HttpFS up at: {}", httpfs.http_address());
    let signal = signals.wait();
    tracing::error!(target: "server.HttpFSServerWebServer", "{}", signal.log_line());
    httpfs.stop();
    tracing::info!(target: "server.HttpFSServerWebServer", "SHUTDOWN_MSG: Shutting down HttpFSServerWebServer");
    Ok(signal.exit_code())
}
