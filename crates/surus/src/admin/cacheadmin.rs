//! `surus cacheadmin`. Source: `CacheAdmin.java`, `TableListing.java`, Hadoop 3.5.0.

use super::{Tool, USAGE, answer, pop, pop_switch};
use surus_client::{CacheDirectiveInfo, CacheExpiration, CachePoolInfo, ClientError, DfsClient};
use surus_conf::Configuration;
use surus_types::FsPermission;

/// "Never", in milliseconds from now.
const NEVER_MS: i64 = i64::MAX / 4;

pub const TOOL: Tool = Tool {
    name: "cacheadmin",
    commands: &[
        (
            "-addDirective",
            "-path <path> -pool <pool-name> [-force] [-replication <replication>] [-ttl <time-to-live>]",
            "Add a new cache directive.",
        ),
        (
            "-modifyDirective",
            "-id <id> [-path <path>] [-force] [-replication <replication>] [-pool <pool-name>] [-ttl <time-to-live>]",
            "Modify a cache directive.",
        ),
        ("-listDirectives", "[-stats] [-path <path>] [-pool <pool>] [-id <id>]", "List cache directives."),
        ("-removeDirective", "<id>", "Remove a cache directive."),
        ("-removeDirectives", "-path <path>", "Remove every cache directive with the specified path."),
        (
            "-addPool",
            "<name> [-owner <owner>] [-group <group>] [-mode <mode>] [-limit <limit>] [-defaultReplication \
             <defaultReplication>] [-maxTtl <maxTtl>]",
            "Add a new cache pool.",
        ),
        (
            "-modifyPool",
            "<name> [-owner <owner>] [-group <group>] [-mode <mode>] [-limit <limit>] [-defaultReplication \
             <defaultReplication>] [-maxTtl <maxTtl>]",
            "Modifies the metadata of an existing cache pool. See usage of -addPool for more details.",
        ),
        ("-removePool", "<name>", "Remove a cache pool. This also uncaches paths associated with the pool."),
        (
            "-listPools",
            "[-stats] [<name>]",
            "Display information about one or more cache pools, e.g. name, owner, group.",
        ),
    ],
};

/// What is wrong with a command line.
struct Wrong(String);

impl From<String> for Wrong {
    fn from(text: String) -> Self {
        Wrong(text)
    }
}

/// Runs one command; returns the exit code.
pub fn run(conf: &Configuration, arguments: &[String]) -> i32 {
    let (command, mut rest) = match TOOL.command(arguments) {
        Ok(found) => found,
        Err(code) => return code,
    };
    let client = match DfsClient::from_conf(conf, None) {
        Ok(client) => client,
        Err(error) => return answer(Err(error)),
    };
    let done = match command {
        "-addDirective" => add_directive(&client, &mut rest),
        "-modifyDirective" => modify_directive(&client, &mut rest),
        "-listDirectives" => list_directives(&client, &mut rest),
        "-removeDirective" => remove_directive(&client, &mut rest),
        "-removeDirectives" => remove_directives(&client, &mut rest),
        "-addPool" | "-modifyPool" => put_pool(&client, command, &mut rest),
        "-removePool" => remove_pool(&client, &mut rest),
        _ => list_pools(&client, &mut rest),
    };
    match done {
        Ok(result) => answer(result),
        Err(Wrong(text)) => {
            eprintln!("{text}");
            USAGE
        }
    }
}

type Done = Result<Result<(), ClientError>, Wrong>;

fn none_left(rest: &[String]) -> Result<(), Wrong> {
    match rest.first() {
        Some(word) => Err(Wrong(format!("Can't understand argument: {word}"))),
        None => Ok(()),
    }
}

fn number<N: std::str::FromStr>(text: Option<String>) -> Result<Option<N>, Wrong> {
    let parse = |text: String| text.parse().map_err(|_| Wrong(format!("For input string: \"{text}\"")));
    text.map(parse).transpose()
}

/// `30m`, `4h`, `2d`, `never` as milliseconds. Source: `DFSUtil.parseRelativeTime`, Hadoop 3.5.0.
fn milliseconds(text: &str) -> Result<i64, String> {
    if text.eq_ignore_ascii_case("never") {
        return Ok(NEVER_MS);
    }
    if text.len() < 2 {
        return Err(format!("{text} is too short"));
    }
    let (digits, unit) = text.split_at_checked(text.len() - 1).ok_or_else(|| format!("{text} is not a time"))?;
    let digits: i64 = digits.parse().map_err(|_| format!("{digits} is not a number"))?;
    let unit = match unit {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        other => return Err(format!("unknown time unit {other}")),
    };
    digits.checked_mul(unit).ok_or_else(|| format!("{text} is too long"))
}

fn ttl(rest: &mut Vec<String>) -> Result<Option<CacheExpiration>, Wrong> {
    let Some(text) = pop(rest, "-ttl") else { return Ok(None) };
    let millis = milliseconds(&text).map_err(|e| format!("Error while parsing ttl value: {e}"))?;
    Ok(Some(CacheExpiration { millis, is_relative: true }))
}

/// A path as it is cached: absolute, without `..`.
fn absolute(client: &DfsClient, path: &str) -> String {
    crate::dfs::normalize(path, &client.home_directory())
}

fn add_directive(client: &DfsClient, rest: &mut Vec<String>) -> Done {
    let path = pop(rest, "-path").ok_or_else(|| "You must specify a path with -path.".to_string())?;
    let replication = number::<u32>(pop(rest, "-replication"))?;
    let force = pop_switch(rest, "-force");
    let pool = pop(rest, "-pool").ok_or_else(|| "You must specify a pool name with -pool.".to_string())?;
    let expiration = ttl(rest)?;
    none_left(rest)?;
    let info =
        CacheDirectiveInfo { id: None, path: Some(absolute(client, &path)), replication, pool: Some(pool), expiration };
    Ok(client.add_cache_directive(info, force).map(|id| println!("Added cache directive {id}")))
}

fn modify_directive(client: &DfsClient, rest: &mut Vec<String>) -> Done {
    let id = number::<i64>(pop(rest, "-id"))?.ok_or_else(|| "You must specify a directive ID with -id.".to_string())?;
    let force = pop_switch(rest, "-force");
    let info = CacheDirectiveInfo {
        id: Some(id),
        path: pop(rest, "-path").map(|path| absolute(client, &path)),
        replication: number::<u32>(pop(rest, "-replication"))?,
        pool: pop(rest, "-pool"),
        expiration: ttl(rest)?,
    };
    none_left(rest)?;
    if info.path.is_none() && info.replication.is_none() && info.pool.is_none() && info.expiration.is_none() {
        return Err(Wrong("No modifications were specified.".into()));
    }
    Ok(client.modify_cache_directive(info, force).map(|()| println!("Modified cache directive {id}")))
}

fn remove_directive(client: &DfsClient, rest: &mut Vec<String>) -> Done {
    if rest.is_empty() {
        return Err(Wrong("You must specify a directive ID to remove.".into()));
    }
    let text = rest.remove(0);
    let id = text.parse::<i64>().map_err(|_| format!("Invalid directive ID {text}: expected a positive number."))?;
    if id <= 0 {
        return Err(Wrong(format!("Invalid directive ID {id}: ids must be greater than 0.")));
    }
    none_left(rest)?;
    Ok(client.remove_cache_directive(id).map(|()| println!("Removed cached directive {id}")))
}

fn remove_directives(client: &DfsClient, rest: &mut Vec<String>) -> Done {
    let path = pop(rest, "-path").ok_or_else(|| "You must specify a path with -path.".to_string())?;
    none_left(rest)?;
    let filter = CacheDirectiveInfo { path: Some(absolute(client, &path)), ..CacheDirectiveInfo::default() };
    Ok(client.list_cache_directives(&filter).and_then(|found| {
        for id in found.iter().filter_map(|entry| entry.info.id) {
            client.remove_cache_directive(id)?;
            println!("Removed cache directive {id}");
        }
        println!("Removed every cache directive with path {path}");
        Ok(())
    }))
}

fn list_directives(client: &DfsClient, rest: &mut Vec<String>) -> Done {
    let filter = CacheDirectiveInfo {
        id: number(pop(rest, "-id"))?,
        path: pop(rest, "-path").map(|path| absolute(client, &path)),
        pool: pop(rest, "-pool"),
        ..CacheDirectiveInfo::default()
    };
    let stats = pop_switch(rest, "-stats");
    none_left(rest)?;
    Ok(client.list_cache_directives(&filter).map(|entries| {
        let mut table =
            Table::new(&[("ID", true), ("POOL", false), ("REPL", true), ("EXPIRY", false), ("PATH", false)]);
        if stats {
            table.add(&["BYTES_NEEDED", "BYTES_CACHED", "FILES_NEEDED", "FILES_CACHED"]);
        }
        for entry in &entries {
            let info = &entry.info;
            let mut row = vec![
                info.id().to_string(),
                info.pool().to_string(),
                info.replication().to_string(),
                expiry(info.expiration.map_or(0, |e| e.millis)),
                info.path().to_string(),
            ];
            if stats {
                let s = &entry.stats;
                row.extend([s.bytes_needed, s.bytes_cached, s.files_needed, s.files_cached].map(|n| n.to_string()));
            }
            table.rows.push(row);
        }
        println!("Found {} {}", entries.len(), if entries.len() == 1 { "entry" } else { "entries" });
        if !entries.is_empty() {
            print!("{table}");
        }
    }))
}

/// `2026-11-30T16:12:00+0000`; `never` from far in the future on.
fn expiry(millis: i64) -> String {
    // Half of the longest: what was "never" when it was set stays so.
    if millis >= NEVER_MS / 2 { "never".to_string() } else { crate::local_time::iso(millis) }
}

fn put_pool(client: &DfsClient, command: &str, rest: &mut Vec<String>) -> Done {
    let mode = pop(rest, "-mode");
    let mode = mode.map(|text| match u16::from_str_radix(&text, 8) {
        Ok(bits) => Ok(i32::from(bits)),
        Err(_) => Err(format!("Invalid mode {text}")),
    });
    let max_ttl = pop(rest, "-maxTtl")
        .map(|text| milliseconds(&text).map_err(|e| format!("Error while parsing maxTtl value: {e}")));
    let limit = pop(rest, "-limit").map(|text| match text.eq_ignore_ascii_case("unlimited") {
        true => Ok(i64::MAX),
        false => text.parse::<i64>().map_err(|_| format!("For input string: \"{text}\"")),
    });
    let mut info = CachePoolInfo {
        owner_name: pop(rest, "-owner"),
        group_name: pop(rest, "-group"),
        mode: mode.transpose()?,
        limit: limit.transpose()?,
        max_relative_expiry: max_ttl.transpose()?,
        default_replication: number(pop(rest, "-defaultReplication"))?,
        pool_name: None,
    };
    if rest.is_empty() {
        let what = if command == "-addPool" { "creating" } else { "modifying" };
        return Err(Wrong(format!("You must specify a name when {what} a pool.")));
    }
    let name = rest.remove(0);
    none_left(rest)?;
    info.pool_name = Some(name.clone());
    Ok(match command {
        "-addPool" => client.add_cache_pool(info).map(|()| println!("Successfully added cache pool {name}.")),
        _ => client.modify_cache_pool(info).map(|()| println!("Successfully modified cache pool {name}.")),
    })
}

fn remove_pool(client: &DfsClient, rest: &mut Vec<String>) -> Done {
    if rest.is_empty() {
        return Err(Wrong("You must specify a name when deleting a cache pool.".into()));
    }
    let name = rest.remove(0);
    none_left(rest)?;
    Ok(client.remove_cache_pool(&name).map(|()| println!("Successfully removed cache pool {name}.")))
}

fn list_pools(client: &DfsClient, rest: &mut Vec<String>) -> Done {
    let stats = pop_switch(rest, "-stats");
    let wanted = if rest.is_empty() { None } else { Some(rest.remove(0)) };
    none_left(rest)?;
    Ok(client.list_cache_pools().map(|pools| {
        let mut table = Table::new(&[
            ("NAME", false),
            ("OWNER", false),
            ("GROUP", false),
            ("MODE", false),
            ("LIMIT", true),
            ("MAXTTL", true),
            ("DEFAULT_REPLICATION", true),
        ]);
        if stats {
            table.add(&["BYTES_NEEDED", "BYTES_CACHED", "BYTES_OVERLIMIT", "FILES_NEEDED", "FILES_CACHED"]);
        }
        let shown = pools.iter().filter(|p| wanted.as_deref().is_none_or(|name| p.info.pool_name() == name));
        for pool in shown {
            let info = &pool.info;
            let mode = info.mode.map(|mode| FsPermission(mode as u16).to_string());
            let limit = info.limit.map(|n| if n == i64::MAX { "unlimited".to_string() } else { n.to_string() });
            let ttl =
                info.max_relative_expiry.map(|ms| if ms == NEVER_MS { "never".to_string() } else { duration(ms) });
            let mut row = vec![
                info.pool_name().to_string(),
                info.owner_name.clone().unwrap_or_default(),
                info.group_name.clone().unwrap_or_default(),
                mode.unwrap_or_default(),
                limit.unwrap_or_default(),
                ttl.unwrap_or_default(),
                info.default_replication().to_string(),
            ];
            if stats {
                let s = &pool.stats;
                let numbers = [s.bytes_needed, s.bytes_cached, s.bytes_overlimit, s.files_needed, s.files_cached];
                row.extend(numbers.map(|n| n.to_string()));
            }
            table.rows.push(row);
        }
        let count = table.rows.len();
        println!("Found {count} result{}.", if count == 1 { "" } else { "s" });
        if count > 0 {
            print!("{table}");
        }
    }))
}

/// `001:02:03:04.000`: days, hours, minutes, seconds. Source: `DFSUtil.durationToString`, Hadoop 3.5.0.
fn duration(ms: i64) -> String {
    let seconds = ms / 1000;
    format!(
        "{:03}:{:02}:{:02}:{:02}.{:03}",
        seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        ms % 1000
    )
}

/// Columns as wide as their widest entry, one blank apart. Source: `TableListing.java`, Hadoop 3.5.0.
struct Table {
    /// Title, and whether entries stand on the right.
    columns: Vec<(String, bool)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(columns: &[(&str, bool)]) -> Self {
        Table { columns: columns.iter().map(|(title, right)| (title.to_string(), *right)).collect(), rows: Vec::new() }
    }
    fn add(&mut self, titles: &[&str]) {
        self.columns.extend(titles.iter().map(|title| (title.to_string(), true)));
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let titles: Vec<String> = self.columns.iter().map(|(title, _)| title.clone()).collect();
        let widest = |i: usize| self.rows.iter().chain([&titles]).map(|row| row[i].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(widest).collect();
        for row in [&titles].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (i, text) in row.iter().enumerate() {
                let width = widths[i];
                line += &if self.columns[i].1 { format!("{text:>width$} ") } else { format!("{text:<width$} ") };
            }
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(milliseconds("2d"), Ok(172_800_000));
        assert_eq!(milliseconds("Never"), Ok(NEVER_MS));
        assert!(milliseconds("5").is_err() && milliseconds("5y").is_err() && milliseconds("é").is_err());
        assert_eq!(duration(93_784_005), "001:02:03:04.005");
    }

    #[test]
    fn tables() {
        let mut table = Table::new(&[("ID", true), ("POOL", false)]);
        table.rows.push(vec!["12".into(), "pool1".into()]);
        table.rows.push(vec!["3".into(), "p".into()]);
        assert_eq!(table.to_string(), "ID POOL  \n12 pool1 \n 3 p     \n");
    }
}
