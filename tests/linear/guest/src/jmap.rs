//! `connectors/jmap`: answers, messages, header fields.

use std::hint::black_box;

use connector_jmap::message::{self, body, parts, text as fields};
use connector_jmap::protocol::Answers;
use connector_jmap::protocol::answers::{ChangesResponse, GetResponse, QueryResponse, Set};
use connector_jmap::protocol::email::Email;

use crate::Parser;
use crate::text;
use crate::text_within;

pub const ALL: &[Parser] = &[
    ("jmap.answers", |input| {
        drop(black_box(Answers::read(input)));
        let within = text_within("{\"methodResponses\":[", input, "]}");
        drop(black_box(Answers::read(within.as_bytes())));
    }),
    ("jmap.members", |input| {
        let json = text_within("{", input, "}");
        drop(black_box(serde_json::from_str::<GetResponse>(&json)));
        drop(black_box(serde_json::from_str::<QueryResponse>(&json)));
        drop(black_box(serde_json::from_str::<ChangesResponse>(&json)));
        drop(black_box(serde_json::from_str::<Set>(&json)));
        drop(black_box(serde_json::from_str::<serde_json::Value>(&json)));
    }),
    ("jmap.email", |input| {
        if let Ok(email) = serde_json::from_str::<Email>(&text_within("{\"id\":\"e\",", input, "\"x\":1}")) {
            read(&email);
        }
    }),
    ("jmap.text", |input| {
        let raw = text(input);
        black_box((fields::nfc(&raw), fields::unfold(&raw), fields::cut(&raw, 100)));
        black_box(fields::decoded([("X-A", raw.as_ref())].into_iter()));
        let date = Some(raw.into_owned());
        black_box(message::instant(&date));
    }),
];

fn read(email: &Email) {
    black_box((body::email_body(email, 1 << 20), body::headers(email), message::etag(email)));
    black_box((parts::hint(email), parts::attachments(email), parts::calendar_method(email)));
}
