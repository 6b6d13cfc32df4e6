//! Guarantees of the table of jobs, on SQLite and, where `POSTGRES_URL` names a server, on PostgreSQL.

use std::collections::BTreeSet;

use anyhow::{Error, Result, anyhow};
use base::clock::Entropy;
use base::tenant::Tenant;
use futures::FutureExt;
use tokio::sync::RwLockReadGuard;

use crate::Db;
use crate::Options;
use crate::Tx;
use crate::hosts::{self, Host, LEASE_MS};
use crate::jobs::{self, Claim, End, Fence, Job, LostLease, NewJob};
use crate::lost_jobs::{self, MAX_CRASHES};
use crate::sql::query;
use crate::tests::POSTGRES_RECORDER;
use crate::wakes::JobClass;

const NOW: i64 = 1_767_225_600_000;
/// How often a host checks for others whose lease is over.
const LOOKS_EVERY_MS: i64 = 1_000;

/// A database with the schema and without rows.
pub(super) struct Opened {
    pub(super) db: Db,
    _folder: Option<tempfile::TempDir>,
    _unrecorded: Option<RwLockReadGuard<'static, ()>>,
}

pub(super) async fn databases() -> Vec<Opened> {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("jobs.db").display());
    let db = Db::open(&Options::for_url(url)).await.unwrap();
    let mut opened = vec![Opened { db, _folder: Some(folder), _unrecorded: None }];
    match std::env::var("POSTGRES_URL") {
        Ok(url) => {
            let unrecorded = POSTGRES_RECORDER.read().await;
            opened.push(Opened { db: postgres(&url).await, _folder: None, _unrecorded: Some(unrecorded) });
        }
        Err(_) => {
            assert_ne!(
                std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(),
                Ok("1"),
                "POSTGRES_URL is not set"
            );
            eprintln!("not run on PostgreSQL: POSTGRES_URL is not set");
        }
    }
    opened
}

/// A database with a schema of its own in the database at `url`.
pub(super) async fn postgres(url: &str) -> Db {
    Db::open(&Options::for_url(own_schema(url).await)).await.unwrap()
}

/// An empty schema in the database at `url`, as a URL that leads to it.
pub(super) async fn own_schema(url: &str) -> String {
    let schema = format!("jobs{:032x}", u128::from_be_bytes(Entropy::system().bytes::<16>()));
    let db = Db::connect(&Options::for_url(url)).await.unwrap();
    // Statements are fixed text everywhere else; this one is a few bytes of a test's memory.
    let create: &'static str = format!("create schema {schema}").leak();
    let created: Result<()> = db.write(move |tx| Box::pin(async move { tx.batch(create).await })).await;
    created.unwrap();
    db.close().await;
    let sign = if url.contains('?') { '&' } else { '?' };
    format!("{url}{sign}options[search_path]={schema}")
}

fn tenant() -> Tenant {
    Tenant { organization_id: "org_1".into(), application_id: "app_1".into() }
}

async fn enqueue_in(tx: &mut Tx, key: &str, due_at: i64) -> Result<()> {
    let tenant = tenant();
    let new = NewJob {
        kind: "test",
        key,
        class: JobClass::Upkeep,
        tenant: &tenant,
        connection_id: None,
        target: "",
        due_at: Some(due_at),
        args: None,
    };
    jobs::enqueue(tx, &new, NOW).await
}

async fn enqueue(db: &Db, key: &str, due_at: i64) {
    let key = key.to_owned();
    let done: Result<()> =
        db.write(move |tx| Box::pin(async move { enqueue_in(tx, &key, due_at).await })).await;
    done.unwrap();
}

async fn claim(db: &Db, owner: &str, keys: &[&str], now: i64) -> Vec<Job> {
    let ids: Vec<String> = keys.iter().map(|key| format!("test:{key}")).collect();
    let by =
        Claim { owner: owner.to_owned(), fence: Fence::random(&Entropy::system()), now, deadline_at: None };
    let claimed: Result<Vec<Job>> =
        db.write(move |tx| Box::pin(async move { jobs::claim(tx, &ids, &by).await })).await;
    claimed.unwrap()
}

async fn complete(db: &Db, job: &Job, now: i64) -> Result<()> {
    let job = job.clone();
    db.write(move |tx| Box::pin(async move { jobs::complete(tx, &job, now).await })).await
}

async fn reschedule(db: &Db, job: &Job, end: End, now: i64) -> Result<()> {
    let job = job.clone();
    db.write(move |tx| Box::pin(async move { jobs::reschedule(tx, &job, &end, now).await })).await
}

async fn find(db: &Db, key: &str) -> Option<Job> {
    jobs::find(db.reader(), &format!("test:{key}")).await.unwrap()
}

async fn start_host(db: &Db, id: &str, now: i64) {
    let host = Host {
        id: id.to_owned(),
        name: "test".into(),
        version: "1".into(),
        started_at: now,
        lease_until: now + LEASE_MS,
    };
    let written: Result<bool> =
        db.write(move |tx| Box::pin(async move { hosts::insert(tx, &host).await })).await;
    assert!(written.unwrap());
}

async fn take_over(db: &Db, id: &str, now: i64) -> Option<u64> {
    let id = id.to_owned();
    let taken: Result<Option<u64>> =
        db.write(move |tx| Box::pin(async move { lost_jobs::take_over(tx, &id, now).await })).await;
    taken.unwrap()
}

fn is_lost(outcome: &Result<()>) -> bool {
    outcome.as_ref().is_err_and(Error::is::<LostLease>)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_returns_a_row_once_to_two_hosts() {
    for Opened { db, .. } in &databases().await {
        let keys: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        for key in &keys {
            enqueue(db, key, NOW).await;
        }
        enqueue(db, "later", NOW + 1).await;
        let mut wanted: Vec<&str> = keys.iter().map(String::as_str).collect();
        wanted.push("later");
        let (one, other) = futures::join!(claim(db, "one", &wanted, NOW), claim(db, "other", &wanted, NOW));
        let mut left = one.len() + other.len();
        let ids: BTreeSet<&str> = one.iter().chain(&other).map(|job| job.id.as_str()).collect();
        assert_eq!(ids.len(), left, "no job is claimed twice");
        // Jobs that one claim has locked are skipped by the other, and may be left over: the next claim gets them.
        left += claim(db, "third", &wanted, NOW).await.len();
        assert_eq!(left, 100);
        assert_eq!(find(db, "later").await.unwrap().attempts, 0);
        assert!(claim(db, "third", &wanted, NOW).await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wake_while_it_runs_is_kept() {
    for Opened { db, .. } in &databases().await {
        enqueue(db, "a", NOW).await;
        let job = claim(db, "one", &["a"], NOW).await.remove(0);
        enqueue(db, "a", NOW + 10).await;
        enqueue(db, "a", NOW + 20).await;
        let running = find(db, "a").await.unwrap();
        assert_eq!((running.state.as_str(), running.again_at), ("running", Some(NOW + 10)));
        complete(db, &job, NOW + 5).await.unwrap();
        let woken = find(db, "a").await.unwrap();
        assert_eq!((woken.state.as_str(), woken.due_at, woken.again_at), ("queued", Some(NOW + 10), None));
        assert_eq!((woken.attempts, woken.owner), (0, None));

        // An earlier time wins over the one that the run chose; without a wake a job is deleted when it is done.
        let job = claim(db, "one", &["a"], NOW + 10).await.remove(0);
        enqueue(db, "a", NOW + 30).await;
        reschedule(db, &job, End { due_at: Some(NOW + 99), ..End::default() }, NOW + 20).await.unwrap();
        assert_eq!(find(db, "a").await.unwrap().due_at, Some(NOW + 30));
        let job = claim(db, "one", &["a"], NOW + 30).await.remove(0);
        complete(db, &job, NOW + 31).await.unwrap();
        assert!(find(db, "a").await.is_none());

        // A failed job starts over.
        enqueue(db, "a", NOW).await;
        let job = claim(db, "one", &["a"], NOW).await.remove(0);
        let end = End { is_failed: true, attempts: 8, last_error: Some("{}".into()), ..End::default() };
        reschedule(db, &job, end, NOW).await.unwrap();
        let failed = find(db, "a").await.unwrap();
        assert_eq!((failed.state.as_str(), failed.due_at), ("failed", None));
        assert!(claim(db, "one", &["a"], NOW).await.is_empty());
        enqueue(db, "a", NOW + 40).await;
        let anew = find(db, "a").await.unwrap();
        assert_eq!((anew.state.as_str(), anew.due_at, anew.attempts), ("queued", Some(NOW + 40), 0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_without_the_fence_changes_nothing() {
    for Opened { db, .. } in &databases().await {
        start_host(db, "one", NOW).await;
        enqueue(db, "a", NOW).await;
        let lost = claim(db, "one", &["a"], NOW).await.remove(0);
        let later = NOW + LEASE_MS + 1;
        assert_eq!(take_over(db, "one", later).await, Some(1));
        let held = claim(db, "other", &["a"], later).await.remove(0);
        assert_ne!(lost.fence, held.fence);
        let before = find(db, "a").await.unwrap();

        assert!(is_lost(&complete(db, &lost, later).await));
        assert!(is_lost(&reschedule(db, &lost, End::default(), later).await));
        // The run's other writes are rolled back with its fence.
        let of_lost = lost.clone();
        let written: Result<()> = db
            .write(move |tx| {
                Box::pin(async move {
                    enqueue_in(tx, "effect", NOW).await?;
                    jobs::check_fence(tx, &of_lost, Some("{}"), NOW).await
                })
            })
            .await;
        assert!(is_lost(&written));
        assert!(find(db, "effect").await.is_none());
        assert_eq!(find(db, "a").await.unwrap(), before);
        complete(db, &held, later).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_host_is_taken_over_in_nine_seconds() {
    for Opened { db, .. } in &databases().await {
        start_host(db, "dead", NOW).await;
        enqueue(db, "a", NOW).await;
        claim(db, "dead", &["a"], NOW).await;
        // It renewed its lease for the last time right before it died.
        let alive_until = NOW + LEASE_MS;
        assert_eq!(hosts::expired(db.reader(), alive_until).await.unwrap(), [] as [String; 0]);
        assert_eq!(take_over(db, "dead", alive_until).await, None);
        let now = alive_until + LOOKS_EVERY_MS;
        assert!(now - NOW <= 9_000);
        assert_eq!(hosts::expired(db.reader(), now).await.unwrap(), ["dead"]);
        // Two others find it: one takes over.
        let (one, other) = futures::join!(take_over(db, "dead", now), take_over(db, "dead", now));
        assert_eq!(one.or(other), Some(1));
        assert!(one.is_none() || other.is_none());
        let job = claim(db, "other", &["a"], now).await.remove(0);
        assert_eq!((job.attempts, job.crashes), (2, 1));
        // A late renewal does not bring the lease back.
        let renewed: Result<bool> = db
            .write(move |tx| Box::pin(async move { hosts::renew(tx, "dead", now, now + LEASE_MS).await }))
            .await;
        assert!(!renewed.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_kills_its_host_is_put_off_and_then_fails() {
    for Opened { db, .. } in &databases().await {
        let mut now = NOW;
        enqueue(db, "a", now).await;
        let mut waits = Vec::new();
        for crash in 1..=MAX_CRASHES {
            let host = format!("host {crash}");
            start_host(db, &host, now).await;
            assert_eq!(claim(db, &host, &["a"], now).await.len(), 1, "after {waits:?}");
            now += LEASE_MS + 1;
            assert_eq!(take_over(db, &host, now).await, Some(1));
            let job = find(db, "a").await.unwrap();
            assert_eq!(job.crashes, crash);
            match job.due_at {
                Some(due_at) => {
                    waits.push(due_at - now);
                    now = due_at;
                }
                None => assert_eq!((job.state.as_str(), crash), ("failed", MAX_CRASHES)),
            }
        }
        assert_eq!(waits[..5], [0, 0, 1_000, 5_000, 30_000]);
        assert_eq!(waits[5..], [300_000; 14]);
        let error = find(db, "a").await.unwrap().last_error.unwrap();
        assert!(error.contains("crashed"), "{error}");

        // Progress, and any end of a run, sets the count to 0.
        enqueue(db, "b", now).await;
        start_host(db, "last", now).await;
        claim(db, "last", &["b"], now).await;
        now += LEASE_MS + 1;
        take_over(db, "last", now).await;
        let job = claim(db, "other", &["b"], now).await.remove(0);
        assert_eq!(job.crashes, 1);
        let of_job = job.clone();
        let checked: Result<()> = db
            .write(move |tx| {
                Box::pin(async move { jobs::check_fence(tx, &of_job, Some("{\"page\":1}"), NOW).await })
            })
            .await;
        checked.unwrap();
        let job = find(db, "b").await.unwrap();
        assert_eq!((job.crashes, job.progress.as_deref()), (0, Some("{\"page\":1}")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn enqueue_rolls_back_with_its_effect() {
    for Opened { db, .. } in &databases().await {
        let undone: Result<()> = db
            .write(|tx| {
                Box::pin(async move {
                    query("insert into installation (name, value) values ($1, $2)")
                        .bind("effect")
                        .bind("1")
                        .execute(&mut *tx)
                        .await?;
                    enqueue_in(tx, "a", NOW).await?;
                    Err(anyhow!("the effect cannot be kept"))
                })
            })
            .await;
        undone.unwrap_err();
        assert!(find(db, "a").await.is_none());
        assert!(db.wakes().woken(JobClass::Upkeep).now_or_never().is_none(), "nobody was woken");
        enqueue(db, "a", NOW).await;
        assert!(find(db, "a").await.is_some());
        assert!(db.wakes().woken(JobClass::Send).now_or_never().is_none());
        assert!(db.wakes().woken(JobClass::Upkeep).now_or_never().is_some(), "the wake was kept");
        assert!(db.wakes().woken(JobClass::Upkeep).now_or_never().is_none(), "it is one wake");
    }
}
