//! `surus version`, and what `hdfs version` prints.

/// The Hadoop release whose protocols and formats this build speaks.
pub const HADOOP_VERSION: &str = "3.5.0";

/// `surus 0.1.0 (speaks HDFS as Hadoop 3.5.0)`.
pub fn short() -> String {
    format!("surus {} (speaks HDFS as Hadoop {HADOOP_VERSION})", env!("CARGO_PKG_VERSION"))
}

/// In the form of `hadoop version`: scripts read the word behind `Hadoop ` in the first line.
pub fn hadoop_form() -> String {
    format!("Hadoop {HADOOP_VERSION}\nThis command was run using {}\n", short())
}
