//! Batches as the connector sends them: parts whose token is refused, that meet a limit, or that Graph leaves out.

use std::cell::Cell;

use connector_microsoft::Microsoft;
use connector_sdk::http::{Request, Response};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Context, Lifecycle, Outcome, code};
use model::wire::{Account, Connection};
use serde_json::{Value, json};

const BATCH: &str = "https://graph.microsoft.com/v1.0/$batch";
const CHECK: &str = include_str!("../fixtures/check.json");
/// A part that Graph leaves out.
const LOST: u16 = 0;

/// The URLs of a batch's parts, without their queries.
fn paths(request: &Request) -> Vec<String> {
    let batch: Value = serde_json::from_slice(&body(request)).expect("JSON");
    let parts = batch["requests"].as_array().expect("parts");
    let path = |part: &Value| {
        let url = part["url"].as_str().expect("a URL");
        url.split('?').next().unwrap_or_default().to_owned()
    };
    parts.iter().map(path).collect()
}

/// Answers a batch from the recorded one: each part as its path says there, or with the status that `status` gives it.
fn answer(request: &Request, status: impl Fn(&str) -> Option<u16>) -> Response {
    let recorded: Value = serde_json::from_str(CHECK).expect("JSON");
    let recorded = recorded["responses"].as_array().expect("parts").clone();
    let whole = [
        "/me",
        "/me/mailboxSettings",
        "/me/mailFolders/inbox",
        "/me/calendar",
        "/me/contacts",
        "/me/todo/lists",
    ];
    let parts = paths(request).into_iter().enumerate().filter_map(|(at, path)| {
        let position = whole.iter().position(|one| *one == path).unwrap_or(whole.len()).to_string();
        let mut part = recorded.iter().find(|part| part["id"] == position).expect("a recorded part").clone();
        part["id"] = json!(at.to_string());
        match status(&path) {
            Some(LOST) => return None,
            Some(status) => {
                part["status"] = json!(status);
                part["headers"] = json!({ "Retry-After": "7" });
                part["body"] = json!({ "error": { "code": "UnknownError", "message": "" } });
            }
            None => {}
        }
        Some(part)
    });
    let parts: Vec<Value> = parts.collect();
    response(200, &[("content-type", "application/json")], &json!({ "responses": parts }).to_string())
}

/// Opens the account at a provider that answers `/me/calendar` with these statuses, one after the other.
fn check_with(statuses: [Option<u16>; 2]) -> (Outcome<Account>, Vec<Request>) {
    let round = Cell::new(0);
    let provider = Recorded::answering(move |request| {
        let status = statuses.get(round.get()).copied().flatten();
        round.set(round.get() + 1);
        assert_eq!(request.url, BATCH);
        Ok(answer(request, |path| status.filter(|_| path == "/me/calendar")))
    });
    let account = Microsoft::check(&Context::new(&provider, Connection::default()));
    let requests = provider.requests.borrow().clone();
    (account, requests)
}

/// An expired token is refused in the parts of a batch that is itself answered with 200 (microsoftgraph/msgraph-sdk-dotnet#2660).
#[test]
fn a_part_401_renews_and_goes_once_more() {
    let (account, requests) = check_with([Some(401), None]);
    assert_eq!(account.expect("an account").surfaces.len(), 4);
    assert_eq!((requests.len(), paths(&requests[1])), (2, vec!["/me/calendar".to_owned()]));
    let renewed = ("credentials".to_owned(), "renewed".to_owned());
    assert!(!requests[0].extra.contains(&renewed) && requests[1].extra.contains(&renewed));
    let (account, requests) = check_with([Some(401), Some(401)]);
    assert_eq!((account.expect_err("no account").code.as_str(), requests.len()), (code::AUTH_EXPIRED, 2));
}

/// 429 stands inside of a 200, and parts are left out without a word: neither says anything of the account.
#[test]
fn a_part_that_is_held_goes_once_more_and_then_waits() {
    for status in [429, 503, LOST] {
        let (account, requests) = check_with([Some(status), None]);
        assert_eq!((account.expect("an account").surfaces.len(), requests.len()), (4, 2), "{status}");
    }
    let (account, _) = check_with([Some(429), Some(429)]);
    let failure = account.expect_err("a wait");
    assert_eq!((failure.code.as_str(), failure.retry_after_ms), (code::RATE_LIMITED, Some(7_000)));
    let (account, _) = check_with([Some(LOST), Some(LOST)]);
    assert_eq!(account.expect_err("a failure").code, code::UNAVAILABLE);
    let (account, _) = check_with([Some(503), Some(503)]);
    assert_eq!(account.expect_err("a failure").code, code::UNAVAILABLE);
}
