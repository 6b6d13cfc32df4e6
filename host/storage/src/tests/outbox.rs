//! Guarantees of the steps of a message on its way: each is one statement with its whole condition, so that of two that exclude
//! each other one finds that the other was first. On SQLite and, where `POSTGRES_URL` names a server, on PostgreSQL.

use anyhow::Result;
use base::clock::Entropy;
use base::tenant::Tenant;

use crate::Db;
use crate::Tx;
use crate::jobs::{self, Fence};
use crate::locked::ConnectionLock;
use crate::outbox::{self, OutboxMessage};
use crate::tests::jobs::{Opened, databases};

const NOW: i64 = 1_767_225_600_000;
const ACCOUNT: &str = "insert into organizations (id, name, created_at) values ('org_1', 'one', 0); \
                       insert into applications (id, organization_id, name, last_sequence, created_at) \
                       values ('app_1', 'org_1', 'one', 0, 0); \
                       insert into connections (id, organization_id, application_id, provider, connector_version, status, \
                       status_changed_at, external_account_id, addresses, surfaces, requested_scopes, granted_scopes, provider_scopes, \
                       settings, credentials, credentials_version, tags, metadata, etag, created_at, updated_at) \
                       values ('conn_1', 'org_1', 'app_1', 'imap', '1', 'active', 0, 'account', '[]', '[]', '[]', '[]', '[]', '{}', '', 1, \
                       '{}', '{}', 'etag', 0, 0)";

fn tenant() -> Tenant {
    Tenant { organization_id: "org_1".into(), application_id: "app_1".into() }
}

fn fence() -> Fence {
    Fence::random(&Entropy::system())
}

/// A step, in its own transaction.
#[derive(Clone, Copy, Debug)]
enum Step {
    Begin(Fence, i64),
    HandedOver(Fence),
    Accepted(Fence),
    Cancel,
    /// Ends an attempt: it is due again then, or over.
    Settle(Fence, Option<i64>),
}

/// Whether the step found the message in the required state.
async fn is_done(db: &Db, id: &str, step: Step) -> bool {
    let id = id.to_owned();
    let done: Result<bool> = db.write(move |tx| Box::pin(async move { take(tx, &id, step).await })).await;
    done.unwrap()
}

async fn take(tx: &mut Tx, id: &str, step: Step) -> Result<bool> {
    Ok(match step {
        Step::Begin(fence, now) => outbox::begin(tx, id, fence, now).await?.is_some(),
        Step::HandedOver(fence) => outbox::handed_over(tx, id, fence, NOW).await?,
        Step::Accepted(fence) => outbox::accepted(tx, id, fence, NOW).await?,
        Step::Cancel => {
            let lock = lock(tx).await?;
            outbox::cancel(tx, &lock, id, NOW).await?.is_some()
        }
        Step::Settle(fence, next_attempt_at) => {
            let lock = lock(tx).await?;
            let row = outbox::lock_outgoing(tx, &lock, id).await?.unwrap();
            let state = if next_attempt_at.is_some() { "queued" } else { "sent" };
            let after = OutboxMessage {
                state: state.to_owned(),
                next_attempt_at,
                handed_over_at: None,
                ..OutboxMessage::clone(&row)
            };
            outbox::settle(tx, &row, &after, fence).await?
        }
    })
}

pub(super) async fn lock(tx: &mut Tx) -> Result<ConnectionLock> {
    Ok(ConnectionLock::take(tx, &tenant(), "conn_1").await?.unwrap())
}

pub(super) async fn open_account(db: &Db) {
    let done: Result<()> = db.write(|tx| Box::pin(async move { tx.batch(ACCOUNT).await })).await;
    done.unwrap();
}

/// A message that is due now.
async fn submit(db: &Db, id: &str) {
    let row = OutboxMessage {
        id: id.to_owned(),
        tenant: tenant(),
        connection_id: "conn_1".into(),
        draft_id: None,
        state: "queued".into(),
        internet_message_id: format!("{id}@x.test"),
        options: "{}".into(),
        recipients: "[]".into(),
        send_at: None,
        next_attempt_at: Some(NOW),
        attempts: 0,
        handed_over_at: None,
        accepted_at: None,
        claimed_by: None,
        claimed_until: None,
        created_at: NOW,
        updated_at: NOW,
    };
    let done: Result<()> =
        db.write(move |tx| Box::pin(async move { outbox::insert(tx, &row, "text", None).await })).await;
    done.unwrap();
}

async fn find(db: &Db, id: &str) -> OutboxMessage {
    outbox::find(db.reader(), &tenant(), id).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_message_that_was_taken_back_is_not_sent() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        // Before an attempt: none begins.
        submit(db, "a").await;
        assert!(is_done(db, "a", Step::Cancel).await);
        assert!(!is_done(db, "a", Step::Begin(fence(), NOW)).await);
        assert!(!is_done(db, "a", Step::Cancel).await, "once");
        // During an attempt, before the provider gets it: the provider does not get it, and nothing of the attempt is written.
        submit(db, "b").await;
        let fence = fence();
        assert!(is_done(db, "b", Step::Begin(fence, NOW)).await);
        assert!(is_done(db, "b", Step::Cancel).await);
        assert!(!is_done(db, "b", Step::HandedOver(fence)).await);
        assert!(!is_done(db, "b", Step::Settle(fence, None)).await);
        for id in ["a", "b"] {
            let row = find(db, id).await;
            assert_eq!((row.state.as_str(), row.next_attempt_at, row.claimed_by), ("cancelled", None, None));
        }
    }
}

#[tokio::test]
async fn a_message_that_somebody_may_have_is_not_taken_back() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        submit(db, "a").await;
        let first = fence();
        assert!(is_done(db, "a", Step::Begin(first, NOW)).await);
        assert!(is_done(db, "a", Step::HandedOver(first)).await);
        assert!(!is_done(db, "a", Step::Cancel).await, "the provider may have it");
        assert!(is_done(db, "a", Step::Accepted(first)).await);
        assert!(find(db, "a").await.is_accepted());
        // Some have it, others get it later.
        assert!(is_done(db, "a", Step::Settle(first, Some(NOW + 1))).await);
        assert!(!is_done(db, "a", Step::Cancel).await, "some have it");
        let second = fence();
        assert!(!is_done(db, "a", Step::Begin(second, NOW)).await, "it is not due yet");
        assert!(is_done(db, "a", Step::Begin(second, NOW + 1)).await);
        // The clock shows no later time than at the first acceptance, and yet it is not this attempt's.
        assert!(is_done(db, "a", Step::HandedOver(second)).await);
        assert!(!find(db, "a").await.is_accepted());
        assert!(is_done(db, "a", Step::Accepted(second)).await);
        assert!(find(db, "a").await.is_accepted());
        assert!(is_done(db, "a", Step::Settle(second, None)).await);
        assert!(!is_done(db, "a", Step::Cancel).await, "it was sent");
        assert!(!is_done(db, "a", Step::Begin(fence(), NOW + 1)).await);
        let row = find(db, "a").await;
        assert_eq!((row.state.as_str(), row.attempts), ("sent", 2));
    }
}

/// A report that some recipients cannot be reached arrives while others wait for another attempt, which is made all the same.
#[tokio::test]
async fn a_report_between_two_attempts_ends_no_message() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        submit(db, "a").await;
        let first = fence();
        assert!(is_done(db, "a", Step::Begin(first, NOW)).await);
        assert!(is_done(db, "a", Step::Settle(first, Some(NOW + 1))).await);
        for state in ["partially_failed", "bounced"] {
            let reported: Result<()> = db
                .write(move |tx| {
                    Box::pin(async move {
                        let lock = lock(tx).await?;
                        let row = outbox::lock_outgoing(tx, &lock, "a").await?.unwrap();
                        outbox::set_recipients(tx, &row, (state, "[]"), NOW).await
                    })
                })
                .await;
            reported.unwrap();
            assert!(is_done(db, "a", Step::Begin(fence(), NOW + 1)).await, "{state}");
        }
    }
}

/// Gives due messages their jobs. Returns how many got one.
async fn adopt(db: &Db, since: i64, now: i64) -> u64 {
    let done: Result<u64> =
        db.write(move |tx| Box::pin(async move { outbox::adopt(tx, (since, now), 10).await })).await;
    done.unwrap()
}

/// A host of a version without jobs wrote it down.
#[tokio::test]
async fn a_due_message_without_a_job_gets_one() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        submit(db, "a").await;
        assert_eq!(adopt(db, 0, NOW - 1).await, 0, "it is not due yet");
        assert_eq!(adopt(db, NOW, NOW + 1).await, 0, "it was due long ago");
        assert_eq!(adopt(db, NOW - 1, NOW).await, 1);
        let job = jobs::find(db.reader(), "send:a").await.unwrap().unwrap();
        assert_eq!((job.state.as_str(), job.due_at, job.tenant), ("queued", Some(NOW), tenant()));
        assert_eq!(adopt(db, NOW - 1, NOW).await, 0, "it has one");
    }
}

/// The run of a host that was considered dead continues: it hands nothing over and writes nothing.
#[tokio::test]
async fn a_turn_that_was_taken_over_changes_nothing() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        submit(db, "a").await;
        let (lost, next) = (fence(), fence());
        assert!(is_done(db, "a", Step::Begin(lost, NOW)).await);
        assert!(is_done(db, "a", Step::Begin(next, NOW)).await, "nobody waits for the first one");
        assert!(!is_done(db, "a", Step::HandedOver(lost)).await);
        assert!(is_done(db, "a", Step::HandedOver(next)).await);
        assert!(!is_done(db, "a", Step::Accepted(lost)).await);
        assert!(!is_done(db, "a", Step::Settle(lost, None)).await);
        let row = find(db, "a").await;
        assert_eq!((row.state.as_str(), row.attempts, row.accepted_at), ("sending", 2, None));
        assert_eq!(row.claimed_by, Some(next.to_string()));
        // A look-up of a handed-over message is no attempt.
        assert!(is_done(db, "a", Step::Begin(fence(), NOW)).await);
        assert_eq!(find(db, "a").await.attempts, 2);
    }
}

/// A run hands messages over while they are cancelled: for each, one of the two succeeds.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cancellation_and_a_turn_exclude_each_other() {
    for Opened { db, .. } in &databases().await {
        open_account(db).await;
        for round in 0..100 {
            let id = format!("m{round}");
            submit(db, &id).await;
            let fence = fence();
            let turn = async {
                is_done(db, &id, Step::Begin(fence, NOW)).await
                    && is_done(db, &id, Step::HandedOver(fence)).await
            };
            let (is_handed_over, is_cancelled) = tokio::join!(turn, is_done(db, &id, Step::Cancel));
            assert_ne!(is_handed_over, is_cancelled, "{id}");
            let row = find(db, &id).await;
            assert_eq!(row.handed_over_at.is_some(), is_handed_over, "{id}");
            assert_eq!(row.state == "cancelled", is_cancelled, "{id}");
        }
    }
}
