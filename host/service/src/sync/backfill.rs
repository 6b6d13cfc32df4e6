//! A mailbox is read from new to old, and served while that goes on: who asks for its newest messages does not wait for its oldest.

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

/// How long a list waits for messages that were not read yet.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often one looks how far another host has read.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Kinds of records that `complete` asks for whole: messages and drafts.
const MESSAGES: items::Family = ["email_message", "email_draft", "email_message", "email_draft"];
/// Messages asked for at a time.
const AT_ONCE: usize = 100;

/// How far back a mailbox has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackfillCoverage {
    Whole,
    /// Everything that was received at this time (ms) or later.
    Since(i64),
    Nothing,
}

/// Whether all of a mailbox has been read.
pub async fn is_whole(app: &App, connection_id: &str) -> Result<bool> {
    Ok(covered_of(app, connection_id).await? == BackfillCoverage::Whole)
}

/// How far back it is here by now.
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

/// Sees to it that the newest messages are there, as fresh as the setting wants them, for whoever writes on the strength of them. The first
/// reading goes on behind.
pub async fn ensure(app: &App, connection: &Connection, now_please: bool) -> Result<()> {
    match covered(app, connection).await? {
        BackfillCoverage::Whole => ensure_fresh(app, connection, &SyncScope::mail(), now_please).await,
        BackfillCoverage::Nothing => further(app, connection, BackfillCoverage::Nothing).await.map(|_| ()),
        BackfillCoverage::Since(_) => Ok(pull_soon(app, connection, &SyncScope::mail()).await?),
    }
}

/// The same for reads, which a copy in step answers without a look at the provider, unless they want that (`fresh`). Says how old the
/// newest messages are.
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

/// Reads further back than `known`, and says how far. Who asks reads one page; what is older is read behind. Fails when the
/// provider does not answer, or takes too long.
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
            // Somebody reads it: each page rings, where it is this host that reads.
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

/// Reads one page of a mailbox. False: somebody else reads it now.
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

/// What was told short of messages that are not here is asked for whole.
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
    for names in unknown.chunks(AT_ONCE) {
        let reference = |source: &String| MessageRef { source: source.clone(), hint: None };
        let args = MessagesGet { messages: names.iter().map(reference).collect(), ..MessagesGet::default() };
        let op = Op { surface: runtime::Surface::Email, verb: Verb::Fetch, name: "messages.get" };
        let options = CallOptions { background, completes_page: true, ..CallOptions::default() };
        let target = CallTarget::of(app, connection)
            .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
        let reply: Reply<Sources> = call::run(app, &target, op, &args, options).await?;
        sources.retain(|s| !names.contains(&s.source_id));
        sources.extend(prepared(ResourceKind::EmailMessage, reply.body.sources));
    }
    Ok(())
}
