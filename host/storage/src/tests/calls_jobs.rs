//! Runs every statement on jobs and hosts.

use std::collections::BTreeSet;

use anyhow::Result;
use base::clock::Entropy;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::hosts::{self, Host};
use crate::job_admin::{self, JobFilter};
use crate::job_claims;
use crate::job_lists::{self, JobPosition};
use crate::jobs::{self, Busy, Claim, End, Fence, NewJob};
use crate::locked::ConnectionLock;
use crate::lost_jobs;
use crate::outbox;
use crate::tests::seed::START_MS;
use crate::wakes::JobClass;

/// Jobs of the seed are due from its start on, one each minute.
const NOON: i64 = START_MS + 50_000 * 60_000;

/// Everything, once.
pub async fn all(db: &Db) -> Result<()> {
    let reader = db.reader();
    let busy = Busy {
        pool: Some(true),
        connections: vec!["conn_0_3".into(), "conn_100041".into()],
        targets: vec!["mail.example.com:465".into()],
        are_targets_of_slow: true,
        applications: vec!["app_9".into()],
        slow_applications: vec!["app_8".into()],
        fast_applications: vec!["app_100041".into()],
    };
    assert_eq!(jobs::candidates(reader, JobClass::Upkeep, (NOON, 256), &busy).await?.len(), 256);
    assert!(jobs::find(reader, "kind_1:100008").await?.is_some());
    assert_eq!(job_claims::running(reader, "host_0", JobClass::Backfill).await?.len(), 50);
    assert_eq!(hosts::expired(reader, NOON).await?, ["host_0"]);
    hosts::database_now(reader).await?;
    assert_eq!(hosts::list(reader).await?.len(), 2);
    let failed = JobFilter {
        state: Some("failed".into()),
        application_id: Some("app_1".into()),
        ..JobFilter::default()
    };
    let failed = job_admin::list(reader, &failed, 20).await?;
    assert_eq!(failed.len(), 20);
    assert!(failed.iter().all(|job| job.state == "failed" && job.tenant.application_id == "app_1"));
    let due = JobFilter { kind: Some("kind_1".into()), due_by: Some(NOON), ..JobFilter::default() };
    let due = job_admin::list(reader, &due, 20).await?;
    assert!(due.len() == 20 && due.iter().all(|job| job.kind == "kind_1" && job.due_at <= Some(NOON)));
    let connection = JobFilter { connection_id: Some("conn_100040".into()), ..JobFilter::default() };
    assert!(!job_admin::list(reader, &connection, 20).await?.is_empty());
    let counts = job_admin::counts(reader).await?;
    assert_eq!(counts.iter().map(|count| count.jobs).sum::<i64>(), 100_000);
    read_lists(db).await?;
    assert!(db.size_bytes().await? > 1 << 20);
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_jobs(tx).await
        })
    })
    .await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_claims(tx).await
        })
    })
    .await?;
    db.write(|tx| {
        Box::pin(async move {
            tx.in_any_order();
            write_hosts(tx).await
        })
    })
    .await
}

/// The lists by state, two pages of each: no job is on both, and each page is in order.
async fn read_lists(db: &Db) -> Result<()> {
    let reader = db.reader();
    let start = JobPosition::default();
    let first = job_lists::queued(reader, JobClass::Upkeep, &start, 50).await?;
    let next = job_lists::queued(reader, JobClass::Upkeep, &first[49].position, 50).await?;
    let due: Vec<i64> = first.iter().chain(&next).map(|job| job.position.at).collect();
    let ids: BTreeSet<&str> = first.iter().chain(&next).map(|job| job.position.id.as_str()).collect();
    assert!(ids.len() == 100 && due.is_sorted(), "{due:?}");
    assert!(first.iter().all(|job| job.state == "queued" && job.position.group == "upkeep"));
    let app = "app_0";
    let first = job_lists::queued_of_application(reader, JobClass::Pull, app, &start, 50).await?;
    let last = &first[49].position;
    let next = job_lists::queued_of_application(reader, JobClass::Pull, app, last, 50).await?;
    assert!(next.len() == 50 && next[0].position.at > last.at);
    assert!(first.iter().chain(&next).all(|job| job.application_id == app));
    let first = job_lists::running(reader, &start, 40).await?;
    let next = job_lists::running(reader, &first[39].position, 100).await?;
    assert_eq!((first.len(), next.len()), (40, 60));
    assert!(first.iter().chain(&next).all(|job| job.state == "running"));
    let newest = JobPosition { at: i64::MAX, ..JobPosition::default() };
    let first = job_lists::ended(reader, &newest, 50).await?;
    let next = job_lists::ended(reader, &first[49].position, 50).await?;
    assert!(next.len() == 50 && next[0].position.at < first[49].position.at);
    assert!(first.iter().all(|job| ["failed", "cancelled"].contains(&job.state.as_str())));
    let ids: Vec<&str> = first.iter().map(|job| job.position.id.as_str()).chain(["none"]).collect();
    assert_eq!(job_lists::find_all(reader, &ids).await?.len(), 50);
    Ok(())
}

async fn write_jobs(tx: &mut Tx) -> Result<()> {
    let tenant = Tenant { organization_id: "org_0".into(), application_id: "app_0".into() };
    let new = NewJob {
        kind: "new",
        key: "one",
        class: JobClass::Upkeep,
        tenant: &tenant,
        connection_id: Some("conn_0_3"),
        target: "",
        due_at: Some(NOON),
        args: None,
    };
    jobs::enqueue(tx, &new, NOON).await?;
    let claim = Claim {
        owner: "host_1".into(),
        fence: Fence::random(&Entropy::seeded(1)),
        now: NOON,
        deadline_at: Some(NOON + 1),
    };
    let ids = ["new:one".to_owned(), "kind_1:100008".to_owned(), "none".to_owned()];
    let claimed = jobs::claim(tx, &ids, &claim).await?;
    assert_eq!(claimed.len(), 2);
    let one = claimed.iter().find(|job| job.id == "new:one").expect("it was claimed");
    jobs::check_fence(tx, one, Some("{}"), NOON).await?;
    // Woken while it runs: it is not over.
    jobs::enqueue(tx, &NewJob { due_at: Some(NOON + 1), ..new }, NOON).await?;
    jobs::ensure(tx, &new, NOON).await?;
    jobs::complete(tx, one, NOON).await?;
    let again = jobs::claim(tx, &ids, &Claim { now: NOON + 1, ..claim.clone() }).await?;
    assert_eq!(again.len(), 1);
    let end = End { due_at: Some(NOON), ..End::default() };
    jobs::reschedule(tx, &again[0], &end, NOON).await?;
    let last = jobs::claim(tx, &ids, &claim).await?;
    assert_eq!(last.len(), 1);
    jobs::complete(tx, &last[0], NOON).await?;
    assert!(jobs::find(&mut *tx, "new:one").await?.is_none());
    assert_eq!(job_admin::forget_ended(tx, i64::MAX, 50).await?, 50);
    change_by_hand(tx).await?;
    Ok(())
}

/// Runs an operator's changes of a job that waits, of one that runs, and of one that does not exist.
async fn change_by_hand(tx: &mut Tx) -> Result<()> {
    let (waits, runs) = ("kind_0:100000", "kind_0:100007");
    assert_eq!(jobs::find(&mut *tx, runs).await?.map(|job| job.state).as_deref(), Some("running"));
    for (id, changes) in [(waits, true), (runs, false), ("none", false)] {
        assert_eq!(job_admin::cancel(tx, id, NOON).await?, changes, "{id}");
    }
    let job = jobs::find(&mut *tx, waits).await?.expect("it stays");
    assert_eq!((job.state.as_str(), job.due_at), ("cancelled", None));
    assert!(!job_admin::cancel(tx, waits, NOON).await?, "it was cancelled before");
    for (id, changes) in [(waits, true), (runs, false), ("none", false)] {
        assert_eq!(job_admin::retry(tx, id, NOON).await?, changes, "{id}");
    }
    let job = jobs::find(&mut *tx, waits).await?.expect("it stays");
    assert_eq!((job.state.as_str(), job.due_at, job.attempts), ("queued", Some(NOON), 0));
    Ok(())
}

async fn write_claims(tx: &mut Tx) -> Result<()> {
    let tenant = Tenant { organization_id: "org_0".into(), application_id: "app_0".into() };
    let new = NewJob {
        kind: "pull",
        key: "one",
        class: JobClass::Pull,
        tenant: &tenant,
        connection_id: Some("conn_0_3"),
        target: "",
        due_at: Some(NOON),
        args: None,
    };
    let fence = Fence::random(&Entropy::seeded(2));
    let claim = Claim { owner: "host_1".into(), fence, now: NOON, deadline_at: None };
    let lost = job_claims::claim_now(tx, &new, &claim).await?.expect("nobody has it");
    assert!(job_claims::claim_now(tx, &new, &claim).await?.is_none(), "somebody has it");
    job_claims::set_slow(tx, &lost, true).await?;
    job_claims::evict(tx, &new, NOON).await?;
    job_claims::undo(tx, "pull:one", NOON).await?;
    assert!(job_claims::set_slow(tx, &lost, false).await.is_err(), "it is another's");
    job_claims::begin_slow(tx, "pull:one").await?;
    let queued = jobs::find(&mut *tx, "pull:one").await?.expect("it stays");
    assert_eq!((queued.state.as_str(), queued.due_at, queued.is_slow), ("queued", Some(NOON), true));
    let lock = ConnectionLock::take(tx, &tenant, "conn_0_3").await?.expect("it is in the seed");
    job_claims::evict_of_connection(tx, &lock, NOON + 1).await?;
    assert_eq!(jobs::find(&mut *tx, "pull:one").await?.and_then(|job| job.due_at), Some(NOON + 1));
    job_claims::remove_of_connection(tx, &lock).await?;
    assert!(jobs::find(&mut *tx, "pull:one").await?.is_none());
    // One that nobody had woken stays parked, and one that was woken while somebody had it is due.
    job_claims::claim_now(tx, &new, &claim).await?.expect("nobody has it");
    job_claims::evict_of_connection(tx, &lock, NOON + 2).await?;
    assert_eq!(jobs::find(&mut *tx, "pull:one").await?.and_then(|job| job.due_at), None);
    job_claims::claim_now(tx, &new, &claim).await?.expect("nobody has it");
    jobs::enqueue(tx, &new, NOON).await?;
    job_claims::evict_of_connection(tx, &lock, NOON + 2).await?;
    assert_eq!(jobs::find(&mut *tx, "pull:one").await?.and_then(|job| job.due_at), Some(NOON + 2));
    job_claims::remove_of_connection(tx, &lock).await?;
    hurry(tx, &lock, NewJob { kind: "booking_event", class: JobClass::Send, ..new }).await
}

/// Makes waiting and given-up jobs due at once, and takes none from the host that runs it.
async fn hurry(tx: &mut Tx, lock: &ConnectionLock, new: NewJob<'_>) -> Result<()> {
    let claim = Claim {
        owner: "host_1".into(),
        fence: Fence::random(&Entropy::seeded(3)),
        now: NOON,
        deadline_at: None,
    };
    let id = format!("{}:{}", new.kind, new.key);
    let claimed = job_claims::claim_now(tx, &new, &claim).await?.expect("nobody has it");
    job_claims::hurry_of_connection(tx, lock, new.kind, NOON + 1).await?;
    let runs = jobs::find(&mut *tx, &id).await?.expect("it stays");
    assert_eq!((runs.state.as_str(), runs.fence), ("running", claimed.fence));
    for is_failed in [true, false] {
        let due_at = (!is_failed).then_some(NOON + 100);
        let end = End { is_failed, due_at, attempts: 17, ..End::default() };
        let again = match is_failed {
            true => claimed.clone(),
            false => job_claims::claim_now(tx, &new, &claim).await?.expect("nobody has it"),
        };
        jobs::reschedule(tx, &again, &end, NOON).await?;
        job_claims::hurry_of_connection(tx, lock, new.kind, NOON + 2).await?;
        let hurried = jobs::find(&mut *tx, &id).await?.expect("it stays");
        let found = (hurried.state.as_str(), hurried.due_at, hurried.attempts);
        assert_eq!(found, ("queued", Some(NOON + 2), 1), "{is_failed}");
    }
    jobs::remove(tx, &id).await
}

async fn write_hosts(tx: &mut Tx) -> Result<()> {
    let host = Host {
        id: "host_new".into(),
        name: "new".into(),
        version: "1".into(),
        started_at: NOON,
        lease_until: NOON + hosts::LEASE_MS,
    };
    assert!(hosts::insert(tx, &host).await?);
    assert!(!hosts::insert(tx, &host).await?);
    assert!(hosts::renew(tx, "host_new", NOON, NOON + 1).await?);
    assert_eq!(lost_jobs::take_over(tx, "host_0", NOON).await?, Some(50));
    assert_eq!(lost_jobs::take_over(tx, "host_0", NOON).await?, None);
    assert!(lost_jobs::requeue_overdue(tx, "host_1", NOON).await? >= 50);
    // Nothing is left to it.
    lost_jobs::release(tx, "host_1", NOON).await?;
    lost_jobs::requeue_of(tx, "host_1", NOON).await?;
    assert_eq!(lost_jobs::requeue_orphans(tx, NOON).await?, 0);
    assert!(outbox::adopt(tx, (NOON - 86_400_000, NOON), 10).await? <= 10);
    hosts::remove(tx, "host_new").await
}
