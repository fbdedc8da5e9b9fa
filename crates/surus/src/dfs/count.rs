//! `-count`. Source: `Count.java`, `ContentSummary.java`, `QuotaUsage.java`, Hadoop 3.5.0.

use super::error::{Result, ShellError};
use super::format::CommandFormat;
use super::fs::PathData;
use super::shell::{Command, Shell, process};
use super::show::human_size;
use std::fmt::Write;
use surus_client::{ContentSummary, TypeQuota};
use surus_types::StorageType;

const FORMAT: CommandFormat =
    CommandFormat::new(1, usize::MAX, &["q", "h", "v", "u", "x", "e", "s"]).valued(&["t"]).ignore_unknown();

/// Types that have quotas, in Hadoop's order.
const QUOTA_TYPES: [StorageType; 5] =
    [StorageType::Ssd, StorageType::Disk, StorageType::Archive, StorageType::Provided, StorageType::Nvdimm];

struct Count {
    quotas: bool,
    human: bool,
    usage_only: bool,
    exclude_snapshots: bool,
    ec_policy: bool,
    snapshots: bool,
    /// `-t`: quotas of these types, instead of all others.
    types: Vec<StorageType>,
}

pub fn run(shell: &mut Shell<'_>, arguments: &[String]) -> Result<()> {
    let (types, rest) = take_types(arguments)?;
    let options = FORMAT.parse(&rest)?;
    let usage_only = options.has("u");
    let quotas = options.has("q") || usage_only;
    let mut count = Count {
        quotas,
        human: options.has("h"),
        usage_only,
        exclude_snapshots: options.has("x"),
        ec_policy: options.has("e"),
        snapshots: options.has("s"),
        types: types.filter(|_| quotas).unwrap_or_default(),
    };
    let verbose = options.has("v");
    let mut paths = options.arguments;
    if paths.is_empty() {
        paths.push(".".into());
    }
    if verbose {
        shell.out.line(&format!("{}PATHNAME", count.header()));
    }
    process(&mut count, shell, &paths)
}

/// Takes `-t [types]` out of the options: a list of types may follow, and a path may as well.
fn take_types(arguments: &[String]) -> Result<(Option<Vec<StorageType>>, Vec<String>)> {
    let mut rest = arguments.to_vec();
    let options_end = rest.iter().position(|word| !word.starts_with('-')).unwrap_or(rest.len());
    let Some(at) = rest[..options_end].iter().position(|word| word == "-t") else { return Ok((None, rest)) };
    rest.remove(at);
    let Some(word) = rest.get(at).filter(|word| !word.starts_with('-')) else {
        return Ok((Some(QUOTA_TYPES.to_vec()), rest));
    };
    let names: Vec<String> = word.split(',').map(str::to_ascii_uppercase).collect();
    if names.iter().any(|name| name == "ALL") {
        rest.remove(at);
        return Ok((Some(QUOTA_TYPES.to_vec()), rest));
    }
    let found: Option<Vec<StorageType>> =
        names.iter().map(|name| QUOTA_TYPES.iter().copied().find(|t| t.name() == name)).collect();
    match found {
        Some(types) => {
            rest.remove(at);
            Ok((Some(types), rest))
        }
        // No list of types but a path.
        None if word.contains('/') || word == "." => Ok((Some(QUOTA_TYPES.to_vec()), rest)),
        None => {
            Err(ShellError::Illegal(format!("No enum constant org.apache.hadoop.fs.StorageType.{}", names.join(","))))
        }
    }
}

impl Count {
    fn header(&self) -> String {
        let mut out = String::new();
        if !self.types.is_empty() {
            for storage_type in &self.types {
                let quota = format!("{}_QUOTA", storage_type.name());
                let rest = format!("REM_{}_QUOTA", storage_type.name());
                let _ = write!(out, "{quota:>14} {rest:>18} ");
            }
            return out;
        }
        if self.quotas {
            let _ = write!(out, "{:>12} {:>15} {:>15} {:>15} ", "QUOTA", "REM_QUOTA", "SPACE_QUOTA", "REM_SPACE_QUOTA");
        }
        if !self.usage_only {
            let _ = write!(out, "{:>12} {:>12} {:>18} ", "DIR_COUNT", "FILE_COUNT", "CONTENT_SIZE");
            if self.ec_policy {
                let _ = write!(out, "{:>20} ", "ERASURECODING_POLICY");
            }
            if self.snapshots {
                let _ = write!(
                    out,
                    "{:>18} {:>24} {:>24} {:>28} ",
                    "SNAPSHOT_LENGTH", "SNAPSHOT_FILE_COUNT", "SNAPSHOT_DIR_COUNT", "SNAPSHOT_SPACE_CONSUMED"
                );
            }
        }
        out
    }

    fn number(&self, n: i64) -> String {
        if self.human { human_size(n) } else { n.to_string() }
    }

    fn quota_columns(&self, names: u64, quota: i64, space: u64, space_quota: i64) -> String {
        let pair = |quota: i64, used: u64| match quota {
            q if q >= 0 => (self.number(q), self.number(q - used.cast_signed())),
            _ => ("none".to_string(), "inf".to_string()),
        };
        let ((quota, rest), (space_quota, space_rest)) = (pair(quota, names), pair(space_quota, space));
        format!("{quota:>12} {rest:>15} {space_quota:>15} {space_rest:>15} ")
    }

    fn type_columns(&self, quotas: &[TypeQuota]) -> String {
        let mut out = String::new();
        for wanted in &self.types {
            let quota = quotas.iter().find(|q| q.storage_type == *wanted).filter(|q| q.quota >= 0);
            let (quota, rest) = match quota {
                Some(q) => (self.number(q.quota), self.number(q.quota - q.consumed.cast_signed())),
                None => ("none".to_string(), "inf".to_string()),
            };
            let _ = write!(out, "{quota:>14} {rest:>18} ");
        }
        out
    }

    fn summary_columns(&self, summary: &ContentSummary) -> String {
        let mut out = String::new();
        if self.quotas {
            let names = summary.file_count + summary.directory_count;
            out += &self.quota_columns(names, summary.quota, summary.space_consumed, summary.space_quota);
        }
        let (mut directories, mut files, mut length) = (summary.directory_count, summary.file_count, summary.length);
        if self.exclude_snapshots {
            directories = directories.saturating_sub(summary.snapshot_directory_count);
            files = files.saturating_sub(summary.snapshot_file_count);
            length = length.saturating_sub(summary.snapshot_length);
        }
        let number = |n: u64| self.number(n.cast_signed());
        let _ = write!(out, "{:>12} {:>12} {:>18} ", number(directories), number(files), number(length));
        if self.ec_policy {
            let policy = match summary.ec_policy.as_str() {
                "Replicated" => "Replicated".to_string(),
                policy => format!("EC:{policy}"),
            };
            let _ = write!(out, "{policy:>20} ");
        }
        if self.snapshots {
            let _ = write!(
                out,
                "{:>18} {:>24} {:>24} {:>28} ",
                number(summary.snapshot_length),
                number(summary.snapshot_file_count),
                number(summary.snapshot_directory_count),
                number(summary.snapshot_space_consumed)
            );
        }
        out
    }
}

impl Command for Count {
    fn path(&mut self, shell: &mut Shell<'_>, item: &PathData) -> Result<()> {
        let Some(client) = item.fs.client() else {
            return Err(ShellError::path(&item.text, "-count is for HDFS paths"));
        };
        let columns = if self.usage_only || !self.types.is_empty() {
            let usage = client.get_quota_usage(&item.path)?;
            match self.types.is_empty() {
                false => self.type_columns(&usage.types),
                true => self.quota_columns(
                    usage.file_and_directory_count,
                    usage.quota,
                    usage.space_consumed,
                    usage.space_quota,
                ),
            }
        } else {
            self.summary_columns(&client.get_content_summary(&item.path)?)
        };
        shell.out.line(&format!("{columns}{}", item.text));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count() -> Count {
        Count {
            quotas: false,
            human: false,
            usage_only: false,
            exclude_snapshots: false,
            ec_policy: false,
            snapshots: false,
            types: Vec::new(),
        }
    }

    #[test]
    fn columns_as_hadoop_prints_them() {
        let summary = ContentSummary {
            directory_count: 1,
            file_count: 2,
            length: 49,
            quota: -1,
            space_quota: 100,
            space_consumed: 147,
            ..ContentSummary::default()
        };
        assert_eq!(count().summary_columns(&summary), "           1            2                 49 ");
        let quotas = Count { quotas: true, ..count() };
        assert_eq!(
            quotas.summary_columns(&summary),
            "        none             inf             100             -47            1            2                 49 "
        );
        let policy = Count { ec_policy: true, ..count() };
        assert!(policy.summary_columns(&summary).ends_with("                 EC: "));
        assert_eq!(count().header(), "   DIR_COUNT   FILE_COUNT       CONTENT_SIZE ");
    }

    #[test]
    fn types_are_told_from_paths() {
        let take = |words: &[&str]| take_types(&words.iter().map(|w| w.to_string()).collect::<Vec<_>>());
        assert_eq!(take(&["-q", "-t", "ssd,disk", "/x"]).unwrap().0.unwrap(), [StorageType::Ssd, StorageType::Disk]);
        let (types, rest) = take(&["-q", "-t", "/x"]).unwrap();
        assert_eq!((types.unwrap().len(), rest), (5, vec!["-q".to_string(), "/x".to_string()]));
        assert!(take(&["-t", "floppy", "/x"]).is_err());
    }
}
