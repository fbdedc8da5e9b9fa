//! Tests of `wire` against bytes recorded from real Hadoop and its clients, and against random bytes.

mod captures;
mod data_transfer;
mod encoders;
mod hostile;
mod session;
mod unknown_fields;
