//! The binary as a user meets it: its words, its exit codes, its daemons as processes.

mod command_line;
mod daemons;
mod damage;
mod damaged_views;
mod encryption;
mod full_disk;
mod hostile;
mod kill;
mod launcher;
mod ports;
mod server;
mod viewers;
