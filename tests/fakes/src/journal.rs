//! Faults that wait for their requests, and the requests so far.

use std::time::Duration;

use serde_json::{Value, json};

use crate::control::OperationResult;
use crate::door::Ask;
use crate::faults::{self, Fault};
use crate::oracle::Violation;
use crate::traffic::Traffic;

/// A request that a fake got.
pub trait RecordedRequest: Clone + Send + 'static {
    /// The request as `/__control/requests` shows it.
    fn to_value(&self) -> Value;
}

/// The faults, requests and violations of a fake.
pub struct Journal<R> {
    pub(crate) faults: Vec<Fault>,
    pub(crate) requests: Vec<R>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) traffic: Traffic,
}

impl<R> Default for Journal<R> {
    fn default() -> Self {
        Journal {
            faults: Vec::new(),
            requests: Vec::new(),
            violations: Vec::new(),
            traffic: Traffic::default(),
        }
    }
}

impl<R: RecordedRequest> Journal<R> {
    /// Records a request, and takes the fault that fits it.
    pub(crate) fn record(&mut self, request: R, ask: &Ask) -> Option<Fault> {
        self.requests.push(request);
        faults::take(&mut self.faults, ask)
    }

    /// Carries out an operation of `/__control` on the journal.
    pub(crate) fn control(&mut self, method: &str, path: &[&str], body: Value) -> OperationResult {
        match (method, path) {
            ("POST", ["distance"]) => {
                let ms = body["ms"].as_u64().ok_or("ms is missing")?;
                self.traffic.set_distance(Duration::from_millis(ms));
            }
            ("GET", ["traffic"]) => return Ok(json!({ "accounts": self.traffic.to_value() })),
            ("DELETE", ["traffic"]) => self.traffic.clear(),
            ("POST", _) => {
                let fault: Fault = serde_json::from_value(body).map_err(|error| error.to_string())?;
                self.faults.push(fault);
            }
            ("DELETE", ["faults"]) => self.faults.clear(),
            ("DELETE", ["requests"]) => self.requests.clear(),
            ("GET", ["violations"]) => return Ok(json!({ "violations": self.violations })),
            ("DELETE", ["violations"]) => self.violations.clear(),
            ("GET", ["requests"]) => {
                let requests: Vec<Value> = self.requests.iter().map(R::to_value).collect();
                return Ok(json!({ "requests": requests }));
            }
            _ => return Err("no such route".to_owned()),
        }
        Ok(json!({}))
    }
}
