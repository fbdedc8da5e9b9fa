//! The client against a scripted NameNode and scripted DataNodes: what it does when they fail.

mod failover;
mod fake_datanode;
mod fake_namenode;
mod reading;
mod writing;
