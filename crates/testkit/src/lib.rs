//! What tests of whole daemons share. Never a normal dependency.

pub mod fuzz;
