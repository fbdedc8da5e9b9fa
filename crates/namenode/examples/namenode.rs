//! A NameNode on the configuration in the directory that HADOOP_CONF_DIR names, until it is killed; with `-format`, its
//! name directories are made anew.

use surus_conf::Configuration;
use surus_namenode::{NameNode, NameNodeOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::var("HADOOP_CONF_DIR")?;
    let mut texts = Vec::new();
    for file in surus_conf::SITE_FILES {
        if let Ok(text) = std::fs::read_to_string(format!("{dir}/{file}")) {
            texts.push((file, text));
        }
    }
    let conf = Configuration::from_texts(texts)?;
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    if std::env::args().any(|a| a == "-format") {
        surus_namenode::format(&conf, "root", None)?;
        return Ok(());
    }
    let options = NameNodeOptions { user: "root".to_owned(), ..NameNodeOptions::default() };
    let namenode = NameNode::start(&conf, options)?;
    println!("RPC on {}", namenode.rpc_address());
    loop {
        std::thread::park();
    }
}
