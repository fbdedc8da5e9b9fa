//! Leases whose holders have been silent for longer than the hard limit: the NameNode takes them over and recovers their
//! files by itself. So it does with recoveries that brought no result in time. Source: `LeaseManager.checkLeases`, Hadoop 3.5.0.

use super::recover_lease::Release;
use crate::Namespace;
use crate::edit_op::EditOp;
use crate::plan::{Env, Operation, Plan, Refusal, SoftEffect};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use surus_types::GenerationStamp;
use surus_types::date::Utc;

/// Files handled in one plan.
const FILES_PER_PLAN: usize = 100;

/// Run by the shell every `dfs.namenode.lease-recheck-interval-ms`. The reply is the number of files it did something for.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeaseExpiry;

impl Operation for LeaseExpiry {
    type Reply = usize;

    fn plan(&self, namespace: &Namespace, env: &Env<'_>) -> Result<Plan<usize>, Refusal> {
        let mut plan = Plan::read(0);
        if namespace.blocks.safe_mode.is_on() {
            return Ok(plan);
        }
        let limit = namespace.blocks.config.lease_hard_limit_ms;
        let holder = internal_holder(env.now_ms);
        let mut next_stamp = namespace.blocks.next_generation_stamp();
        let expired = namespace.leases.hard_expired(env.monotonic_ms, limit);
        let expired = expired.flat_map(|old| namespace.leases.files_of(old)).map(|id| (id, Some(holder.as_str())));
        // Hadoop leaves these to the next limit, or to a client that asks again.
        let overdue = namespace.blocks.overdue_recoveries(env.monotonic_ms).map(|id| (id, None));
        let mut done = BTreeSet::new();
        for (id, new_holder) in expired.chain(overdue) {
            if plan.reply == FILES_PER_PLAN {
                break;
            }
            let Some(file) = namespace.tree.get(id).filter(|_| done.insert(id)) else { continue };
            let Some(path) = namespace.tree.path_of(file) else { continue };
            match namespace.plan_release(env, file, &path, new_holder) {
                Ok(Release::Closed(ops)) => plan.ops.extend(ops),
                Ok(Release::Started { ops, soft }) => {
                    plan.ops.extend(ops.into_iter().map(|op| with_stamp(op, next_stamp)));
                    plan.soft.extend(soft.into_iter().map(|effect| effect_with_stamp(effect, next_stamp)));
                    next_stamp.0 += 1;
                }
                // Nothing can be done for this one now.
                Ok(Release::UnderWay) | Err(_) => continue,
            }
            plan.reply += 1;
        }
        Ok(plan)
    }
}

/// Several recoveries in one plan: each needs its own stamp.
fn with_stamp(op: EditOp, stamp: GenerationStamp) -> EditOp {
    match op {
        EditOp::SetGenstampV2 { .. } => EditOp::SetGenstampV2 { generation_stamp: stamp },
        other => other,
    }
}

fn effect_with_stamp(effect: SoftEffect, stamp: GenerationStamp) -> SoftEffect {
    match effect {
        SoftEffect::StartBlockRecovery { block, truncate_to, .. } => SoftEffect::StartBlockRecovery {
            block,
            recovery_id: stamp,
            truncate_to: truncate_to.map(|to| surus_types::Block { generation_stamp: stamp, ..to }),
        },
        other => other,
    }
}

/// The lease holder that stands for the NameNode: `HDFS_NameNode-2026-11-30 10:52:38,694+0000`.
pub fn internal_holder(now_ms: i64) -> String {
    let Utc { year, month, day, hour, minute, second, millisecond, .. } = Utc::at(now_ms);
    format!("HDFS_NameNode-{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02},{millisecond:03}+0000")
}

#[cfg(test)]
mod tests {
    use super::internal_holder;

    #[test]
    fn the_holder_looks_as_hadoop_logs_it() {
        assert_eq!(internal_holder(1_796_035_958_694), "HDFS_NameNode-2026-11-30 10:52:38,694+0000");
    }
}
