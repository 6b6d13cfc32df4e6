//! Creates with an Idempotency-Key on SQLite at 64 clients, against the same server with one commit per request.

use anyhow::Result;
use serde_json::json;

use crate::bench::load::{Load, abba};
use crate::bench::rig::{Rig, Subject};
use crate::bench::table::{Row, Target};

const CLIENTS: usize = 64;

/// Two rows: a create that the store alone answers, and one that goes through connector and provider.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let grouped = rig.subject("keyed-create", &[])?;
    let single = rig.subject("keyed-create-single", &[("SWITCHBOARD_GROUP_COMMIT", "off")])?;
    let key = |subject: &Subject| {
        let body = json!({ "name": "bench {n}", "scopes": ["calendar.read"] }).to_string();
        keyed(subject, "/v1/api-keys".to_owned(), body)
    };
    let event = |subject: &Subject| {
        let (start, end) = ("2030-02-01T09:00:00Z", "2030-02-01T10:00:00Z");
        let body =
            json!({ "connection_id": subject.connection, "title": "Event {n}", "start": start, "end": end });
        keyed(subject, format!("/v1/calendars/{}/events", subject.calendar), body.to_string())
    };
    let row = |what: &str, ours: Load, baseline: Load, target: Target| -> Result<Row> {
        let (a, b) = abba(&ours, &baseline, rig.seconds)?;
        Ok(Row {
            what: format!("{what} ({CLIENTS} clients, SQLite)"),
            ours: a.shown(),
            baseline: format!("one commit per request: {}", b.shown()),
            figure: a.rate() / b.rate(),
            unit: "×".to_owned(),
            target,
        })
    };
    let rows = vec![
        row("keyed create in the store (API key)", key(&grouped), key(&single), Target::AtLeast(5.0))?,
        row("keyed create through the connector (event)", event(&grouped), event(&single), Target::None)?,
    ];
    grouped.server.stop()?;
    single.server.stop()?;
    Ok(rows)
}

fn keyed(subject: &Subject, path: String, body: String) -> Load {
    let mut load = subject.load("POST", path, 201, CLIENTS);
    load.headers.push("idempotency-key: bench-{n}".to_owned());
    Load { body, ..load }
}
