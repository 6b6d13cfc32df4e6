//! The deliveries of an event to the webhooks that receive it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{self, Instant};

use crate::cli::answer_failure::printable;
use crate::cli::output::print_note;
use crate::cli::trigger::session::ApiSession;

/// Most webhooks whose deliveries are read.
const MAX_WEBHOOKS: usize = 10;
/// The first wait between two reads, and the longest; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// A webhook that receives the event, with its delivery once there is one.
pub struct WebhookReport {
    id: String,
    url: String,
    delivery: Option<Value>,
}

/// Reads the deliveries of an event until each webhook has had an attempt, or the deadline is reached. None, and a note, if they cannot be
/// read: the event has happened all the same.
pub async fn read(session: &ApiSession, event: &Value, deadline: Instant) -> Option<Vec<WebhookReport>> {
    let webhooks = match session.list("/v1/webhooks", &[]).await {
        Ok(webhooks) => webhooks,
        Err(error) => {
            print_note(&format!("the deliveries are not shown: {error:#}"));
            return None;
        }
    };
    let receivers: Vec<&Value> = webhooks.iter().filter(|webhook| receives(webhook, event)).collect();
    if receivers.len() > MAX_WEBHOOKS {
        let more = receivers.len() - MAX_WEBHOOKS;
        print_note(&format!("{more} more webhooks receive the event; their deliveries are not shown"));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let reports = receivers.into_iter().take(MAX_WEBHOOKS).map(|webhook| WebhookReport {
        id: text(&webhook["id"]),
        url: text(&webhook["url"]),
        delivery: None,
    });
    let mut reports: Vec<WebhookReport> = reports.collect();
    let (event_id, mut wait) = (event["id"].as_str().unwrap_or_default(), FIRST_WAIT);
    loop {
        for report in reports.iter_mut().filter(|report| !report.is_attempted()) {
            let path = format!("/v1/webhooks/{}/deliveries", report.id);
            let query = [("event_id", event_id), ("limit", "1")];
            match time::timeout_at(deadline, session.get(&path, &query)).await {
                Ok(Ok(mut page)) => report.delivery = page.pointer_mut("/data/0").map(Value::take),
                Ok(Err(error)) => {
                    print_note(&format!("the deliveries are not shown: {error:#}"));
                    return None;
                }
                // The server does not answer: what it said before is shown.
                Err(_) => break,
            }
        }
        if reports.iter().all(WebhookReport::is_attempted) || Instant::now() >= deadline {
            return Some(reports);
        }
        time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

impl WebhookReport {
    fn is_attempted(&self) -> bool {
        self.last_attempt().is_some()
    }

    fn last_attempt(&self) -> Option<&Value> {
        self.delivery.as_ref()?["attempts"].as_array()?.last()
    }

    /// The webhook's URL, the state of the delivery, and the answer to the last attempt with its duration, as cells of a table.
    pub fn cells(&self) -> Vec<String> {
        let url = printable(&self.url);
        let Some((delivery, attempt)) = self.delivery.as_ref().zip(self.last_attempt()) else {
            return vec![url, "no attempt yet".to_owned()];
        };
        let answer = match (attempt["statusCode"].as_i64(), attempt["error"].as_str()) {
            (Some(status), _) => status.to_string(),
            (None, error) => printable(error.unwrap_or_default()),
        };
        let mut cells = vec![
            url,
            printable(delivery["status"].as_str().unwrap_or_default()),
            answer,
            format!("{} ms", attempt["durationMs"].as_i64().unwrap_or_default()),
        ];
        if let Some(at) = delivery["nextAttemptAt"].as_str() {
            cells.push(format!("next attempt {}", printable(at)));
        }
        cells
    }

    /// The webhook with its delivery as JSON.
    pub fn json(&self) -> Value {
        json!({ "webhookId": self.id, "url": self.url, "delivery": self.delivery })
    }
}

/// Whether a webhook receives the event: it is active, and names the type and the connection.
fn receives(webhook: &Value, event: &Value) -> bool {
    let event_type = event["type"].as_str().unwrap_or_default();
    let mut patterns = webhook["eventTypes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let connections = webhook["connectionIds"].as_array().map(Vec::as_slice).unwrap_or_default();
    matches!(webhook["status"].as_str(), Some("active" | "failing"))
        && patterns.any(|pattern| is_match(pattern, event_type))
        && (connections.is_empty() || connections.contains(&event["connection_id"]))
}

/// Whether a pattern (`*`, `calendar.*` or an exact name) includes this event type.
fn is_match(pattern: &str, event_type: &str) -> bool {
    let in_family = |family: &str| event_type.strip_prefix(family).is_some_and(|rest| rest.starts_with('.'));
    pattern == "*" || pattern == event_type || pattern.strip_suffix(".*").is_some_and(in_family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_receives_what_it_names() {
        let event = json!({ "type": "calendar.event.created", "connection_id": "conn_1" });
        let webhook = |types: Value, connections: Value, status: &str| json!({ "eventTypes": types, "connectionIds": connections, "status": status });
        for (types, connections, status, expected) in [
            (json!(["*"]), json!([]), "active", true),
            (json!(["task.*", "calendar.*"]), json!(["conn_1"]), "failing", true),
            (json!(["calendar.event.created"]), json!(["conn_2", "conn_1"]), "active", true),
            (json!(["calendar.event.*"]), json!([]), "paused", false),
            (json!(["calendar.event.*"]), json!(["conn_2"]), "active", false),
            (json!(["calendar.event"]), json!([]), "active", false),
            (json!(["calendar.eve.*"]), json!([]), "active", false),
        ] {
            let webhook = webhook(types, connections, status);
            assert_eq!(receives(&webhook, &event), expected, "{webhook}");
        }
    }

    #[test]
    fn a_report_shows_the_last_attempt() {
        let report = |delivery: Value| {
            let delivery = Some(delivery).filter(|delivery| !delivery.is_null());
            WebhookReport { id: "wh_1".to_owned(), url: "https://a.example".to_owned(), delivery }
                .cells()
                .join(" ")
        };
        assert_eq!(report(json!(null)), "https://a.example no attempt yet");
        assert_eq!(
            report(json!({ "status": "delivered", "nextAttemptAt": null,
                           "attempts": [{ "statusCode": 204, "error": null, "durationMs": 12 }] })),
            "https://a.example delivered 204 12 ms"
        );
        assert_eq!(
            report(json!({ "status": "pending", "nextAttemptAt": "2026-03-01T08:00:05.000Z",
                           "attempts": [{ "statusCode": null, "error": "tls", "durationMs": 3 }] })),
            "https://a.example pending tls 3 ms next attempt 2026-03-01T08:00:05.000Z"
        );
    }
}
