//! Sending. A message is on disk before anything is said to the provider, so that it is sent once whatever happens: `submit` writes it down
//! with the answer to the caller, `dispatch` hands it over, `outcome` keeps what became of it.
//!
//! One step cannot be undone: when the provider has the message. The connector says so right before (`Progress`), and that is on disk before
//! it goes on. A process that dies earlier leaves a message that is sent again; one that dies later leaves a message that is looked for.
//! Where it is not found nobody knows, and it is not sent again.

mod dispatch;
mod outcome;
pub mod submit;

use std::time::Duration;

use anyhow::Result;
use futures::StreamExt;
use model::email::{DeliveryState, EmailAddress, RecipientDelivery, RecipientStatus};
use serde::{Deserialize, Serialize};
use storage::outbox as table;

use crate::app::App;
use crate::supervise::guarded;

/// How often the outbox is looked at when nobody rings.
const TICK_MS: u64 = 1_000;
/// Messages handed over at a time.
const CONCURRENT: usize = 8;
/// Messages begun in one round.
const BATCH: i64 = 100;

/// What a row keeps of how a message is to be sent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    pub from: EmailAddress,
    pub save_to_sent: bool,
    /// The Bcc field that the copy in the sent folder shows, with its line end, and where in the message it stands.
    pub bcc: Option<(usize, String)>,
    /// The message was looked for this often.
    pub looks: u32,
    /// How often the provider said what becomes of each recipient: what is handed over after that is another errand.
    pub rounds: u32,
    /// The message that it answers, or forwards.
    pub original: Option<String>,
    pub is_forward: bool,
}

/// Runs until `stop` resolves.
pub async fn run(app: App, mut stop: tokio::sync::watch::Receiver<bool>) {
    while !*stop.borrow() {
        let rung = app.outbox.notified();
        if let Err(e) = tick(&app).await {
            tracing::error!(error = %format!("{e:#}"), "the outbox stumbled");
        }
        tokio::select! {
            () = rung => {}
            () = tokio::time::sleep(Duration::from_millis(TICK_MS)) => {}
            _ = stop.changed() => {}
        }
    }
}

/// One round: everything that is due to be sent.
pub async fn tick(app: &App) -> Result<()> {
    let due = table::due(app.db.reader(), app.now(), BATCH).await?;
    let work = due.into_iter().map(|id| async move {
        // One message's fault is no other's; its claim ends by itself, and then it is looked for.
        if let Err(e) = guarded(&app.metrics, "dispatch", dispatch::one(app, &id)).await {
            tracing::warn!(message = %id, error = %e, "a message could not be sent");
        }
    });
    futures::stream::iter(work).buffer_unordered(CONCURRENT).collect::<()>().await;
    Ok(())
}

/// Where a message stands as a whole, by what its recipients say. `is_over`: it will not be tried again.
fn state_of(recipients: &[RecipientDelivery], is_over: bool) -> DeliveryState {
    let is_taken = |r: &&RecipientDelivery| {
        matches!(
            r.status,
            RecipientStatus::Accepted | RecipientStatus::Delivered | RecipientStatus::Complained
        )
    };
    let taken = recipients.iter().filter(is_taken).count();
    let waits =
        recipients.iter().any(|r| matches!(r.status, RecipientStatus::Queued | RecipientStatus::Deferred));
    if waits && !is_over {
        return DeliveryState::Queued;
    }
    match taken {
        0 => DeliveryState::Failed,
        n if n == recipients.len() => DeliveryState::Sent,
        _ => DeliveryState::PartiallyFailed,
    }
}

/// The word that the database has for a state.
pub fn word(state: DeliveryState) -> &'static str {
    match state {
        DeliveryState::Queued => "queued",
        DeliveryState::Sending => "sending",
        DeliveryState::Sent => "sent",
        DeliveryState::PartiallyFailed => "partially_failed",
        DeliveryState::Failed => "failed",
        DeliveryState::Bounced => "bounced",
        DeliveryState::Cancelled => "cancelled",
    }
}
