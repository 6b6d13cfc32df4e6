//! `whats_new`: the changes in everything that the key may read, out of the event log.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::{Api, Request};
use crate::tool::{
    Context, Definition, Effect, JsonObject, Outcome, ToolError, cut, json_of, object, output,
};
use crate::tools::shape::{FieldChoice, items, person, read_position, write_position};

/// Events of one page of the log.
const PAGE: usize = 50;
/// Pages of the log that one call reads: pages can be empty where the key may read little of the log.
const MAX_PAGES: usize = 4;
/// Bytes of the result beside the changes.
const FRAME_BYTES: usize = 600;
/// Names of changed fields that a change shows.
const MAX_FIELDS: usize = 12;
/// Milliseconds that a call without `since` looks back.
const FIRST_LOOK_MS: i64 = 86_400_000;
/// Requests by which the beginning of that time is searched for in the log.
const MAX_PROBES: usize = 40;
/// Sequence numbers of the first step of the search; each further step has eight times as many.
const FIRST_STEP: i64 = 64;

pub const WHATS_NEW: Definition = Definition {
    name: "whats_new",
    title: "See what has changed",
    description: "Changes in mail, calendars, contacts, tasks and accounts, oldest first: those after `since` (`next` of the last \
        result), else those of the last day. resourceId is the id of the record, parentId that of its calendar or list.",
    scope: "events.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 8 << 10,
    input,
    output: result,
};

fn input() -> JsonObject {
    object(json!({ "since": {"type": "string"} }), &[])
}

fn result() -> JsonObject {
    let changes = json!({"type": "array"});
    output(json!({ "changes": changes, "next": {"type": "string"} }), &["changes", "next"])
}

/// Arguments of `whats_new`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhatsNewArguments {
    since: Option<String>,
}

/// A position in the event log. It gives no right: a request to the log may name any sequence number, and shows what its own key may read.
/// So it is not sealed and does not expire.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogPosition {
    after: i64,
}

pub async fn whats_new<A: Api>(
    context: &Context<'_, A>,
    arguments: WhatsNewArguments,
) -> Result<Outcome, ToolError> {
    let api = context.api;
    let begin = match &arguments.since {
        Some(text) => read_position::<LogPosition>("since", text)?.after,
        None => find_beginning(api, api.now().saturating_sub(FIRST_LOOK_MS)).await?,
    };
    let (mut position, mut has_more, mut found) = (begin, true, Vec::new());
    for _ in 0..MAX_PAGES {
        let request = Request::get("/v1/events").with("after_sequence", position).with("limit", PAGE);
        let mut page = json_of(api.call(request).await).map_err(explain_reset)?;
        has_more = page["next_cursor"].is_string();
        position = page["last_sequence"].as_i64().unwrap_or(position);
        found.extend(items(&mut page));
        if !has_more || found.len() >= PAGE {
            break;
        }
    }
    let shown = found.iter().map(change).collect();
    let (changes, is_cut) = cut(shown, WHATS_NEW.budget.saturating_sub(FRAME_BYTES));
    if is_cut {
        // The next call begins after the last change that is shown.
        let last = changes.len().checked_sub(1).and_then(|last| found.get(last));
        position = last.and_then(|last| last["sequence"].as_i64()).unwrap_or(begin);
        has_more = true;
    }
    let mut result = json!({ "changes": changes, "next": write_position(&LogPosition { after: position }) });
    if has_more {
        result["truncated"] = json!(true);
        result["howToContinue"] = json!("Call whats_new again with `next` as `since`.");
    }
    Ok(result.into())
}

/// Adds the remedy to the error of a position that the log no longer has.
fn explain_reset(error: ToolError) -> ToolError {
    if error.code != "sync_reset_required" {
        return error;
    }
    error.param("since").remedy("Call whats_new without `since`: it then begins with the last day.")
}

/// A change as the result shows it.
fn change(event: &Value) -> Value {
    let data = &event["data"];
    let record = &data["resource"];
    let mut titles = ["subject", "title", "displayName", "name"].into_iter().map(|name| &record[name]);
    let title = titles.find(|title| title.is_string()).unwrap_or(&Value::Null);
    let fields = data["changedFields"].as_array().into_iter().flatten().take(MAX_FIELDS);
    let sender = record["from"].get(0).map(person);
    FieldChoice::new(data, false)
        .put("type", event["type"].clone())
        .put("at", event["timestamp"].clone())
        .put("connectionId", event["connection_id"].clone())
        .copy(&["resourceType", "resourceId", "parentId"])
        .put("changedFields", fields.cloned().collect())
        .unless("origin", "provider")
        .put("from", json!(sender))
        .line("untrustedTitle", title, 200)
        .finish()
}

/// The log after a position.
#[derive(Debug)]
enum LogProbe {
    /// The next event that the key may read, and its time in Unix ms.
    Event { sequence: i64, at: i64 },
    /// No such event up to this position.
    Empty(i64),
    /// The log does not reach that far.
    Beyond,
}

async fn probe<A: Api>(api: &A, after: Option<i64>) -> Result<LogProbe, ToolError> {
    let request = Request::get("/v1/events").with_some("after_sequence", after).with("limit", 1);
    let page = match json_of(api.call(request).await) {
        Err(error) if error.code == "sync_reset_required" => return Ok(LogProbe::Beyond),
        other => other?,
    };
    let event = &page["data"][0];
    let at = event["timestamp"].as_str().and_then(|text| text.parse::<model::Instant>().ok());
    Ok(match (event["sequence"].as_i64(), at) {
        (Some(sequence), Some(at)) => LogProbe::Event { sequence, at: at.as_millis() },
        _ => LogProbe::Empty(page["last_sequence"].as_i64().unwrap_or(0)),
    })
}

/// Returns the position before the first event at or after `wanted` (Unix ms). The log is in the order of time and has no filter for
/// it, so the position is searched for: first in growing steps, then by halves.
async fn find_beginning<A: Api>(api: &A, wanted: i64) -> Result<i64, ToolError> {
    let mut low = match probe(api, None).await? {
        LogProbe::Event { sequence, at } if at < wanted => sequence,
        LogProbe::Event { sequence, .. } => return Ok(sequence.saturating_sub(1)),
        LogProbe::Empty(position) => return Ok(position),
        LogProbe::Beyond => return Ok(0),
    };
    let mut high: Option<i64> = None;
    let mut step = FIRST_STEP;
    for _ in 0..MAX_PROBES {
        let middle = match high {
            Some(high) if high - low <= 1 => break,
            Some(high) => low + (high - low) / 2,
            None => low.saturating_add(step),
        };
        step = step.saturating_mul(8);
        match probe(api, Some(middle)).await? {
            LogProbe::Event { sequence, at } if at < wanted => low = sequence.max(middle),
            LogProbe::Event { .. } | LogProbe::Empty(_) | LogProbe::Beyond => high = Some(middle),
        }
    }
    Ok(match probe(api, Some(low)).await? {
        LogProbe::Event { sequence, at } if at < wanted => sequence,
        _ => low,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::{Value, json};

    use super::{FIRST_LOOK_MS, LogPosition, WhatsNewArguments, change, find_beginning, whats_new};
    use crate::api::{Answer, Api, Content, Request};
    use crate::tool::Outcome;
    use crate::tools::script::{Script, context, quiet_policy};
    use crate::tools::shape::{read_position, write_position};

    fn event(sequence: i64, title: &str) -> Value {
        json!({
            "id": format!("ev_{sequence}"), "type": "calendar.event.created", "timestamp": "2026-03-01T08:00:00.000Z",
            "sequence": sequence, "api_version": "v1", "application_id": "app_1", "connection_id": "conn_1",
            "data": {
                "resourceType": "calendar_event", "resourceId": "evt_1", "parentId": "cal_1", "changeType": "created",
                "changedFields": null, "etag": "\"1\"", "origin": "api", "truncated": false,
                "resource": { "title": title, "description": "x".repeat(1_000) },
            },
        })
    }

    #[test]
    fn a_change_names_its_record() {
        let wanted = json!({
            "type": "calendar.event.created", "at": "2026-03-01T08:00:00.000Z", "connectionId": "conn_1",
            "resourceType": "calendar_event", "resourceId": "evt_1", "parentId": "cal_1", "origin": "api",
            "untrustedTitle": "Lunch",
        });
        assert_eq!(change(&event(7, "Lunch")), wanted);
    }

    /// More changes than fit into a result are read by further calls, without a gap.
    #[tokio::test]
    async fn a_call_goes_on_where_the_last_one_ended() {
        let all: Vec<Value> = (1..=50).map(|sequence| event(sequence, &"long ".repeat(30))).collect();
        let page = json!({ "data": all, "next_cursor": null, "last_sequence": 50 });
        let api = Script::new().on("GET", "/v1/events", 200, page);
        let policy = quiet_policy();
        let since = Some(write_position(&LogPosition { after: 0 }));
        let found = whats_new(&context(&api, &policy), WhatsNewArguments { since }).await;
        let Ok(Outcome::Done(found)) = found else { panic!("{found:?}") };
        let shown = found.structured["changes"].as_array().map(Vec::len).expect("a list");
        assert!((10..50).contains(&shown), "{shown}");
        let next = found.structured["next"].as_str().expect("a position");
        let position = LogPosition { after: i64::try_from(shown).expect("few") };
        assert_eq!(read_position("since", next), Ok(position));
        assert_eq!(found.structured["truncated"], true);
    }

    #[tokio::test]
    async fn a_position_that_is_gone_has_a_remedy() {
        let gone = json!({ "error": { "code": "sync_reset_required", "message": "events after this position are no longer kept" } });
        let api = Script::new().on("GET", "/v1/events", 409, gone);
        let policy = quiet_policy();
        let since = Some(write_position(&LogPosition { after: 3 }));
        let error = whats_new(&context(&api, &policy), WhatsNewArguments { since }).await.unwrap_err();
        assert!(error.remedy.contains("without `since`"), "{error:?}");
        let forged = WhatsNewArguments { since: Some("4".into()) };
        let error = whats_new(&context(&api, &policy), forged).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.param.as_deref()), ("invalid_parameter", Some("since")));
    }

    /// A log with an event every minute, each with an odd sequence number.
    struct MinuteLog {
        events: i64,
        requests: AtomicUsize,
    }

    impl Api for MinuteLog {
        async fn call(&self, request: Request) -> Answer {
            self.requests.fetch_add(1, Ordering::Relaxed);
            let after = request.query.iter().find(|(name, _)| name == "after_sequence");
            let after: i64 = after.map_or(0, |(_, value)| value.parse().expect("a number"));
            let number = (after + 1) / 2;
            let (status, body) = if after > 2 * self.events {
                (409, json!({ "error": { "code": "sync_reset_required", "message": "not reached yet" } }))
            } else if number >= self.events {
                (200, json!({ "data": [], "next_cursor": null, "last_sequence": 2 * self.events }))
            } else {
                let at = model::Instant::from_millis(number * 60_000).to_string();
                let event = json!({ "sequence": 2 * number + 1, "timestamp": at });
                (200, json!({ "data": [event], "next_cursor": "x", "last_sequence": 2 * number + 1 }))
            };
            Answer { status, etag: None, request_id: String::new(), remedy: None, body: Content::Json(body) }
        }

        async fn take_send(&self, _act: &str, _limit: u32) -> bool {
            false
        }

        fn seal(&self, text: &str) -> String {
            text.to_owned()
        }

        fn open(&self, _sealed: &str) -> Option<String> {
            None
        }

        fn now(&self) -> i64 {
            self.events * 60_000
        }

        fn key_id(&self) -> &str {
            "key_1"
        }

        fn scopes(&self) -> &[String] {
            &[]
        }
    }

    /// The first call finds the last day in a log of any length with few requests.
    #[tokio::test]
    async fn the_last_day_is_found() {
        for days in [0, 1, 2, 30, 2_000] {
            let api = MinuteLog { events: days * 1_440 + 7, requests: AtomicUsize::new(0) };
            let wanted = (api.now() - FIRST_LOOK_MS) / 60_000;
            let found = find_beginning(&api, api.now() - FIRST_LOOK_MS).await.expect("a position");
            // The first event of that day has the sequence number `after + 1`, and the one before it `after - 1`.
            let after = (2 * wanted).max(0);
            assert!(found == after || found == after - 1, "{days} days: {found} for {after}");
            let requests = api.requests.load(Ordering::Relaxed);
            assert!(requests <= 36, "{days} days: {requests} requests");
        }
    }
}
