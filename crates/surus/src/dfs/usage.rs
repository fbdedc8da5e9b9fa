//! The commands with their options, as `-usage` and every complaint about the command line print them, and `-help`.

/// One command.
pub struct CommandRow {
    /// Without the dash.
    pub name: &'static str,
    pub usage: &'static str,
    /// A sentence, then one line an option.
    pub help: &'static str,
}

/// In the order in which Hadoop 3.5.0 prints them. Source: output of `hadoop fs -usage`.
pub const COMMANDS: &[CommandRow] = &[
    CommandRow {
        name: "appendToFile",
        usage: "[-n] <localsrc> ... <dst>",
        help: "Appends local files (or standard input, -) to a file, which is created if absent.\n-n  starts a new block",
    },
    CommandRow {
        name: "cat",
        usage: "[-ignoreCrc] <src> ...",
        help: "Prints files.\n-ignoreCrc  skips the verification of checksums",
    },
    CommandRow {
        name: "checksum",
        usage: "[-v] <src> ...",
        help: "Prints the checksum of files.\n-v  with the block size",
    },
    CommandRow {
        name: "chgrp",
        usage: "[-R] GROUP PATH...",
        help: "Changes the group of files; the caller has to own them.\n-R  with everything below",
    },
    CommandRow {
        name: "chmod",
        usage: "[-R] <MODE[,MODE]... | OCTALMODE> PATH...",
        help: "Changes the mode of files: octal (755, 1777) or letters (u+x,g-w, a+X, +t).\n-R  with everything below",
    },
    CommandRow {
        name: "chown",
        usage: "[-R] [OWNER][:[GROUP]] PATH...",
        help: "Changes owner and group of files.\n-R  with everything below",
    },
    CommandRow {
        name: "concat",
        usage: "<target path> <src path> <src path> ...",
        help: "Moves the blocks of the sources to the end of the target.",
    },
    CommandRow {
        name: "copyFromLocal",
        usage: "[-f] [-p] [-l] [-d] [-t <thread count>] [-q <thread pool queue size>] <localsrc> ... <dst>",
        help: "Same as -put.",
    },
    CommandRow {
        name: "copyToLocal",
        usage: "[-f] [-p] [-crc] [-ignoreCrc] [-t <thread count>] [-q <thread pool queue size>] <src> ... <localdst>",
        help: "Same as -get.",
    },
    CommandRow {
        name: "count",
        usage: "[-q] [-h] [-v] [-t [<storage type>]] [-u] [-x] [-e] [-s] <path> ...",
        help: "Counts directories, files and bytes below paths.\n-q  with quotas\n-u  quotas and use only\n-t  quotas of storage types\n-h  sizes with units\n-v  a header line\n-x  without snapshots\n-s  with the snapshots' share\n-e  with the erasure coding policy",
    },
    CommandRow {
        name: "cp",
        usage: "[-f] [-p | -p[topax]] [-d] [-t <thread count>] [-q <thread pool queue size>] <src> ... <dst>",
        help: "Copies files and directories.\n-f  replaces what is there\n-p  keeps times, owner and mode; letters choose: t times, o owner, p mode, a ACL, x attributes\n-d  writes under the final name at once\n-t, -q  accepted; copies are made one after another",
    },
    CommandRow {
        name: "createSnapshot",
        usage: "<snapshotDir> [<snapshotName>]",
        help: "Makes a snapshot of a directory.",
    },
    CommandRow {
        name: "deleteSnapshot",
        usage: "<snapshotDir> <snapshotName>",
        help: "Deletes a snapshot of a directory.",
    },
    CommandRow {
        name: "df",
        usage: "[-h] [<path> ...]",
        help: "Shows capacity, use and free space of the file system.\n-h  sizes with units",
    },
    CommandRow {
        name: "du",
        usage: "[-s] [-h] [-v] [-x] <path> ...",
        help: "Shows the bytes below paths, and with all replicas.\n-s  one total for each path\n-h  sizes with units\n-v  a header line\n-x  without snapshots",
    },
    CommandRow {
        name: "expunge",
        usage: "[-immediate] [-fs <path>]",
        help: "Deletes old checkpoints of the trash and makes a new one.\n-immediate  empties the trash\n-fs  of this file system",
    },
    CommandRow {
        name: "find",
        usage: "<path> ... <expression> ...",
        help: "Prints what is below paths and passes the expression.\n-name PATTERN, -iname PATTERN  the name matches (-iname: in any case)\n-print, -print0  prints the path, ended by a line end or a zero byte\n-a, -and  both sides pass (also without a word between them)",
    },
    CommandRow {
        name: "get",
        usage: "[-f] [-p] [-crc] [-ignoreCrc] [-t <thread count>] [-q <thread pool queue size>] <src> ... <localdst>",
        help: "Copies files to the local file system.\n-f  replaces what is there\n-p  keeps times, owner and mode\n-crc  writes checksum files as well\n-ignoreCrc  skips the verification of checksums\n-t, -q  accepted; copies are made one after another",
    },
    CommandRow { name: "getfacl", usage: "[-R] <path>", help: "Shows the ACLs of files." },
    CommandRow {
        name: "getfattr",
        usage: "[-R] {-n name | -d} [-e en] <path>",
        help: "Shows the extended attributes of files.",
    },
    CommandRow {
        name: "getmerge",
        usage: "[-nl] [-skip-empty-file] <src> <localdst>",
        help: "Joins the files of a directory into one local file.\n-nl  a line end after each file\n-skip-empty-file  but none for an empty one",
    },
    CommandRow { name: "head", usage: "<file>", help: "Prints the first kilobyte of a file." },
    CommandRow { name: "help", usage: "[cmd ...]", help: "Explains all commands, or the given ones." },
    CommandRow {
        name: "ls",
        usage: "[-C] [-d] [-h] [-q] [-R] [-t] [-S] [-r] [-u] [-e] [<path> ...]",
        help: "Lists directories: mode, replication, owner, group, size, time, path.\n-C  paths only\n-d  directories as plain files\n-h  sizes with units\n-q  ? for characters that cannot be printed\n-R  with everything below\n-t  newest first\n-S  largest first\n-r  in reverse\n-u  times of the last access\n-e  with the erasure coding policy",
    },
    CommandRow {
        name: "mkdir",
        usage: "[-p] <path> ...",
        help: "Makes directories.\n-p  with their parents; existing ones are fine",
    },
    CommandRow {
        name: "moveFromLocal",
        usage: "[-f] [-p] [-l] [-d] <localsrc> ... <dst>",
        help: "As -put, and the local files are deleted.",
    },
    CommandRow { name: "moveToLocal", usage: "<src> <localdst>", help: "Not implemented, as in Hadoop." },
    CommandRow { name: "mv", usage: "<src> ... <dst>", help: "Renames files and directories within one file system." },
    CommandRow {
        name: "put",
        usage: "[-f] [-p] [-l] [-d] [-t <thread count>] [-q <thread pool queue size>] <localsrc> ... <dst>",
        help: "Copies local files (or standard input, -) to the file system.\n-f  replaces what is there\n-p  keeps times, owner and mode\n-l  one replica in memory that reaches the disk later\n-d  writes under the final name at once\n-t, -q  accepted; copies are made one after another",
    },
    CommandRow {
        name: "renameSnapshot",
        usage: "<snapshotDir> <oldName> <newName>",
        help: "Renames a snapshot of a directory.",
    },
    CommandRow {
        name: "rm",
        usage: "[-f] [-r|-R] [-skipTrash] [-safely] <src> ...",
        help: "Deletes files, by way of the trash where that is on.\n-f  missing paths are fine\n-r, -R  directories with everything below\n-skipTrash  at once\n-safely  asks before a large directory goes",
    },
    CommandRow {
        name: "rmdir",
        usage: "[--ignore-fail-on-non-empty] <dir> ...",
        help: "Deletes empty directories.\n--ignore-fail-on-non-empty  others stay without a word",
    },
    CommandRow {
        name: "setfacl",
        usage: "[-R] [{-b|-k} {-m|-x <acl_spec>} <path>]|[--set <acl_spec> <path>]",
        help: "Changes the ACLs of files.",
    },
    CommandRow {
        name: "setfattr",
        usage: "{-n name [-v value] | -x name} <path>",
        help: "Changes the extended attributes of files.",
    },
    CommandRow {
        name: "setrep",
        usage: "[-R] [-w] <rep> <path> ...",
        help: "Changes the number of replicas of files, of a directory: of all below it.\n-w  waits until it is so\n-R  accepted, without effect",
    },
    CommandRow {
        name: "stat",
        usage: "[format] <path> ...",
        help: "Prints what is known of files. Format: %a mode in octal, %A in letters, %b bytes, %F type, %g group, %n name, %o block size, %r replicas, %u owner, %x and %y times of access and change (UTC), %X and %Y in milliseconds.",
    },
    CommandRow {
        name: "tail",
        usage: "[-f] [-s <sleep interval>] <file>",
        help: "Prints the last kilobyte of a file.\n-f  and what is appended\n-s  milliseconds between looks",
    },
    CommandRow {
        name: "test",
        usage: "-[defswrz] <path>",
        help: "Answers with the exit code: 0 yes, 1 no.\n-e  exists\n-d  is a directory\n-f  is a file\n-s  is not empty\n-z  is empty\n-r  may be read\n-w  may be written",
    },
    CommandRow {
        name: "text",
        usage: "[-ignoreCrc] <src> ...",
        help: "Prints files as text: decompressed (gzip, deflate, bzip2, zstd, lz4, snappy), records of SequenceFiles and Avro files a line each.\n-ignoreCrc  skips the verification of checksums",
    },
    CommandRow {
        name: "touch",
        usage: "[-a] [-m] [-t TIMESTAMP (yyyyMMdd:HHmmss) ] [-c] <path> ...",
        help: "Sets the times of files; missing ones are created empty.\n-a  of access only\n-m  of change only\n-t  to this time instead of now\n-c  creates nothing",
    },
    CommandRow { name: "touchz", usage: "<path> ...", help: "Creates empty files." },
    CommandRow {
        name: "truncate",
        usage: "[-w] <length> <path> ...",
        help: "Cuts files to a length.\n-w  waits until the last block is cut",
    },
    CommandRow { name: "usage", usage: "[cmd ...]", help: "Shows the options of all commands, or the given ones." },
];

/// Options before the command. Source: output of `hadoop fs -usage`.
const GENERIC_OPTIONS: &str = "\
Generic options supported are:
-conf <configuration file>        specify an application configuration file
-D <property=value>               define a value for a given property
-fs <file:///|hdfs://namenode:port> specify default filesystem URL to use, overrides 'fs.defaultFS' property from configurations.
-jt <local|resourcemanager:port>  specify a ResourceManager
-files <file1,...>                specify a comma-separated list of files to be copied to the map reduce cluster
-libjars <jar1,...>               specify a comma-separated list of jar files to be included in the classpath
-archives <archive1,...>          specify a comma-separated list of archives to be unarchived on the compute machines

The general command line syntax is:
command [genericOptions] [commandOptions]

";

const PREFIX: &str = "Usage: hadoop fs [generic options]";

/// The row of a command; both names of a command have one.
pub fn find(name: &str) -> Option<&'static CommandRow> {
    COMMANDS.iter().find(|row| row.name == name)
}

/// All commands, a line each.
pub fn all() -> String {
    all_commands_only() + "\n" + GENERIC_OPTIONS
}

/// The usage of one command.
pub fn one(row: &CommandRow) -> String {
    format!("{PREFIX} -{} {}\n", row.name, row.usage)
}

/// What `-help` says of one command.
pub fn help(row: &CommandRow) -> String {
    let mut out = format!("-{} {} :\n", row.name, row.usage);
    for (i, line) in row.help.lines().enumerate() {
        out += if i == 0 { "  " } else { "    " };
        out += line;
        out.push('\n');
    }
    out
}

/// What `-help` says without a name.
pub fn help_all() -> String {
    let commands: Vec<String> = COMMANDS.iter().map(help).collect();
    all_commands_only() + "\n" + &commands.join("\n") + "\n" + GENERIC_OPTIONS
}

fn all_commands_only() -> String {
    let mut out = format!("{PREFIX}\n");
    for row in COMMANDS {
        out += &format!("\t[-{} {}]\n", row.name, row.usage);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_line_and_a_sentence() {
        assert!(COMMANDS.iter().all(|row| !row.help.is_empty()));
        assert!(all().starts_with("Usage: hadoop fs [generic options]\n\t[-appendToFile [-n] <localsrc> ... <dst>]\n"));
        assert_eq!(one(find("touchz").unwrap()), "Usage: hadoop fs [generic options] -touchz <path> ...\n");
        assert!(help(find("ls").unwrap()).contains("    -C  paths only\n"));
    }
}
