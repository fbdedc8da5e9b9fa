//! Who a connection's calls are made by: user, groups, superuser or not. Kept for each connection and thread for a
//! second, so that an ordinary call pays no lock for it.

use std::cell::RefCell;
use std::sync::Arc;
use surus_net::groups::{GroupList, Groups, Waiter};
use surus_net::rpc::ConnectionInfo;
use surus_types::Caller;

use crate::clock::Clock;

/// Connections remembered by each thread.
const SLOTS: usize = 64;
/// How long a thread keeps a caller before it asks the group cache again.
const KEEP_MS: u64 = 1_000;

struct Slot {
    /// Also keeps the address from being used by another connection.
    connection: Arc<ConnectionInfo>,
    caller: Arc<Caller>,
    until_ms: u64,
    epoch: u64,
}

thread_local! {
    static SLOTS_OF_THREAD: RefCell<[Option<Slot>; SLOTS]> = const { RefCell::new([const { None }; SLOTS]) };
}

/// Makes callers of connections.
pub struct Callers {
    groups: Arc<Groups>,
    clock: Clock,
    /// The user that runs the NameNode.
    process_user: Arc<str>,
    /// `dfs.permissions.superusergroup`.
    supergroup: Arc<str>,
}

impl Callers {
    pub fn new(groups: Arc<Groups>, clock: Clock, process_user: Arc<str>, supergroup: Arc<str>) -> Self {
        Callers { groups, clock, process_user, supergroup }
    }

    pub fn groups(&self) -> &Arc<Groups> {
        &self.groups
    }

    /// The caller behind a connection; `None` where the user's groups must be looked up first: `waiter()` is then called
    /// with them.
    pub fn get(&self, connection: &Arc<ConnectionInfo>, waiter: impl FnOnce() -> Waiter) -> Option<Arc<Caller>> {
        let (now_ms, epoch) = (self.clock.monotonic_ms(), self.groups.epoch());
        let index = (Arc::as_ptr(connection) as usize >> 6) % SLOTS;
        let known = SLOTS_OF_THREAD.with_borrow(|slots| {
            let slot = slots[index].as_ref()?;
            let fresh = Arc::ptr_eq(&slot.connection, connection) && now_ms < slot.until_ms && slot.epoch == epoch;
            fresh.then(|| Arc::clone(&slot.caller))
        });
        if known.is_some() {
            return known;
        }
        let groups = self.groups.get(&connection.user, now_ms, waiter)?;
        let caller = self.with_groups(connection, groups);
        let slot =
            Slot { connection: Arc::clone(connection), caller: Arc::clone(&caller), until_ms: now_ms + KEEP_MS, epoch };
        SLOTS_OF_THREAD.with_borrow_mut(|slots| slots[index] = Some(slot));
        Some(caller)
    }

    /// The caller behind a connection, whose user is in `groups`.
    pub fn with_groups(&self, connection: &ConnectionInfo, groups: GroupList) -> Arc<Caller> {
        let real_user = connection.real_user.clone().filter(|real| *real != connection.user);
        Arc::new(self.caller(Arc::clone(&connection.user), real_user, groups, Arc::clone(&connection.address)))
    }

    pub fn caller(&self, user: Arc<str>, real_user: Option<Arc<str>>, groups: GroupList, address: Arc<str>) -> Caller {
        let is_superuser = user == self.process_user || groups.contains(&self.supergroup);
        Caller { user, real_user, groups, is_superuser, address }
    }
}
