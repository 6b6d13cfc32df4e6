//! The mapping from Paper's answers to Switchboard's resources, without a host: the answers are recorded.

use connector_my_connector::MyConnector;
use connector_sdk::model::wire::{ChangesRequest, Connection};
use connector_sdk::testing::{Recorded, response, told};
use connector_sdk::{Contacts, Context};
use serde_json::json;

fn connection() -> Connection {
    let mut connection = Connection::default();
    connection.settings.insert("serverUrl".into(), json!("https://paper.test"));
    connection
}

#[test]
fn a_card_is_a_contact_with_its_values_in_order() {
    let emails = json!([
        { "value": "ada@work.test", "kind": "work", "label": null, "first": false },
        { "value": "ada@boat.test", "kind": "custom", "label": "Boat", "first": true },
    ]);
    let card = json!({ "id": "c1", "etag": "3", "name": "Ada Lovelace", "given": "Ada", "family": "Lovelace", "note": null, "emails": emails, "phones": [] });
    let page = json!({ "cards": [card], "nextSince": "t7" });
    let url = "https://paper.test/v1/books/b1/cards?limit=100";
    let paper = Recorded::new().expect("GET", url, response(200, &[], &page.to_string()));
    let args = ChangesRequest { collection: Some("b1".into()), ..ChangesRequest::default() };
    let answer = MyConnector::changes(&Context::new(&paper, connection()), args).expect("an answer");
    assert_eq!((answer.cursor.as_deref(), answer.more), (Some("v1;since;t7"), false));
    let contact = &told(&answer.body)["sources"][0]["items"][0]["body"];
    assert_eq!(contact["displayName"], "Ada Lovelace");
    let values = [&contact["emails"][0]["value"], &contact["emails"][1]["label"], &contact["emails"][1]["primary"]];
    assert_eq!(values, [&json!("ada@work.test"), &json!("Boat"), &json!(true)]);
}

#[test]
fn a_token_that_paper_forgot_starts_over() {
    let url = "https://paper.test/v1/books/b1/cards?limit=100&since=t1";
    let paper = Recorded::new().expect("GET", url, response(410, &[], "{}"));
    let context = Context::new(&paper, connection()).at(Some("v1;since;t1".into()));
    let args = ChangesRequest { collection: Some("b1".into()), ..ChangesRequest::default() };
    let failure = MyConnector::changes(&context, args).expect_err("no answer");
    assert_eq!(failure.code, "cursor-expired");
}

#[test]
fn a_card_that_cannot_be_read_does_not_hold_up_the_others() {
    let card = json!({ "id": "c2", "etag": "3", "name": "Ada", "given": null, "family": null, "note": null, "emails": [], "phones": [] });
    let page = json!({ "cards": [{ "id": "c1", "etag": "2", "name": "Bob" }, card], "nextSince": "t7" });
    let url = "https://paper.test/v1/books/b1/cards?limit=100";
    let paper = Recorded::new().expect("GET", url, response(200, &[], &page.to_string()));
    let args = ChangesRequest { collection: Some("b1".into()), ..ChangesRequest::default() };
    let answer = MyConnector::changes(&Context::new(&paper, connection()), args).expect("an answer");
    let sources = answer.body.sources;
    assert!(sources[0].external_id == "c1" && sources[0].error.is_some());
    assert!(sources[1].external_id == "c2" && sources[1].error.is_none());
}
