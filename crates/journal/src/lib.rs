//! Edits and fsimage in Hadoop's formats: encode, decode, segments, group commit, roll, checkpoint, start-up.
//! Touches files only through `disk`, and knows no socket, no clock and no configuration file.
#![forbid(unsafe_code)]

pub mod ops;
