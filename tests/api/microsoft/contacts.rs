//! Contacts of Microsoft 365: the tree of folders, their changes, and what Outlook cannot keep of a contact.

use std::collections::BTreeSet;

use fakes::graph::GraphRequest;
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::contacts::{AddressBook, path};
use crate::microsoft::{ALICE, World};

/// A small picture: nothing but the beginning of a JPEG file, in base64.
const PICTURE: &str = "/9j/4A==";

async fn book(contacts: &AddressBook, world: &World, name: &str) -> Value {
    let all = contacts.list(world, "contact-books").await;
    let found = all.iter().find(|book| book["name"] == name);
    found.unwrap_or_else(|| panic!("no book {name}: {all:#?}")).clone()
}

/// The requests for deltas of contacts since `clear_requests`.
fn walks(world: &World) -> Vec<GraphRequest> {
    let all = world.fake.requests().into_iter();
    all.filter(|request| request.path.ends_with("/contacts/delta")).collect()
}

/// Graph lists folders within folders and not the default one. A contact that moves is gone from one book and comes in another; one that is
/// made without a book is in the default one.
#[tokio::test]
async fn default_folder_is_there() {
    let Some(world) = World::start().await else { return };
    let bea = world.fake.with(|state| {
        state.add_contact_folder(ALICE, "", "Friends");
        state.add_contact_folder(ALICE, "Friends", "Old friends");
        state.put_contact(ALICE, "", json!({ "givenName": "Ada" }));
        state.put_contact(ALICE, "Old friends", json!({ "givenName": "Cleo" }));
        state.put_contact(ALICE, "Friends", json!({ "givenName": "Bea" }))
    });
    let mut contacts = AddressBook::connect(&world).await;
    let books = contacts.list(&world, "contact-books").await;
    let mut shown: Vec<(String, bool)> =
        books.iter().map(|book| (text(&book["name"]), book["isDefault"] == true)).collect();
    shown.sort();
    let expected = [("Contacts", true), ("Friends", false), ("Old friends", false)];
    assert_eq!(shown, expected.map(|(name, is_default)| (name.to_owned(), is_default)));
    assert_eq!(contacts.follow(&world).await, ["created Ada", "created Bea", "created Cleo"]);

    world.fake.with(|state| state.move_contact(ALICE, &bea, "Old friends"));
    let made = contacts.create(&world, json!({ "givenName": "Dora" })).await;
    assert_eq!(contacts.changes(&world).await, ["created Bea", "created Dora", "deleted"]);
    let old = book(&contacts, &world, "Old friends").await;
    assert_eq!(contacts.named(&world, "Bea").await["bookId"], old["id"]);
    assert_eq!(made["bookId"], book(&contacts, &world, "Contacts").await["id"]);
    assert_eq!(world.fake.with(|state| state.contact_ids(ALICE, "").len()), 2);
    assert_eq!(contacts.changes(&world).await, Vec::<String>::new(), "nothing is told twice");

    // Books are made, renamed and deleted, but for the default one.
    let body = json!({ "connectionId": contacts.connection, "name": "Work" });
    let work = world.api.post("/v1/contact-books", body).send().await.expect(201);
    let address = format!("/v1/contact-books/{}", text(&work["id"]));
    world.api.patch(&address, json!({ "name": "Office" })).send().await.expect(200);
    book(&contacts, &world, "Office").await;
    world.api.delete(&address).send().await.expect(204);
    let default = format!("/v1/contact-books/{}", text(&made["bookId"]));
    let refused = world.api.patch(&default, json!({ "name": "Mine" })).send().await;
    refused.refused(400, "capability_not_supported");
    world.assert_allowed();
}

/// Outlook keeps three e-mail addresses, two numbers of a kind and one address of a kind. The rest is left out with warnings, or the
/// contact is refused where the caller wants all of it kept.
#[tokio::test]
async fn three_addresses_are_a_warning_or_a_refusal() {
    let Some(world) = World::start().await else { return };
    let contacts = AddressBook::connect(&world).await;
    let emails: Vec<Value> =
        ["a", "b", "c", "d"].iter().map(|name| json!({ "value": format!("{name}@x.example") })).collect();
    let phones: Vec<Value> =
        ["1", "2", "3"].iter().map(|number| json!({ "value": number, "type": "work" })).collect();
    let ada = json!({
        "connectionId": contacts.connection, "givenName": "Ada", "familyName": "King", "emails": emails, "phones": phones,
        "birthday": { "month": 12, "day": 10 }, "relations": [{ "name": "William", "type": "spouse" }],
        "anniversaries": [{ "type": "wedding", "date": { "year": 1835, "month": 7, "day": 8 } }],
        "addresses": [{ "type": "home", "locality": "London" }, { "type": "home", "locality": "Ockham" }],
    });
    world.fake.clear_requests();
    let refused = world.api.post("/v1/contacts?strict=true", ada.clone()).send().await;
    refused.refused(400, "capability_not_supported");
    assert!(world.writes().is_empty(), "nothing was written");
    let made = contacts.create(&world, ada).await;
    let fields: Vec<&Value> =
        made["warnings"].as_array().expect("a list").iter().map(|warning| &warning["target"]).collect();
    assert_eq!(fields, ["emails", "phones", "addresses"], "{made:#}");
    assert_eq!(made["emails"].as_array().map(Vec::len), Some(3));
    assert_eq!(made["birthday"], json!({ "year": null, "month": 12, "day": 10 }));
    assert_eq!(made["anniversaries"][0]["date"]["year"], 1835);
    let id = text(&made["externalId"]);
    let stored = world.fake.with(|state| state.stored_contact(ALICE, &id)).expect("the contact");
    assert_eq!(
        (&stored["birthday"], &stored["spouseName"]),
        (&json!("1604-12-10T11:59:00Z"), &json!("William"))
    );

    // A part of the name changes, and the name to show stays: Graph would compose another one.
    world.api.patch(path(&made), json!({ "displayName": "Countess" })).send().await.expect(200);
    let changed = world.api.patch(path(&made), json!({ "givenName": "Augusta" })).send().await.expect(200);
    assert_eq!((&changed["displayName"], &changed["warnings"]), (&json!("Countess"), &json!([])));
    // What the caller does not name stays.
    assert_eq!(changed["anniversaries"], made["anniversaries"]);
    world.assert_allowed();
}

/// Graph forgets the token of a folder, and that folder is read again. The others go on, and each difference is reported once.
#[tokio::test]
async fn an_expired_folder_token_restarts_one_folder() {
    let Some(world) = World::start().await else { return };
    let gone = world.fake.with(|state| {
        state.add_contact_folder(ALICE, "", "Friends");
        state.put_contact(ALICE, "Friends", json!({ "givenName": "Bea" }));
        state.put_contact(ALICE, "", json!({ "givenName": "Ada" }))
    });
    let mut contacts = AddressBook::connect(&world).await;
    assert_eq!(contacts.follow(&world).await, ["created Ada", "created Bea"]);
    let spellings = ["delta_410_sync_state_not_found", "delta_400_id_malformed"];
    for (round, spelling) in spellings.into_iter().enumerate() {
        world.fake.with(|state| {
            state.put_contact(ALICE, "", json!({ "givenName": format!("Dora {round}") }));
            state.put_contact(ALICE, "Friends", json!({ "givenName": format!("Eve {round}") }));
            if round == 0 {
                state.delete_contact(ALICE, &gone);
            }
        });
        world.fake.trap(spelling, 1);
        world.fake.clear_requests();
        let mut changes = contacts.changes(&world).await;
        if round == 0 {
            assert_eq!(changes.pop().as_deref(), Some("deleted"), "{changes:?}");
        }
        assert_eq!(changes, [format!("created Dora {round}"), format!("created Eve {round}")], "{spelling}");
        // On a busy machine a call may be repeated, but for the same folder.
        let restarted: BTreeSet<String> =
            walks(&world).into_iter().filter(|walk| walk.query.is_empty()).map(|walk| walk.path).collect();
        assert_eq!(restarted.len(), 1, "{spelling}: {restarted:?}");
    }
    world.assert_allowed();
}

/// A contact's picture is at Graph, and is written and read by itself.
#[tokio::test]
async fn a_picture_is_written_and_read() {
    let Some(world) = World::start().await else { return };
    let contacts = AddressBook::connect(&world).await;
    let photo = json!({ "url": format!("data:image/jpeg;base64,{PICTURE}") });
    let made = contacts.create(&world, json!({ "givenName": "Ada", "photo": photo })).await;
    assert_eq!((&made["photo"]["url"], &made["warnings"]), (&Value::Null, &json!([])), "{made:#}");
    assert!(made["photo"]["etag"].is_string(), "{made:#}");
    let picture = world.api.get(format!("{}/photo", path(&made))).send().await.expect(200);
    assert_eq!((&picture["contentType"], &picture["contentBase64"]), (&json!("image/jpeg"), &json!(PICTURE)));
    let bare = world.api.patch(path(&made), json!({ "photo": null })).send().await.expect(200);
    assert_eq!(bare["warnings"][0]["target"], "photo", "Graph removes no picture: {bare:#}");
    assert!(bare["photo"]["etag"].is_string(), "{bare:#}");
    world.assert_allowed();
}
