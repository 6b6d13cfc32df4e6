//! Graph as a provider of convergence histories: see `fake_provider::convergence`.

mod calendar;
mod records;

use fakes::graph::{GraphRequest, GraphService};
use serde_json::{Value, json};

use crate::fake_provider::convergence::FaultyProvider;

/// The path of batches.
const BATCH: &str = "/v1.0/$batch";

/// Traps of batches and of every call, for any kind of data.
const COMMON_TRAPS: [&str; 7] = [
    "batch_429",
    "batch_part_missing",
    "batch_part_503",
    "batch_reversed",
    "throttled",
    "throttled_bare",
    "unknown_error_503",
];

impl FaultyProvider for GraphService {
    const STEPS_VARIABLE: &'static str = "MICROSOFT_CONVERGENCE_STEPS";
    const DATA: &'static str = "/v1.0/me/";
    const BATCHES: Option<&'static str> = Some(BATCH);

    fn internal_error() -> Value {
        json!({ "error": { "code": "UnknownError", "message": "" } })
    }

    fn fits(request: &GraphRequest, method: &str, path: &str) -> bool {
        let fits = |request: &GraphRequest| {
            request.method == method && request.path != BATCH && request.path.contains(path)
        };
        fits(request) || request.parts.iter().any(fits)
    }
}
