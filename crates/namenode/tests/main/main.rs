//! A NameNode in this process, asked over its real doors.

mod checkpoints;
mod cluster;
mod datanodes;
mod doors;
mod durability;
mod encryption;
mod jmx;
mod methods;
mod people;
mod reports;
mod upkeep;
