//! Google as a provider of convergence histories: see `fake_provider::convergence`.

mod calendar;
mod records;

use fakes::google::{GoogleService, RequestRecord};
use serde_json::{Value, json};

use crate::fake_provider::convergence::FaultyProvider;

impl FaultyProvider for GoogleService {
    const STEPS_VARIABLE: &'static str = "GOOGLE_CONVERGENCE_STEPS";
    const DATA: &'static str = "";
    const BATCHES: Option<&'static str> = None;

    fn internal_error() -> Value {
        json!({ "error": { "code": 500, "message": "Backend Error" } })
    }

    fn fits(request: &RequestRecord, method: &str, path: &str) -> bool {
        request.method == method && request.path.contains(path)
    }
}
