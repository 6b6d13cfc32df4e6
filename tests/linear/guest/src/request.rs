//! The host's own reader of request bodies (`host/base/src/input/`): JSON, and the fields in it.

use std::hint::black_box;

use base::input::errors::understood;
use base::input::json;
use model::calendar::Event;
use model::email::send::SendMessage;
use serde_json::Value;

use crate::Parser;
use crate::text_within;

pub const ALL: &[Parser] = &[
    ("request.json", |input| {
        drop(black_box(json::value(input)));
        fields(text_within("{\"a\":[", input, "0]}").as_bytes());
    }),
    ("request.members", |input| fields(text_within("{", input, "\"z\":0}").as_bytes())),
    ("request.items", |input| {
        fields(text_within("{\"attendees\":[", input, "{}]}").as_bytes());
        fields(text_within("{\"to\":[", input, "{}]}").as_bytes());
    }),
    ("request.names", |input| {
        let name = Value::from(crate::text(input));
        fields(format!("{{{name}:[0,0,0,0]}}").as_bytes());
        fields(format!("{{\"metadata\":{{{name}:{{}}}}}}").as_bytes());
    }),
];

/// Reads the body as the operations with the most fields do, including unknown fields.
fn fields(body: &[u8]) {
    let Ok(given) = json::value(body) else { return };
    let mut unknown = Vec::new();
    drop(black_box(understood::<Event>(&given, &mut unknown)));
    drop(black_box(understood::<SendMessage>(&given, &mut unknown)));
    black_box(unknown);
}
