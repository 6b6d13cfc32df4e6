//! Input that Outlook has no place for: the refusal names its field, and Graph gets no write.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::microsoft::{BOB, World};

/// A rule that Graph cannot say, a fourth address where all have to be kept, and a search in two languages.
#[tokio::test]
async fn wrong_input_names_its_field() {
    let Some(world) = World::start().await else { return };
    let scopes = ["email.read", "calendar.read", "calendar.write", "contacts.read", "contacts.write"];
    let connection = world.connect_for(&scopes).await;
    let (id, calendar) = (text(&connection["id"]), world.default_calendar(&connection).await);
    world.fake.clear_requests();

    let fifth_monday = json!({
        "title": "Tea", "start": "2026-03-30T15:00:00Z", "end": "2026-03-30T16:00:00Z", "timeZone": "Europe/Berlin",
        "recurrence": ["RRULE:FREQ=MONTHLY;BYDAY=5MO;COUNT=3"],
    });
    let error = world.api.post(&calendar.events, fifth_monday).send().await;
    assert_eq!(error.refused(400, "capability_not_supported")["param"], "recurrence");

    let emails: Vec<Value> =
        ["a", "b", "c", "d"].iter().map(|name| json!({ "value": format!("{name}@x.example") })).collect();
    let ada = json!({ "connectionId": id, "givenName": "Ada", "emails": emails });
    let error = world.api.post("/v1/contacts?strict=true", ada).send().await;
    assert_eq!(error.refused(400, "capability_not_supported")["param"], "emails");

    let both = format!("/v1/email/messages?connection_id={id}&q=lunch&native_query=isread%3Afalse");
    let error = world.api.get(both).send().await;
    assert_eq!(error.refused(400, "conflicting_fields")["param"], "native_query");

    assert_eq!(world.methods(), Vec::<String>::new(), "nothing was written");
    world.assert_allowed();
}

/// An account that lets us send and not change mail takes 2 MB; a larger message is refused at once and not stored.
#[tokio::test]
async fn a_message_over_the_limit_is_refused_at_once() {
    let Some(world) = World::start().await else { return };
    let connection = world.connect_for(&["email.read", "email.send"]).await;
    let path = format!("/v1/email/capabilities/{}", text(&connection["id"]));
    let limits = world.api.get(path).send().await.expect(200)["limits"].clone();
    assert_eq!(limits["maxMessageBytes"], 2_000_000, "{limits:#}");
    let large = json!({
        "connectionId": connection["id"], "to": [{ "email": BOB }], "subject": "Large", "body": { "text": "See there." },
        "attachments": [{ "filename": "a.bin", "contentBase64": BASE64_STANDARD.encode(vec![1_u8; 1_600_000]) }],
    });
    world.fake.clear_requests();
    let error = world.api.post("/v1/email/send", large).send().await;
    assert_eq!(error.refused(400, "invalid_parameter")["param"], "attachments");
    assert_eq!(world.round_trips(), 0, "Graph is not asked");
    world.assert_allowed();
}
