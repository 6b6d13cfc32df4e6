//! A call of a connector, and its answer.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::blobs::Blobs;
use crate::error::Error;
use crate::manifest::AccountLimits;
use crate::outbound::{Credentials, OriginOverrides};
use crate::state::Progress;
use crate::stats::CallStats;
use crate::surface::{Surface, Verb};

/// One call of a connector.
pub struct Call {
    /// The connector's name.
    pub connector: String,
    pub surface: Surface,
    pub verb: Verb,
    /// The operation, for example "events.create".
    pub op: String,
    /// Its arguments, JSON text.
    pub body: String,
    /// A cursor that the connector gave earlier.
    pub cursor: Option<String>,
    /// Mutations: equal for repeated attempts at one change.
    pub idempotency_key: Option<String>,
    /// Extension fields of the WIT envelope.
    pub extra: Vec<(String, String)>,
    /// Content that the body names by blob id; the connector's own blobs are added to it.
    pub blobs: Blobs,
    pub context: CallContext,
}

/// The tenant, connection and settings of a call.
pub struct CallContext {
    /// Permits, HTTP connections and TLS sessions are separate for each tenant.
    pub tenant: String,
    pub connection_id: String,
    pub request_id: String,
    /// Whether no caller waits: the call takes its permit from the share of background calls.
    pub background: bool,
    /// The connection's settings: `hosts_from_settings` of the manifest are looked up here.
    pub settings: Map<String, Value>,
    pub credentials: Arc<dyn Credentials>,
    /// Servers in the place of hosts of the manifest, as the operator registered them.
    pub origins: Arc<OriginOverrides>,
    /// The limits of the account in place of the manifest's, with the operator's figures. None: the manifest's own.
    pub limits: Option<Arc<AccountLimits>>,
    /// The receiver of the call's progress, for calls that must not be repeated.
    pub progress: Option<Arc<dyn Progress>>,
    /// Repeats the guest's randomness, in tests.
    pub seed: Option<u64>,
    /// Milliseconds for the call, if less than the limit.
    pub timeout_ms: Option<u64>,
}

/// The answer of a connector.
#[derive(Debug)]
pub struct Answer {
    /// JSON text: well-formed, not too deep, otherwise unchecked.
    pub body: String,
    pub cursor: Option<String>,
    /// Whether there is more now, from `cursor`.
    pub more: bool,
    pub extra: Vec<(String, String)>,
    /// The call's blobs, which the body may name.
    pub blobs: Blobs,
    pub stats: CallStats,
}

impl Answer {
    /// Parses the body as a `T`. A failure is the connector's fault.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_str(&self.body).map_err(|e| {
            let mut error = Error::bad_output(format!("the body is not what the operation answers: {e}"));
            error.stats = self.stats.clone();
            error
        })
    }
}
