//! The binary as a user meets it: its words, its exit codes, its daemons as processes.

mod command_line;
mod daemons;
mod damage;
mod encryption;
mod full_disk;
mod kill;
mod launcher;
mod server;
mod viewers;
