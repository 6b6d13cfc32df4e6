//! Redaction: each place that can hold a secret, and secrets of all kinds in all encodings.

mod places;
mod random;

use std::collections::BTreeMap;

use super::format::{RecordedExchange, RecordedRequest, RecordedResponse};
use super::redact::Redactor;
use super::rules::Rules;

/// An exchange with the same body both ways.
fn exchange(url: &str, content_type: &str, body: &str) -> RecordedExchange {
    let headers = |more: &[(&str, &str)]| -> BTreeMap<String, String> {
        let usual = [("content-type", content_type)];
        usual.iter().chain(more).map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    RecordedExchange {
        n: 1,
        request: RecordedRequest {
            method: "POST".into(),
            url: url.into(),
            headers: headers(&[("x-api-key", "own-key-of-ann"), ("if-match", "W/\"ann@home.org\"")]),
            body: body.into(),
        },
        response: RecordedResponse {
            status: 200,
            headers: headers(&[("x-session", "own-key-of-ann"), ("etag", "\"ann@home.org\"")]),
            body: body.into(),
        },
    }
}

/// Returns the exchanges without private data, and the number of addresses that were replaced.
fn redacted(rules: &Rules, exchanges: &[RecordedExchange]) -> (Vec<RecordedExchange>, usize) {
    let mut redactor = Redactor::new(&["known-secret".to_owned()], rules);
    for exchange in exchanges {
        redactor.exchange(exchange);
    }
    let clean = exchanges.iter().map(|exchange| redactor.exchange(exchange)).collect();
    (clean, redactor.addresses())
}

/// Everything of an exchange that is recorded, as texts.
fn texts(exchange: &RecordedExchange) -> Vec<String> {
    let RecordedExchange { request, response, .. } = exchange;
    let bodies = [&request.body, &response.body].map(|body| String::from_utf8_lossy(body).into_owned());
    let headers = request.headers.iter().chain(&response.headers);
    headers
        .map(|(name, value)| format!("{name}: {value}"))
        .chain(bodies)
        .chain([request.url.clone()])
        .collect()
}
