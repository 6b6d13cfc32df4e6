//! An item that cannot be stored, or whose parsing panics, is quarantined and shown; its neighbours and the cursor are not affected. The
//! database refuses it here by a trigger, like a violation of a constraint.

use harness::{Actor, TestServer};
use model::wire::{Item, JsonText, Source};
use serde_json::{Value, json};
use service::app::resource_kind::ResourceKind;
use service::local_copy::normalize::prepared;
use storage::dialect::Dialect;

use crate::email::mailbox::{Mailbox, Provider, letter, text, until};

/// A text that the database refuses from here on.
const HOSTILE: &str = "hostile";

async fn refuse_hostile_items(server: &TestServer) {
    let sql = match server.app.db.dialect() {
        Dialect::Sqlite => {
            "create trigger hostile before insert on items when new.body like '%hostile%' \
             begin select raise(abort, 'a hostile item'); end"
        }
        Dialect::Postgres => {
            "create function refuse_hostile() returns trigger language plpgsql as $$ begin \
             if new.body like '%hostile%' then raise exception 'a hostile item'; end if; return new; end $$; \
             create trigger hostile before insert on items for each row execute function refuse_hostile()"
        }
    };
    server.app.db.write(move |tx| Box::pin(async move { tx.batch(sql).await })).await.expect("a trigger");
}

/// A surface: the provider's path and body of an item, and the API's paths that list and report it.
struct Surface {
    theirs: String,
    item: fn(&str, &str) -> Value,
    list: String,
    title: &'static str,
    sync: String,
    status: String,
    body: Value,
}

async fn surfaces(api: &Actor, connection: &str) -> Vec<Surface> {
    let calendar = api.named(&format!("/v1/calendars?connection_id={connection}"), "Work").await;
    let work = api.get(format!("/v1/calendars/{calendar}")).send().await.expect(200);
    let list = api.named("/v1/task-lists", "Tasks").await;
    vec![
        Surface {
            theirs: format!("/sandbox/v1/calendars/{}/events", text(&work["externalId"])),
            item: |id, title| {
                let at = |hour: u8| json!(format!("2026-03-02T{hour}:00:00Z"));
                json!({ "id": id, "title": title, "start": at(11), "end": at(12), "timeZone": "UTC" })
            },
            list: format!("/v1/calendars/{calendar}/events"),
            title: "title",
            sync: format!("/v1/calendars/{calendar}/sync"),
            status: format!("/v1/calendars/{calendar}/sync/status"),
            body: json!({}),
        },
        Surface {
            theirs: "/sandbox/v1/books/contacts/cards".into(),
            item: |id, title| json!({ "id": id, "displayName": title }),
            list: format!("/v1/contacts?connection_id={connection}"),
            title: "displayName",
            sync: "/v1/contacts/sync".into(),
            status: format!("/v1/contacts/sync/status/{connection}"),
            body: json!({ "connectionId": connection }),
        },
        Surface {
            theirs: "/sandbox/v1/lists/tasks/todos".into(),
            item: |id, title| json!({ "id": id, "title": title }),
            list: format!("/v1/task-lists/{list}/tasks"),
            title: "title",
            sync: format!("/v1/task-lists/{list}/sync"),
            status: format!("/v1/task-lists/{list}/sync/status"),
            body: json!({}),
        },
    ]
}

/// Returns those of the wanted titles that are listed.
async fn listed(api: &Actor, surface: &Surface, wanted: &[&str]) -> Vec<String> {
    let all = api.all(&surface.list).await;
    let mut found: Vec<String> = all.iter().map(|item| text(&item[surface.title])).collect();
    found.retain(|title| wanted.contains(&title.as_str()));
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_item_among_good_ones() {
    let server = TestServer::start().await;
    let (api, provider) = (server.client().await, server.provider("zoe"));
    let connection = api.connect_account("zoe").await;
    let surfaces = surfaces(&api, &connection).await;
    refuse_hostile_items(&server).await;
    for surface in surfaces {
        let make = async |id: &str, title: &str| {
            provider.post(&surface.theirs, (surface.item)(id, title)).send().await.expect(201);
        };
        // One pull reads all three; then one more, after the stored cursor.
        api.post(format!("{}/start", surface.sync), surface.body.clone()).send().await.expect(202);
        let caught_up = async || {
            let status = api.get(&surface.status).send().await.expect(200);
            (status["status"] == "caught_up").then_some(status)
        };
        until("it is read", caught_up).await;
        for (id, title) in [("item-1", "before"), ("item-2", HOSTILE), ("item-3", "after")] {
            make(id, title).await;
        }
        server.clock.advance_ms(1);
        let wanted = ["before", "after", "later", HOSTILE];
        assert_eq!(listed(&api, &surface, &wanted).await, ["after", "before"], "{}", surface.theirs);
        let status = until("it is read", caught_up).await;
        assert_eq!(
            (&status["itemErrorCount"], &status["itemErrors"][0]["externalId"]),
            (&json!(1), &json!("item-2"))
        );
        make("item-4", "later").await;
        server.clock.advance_ms(1);
        assert_eq!(listed(&api, &surface, &wanted).await, ["after", "before", "later"], "the cursor goes on");
        // Fixed at the provider, it is listed.
        let changed = (surface.item)("item-2", "mended");
        let mut change = changed.as_object().expect("an object").clone();
        change.retain(|name, _| ["displayName", "title"].contains(&name.as_str()));
        provider.patch(format!("{}/item-2", surface.theirs), Value::Object(change)).send().await.expect(200);
        server.clock.advance_ms(1);
        assert_eq!(listed(&api, &surface, &["mended"]).await, ["mended"]);
        assert_eq!(until("it is read", caught_up).await["itemErrorCount"], 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_message_among_good_ones() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let mut replica = crate::email::sync::start(&mailbox).await;
    replica.catch_up(&mailbox, 100).await;
    refuse_hostile_items(&mailbox.server).await;
    for (subject, id) in [("before", "a@x.test"), (HOSTILE, "b@x.test"), ("after", "c@x.test")] {
        mailbox.there.deliver(&letter(subject, id, "")).await;
    }
    replica.catch_up(&mailbox, 100).await;
    mailbox.there.deliver(&letter("later", "d@x.test", "")).await;
    replica.catch_up(&mailbox, 100).await;
    let mut told: Vec<String> = replica.messages().iter().map(|m| text(&m["subject"])).collect();
    told.sort();
    assert_eq!(told, ["after", "before", "later"]);
    let status =
        mailbox.get(format!("/v1/email/sync/status/{}", mailbox.connection)).send().await.expect(200);
    assert_eq!(
        (&status["status"], &status["itemErrorCount"]),
        (&json!("caught_up"), &json!(1)),
        "{status:#}"
    );
}

/// Items that once made the code panic that reads them, each between two good ones: the good ones are ready to be stored, and of the
/// hostile one there is an item or an error.
#[test]
fn hostile_items_are_prepared_alone() {
    let event = |recurrence: &str| {
        json!({ "title": "x", "start": "2026-03-01T10:00:00Z", "end": "2026-03-01T11:00:00Z", "type": "series",
            "timeZone": "UTC", "recurrence": [recurrence] })
    };
    let hostile = [
        event("RRULE:FREQ=DAILY;UNTIL=202é0301"),
        event("RRULE:FREQ=DAILY;UNTIL=éééé"),
        event("EXDATE:202é0301T000000Z"),
        json!({ "title": 7 }),
        json!("no object"),
    ];
    for body in hostile {
        let source = |id: &str, body: &Value| Source {
            external_id: id.to_owned(),
            items: vec![Item {
                external_id: id.to_owned(),
                body: JsonText::of(body).expect("JSON"),
                ..Item::default()
            }],
            ..Source::default()
        };
        let good = event("RRULE:FREQ=DAILY;COUNT=2");
        let all =
            prepared(ResourceKind::Event, vec![source("a", &good), source("b", &body), source("c", &good)]);
        let is_good = |n: usize| all[n].error.is_none() && all[n].items.len() == 1;
        assert!(is_good(0) && is_good(2), "{body}");
        assert!(all[1].error.is_some() != (all[1].items.len() == 1), "{body}: {:?}", all[1]);
    }
}
