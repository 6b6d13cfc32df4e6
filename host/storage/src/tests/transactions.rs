//! Guarantees of a write transaction: the order of its locks, the hooks after it, and retries where PostgreSQL aborts it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, anyhow};
use tokio::sync::Barrier;

use crate::Db;
use crate::LockRank;
use crate::Tx;
use crate::sql::query;
use crate::tests::jobs::{Opened, databases};

async fn take(db: &Db, ranks: &'static [LockRank]) -> Result<()> {
    db.write(move |tx| Box::pin(async move { ranks.iter().try_for_each(|rank| tx.takes(*rank)) })).await
}

#[tokio::test]
async fn a_lower_rank_after_a_higher_one_fails() {
    for Opened { db, .. } in &databases().await {
        take(
            db,
            &[LockRank::Connection, LockRank::Application, LockRank::Application, LockRank::Idempotency],
        )
        .await
        .unwrap();
        // A lock that the transaction already holds causes no wait.
        take(db, &[LockRank::Application, LockRank::Usage, LockRank::Application]).await.unwrap();
        let wrong = take(db, &[LockRank::Job, LockRank::Application]).await.unwrap_err().to_string();
        assert!(wrong.contains("Job") && wrong.contains("takes (Application"), "{wrong}");
        let wrong: Result<()> = db
            .write(|tx| {
                Box::pin(async move {
                    tx.takes_row(LockRank::Connection, "con_2")?;
                    tx.takes_row(LockRank::Connection, "con_1")
                })
            })
            .await;
        assert!(
            wrong.unwrap_err().to_string().contains("con_2"),
            "connections are locked in the order of ids"
        );
        // The locks of one transaction do not count for the next.
        take(db, &[LockRank::Connection]).await.unwrap();
    }
}

#[tokio::test]
async fn a_hook_of_a_rolled_back_savepoint_does_not_run() {
    for Opened { db, .. } in &databases().await {
        let ran = Arc::new(AtomicUsize::new(0));
        let writes = (0..40).map(|n: usize| {
            let ran = Arc::clone(&ran);
            db.write(move |tx: &mut Tx| {
                Box::pin(async move {
                    tx.after_commit(move || {
                        ran.fetch_add(1, Ordering::SeqCst);
                    });
                    if n.is_multiple_of(4) { Err(anyhow!("it is not to be")) } else { Ok(()) }
                })
            })
        });
        let outcomes: Vec<Result<()>> = futures::future::join_all(writes).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 30);
        assert_eq!(ran.load(Ordering::SeqCst), 30);
    }
}

/// Writes that are committed together: one that fails or panics leaves nothing, and each of the others is done once.
#[tokio::test]
async fn a_write_that_fails_takes_nothing_from_the_others_of_its_group() {
    for Opened { db, .. } in databases().await.iter().filter(|opened| !opened.db.is_shared()) {
        let insert = "insert into installation (name, value) values ('sum', '0')";
        let inserted: Result<()> =
            db.write(move |tx| Box::pin(async move { query(insert).execute(tx).await.map(|_| ()) })).await;
        inserted.unwrap();
        // The first round finds a writer that expects no failure, the next ones a careful one.
        for round in 1..=3_usize {
            let writes = (0..40).map(|n: usize| {
                db.write(move |tx: &mut Tx| {
                    Box::pin(async move {
                        add_one(tx, "sum").await?;
                        assert_ne!(n, 21, "a write that panics");
                        if n.is_multiple_of(8) { Err(anyhow!("it is not to be")) } else { Ok(()) }
                    })
                })
            });
            let outcomes: Vec<Result<()>> = futures::future::join_all(writes).await;
            assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 34);
            assert_eq!(value(db, "sum").await, (34 * round).to_string());
        }
    }
}

#[tokio::test]
async fn a_hook_that_panics_costs_nobody_anything() {
    for Opened { db, .. } in &databases().await {
        let panics = || panic!("a hook");
        let written: Result<()> = db
            .write(move |tx| {
                Box::pin(async move {
                    tx.after_commit(panics);
                    Ok(())
                })
            })
            .await;
        written.unwrap();
        take(db, &[LockRank::Job]).await.unwrap();
    }
}

async fn add_one(tx: &mut Tx, name: &'static str) -> Result<()> {
    let sql = "update installation set value = cast(cast(value as bigint) + 1 as text) where name = $1";
    query(sql).bind(name).execute(tx).await?;
    Ok(())
}

async fn value(db: &Db, name: &'static str) -> String {
    let read = query("select value from installation where name = $1").bind(name);
    read.fetch_one(db.reader(), |row| row.get("value")).await.unwrap()
}

/// Two writes lock two rows in opposite orders: PostgreSQL aborts one of them, whose work is retried. Both take effect once, and
/// so do their hooks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_is_retried_and_unseen() {
    for Opened { db, .. } in databases().await.iter().filter(|opened| opened.db.is_shared()) {
        for name in ["left", "right"] {
            let insert = "insert into installation (name, value) values ($1, '0')";
            let inserted: Result<()> = db
                .write(move |tx| {
                    Box::pin(async move { query(insert).bind(name).execute(tx).await.map(|_| ()) })
                })
                .await;
            inserted.unwrap();
        }
        let (both, ran) = (Arc::new(Barrier::new(2)), Arc::new(AtomicUsize::new(0)));
        let attempts = Arc::new(AtomicUsize::new(0));
        let write = |first: &'static str, second: &'static str| {
            let (both, ran, attempts) = (Arc::clone(&both), Arc::clone(&ran), Arc::clone(&attempts));
            db.write(move |tx: &mut Tx| {
                Box::pin(async move {
                    add_one(tx, first).await?;
                    if attempts.fetch_add(1, Ordering::SeqCst) < 2 {
                        both.wait().await;
                    }
                    add_one(tx, second).await?;
                    tx.after_commit(move || {
                        ran.fetch_add(1, Ordering::SeqCst);
                    });
                    Ok(())
                })
            })
        };
        let (one, other): (Result<()>, Result<()>) =
            tokio::join!(write("left", "right"), write("right", "left"));
        one.unwrap();
        other.unwrap();
        assert_eq!((value(db, "left").await, value(db, "right").await), ("2".to_owned(), "2".to_owned()));
        assert_eq!((ran.load(Ordering::SeqCst), db.write_retries()), (2, 1));
    }
}
