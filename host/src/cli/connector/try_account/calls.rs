//! Calls of the connector for a tested account, with their figures.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use runtime::{Answer, CallObserver, CallStats, LogLine, ObservedCall};
use serde::Serialize;
use serde::de::DeserializeOwned;
use service::app::App;
use service::connections::call::{self, CallOptions, Op, Reply};
use service::connections::call_target::CallTarget;
use service::connections::credentials::{self, StaticCredentials};
use storage::connections::Connection;

/// The figures of one call.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFigures {
    /// HTTP requests to the provider, without line protocols (IMAP, SMTP).
    pub requests: u32,
    /// Time from the component's start to its answer.
    pub milliseconds: u64,
    /// Units of `[limits]` that the requests used, by bucket.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, u64>,
}

impl CallFigures {
    fn new(stats: &CallStats) -> CallFigures {
        let units = stats.buckets.as_ref().map(|buckets| buckets.units.clone()).unwrap_or_default();
        CallFigures { requests: stats.http_requests, milliseconds: stats.wall_us / 1_000, units }
    }
}

/// The figures of the last call, from the runtime.
#[derive(Debug, Default)]
pub struct CallMeter(Mutex<CallFigures>);

impl CallMeter {
    /// Returns the figures since the last time: zeros if no call was made.
    fn take(&self) -> CallFigures {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CallObserver for CallMeter {
    fn line(&self, _: &ObservedCall, _: &LogLine) {}

    fn ended(&self, called: &ObservedCall, outcome: Result<&Answer, &runtime::Error>) {
        // Without an operation the component was only loaded.
        if called.of.is_none() {
            return;
        }
        let stats = match outcome {
            Ok(answer) => &answer.stats,
            Err(e) => &e.stats,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = CallFigures::new(stats);
    }
}

/// An account to test.
pub struct TrialAccount<'a> {
    pub app: &'a App,
    pub connection: &'a Connection,
    pub meter: &'a CallMeter,
    /// Whether this process may renew tokens.
    pub renews: bool,
}

impl TrialAccount<'_> {
    /// Runs one operation. Its result does not change the connection; waits that the provider asks for, and renewed tokens, are stored.
    pub async fn call<A, R>(
        &self,
        op: Op,
        args: &A,
        cursor: Option<String>,
    ) -> (CallFigures, Result<Reply<R>, runtime::Error>)
    where
        A: Serialize + Sync,
        R: DeserializeOwned + Send,
    {
        self.meter.take();
        let options = CallOptions { cursor, ..CallOptions::default() };
        let outcome = match self.target() {
            Ok(target) => call::run(self.app, &target, op, args, options).await,
            Err(e) => Err(runtime::Error::new(runtime::Code::Host, e.to_string())),
        };
        (self.meter.take(), outcome)
    }

    fn target(&self) -> base::error::Result<CallTarget<'_>> {
        let target = CallTarget::for_connection(self.app, self.connection)?;
        if self.renews {
            return Ok(target);
        }
        let given = credentials::stored(self.app, self.connection)?;
        Ok(CallTarget { credentials: Arc::new(StaticCredentials::new(&given)?), renewed: None, ..target })
    }
}
