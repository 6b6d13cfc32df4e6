//! The way of waiting requests into the store: what their applications keep is asked again, bodies are redacted and sealed, and the rest is
//! written with one statement.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use base::error::{Code, Refusal, is_outage};
use storage::request_log::{self, RequestEntry, RequestLogMode, SealedBodies};

use crate::app::App;
use crate::app::request_log::LoggedRequest;
use crate::app::request_log::bodies::{self, CapturedBodies};
use crate::app::request_log::redaction::KnownWords;

/// Requests that one transaction writes.
const ENTRIES_PER_TRANSACTION: usize = 1_000;
/// Transactions of one flush: all entries that may wait. Entries that arrive during it are written by the next one, so that a flood delays
/// nothing else.
const TRANSACTIONS_PER_FLUSH: usize = 5;
/// Applications whose modes one flush asks for.
const MODES_PER_FLUSH: usize = 1_000;
/// Entries that an application keeps.
pub const KEPT_ENTRIES: i64 = 50_000;
/// Requests whose bodies an application keeps.
pub const KEPT_BODIES: i64 = 5_000;
/// Written entries of an application after which its oldest ones are removed.
const TRIM_EVERY: u64 = 1_000;
/// Rows that one transaction removes.
const ROWS_PER_STEP: i64 = 500;
/// Transactions that remove, after those entries were written.
const TRIM_STEPS: usize = 4;

/// Modes of applications, and until when they keep full bodies, by their ids.
type LogModes = BTreeMap<String, (RequestLogMode, Option<i64>)>;

/// Requests that are being written. Dropped, they give their room back.
struct TakenRequests<'a> {
    app: &'a App,
    requests: Vec<LoggedRequest>,
}

impl TakenRequests<'_> {
    /// Has them wait again.
    fn put_back(mut self) {
        self.app.request_log.put_back(std::mem::take(&mut self.requests));
    }
}

impl Drop for TakenRequests<'_> {
    fn drop(&mut self) {
        self.app.request_log.settle(&self.requests);
    }
}

/// Learns what the applications keep that this host has heard of, and writes all requests that wait. What cannot be written while the
/// database is away waits on; what it does not take is dropped and counted.
pub async fn flush(app: &App) -> Result<()> {
    let ids = app.request_log.next_applications(MODES_PER_FLUSH);
    if !ids.is_empty() {
        learn_modes(app, &ids).await?;
    }
    for _ in 0..TRANSACTIONS_PER_FLUSH {
        let requests = app.request_log.take(ENTRIES_PER_TRANSACTION);
        if requests.is_empty() {
            return Ok(());
        }
        let taken = TakenRequests { app, requests };
        match write(app, &taken.requests).await {
            Ok(written) => {
                drop(taken);
                trim(app, &written).await?;
            }
            Err(e) if may_pass(&e) => {
                taken.put_back();
                return Err(e);
            }
            Err(e) => {
                let dropped = u64::try_from(taken.requests.len()).unwrap_or(u64::MAX);
                app.metrics.request_log_dropped.inc_by(dropped);
                return Err(e);
            }
        }
    }
    Ok(())
}

/// Whether the same write may succeed later.
fn may_pass(e: &anyhow::Error) -> bool {
    let is_overload = e.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == Code::Overloaded);
    is_overload || is_outage(e)
}

async fn learn_modes(app: &App, ids: &[String]) -> Result<LogModes> {
    let modes = request_log::modes(app.db.reader(), ids).await?;
    for (id, (mode, full_until)) in &modes {
        app.request_log.set_mode(id, *mode, *full_until);
    }
    Ok(modes)
}

/// Writes requests; how many of each application.
async fn write(app: &App, requests: &[LoggedRequest]) -> Result<BTreeMap<String, u64>> {
    let ids: BTreeSet<&String> = requests.iter().map(|logged| &logged.entry.application_id).collect();
    let ids: Vec<String> = ids.into_iter().cloned().collect();
    let modes = learn_modes(app, &ids).await?;
    let bytes: usize =
        requests.iter().filter_map(|logged| logged.bodies.as_ref()).map(CapturedBodies::bytes).sum();
    let (entries, bodies) = app.compute.run("", bytes, || rows(app, requests, &modes)).await;
    let mut written: BTreeMap<String, u64> = BTreeMap::new();
    for entry in &entries {
        *written.entry(entry.application_id.clone()).or_default() += 1;
    }
    let rows = Arc::new((entries, bodies));
    let stored: Result<()> = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let (entries, bodies) = &*rows;
                request_log::insert(tx, entries).await?;
                request_log::insert_bodies(tx, bodies).await
            })
        })
        .await;
    stored?;
    Ok(written)
}

/// The rows of requests: none of an application that is gone or keeps nothing by now, and bodies as it keeps them now.
fn rows(app: &App, requests: &[LoggedRequest], modes: &LogModes) -> (Vec<RequestEntry>, Vec<SealedBodies>) {
    let (mut entries, mut sealed) = (Vec::with_capacity(requests.len()), Vec::new());
    let none = KnownWords::default();
    for logged in requests {
        let Some((mode, full_until)) = modes.get(&logged.entry.application_id) else { continue };
        if *mode == RequestLogMode::Off {
            continue;
        }
        let mut entry = logged.entry.clone();
        let known = || app.request_log.known_words.get().map_or(&none, |words| words());
        let kept =
            logged.bodies.as_ref().and_then(|sent| bodies::redact(&entry, sent, *mode, *full_until, known()));
        if let Some(kept) = kept {
            // A body that cannot be sealed is left out: the request is worth more than nothing.
            if let Ok(text) = bodies::seal(&app.keyring, &entry.application_id, &entry.id, &kept) {
                entry.has_bodies = true;
                sealed.push(SealedBodies {
                    application_id: entry.application_id.clone(),
                    id: entry.id.clone(),
                    at: entry.at,
                    sealed: text,
                });
            }
        }
        entries.push(entry);
    }
    (entries, sealed)
}

/// Removes the oldest requests of applications that have written many since the last time.
async fn trim(app: &App, written: &BTreeMap<String, u64>) -> Result<()> {
    for (id, entries) in written {
        if !app.request_log.count_written(id, *entries, TRIM_EVERY) {
            continue;
        }
        for _ in 0..TRIM_STEPS {
            let id = id.clone();
            let removed: Result<i64> = app
                .db
                .write(move |tx| {
                    Box::pin(async move {
                        let bodies = request_log::trim_bodies(tx, &id, KEPT_BODIES, ROWS_PER_STEP).await?;
                        Ok(bodies + request_log::trim(tx, &id, KEPT_ENTRIES, ROWS_PER_STEP).await?)
                    })
                })
                .await;
            if removed? == 0 {
                break;
            }
        }
    }
    Ok(())
}
