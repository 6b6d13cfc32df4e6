//! One message handed over to its provider, or looked for where an earlier attempt ended nobody knows how.

use std::sync::Arc;

use ::mail::address::wire;
use async_trait::async_trait;
use base::error::Result;
use model::email::RecipientStatus;
use model::email::{EmailAddress, EmailMessage, RecipientDelivery};
use model::wire::email::{MessageFind, MessageSend, MessageUpdate, Sent};
use model::wire::{Mutated, Sources};
use runtime::{self, Blobs, Progress, Surface, Verb};
use storage::connections::Connection;
use storage::items;
use storage::log;
use storage::outbox::{self as table, Outgoing};

use crate::app::App;
use crate::connections;
use crate::connections::call::{self, Op, Options as CallOptions, Reply, Target};
use crate::connections::throttle;
use crate::outbox::Options;
use crate::outbox::outcome::{self, Outcome};
use crate::resources::mail::drafts::is_gone;
use crate::resources::mail::write::reference;
use crate::resources::mail::{bodies, is_only_here};
use crate::resources::{Kind, failed};

/// How long a claim lasts: longer than any call.
const CLAIM_MS: i64 = 180_000;
/// The step after which the provider may have the message (`wit/tcp.wit`, `progress`).
const HANDED_OVER: &str = "handed-over";

/// Works on one message, if nobody else does.
pub async fn one(app: &App, id: &str) -> Result<()> {
    let fence = format!("{}/{}", app.boot, app.new_id(base::ids::Kind::Request));
    let Some(row) = claim(app, id, &fence).await? else { return Ok(()) };
    let as_of = log::last_sequence(app.db.reader(), &row.tenant).await?;
    let outcome = match connections::find(app, &row.tenant, &row.connection_id).await {
        Err(e) => Outcome::Failed { code: "connection_inactive".into(), message: e.to_string() },
        Ok(connection) => match row.handed_over_at {
            Some(_) => look(app, &connection, &row).await,
            None => attempt(app, &connection, &row, &fence).await?,
        },
    };
    let is_taken = matches!(&outcome, Outcome::Told(sent) if sent.recipients.iter().any(|r| r.accepted));
    outcome::keep(app, row.clone(), (&fence, as_of), outcome).await?;
    if is_taken && let Err(e) = mark_original(app, &row).await {
        tracing::warn!(message = %row.id, error = %e, "the message that was answered could not be marked");
    }
    Ok(())
}

/// Marks the message that was answered or forwarded, as every mail program does. A convenience: it is not tried again.
async fn mark_original(app: &App, row: &Outgoing) -> Result<()> {
    let options: Options = serde_json::from_str(&row.options)?;
    let Some(id) = &options.original else { return Ok(()) };
    let kind = Kind::EmailMessage.as_str();
    let Some(item) = items::find(app.db.reader(), &row.tenant, kind, id).await? else { return Ok(()) };
    let connection = connections::find(app, &row.tenant, &row.connection_id).await?;
    if connections::granted(&connection, "email.write").is_err() || is_only_here(&item.source_id) {
        return Ok(());
    }
    let args = MessageUpdate {
        message: reference(&item),
        answered: (!options.is_forward).then_some(true),
        forwarded: options.is_forward.then_some(true),
        ..MessageUpdate::default()
    };
    let op = Op { surface: Surface::Email, verb: Verb::Mutate, name: "messages.update" };
    let call_options = CallOptions {
        idempotency_key: Some(format!("{}/original", row.id)),
        background: true,
        ..CallOptions::default()
    };
    let target = Target::of(app, &connection)?;
    let as_of = log::last_sequence(app.db.reader(), &row.tenant).await?;
    let reply: Result<Reply<Mutated>, runtime::Error> =
        call::run(app, &target, op, &args, call_options).await;
    match reply {
        Ok(reply) => bodies::keep(app, &connection, reply.body.sources, as_of).await.map(|_| ()),
        Err(e) => Err(failed(app, &connection, &e).await),
    }
}

async fn claim(app: &App, id: &str, fence: &str) -> Result<Option<Outgoing>> {
    let (id, fence, now) = (id.to_owned(), fence.to_owned(), app.now());
    // On SQLite there is one process at a time: what another one claimed it will not finish.
    let boot = app.db.is_shared().then(String::new).unwrap_or_else(|| app.boot.clone());
    let is_dead = move |by: &str| !boot.is_empty() && !by.starts_with(&boot);
    let Some(row) = table::find_due(app.db.reader(), &id, now).await? else { return Ok(None) };
    let held_until = throttle::until(app, &row.tenant, &row.connection_id).await?;
    let claimed = app.db.write(move |tx| {
        Box::pin(async move {
            match held_until {
                None => table::claim(tx, &id, (&fence, now + CLAIM_MS, now), is_dead).await,
                // The provider wants to be left alone: the message waits, and has not been tried.
                Some(until) => table::postpone(tx, &id, now, until).await.map(|()| None),
            }
        })
    });
    Ok(claimed.await?)
}

/// Notes on disk that the provider may have the message.
struct Mark {
    app: App,
    id: String,
    fence: String,
}

#[async_trait]
impl Progress for Mark {
    async fn reached(&self, step: &str) -> anyhow::Result<()> {
        if step != HANDED_OVER {
            return Ok(());
        }
        let (id, fence, now) = (self.id.clone(), self.fence.clone(), self.app.now());
        let noted: anyhow::Result<bool> = self
            .app
            .db
            .write(move |tx| Box::pin(async move { table::handed_over(tx, &id, &fence, now).await }))
            .await;
        anyhow::ensure!(noted?, "another attempt has the message");
        Ok(())
    }
}

/// Hands it over.
async fn attempt(app: &App, connection: &Connection, row: &Outgoing, fence: &str) -> Result<Outcome> {
    if let Err(e) = connections::usable(connection) {
        let (code, message) = ("connection_inactive".into(), e.to_string());
        return Ok(Outcome::Later { code, message, retry_after_ms: None });
    }
    let options: Options = serde_json::from_str(&row.options)?;
    let recipients: Vec<RecipientDelivery> = serde_json::from_str(&row.recipients)?;
    let waits =
        |r: &&RecipientDelivery| matches!(r.status, RecipientStatus::Queued | RecipientStatus::Deferred);
    let to: Vec<String> = recipients.iter().filter(waits).map(|r| wire(&r.email).into_owned()).collect();
    let blobs = Blobs::default();
    let message = table::pieces(app.db.reader(), &row.id).await?.concat();
    let no_room = || Outcome::Later {
        code: "overloaded".into(),
        message: "there is no room for the message now".into(),
        retry_after_ms: None,
    };
    let Some(blob) = blobs.create(message.as_bytes(), mime()) else { return Ok(no_room()) };
    let sent_blob = sent_copy(app, row, (&options, &message), &blobs).await?;
    let draft = match &row.draft_id {
        None => None,
        Some(id) => items::find(app.db.reader(), &row.tenant, Kind::EmailDraft.as_str(), id).await?,
    };
    let args = MessageSend {
        blob,
        internet_message_id: row.internet_message_id.clone(),
        from: EmailAddress { email: wire(&options.from.email).into_owned(), name: options.from.name },
        recipients: to,
        save_to_sent: options.save_to_sent,
        sent_blob,
        draft: draft.filter(|d| !is_gone(d)).map(|d| reference(&d)),
    };
    drop(message);
    // A provider that knows the key would only repeat what it said of these recipients before.
    let key = match options.rounds {
        0 => row.id.clone(),
        rounds => format!("{}/{rounds}", row.id),
    };
    let mark = Mark { app: app.clone(), id: row.id.clone(), fence: fence.to_owned() };
    let call_options = CallOptions {
        idempotency_key: Some(key),
        background: true,
        blobs,
        progress: Some(Arc::new(mark)),
        ..CallOptions::default()
    };
    let op = Op { surface: Surface::Email, verb: Verb::Mutate, name: "messages.send" };
    let target = Target::of(app, connection)?;
    let reply: Result<Reply<Sent>, runtime::Error> = call::run(app, &target, op, &args, call_options).await;
    match reply {
        Ok(reply) => {
            connections::state::note(app, connection, Ok(())).await;
            Ok(Outcome::Told(Box::new(reply.body)))
        }
        Err(e) if throttle::is_held(&e) => Ok(Outcome::Held { retry_after_ms: e.retry_after_ms }),
        Err(e) => {
            let error = failed(app, connection, &e).await;
            let is_handed_over = table::find(app.db.reader(), &row.tenant, &row.id)
                .await?
                .is_some_and(|r| r.handed_over_at.is_some());
            Ok(outcome::of_error(&e, &error, is_handed_over))
        }
    }
}

fn mime() -> Option<String> {
    Some("message/rfc822".to_owned())
}

/// The sender's own copy, where it is another than the message: its blob.
async fn sent_copy(
    app: &App,
    row: &Outgoing,
    (options, message): (&Options, &str),
    blobs: &Blobs,
) -> Result<Option<String>> {
    if !options.save_to_sent {
        return Ok(None);
    }
    let copy = table::pieces(app.db.reader(), &table::copy_of(&row.id)).await?.concat();
    if !copy.is_empty() {
        return Ok(blobs.create(copy.as_bytes(), mime()));
    }
    let Some((at, field)) = &options.bcc else { return Ok(None) };
    let (head, rest) = message.split_at_checked(*at).unwrap_or((message, ""));
    Ok(blobs.create([head, field, rest].concat().as_bytes(), mime()))
}

/// Looks for a message that an earlier attempt may have handed over.
async fn look(app: &App, connection: &Connection, row: &Outgoing) -> Outcome {
    let args = MessageFind { internet_message_id: row.internet_message_id.clone() };
    let op = Op { surface: Surface::Email, verb: Verb::Fetch, name: "messages.find" };
    let target = match Target::of(app, connection) {
        Ok(target) => target,
        Err(e) => return Outcome::NotFound { message: e.to_string() },
    };
    let options = CallOptions { background: true, ..CallOptions::default() };
    let reply: Result<Reply<Sources>, runtime::Error> = call::run(app, &target, op, &args, options).await;
    match reply {
        Ok(reply) => {
            let is_sent = |source: &model::wire::Source| {
                source.items.iter().any(|item| item.body.read::<EmailMessage>().is_ok_and(|m| !m.draft))
            };
            let sources: Vec<_> = reply.body.sources.into_iter().filter(is_sent).collect();
            match sources.is_empty() {
                true => Outcome::NotFound { message: "the message is not among those that were sent".into() },
                false => Outcome::Found(sources),
            }
        }
        Err(e) if throttle::is_held(&e) => Outcome::Held { retry_after_ms: e.retry_after_ms },
        Err(e) => Outcome::NotFound { message: e.message },
    }
}
