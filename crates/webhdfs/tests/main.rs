//! WebHDFS parsing and JSON against what real Hadoop 3.5.0 answered.

mod json;
mod parsing;
