//! The mark of a webhook's next event (`webhooks.wake_from`), on SQLite and PostgreSQL: no undelivered event lies below it.

use std::sync::Arc;

use anyhow::Result;
use base::clock::Entropy;
use base::tenant::Tenant;
use tokio::sync::Notify;

use crate::Db;
use crate::Tx;
use crate::jobs::{self, Claim, End, Fence, Job};
use crate::sql::query;
use crate::tests::jobs::{Opened, databases};
use crate::webhooks::deliveries::{self, DeliveryProgress, Endpoint, Health};
use crate::webhooks::matching;

const NOW: i64 = 1_767_225_600_000;
/// A webhook that has received everything up to entry 10 of the log.
const ROWS: &str = "insert into organizations (id, name, created_at) values ('org_1', 'o', 0); \
    insert into applications (id, organization_id, name, last_sequence, created_at) values ('app_1', 'org_1', 'a', 10, 0); \
    insert into webhooks (id, organization_id, application_id, url, target, metadata, event_types, connection_ids, bound_to, families, \
    payload_mode, ordered, include_backfill, signatures, headers, secret, previous_secrets, max_concurrent, status, cursor, \
    consecutive_failures, etag, created_at, updated_at) values ('wh_1', 'org_1', 'app_1', 'https://example.test/', 'example.test:443', \
    '{}', '[\"*\"]', '[]', '[]', '[\"calendar\"]', 'full', 0, 0, '[\"v1\"]', '', '', '', 8, 'active', 10, 0, 'e', 0, 0)";

async fn fill(db: &Db) {
    let done: Result<()> = db.write(|tx| Box::pin(async move { tx.batch(ROWS).await })).await;
    done.unwrap();
}

/// The fan-out has found an event for the webhook.
async fn wake(db: &Db, sequence: i64) {
    let done: Result<()> = db
        .write(move |tx| {
            Box::pin(async move { matching::wake(tx, &["wh_1".to_owned()], sequence, NOW).await })
        })
        .await;
    done.unwrap();
}

/// Begins a run.
async fn claim(db: &Db) -> Job {
    let fence = Fence::random(&Entropy::system());
    let by = Claim { owner: "host".to_owned(), fence, now: NOW, deadline_at: None };
    let claimed: Result<Vec<Job>> = db
        .write(move |tx| Box::pin(async move { jobs::claim(tx, &["deliver:wh_1".to_owned()], &by).await }))
        .await;
    claimed.unwrap().pop().expect("the job is due")
}

/// Ends a run that has delivered everything up to `cursor`.
async fn end(db: &Db, job: Job, cursor: i64) {
    let done: Result<()> = db
        .write(move |tx| {
            Box::pin(async move {
                let tenant =
                    Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() };
                let settled = DeliveryProgress { cursor, health: &Health::default(), updated_at: 0 };
                deliveries::write_outcomes(tx, ("wh_1", &tenant), &[], &settled, NOW).await?;
                deliveries::rest(tx, "wh_1").await?;
                jobs::reschedule(tx, &job, &End { done_at: Some(NOW), ..End::default() }, NOW).await
            })
        })
        .await;
    done.unwrap();
}

async fn endpoint(db: &Db) -> Endpoint {
    deliveries::find_endpoint(db.reader(), "wh_1").await.unwrap().expect("it is there")
}

/// A run has read the log up to 11 when 12 arrives; when it has ended, and before the next one begins, 13 arrives.
#[tokio::test]
async fn an_event_that_comes_during_a_turn_is_not_passed_over() {
    for Opened { db, .. } in &databases().await {
        fill(db).await;
        wake(db, 11).await;
        let job = claim(db).await;
        wake(db, 12).await;
        end(db, job, 11).await;
        wake(db, 13).await;
        let marked = endpoint(db).await;
        assert_eq!(marked.cursor, 11);
        assert!(marked.wake_from.is_none_or(|from| from <= 12), "{:?}", marked.wake_from);
    }
}

/// An event that does not match the webhook's filters is not read again by its next run.
#[tokio::test]
async fn a_turn_that_nothing_interrupts_removes_the_mark() {
    for Opened { db, .. } in &databases().await {
        fill(db).await;
        wake(db, 11).await;
        let job = claim(db).await;
        end(db, job, 11).await;
        assert_eq!(endpoint(db).await.wake_from, None);
        wake(db, 500).await;
        assert_eq!(endpoint(db).await.wake_from, Some(500));
    }
}

/// Another webhook, whose row is after that of the first one.
const BEHIND: &str = "insert into webhooks (id, organization_id, application_id, url, target, metadata, event_types, connection_ids, \
    bound_to, families, payload_mode, ordered, include_backfill, signatures, headers, secret, previous_secrets, max_concurrent, status, \
    cursor, consecutive_failures, etag, created_at, updated_at) select 'wh_0', organization_id, application_id, url, target, metadata, \
    event_types, connection_ids, bound_to, families, payload_mode, ordered, include_backfill, signatures, headers, secret, \
    previous_secrets, max_concurrent, status, cursor, consecutive_failures, etag, created_at, updated_at from webhooks";

async fn lock(tx: &mut Tx, id: &'static str) -> Result<()> {
    query("update webhooks set cursor = cursor where id = $1").bind(id).execute(tx).await.map(|_| ())
}

/// Waits until another transaction waits for this one.
async fn is_waited_for(tx: &mut Tx) -> Result<()> {
    // Not pg_stat_activity: what it shows is fixed for the length of a transaction.
    let sql = "select count(*) as n from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))";
    while query(sql).fetch_one(&mut *tx, |row| row.get::<i64>("n")).await? == 0 {}
    Ok(())
}

/// Two hosts wake the same webhooks: the second one waits at the first of them by id, and holds no lock on another one that the
/// first host will take.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_that_wake_the_same_webhooks_do_not_wait_for_each_other() {
    for Opened { db, .. } in databases().await.iter().filter(|opened| opened.db.is_shared()) {
        fill(db).await;
        let added: Result<()> = db.write(|tx| Box::pin(async move { tx.batch(BEHIND).await })).await;
        added.unwrap();
        let has_begun = Arc::new(Notify::new());
        let begins = Arc::clone(&has_begun);
        let first = db.write(move |tx: &mut Tx| {
            Box::pin(async move {
                lock(tx, "wh_0").await?;
                begins.notify_one();
                is_waited_for(tx).await?;
                lock(tx, "wh_1").await
            })
        });
        let second = async {
            has_begun.notified().await;
            let both = ["wh_1".to_owned(), "wh_0".to_owned()];
            db.write(move |tx| Box::pin(async move { matching::wake(tx, &both, 11, NOW).await })).await
        };
        let (one, other): (Result<()>, Result<()>) = tokio::join!(first, second);
        one.unwrap();
        other.unwrap();
        assert_eq!(db.write_retries(), 0, "neither was given up");
        assert_eq!(endpoint(db).await.wake_from, Some(11));
    }
}
