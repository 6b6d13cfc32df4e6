//! The mapping from Paper's answers to Switchboard's resources, without a host: the answers are recorded.

use connector_my_connector::MyConnector;
use connector_sdk::model::wire::{ChangesRequest, Connection};
use connector_sdk::testing::{Recorded, response, told};
use connector_sdk::{Calendar, Context};
use serde_json::json;

fn connection() -> Connection {
    let mut connection = Connection::default();
    connection.settings.insert("serverUrl".into(), json!("https://paper.test"));
    connection
}

#[test]
fn days_stay_days_and_times_keep_their_zone() {
    let page = json!({
        "events": [
            { "id": "e1", "etag": "3", "title": "Party", "note": null, "place": "Garden", "start": "2026-05-01", "end": "2026-05-02", "zone": null },
            { "id": "e2", "etag": "4", "title": "Talk", "note": null, "place": null, "start": "2026-05-01T07:00:00Z", "end": "2026-05-01T08:00:00Z", "zone": "Europe/Berlin" },
        ],
        "nextSince": "t7",
    });
    let url = "https://paper.test/v1/calendars/c1/events?limit=100";
    let paper = Recorded::new().expect("GET", url, response(200, &[], &page.to_string()));
    let args = ChangesRequest { collection: Some("c1".into()), ..ChangesRequest::default() };
    let answer = MyConnector::changes(&Context::new(&paper, connection()), args).expect("an answer");
    assert_eq!((answer.cursor.as_deref(), answer.more), (Some("v1;since;t7"), false));
    let sources = &told(&answer.body)["sources"];
    let (day, time) = (&sources[0]["items"][0]["body"], &sources[1]["items"][0]["body"]);
    assert_eq!((&day["allDay"], &day["startDate"], &day["endDate"]), (&json!(true), &json!("2026-05-01"), &json!("2026-05-02")));
    assert_eq!((&time["start"], &time["timeZone"]), (&json!("2026-05-01T07:00:00.000Z"), &json!("Europe/Berlin")));
}

#[test]
fn a_token_that_paper_forgot_starts_over() {
    let url = "https://paper.test/v1/calendars/c1/events?limit=100&since=t1";
    let paper = Recorded::new().expect("GET", url, response(410, &[], "{}"));
    let context = Context::new(&paper, connection()).at(Some("v1;since;t1".into()));
    let args = ChangesRequest { collection: Some("c1".into()), ..ChangesRequest::default() };
    let failure = MyConnector::changes(&context, args).expect_err("no answer");
    assert_eq!(failure.code, "cursor-expired");
}
