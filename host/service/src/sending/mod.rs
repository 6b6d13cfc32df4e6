//! Sending. A message is on disk before the provider gets it, so that it is sent once in any case: `submit` stores it together with the
//! response and a job, whose run (`dispatch`) hands it over; `store_outcome` stores the outcome, and `cancel` cancels a message that was not
//! handed over.
//!
//! One step cannot be undone: the hand-over to the provider. The connector reports it right before (`Progress`), and that is on disk before
//! it continues. If the process dies earlier, the message is sent again; if it dies later, the message is searched for, unless the
//! connector could still report that the provider accepted it. If it is not found, the outcome is unknown, and it is not sent again.
//!
//! Each of these steps is one statement on the message's row with its whole condition (`storage::outbox`): of a cancellation and a run that
//! want the same row at the same time, one sees that the other was first.

pub mod cancel;
pub mod dispatch;
pub mod message;
mod outcome;
mod store_outcome;
pub mod submit;

use model::email::{DeliveryState, EmailAddress, RecipientDelivery, RecipientStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use storage::connections::Connection;
use storage::jobs::NewJob;
use storage::outbox::OutboxMessage;
use storage::wakes::JobClass;

/// The kind of the jobs that send; the key is the message's id.
pub const SEND_JOB: &str = "send";

/// The stored options of sending a message.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SendOptions {
    pub from: EmailAddress,
    pub save_to_sent: bool,
    /// The Bcc field that the copy in the sent folder shows, with its line end, and its offset in the message.
    pub bcc: Option<(usize, String)>,
    /// Number of searches for the message.
    pub looks: u32,
    /// Number of rounds that ended with the provider's results for each recipient: a later hand-over is a new request.
    pub rounds: u32,
    /// Attempts before the present round: each round has its own idempotency key.
    pub attempts_of_earlier_rounds: i64,
    /// The message that it answers, or forwards.
    pub original: Option<String>,
    pub is_forward: bool,
}

/// Returns the job that sends a message, due when the message is.
pub fn send_job<'a>(row: &'a OutboxMessage, target: &'a str) -> NewJob<'a> {
    NewJob {
        kind: SEND_JOB,
        key: &row.id,
        class: JobClass::Send,
        tenant: &row.tenant,
        connection_id: Some(&row.connection_id),
        target,
        due_at: row.next_attempt_at,
        args: None,
    }
}

/// Returns the server that a connection's messages go to, host:port, from its settings, or the provider's name if they name none. Messages
/// to one server share a limit of parallel hand-overs.
fn target(connection: &Connection) -> String {
    let setting = |name: &str| connection.settings.get(name);
    let smtp = setting("smtp").and_then(|server| {
        let host = server.get("host").and_then(Value::as_str)?;
        let port = server.get("port").and_then(Value::as_u64).unwrap_or_default();
        Some(format!("{}:{port}", host.to_ascii_lowercase()))
    });
    let server = || {
        let url = url::Url::parse(setting("serverUrl")?.as_str()?).ok()?;
        Some(format!("{}:{}", url.host_str()?, url.port_or_known_default()?))
    };
    smtp.or_else(server).unwrap_or_else(|| connection.provider.clone())
}

/// Whether this recipient still waits for the message.
fn is_open(recipient: &RecipientDelivery) -> bool {
    matches!(recipient.status, RecipientStatus::Queued | RecipientStatus::Deferred)
}

/// Returns the state of a message from those of its recipients. `is_over`: it will not be tried again.
fn state_of(recipients: &[RecipientDelivery], is_over: bool) -> DeliveryState {
    let is_taken = |r: &&RecipientDelivery| {
        matches!(
            r.status,
            RecipientStatus::Accepted | RecipientStatus::Delivered | RecipientStatus::Complained
        )
    };
    let taken = recipients.iter().filter(is_taken).count();
    if recipients.iter().any(is_open) && !is_over {
        return DeliveryState::Queued;
    }
    match taken {
        0 => DeliveryState::Failed,
        n if n == recipients.len() => DeliveryState::Sent,
        _ => DeliveryState::PartiallyFailed,
    }
}
