//! Tests over several crates.

mod fuzz;
