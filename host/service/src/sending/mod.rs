//! Sending. A message is on disk before anything is said to the provider, so that it is sent once whatever happens: `submit` writes it down
//! with the answer to the caller and a job, whose turn (`sending::dispatch_job`) hands it over by `dispatch`; `store_outcome` keeps what
//! became of it, and `cancel` takes it back while nobody has it.
//!
//! One step cannot be undone: when the provider has the message. The connector says so right before (`Progress`), and that is on disk before
//! it goes on. A process that dies earlier leaves a message that is sent again; one that dies later leaves a message that is looked for,
//! unless the connector could still say that the provider took it. Where it is not found nobody knows, and it is not sent again.
//!
//! Each of these steps is one statement on the message's row with its whole condition (`storage::outbox`): of a cancellation and a turn that
//! want the same row at the same time, one finds that the other was first.

pub mod cancel;
pub mod dispatch;
pub mod dispatch_job;
pub mod message;
mod outcome;
mod store_outcome;
pub mod submit;

use model::email::{DeliveryState, EmailAddress, RecipientDelivery, RecipientStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use storage::connections::Connection;
use storage::jobs::NewJob;
use storage::outbox::Outgoing;
use storage::wakes::JobClass;

/// The kind of the jobs that send; the key is the message's id.
pub const SEND_JOB: &str = "send";

/// What a row keeps of how a message is to be sent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SendOptions {
    pub from: EmailAddress,
    pub save_to_sent: bool,
    /// The Bcc field that the copy in the sent folder shows, with its line end, and where in the message it stands.
    pub bcc: Option<(usize, String)>,
    /// The message was looked for this often.
    pub looks: u32,
    /// How often the provider said what becomes of each recipient: what is handed over after that is another errand.
    pub rounds: u32,
    /// Attempts before the present round: each round has an idempotency key of its own.
    pub attempts_of_earlier_rounds: i64,
    /// The message that it answers, or forwards.
    pub original: Option<String>,
    pub is_forward: bool,
}

/// The job that sends a message, due when the message is.
pub fn send_job<'a>(row: &'a Outgoing, target: &'a str) -> NewJob<'a> {
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

/// The server that a connection's messages go to, host:port, as its settings name it; where they name none, the provider's name. Messages
/// to one server share a bound on how many are handed over at a time.
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

/// Where a message stands as a whole, by what its recipients say. `is_over`: it will not be tried again.
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
