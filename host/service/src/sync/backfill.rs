//! The initial sync of a mailbox: it reads from new to old and serves the mailbox while it does: requests for the newest messages do not
//! wait for the oldest.

use std::collections::HashSet;
use std::time::Duration;

use base::error::{Code, Result, refuse};
use model::wire::Sources;
use model::wire::email::{MessageRef, MessagesGet};
use runtime::{self, Verb};
use storage::connections::Connection;
use storage::{items, sync_states};

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::resource_kind::ResourceKind;
use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::local_copy::normalize::prepared;
use crate::local_copy::record::NormalizedRecord;
use crate::sync::on_demand::{self, ClaimedPull};
use crate::sync::pull::{self, PullLimits};
use crate::sync::schedule::pull_soon;
use crate::sync::scope::SyncScope;
use crate::sync::{ensure_fresh, refresh_if_stale};

/// Longest time that a list waits for messages that were not read yet.
const PATIENCE: Duration = Duration::from_secs(20);
/// Interval between checks of another host's progress.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Kinds of records that `complete` reads completely: messages and drafts.
const MESSAGES: items::Family = ["email_message", "email_draft", "email_message", "email_draft"];
/// Messages per request.
const MESSAGES_PER_FETCH: usize = 100;

/// The part of a mailbox that has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackfillCoverage {
    Whole,
    /// All messages that were received at this time (ms) or later.
    Since(i64),
    Nothing,
}

/// Whether all of a mailbox has been read.
pub async fn is_whole(app: &App, connection_id: &str) -> Result<bool> {
    Ok(covered_of(app, connection_id).await? == BackfillCoverage::Whole)
}

/// Returns the part of the mailbox that is stored.
pub async fn covered(app: &App, connection: &Connection) -> Result<BackfillCoverage> {
    covered_of(app, &connection.id).await
}

async fn covered_of(app: &App, connection_id: &str) -> Result<BackfillCoverage> {
    let (surface, reader) = (ResourceKind::EmailMessage.surface().as_str(), app.db.reader());
    let state = sync_states::find(reader, connection_id, surface, "").await?;
    Ok(match state {
        Some(s) if s.last_success_at.is_some() => BackfillCoverage::Whole,
        Some(s) => s.covered_since.map_or(BackfillCoverage::Nothing, BackfillCoverage::Since),
        None => BackfillCoverage::Nothing,
    })
}

/// Ensures that the newest messages are stored, as fresh as the setting requires, before a write that depends on them. The initial sync
/// continues in the background.
pub async fn ensure(app: &App, connection: &Connection, now_please: bool) -> Result<()> {
    match covered(app, connection).await? {
        BackfillCoverage::Whole => ensure_fresh(app, connection, &SyncScope::mail(), now_please).await,
        BackfillCoverage::Nothing => further(app, connection, BackfillCoverage::Nothing).await.map(|_| ()),
        BackfillCoverage::Since(_) => Ok(pull_soon(app, connection, &SyncScope::mail()).await?),
    }
}

/// Same as `ensure` for reads: a copy in step answers them without a request to the provider, unless `fresh` is set. Returns the age of the
/// newest messages.
pub async fn refresh(app: &App, connection: &Connection, fresh: bool) -> Result<DataAge> {
    match covered(app, connection).await? {
        BackfillCoverage::Whole => refresh_if_stale(app, connection, &SyncScope::mail(), fresh).await,
        BackfillCoverage::Nothing => {
            further(app, connection, BackfillCoverage::Nothing).await?;
            Ok(DataAge::provider(Some(app.now())))
        }
        BackfillCoverage::Since(_) => {
            pull_soon(app, connection, &SyncScope::mail()).await?;
            Ok(DataAge::local(None))
        }
    }
}

/// Reads further back than `known`, and returns the new coverage. The caller waits for one page; older ones are read in the background.
/// Fails if the provider does not respond, or not in time.
pub async fn further(
    app: &App,
    connection: &Connection,
    known: BackfillCoverage,
) -> Result<BackfillCoverage> {
    let scope = SyncScope::mail();
    let name = scope.lock_name(connection);
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let bell = app.coverage.bell(&name);
        let rung = bell.notified();
        tokio::pin!(rung);
        rung.as_mut().enable();
        let now = covered(app, connection).await?;
        if now != known {
            return Ok(now);
        }
        if !read_page(app, connection, &scope).await? {
            // The mailbox is being read: each page notifies, if this host reads it.
            let elsewhere = async {
                match app.db.is_shared() {
                    true => tokio::time::sleep(LOOK_EVERY).await,
                    false => std::future::pending().await,
                }
            };
            tokio::select! {
                () = rung => {}
                () = elsewhere => {}
                () = tokio::time::sleep_until(deadline) => {
                    let message =
                        "the mailbox is being read for the first time, and that takes long; try again";
                    return Err(refuse(Code::ProviderTimeout, message));
                }
            }
        }
        pull_soon(app, connection, &scope).await?;
    }
}

/// Reads one page of a mailbox. False: another task or host reads it now.
async fn read_page(app: &App, connection: &Connection, scope: &SyncScope) -> Result<bool> {
    let Some(_one) = app.locks.try_lock(&scope.lock_name(connection)) else { return Ok(false) };
    let Some(claimed) = ClaimedPull::take(app, connection, scope).await? else { return Ok(false) };
    let by = PullLimits { pages: 1, ..PullLimits::waiting(claimed.job()) };
    let read = pull::run(app, connection, scope, by).await;
    match read {
        Ok(ended) => claimed.end(ended == pull::PullEnd::CaughtUp).await,
        Err(e) if on_demand::is_lost(&e) => Ok(false),
        Err(e) => {
            claimed.end(false).await?;
            Err(e)
        }
    }
}

/// Reads messages completely that are not stored and of which a page has only some fields.
pub async fn complete(
    app: &App,
    connection: &Connection,
    sources: &mut Vec<NormalizedRecord>,
    background: bool,
) -> std::result::Result<(), runtime::Error> {
    let host = |e: anyhow::Error| runtime::Error::new(runtime::Code::Host, e.to_string());
    let short = |s: &NormalizedRecord| s.items.iter().any(|i| i.partial.is_some());
    let mut names: Vec<&str> =
        sources.iter().filter(|s| short(s)).map(|source| source.source_id.as_str()).collect();
    names.dedup();
    if names.is_empty() {
        return Ok(());
    }
    let held = items::held_versions(app.db.reader(), &connection.id, (MESSAGES, ""), &names).await;
    let held: HashSet<String> = held.map_err(host)?.into_iter().map(|(source_id, _)| source_id).collect();
    let unknown = names.into_iter().filter(|name| !held.contains(*name));
    let unknown: Vec<String> = unknown.map(str::to_owned).collect();
    for names in unknown.chunks(MESSAGES_PER_FETCH) {
        let reference = |source: &String| MessageRef { source: source.clone(), hint: None };
        let args = MessagesGet { messages: names.iter().map(reference).collect(), ..MessagesGet::default() };
        let op = Op { surface: runtime::Surface::Email, verb: Verb::Fetch, name: "messages.get" };
        let options = CallOptions { background, completes_page: true, ..CallOptions::default() };
        let target = CallTarget::for_connection(app, connection)
            .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
        let reply: Reply<Sources> = call::run(app, &target, op, &args, options).await?;
        sources.retain(|s| !names.contains(&s.source_id));
        sources.extend(prepared(ResourceKind::EmailMessage, reply.body.sources));
    }
    Ok(())
}
