//! Groups of a user, from the system as Hadoop's shell mapping asks it, cached; one look-up per user in flight, and
//! never on a thread that serves requests. Servers ask it who a caller is.
//! Source: `Groups.java`, `ShellBasedUnixGroupsMapping.java`, Hadoop 3.5.0.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use surus_conf::{ConfError, Configuration, keys};

/// The groups of one user, primary group first.
pub type GroupList = Arc<[Arc<str>]>;

/// Called with the groups once a look-up has ended.
pub type Waiter = Box<dyn FnOnce(GroupList) + Send>;

/// Starts a look-up on a thread that may block.
pub type Spawner = Box<dyn Fn(Box<dyn FnOnce() + Send>) + Send + Sync>;

/// How many users are remembered; past it the whole cache is dropped, which costs one look-up each.
const USERS_MAX: usize = 100_000;

/// The longest that `get_blocking` waits; after it the user has no groups for this once.
const BLOCKING_MAX: Duration = Duration::from_secs(10);

/// A user's groups are served this many times longer than they are fresh, while a new look-up runs.
/// Source: `Groups.java` (`expireAfterWrite(10 * cacheTimeout)`), Hadoop 3.5.0.
const STALE_FACTOR: u64 = 10;

/// How long groups are remembered. Milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct GroupTimes {
    /// `hadoop.security.groups.cache.secs`.
    pub cache_ms: u64,
    /// `hadoop.security.groups.negative-cache.secs`.
    pub negative_ms: u64,
}

impl GroupTimes {
    /// # Errors
    /// A value that its key does not allow.
    pub fn from_conf(conf: &Configuration) -> Result<Self, ConfError> {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Ok(GroupTimes {
            cache_ms: ms(conf.get(keys::HADOOP_SECURITY_GROUPS_CACHE_SECS)?),
            negative_ms: ms(conf.get(keys::HADOOP_SECURITY_GROUPS_NEGATIVE_CACHE_SECS)?),
        })
    }
}

#[derive(Default)]
struct Entry {
    groups: Option<GroupList>,
    fresh_until_ms: u64,
    loading: bool,
    waiters: Vec<Waiter>,
}

/// The user-to-groups mapping of a server.
pub struct Groups {
    times: GroupTimes,
    /// `hadoop.user.group.static.mapping.overrides`: these users are never looked up.
    overrides: HashMap<Arc<str>, GroupList>,
    entries: Mutex<HashMap<Arc<str>, Entry>>,
    epoch: AtomicU64,
    spawn: Spawner,
    lookup: fn(&str) -> GroupList,
}

impl Groups {
    pub fn new(times: GroupTimes, overrides: &str, spawn: Spawner) -> Arc<Self> {
        Self::with_lookup(times, overrides, spawn, lookup_system)
    }

    fn with_lookup(times: GroupTimes, overrides: &str, spawn: Spawner, lookup: fn(&str) -> GroupList) -> Arc<Self> {
        let overrides = parse_overrides(overrides);
        Arc::new(Groups { times, overrides, entries: Mutex::default(), epoch: AtomicU64::new(0), spawn, lookup })
    }

    /// The groups of `user` if they are known now; otherwise `None`, a look-up runs, and the value of `waiter()` is
    /// called when it has ended. `now_ms` is monotonic.
    pub fn get(self: &Arc<Self>, user: &Arc<str>, now_ms: u64, waiter: impl FnOnce() -> Waiter) -> Option<GroupList> {
        if let Some(groups) = self.overrides.get(user) {
            return Some(Arc::clone(groups));
        }
        let mut entries = self.entries.lock();
        if entries.len() > USERS_MAX {
            entries.retain(|_, e| e.loading);
        }
        let entry = entries.entry(Arc::clone(user)).or_default();
        let stale_until = entry.fresh_until_ms.saturating_add(self.times.cache_ms * (STALE_FACTOR - 1));
        let known =
            entry.groups.clone().filter(|g| now_ms < if g.is_empty() { entry.fresh_until_ms } else { stale_until });
        let must_load = !entry.loading && (known.is_none() || now_ms >= entry.fresh_until_ms);
        if known.is_none() {
            entry.waiters.push(waiter());
        }
        entry.loading |= must_load;
        drop(entries);
        if must_load {
            let (groups, user) = (Arc::clone(self), Arc::clone(user));
            (self.spawn)(Box::new(move || groups.load(user, now_ms)));
        }
        known
    }

    /// The groups of `user`, waited for on this thread of a multi-threaded runtime where they are not known.
    pub fn get_blocking(self: &Arc<Self>, user: &Arc<str>, now_ms: u64) -> GroupList {
        let (sender, receiver) = mpsc::channel();
        let waiter = || -> Waiter { Box::new(move |groups| drop(sender.send(groups))) };
        self.get(user, now_ms, waiter).unwrap_or_else(|| {
            tokio::task::block_in_place(|| receiver.recv_timeout(BLOCKING_MAX).unwrap_or_else(|_| Arc::from([])))
        })
    }

    /// Rises whenever everything was forgotten, so that those who keep groups know when to ask again.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Forgets everything (`dfsadmin -refreshUserToGroupsMappings`); look-ups in flight go on.
    pub fn refresh(&self) {
        self.epoch.fetch_add(1, Ordering::Relaxed);
        self.entries.lock().retain(|_, e| {
            e.groups = None;
            e.loading
        });
    }

    fn load(&self, user: Arc<str>, started_ms: u64) {
        let groups = (self.lookup)(&user);
        let lives = if groups.is_empty() { self.times.negative_ms } else { self.times.cache_ms };
        let waiters = {
            let mut entries = self.entries.lock();
            let entry = entries.entry(user).or_default();
            entry.groups = Some(Arc::clone(&groups));
            entry.fresh_until_ms = started_ms + lives;
            entry.loading = false;
            std::mem::take(&mut entry.waiters)
        };
        for waiter in waiters {
            waiter(Arc::clone(&groups));
        }
    }
}

/// `user1=group1,group2;user2=;...`. Source: `Groups.parseStaticMapping`, Hadoop 3.5.0.
fn parse_overrides(text: &str) -> HashMap<Arc<str>, GroupList> {
    text.split(';')
        .filter_map(|mapping| {
            let (user, groups) = mapping.split_once('=').unwrap_or((mapping, ""));
            let groups = groups.split(',').map(str::trim).filter(|g| !g.is_empty()).map(Arc::from).collect();
            (!user.trim().is_empty()).then(|| (Arc::from(user.trim()), groups))
        })
        .collect()
}

/// Asks the system by `id -Gn`, which goes through nsswitch as Hadoop's own shell command does. An unknown user has no
/// groups, which is no error.
fn lookup_system(user: &str) -> GroupList {
    let output = Command::new("id").args(["-Gn", "--", user]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).split_whitespace().map(Arc::from).collect()
        }
        Ok(_) => Arc::from([]),
        Err(error) => {
            tracing::warn!("cannot run `id` to learn the groups of user {user}: {error}");
            Arc::from([])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    static LOOKUPS: AtomicUsize = AtomicUsize::new(0);

    fn fake(user: &str) -> GroupList {
        LOOKUPS.fetch_add(1, Ordering::SeqCst);
        if user == "nobody" { Arc::from([]) } else { Arc::from([Arc::from(user), Arc::from("users")]) }
    }

    #[test]
    fn one_lookup_serves_all_who_wait_and_then_the_cache_serves() {
        type Job = Box<dyn FnOnce() + Send>;
        let jobs: Arc<Mutex<Vec<Job>>> = Arc::default();
        let queue = Arc::clone(&jobs);
        let times = GroupTimes { cache_ms: 300_000, negative_ms: 30_000 };
        let groups = Groups::with_lookup(times, "dr.who=;bob=a, b", Box::new(move |job| queue.lock().push(job)), fake);
        let unwanted = || -> Waiter { Box::new(|_| panic!("answered from the cache")) };
        let names = |list: GroupList| list.iter().map(|g| g.to_string()).collect::<Vec<_>>().join(" ");

        assert_eq!(names(groups.get(&"bob".into(), 0, unwanted).unwrap()), "a b");
        assert_eq!(names(groups.get(&"dr.who".into(), 0, unwanted).unwrap()), "");

        let answered = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let answered = Arc::clone(&answered);
            let waiter = || -> Waiter {
                Box::new(move |_| {
                    answered.fetch_add(1, Ordering::SeqCst);
                })
            };
            assert!(groups.get(&"alice".into(), 0, waiter).is_none());
        }
        assert_eq!(jobs.lock().len(), 1);
        let job = jobs.lock().pop().unwrap();
        job();
        assert_eq!((answered.load(Ordering::SeqCst), LOOKUPS.load(Ordering::SeqCst)), (3, 1));
        assert_eq!(names(groups.get(&"alice".into(), 299_999, unwanted).unwrap()), "alice users");
        assert!(jobs.lock().is_empty());

        // Stale groups are served while one look-up renews them.
        for _ in 0..2 {
            assert_eq!(names(groups.get(&"alice".into(), 300_000, unwanted).unwrap()), "alice users");
        }
        assert_eq!(jobs.lock().len(), 1);
    }

    #[test]
    fn the_system_knows_root() {
        assert_eq!(lookup_system("root").first().map(|g| &**g), Some("root"));
        assert!(lookup_system("no-such-user-here").is_empty());
    }
}
