//! Listens for a provider's notifications outside of any call: no connector runs, and the only resource is one connection to a
//! mail server, or one answer of an event source.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::blobs::Blobs;
use crate::code::Code;
use crate::error::Error;
use crate::outbound::{CallEgress, Credentials, Listener, Meter, OriginOverrides, PaceRules, Policy};
use crate::runtime::Runtime;

/// How long it may take to open a connection.
const OPENING: Duration = Duration::from_secs(60);

/// The connection whose provider is listened to.
pub struct ListenTarget<'a> {
    /// The connector's name.
    pub connector: &'a str,
    pub tenant: &'a str,
    pub connection_id: &'a str,
    pub settings: &'a Map<String, Value>,
    pub credentials: Arc<dyn Credentials>,
    /// Servers in the place of hosts of the manifest, as the operator registered them.
    pub origins: Arc<OriginOverrides>,
}

impl Runtime {
    /// Whether the host can wait for notifications of this connector's providers.
    pub fn can_listen(&self, connector: &str) -> bool {
        self.find(connector).is_some_and(|loaded| {
            loaded.manifest.idle_server.is_some() || loaded.manifest.event_source.is_some()
        })
    }

    /// Waits for notifications until the connection ends, which it does at some time. Errors: `Unsupported` if there never are
    /// any, `AuthExpired` when the server refuses the credentials, `RateLimited` when it requests a pause, `Unavailable` for
    /// temporary failures. Dropping the future ends it.
    pub async fn listen(&self, of: ListenTarget<'_>, tell: &Listener<'_>) -> Result<(), Error> {
        let loaded = self.find(of.connector).ok_or_else(|| Error::new(Code::NotInstalled, ""))?;
        let shared = self.0.sandbox.egress.clone();
        let egress = CallEgress {
            policy: Policy::new(loaded.manifest.clone(), of.settings, &shared.approved)
                .with_overrides(of.origins),
            // Neither mail connections nor long-lived answers are counted.
            pacing: PaceRules::unlimited(self.0.sandbox.now.clone()),
            shared,
            credentials: of.credentials,
            tenant: of.tenant.to_owned(),
            connection: of.connection_id.to_owned(),
            connector: loaded.name.clone(),
            blobs: Blobs::new(0),
            deadline: Instant::now() + OPENING,
            meter: Meter::default(),
            redactor: Default::default(),
            turns: Semaphore::new(1),
        };
        let ended = match (&loaded.manifest.idle_server, &loaded.manifest.event_source) {
            (Some(server), _) => egress.listen(server, tell).await.map_err(|e| (e.code, e.message)),
            (None, Some(source)) => {
                let ended = egress.listen_to_events(source, of.settings, tell).await;
                ended.map_err(|e| (e.code, e.message))
            }
            (None, None) => {
                let why = "the connector names no server that reports changes";
                Err(("unsupported".to_owned(), why.to_owned()))
            }
        };
        ended.map_err(|(code, message)| {
            let code = match code.as_str() {
                "unsupported" => Code::Unsupported,
                "auth-expired" => Code::AuthExpired,
                "rate-limited" => Code::RateLimited,
                _ => Code::Unavailable,
            };
            let retry_after_ms = egress.meter.retry_after_ms((self.0.sandbox.now)());
            Error { retry_after_ms, ..Error::new(code, message) }
        })
    }
}
