//! Tests of the journal against bytes that a real NameNode wrote, against crashes and against damage.

mod common;
mod crash;
mod damage;
mod fuzz;
mod golden;
mod images;
mod lifecycle;
mod load;
mod ops;
mod received;
mod upgrade;
