//! Waiting for news of a provider outside of any call: no connector runs, and nothing is held but one line.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::blobs::Blobs;
use crate::code::Code;
use crate::error::Error;
use crate::outbound::{CallEgress, Credentials, Listener, Meter, Policy};
use crate::runtime::Runtime;

/// How long it may take to get a line.
const OPENING: Duration = Duration::from_secs(60);

/// Of whose provider.
pub struct Listening<'a> {
    /// The connector's name.
    pub connector: &'a str,
    pub tenant: &'a str,
    pub connection_id: &'a str,
    pub settings: &'a Map<String, Value>,
    pub credentials: Arc<dyn Credentials>,
}

impl Runtime {
    /// Whether the host can wait for news of this connector's providers.
    pub fn can_listen(&self, connector: &str) -> bool {
        self.find(connector).is_some_and(|loaded| loaded.manifest.idle_server.is_some())
    }

    /// Waits for news until the line ends, which it does at some time. Errors: `Unsupported` when there never will be any,
    /// `AuthExpired` when the server refuses the credentials, `Unavailable` for everything that passes. Dropping the future ends it.
    pub async fn listen(&self, of: Listening<'_>, tell: &Listener<'_>) -> Result<(), Error> {
        let loaded = self.find(of.connector).ok_or_else(|| Error::new(Code::NotInstalled, ""))?;
        let Some(server) = &loaded.manifest.idle_server else {
            return Err(Error::new(Code::Unsupported, "the connector names no server that tells of changes"));
        };
        let shared = self.0.sandbox.egress.clone();
        let egress = CallEgress {
            policy: Policy::new(loaded.manifest.clone(), of.settings, &shared.approved),
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
        egress.listen(server, tell).await.map_err(|e| {
            let code = match e.code.as_str() {
                "unsupported" => Code::Unsupported,
                "auth-expired" => Code::AuthExpired,
                _ => Code::Unavailable,
            };
            Error::new(code, e.message)
        })
    }
}
