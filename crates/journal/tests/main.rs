//! Tests of the journal against bytes that a real NameNode wrote, against crashes and against damage.

mod golden;
mod ops;
