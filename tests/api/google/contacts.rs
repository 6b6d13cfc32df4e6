//! Google contacts: read whole and by deltas, written one after the other, in groups, and what Google does not let be changed.

use std::collections::BTreeSet;
use std::time::Duration;

use fakes::google::RequestRecord;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::builder;
use crate::fake_provider::contacts::{AddressBook, path};
use crate::google::{ALICE, World};

/// The list of Alice's contacts at Google.
const CONNECTIONS: &str = "/v1/people/me/connections";
/// The parameters of a walk that differ from request to request.
const OF_ONE_REQUEST: [&str; 3] = ["syncToken", "pageToken", "fields"];

async fn display_names(contacts: &AddressBook, world: &World) -> Vec<String> {
    contacts.list(world, "contacts").await.iter().map(|contact| text(&contact["displayName"])).collect()
}

/// A person at Google.
fn person(name: &str) -> Value {
    json!({ "names": [{ "givenName": name }] })
}

/// The requests that change something of Alice's people, since `clear_requests`.
fn writes(world: &World) -> Vec<RequestRecord> {
    let all = world.fake.requests().into_iter();
    all.filter(|request| request.method != "GET" && request.path.starts_with("/v1/")).collect()
}

/// The last part of the path of each request, as in `POST people:createContact`.
fn calls(requests: &[RequestRecord]) -> Vec<String> {
    let call = |request: &RequestRecord| {
        let last = request.path.rsplit('/').next().unwrap_or_default();
        let verb = last.split_once(':').map_or(last, |(_, verb)| verb);
        format!("{} {verb}", request.method)
    };
    requests.iter().map(call).collect()
}

/// The sync tokens of the requests of walks through the contacts.
fn tokens(world: &World) -> Vec<Option<String>> {
    let walks = walks(world);
    walks.iter().map(|request| request.parameter("syncToken").map(str::to_owned)).collect()
}

fn walks(world: &World) -> Vec<RequestRecord> {
    let all = world.fake.requests().into_iter();
    let is_walk = |request: &RequestRecord| {
        request.path == CONNECTIONS && request.parameter("requestSyncToken") == Some("true")
    };
    all.filter(is_walk).collect()
}

/// Everything is read page by page, then only the changes, each reported once. Google requires the same parameters in all requests of a
/// walk, and data of a linked profile is not part of the contact.
#[tokio::test]
async fn first_walk_and_delta() {
    let Some(world) = World::on(builder().config(|c| c.pull_page = 2)).await else { return };
    let [ada, bea, cleo] = world.fake.with(|state| {
        let names = ["Ada", "Bea", "Cleo"].map(|name| state.put_contact(ALICE, person(name)));
        state.put_other_contact(ALICE, person("Met once"));
        names
    });
    let profile =
        json!({ "names": [{ "givenName": "Profile" }], "urls": [{ "value": "https://profile.example" }] });
    world.fake.with(|state| state.link_contact(ALICE, &cleo, "1001", profile));
    let mut contacts = AddressBook::connect(&world).await;
    let books = contacts.list(&world, "contact-books").await;
    let mut shown: Vec<_> = books
        .iter()
        .map(|book| (text(&book["name"]), book["isDefault"] == true, book["readOnly"] == true))
        .collect();
    shown.sort();
    assert_eq!(shown, [("Contacts".to_owned(), true, false), ("Other contacts".to_owned(), false, true)]);
    let all = ["created Ada", "created Bea", "created Cleo", "created Met once"];
    assert_eq!(contacts.follow(&world).await, all);
    assert_eq!(contacts.named(&world, "Cleo").await["urls"], json!([]));
    let groups = contacts.list(&world, "contact-groups").await;
    let own =
        groups.iter().find(|group| group["externalId"] == "contactGroups/myContacts").expect("the group");
    assert_eq!(
        (&own["kind"], &own["readOnly"], &own["memberCount"]),
        (&json!("system"), &json!(true), &json!(3))
    );

    let first = walks(&world);
    world.fake.clear_requests();
    world.fake.with(|state| {
        state.put_contact(ALICE, person("Dora"));
        state.change_contact(ALICE, &bea, person("Beatrice"));
        state.delete_contact(ALICE, &ada);
    });
    assert_eq!(contacts.changes(&world).await, ["created Dora", "deleted", "updated Beatrice"]);
    assert_eq!(contacts.changes(&world).await, Vec::<String>::new(), "nothing is told twice");
    assert_eq!(display_names(&contacts, &world).await, ["Beatrice", "Cleo", "Dora", "Met once"]);
    let deltas = walks(&world);
    assert!(!deltas.is_empty() && tokens(&world).iter().all(Option::is_some), "changes alone are read");
    let fixed = |request: &RequestRecord| -> BTreeSet<(String, String)> {
        let query = request.query.iter().filter(|(name, _)| !OF_ONE_REQUEST.contains(&name.as_str()));
        query.cloned().collect()
    };
    let parameters: BTreeSet<_> = first.iter().chain(&deltas).map(fixed).collect();
    assert_eq!(parameters.len(), 1, "{parameters:#?}");
    world.assert_allowed();
}

/// Google forgets its sync tokens a week after a full read, with status 400. Everything is read again and compared: each difference is
/// reported once.
#[tokio::test]
async fn weekly_token_loss_is_absorbed() {
    let Some(world) = World::start().await else { return };
    let [_, leaves] =
        world.fake.with(|state| ["Stays", "Leaves"].map(|name| state.put_contact(ALICE, person(name))));
    let mut contacts = AddressBook::connect(&world).await;
    assert_eq!(contacts.follow(&world).await, ["created Leaves", "created Stays"]);
    for (round, loss) in ["week", "expired_sync_token", "sync_token_expired_text"].into_iter().enumerate() {
        world.fake.with(|state| {
            if round == 0 {
                state.delete_contact(ALICE, &leaves);
            }
            state.put_contact(ALICE, person(&format!("Round {round}")));
        });
        match loss {
            "week" => world.fake.advance(Duration::from_secs(7 * 24 * 3600 + 1)),
            // The contacts, their groups, and the other contacts.
            trap => world.fake.trap(trap, 3),
        }
        world.fake.clear_requests();
        let mut changes = contacts.changes(&world).await;
        if round == 0 {
            // A full read has no tombstones.
            assert_eq!(changes.pop().as_deref(), Some("deleted"), "{changes:?}");
        }
        assert_eq!(changes, [format!("created Round {round}")], "{loss}");
        let tokens = tokens(&world);
        let is_read_again = tokens.first().is_some_and(Option::is_some) && tokens.iter().any(Option::is_none);
        assert!(is_read_again, "{loss}: {tokens:?}");
        if loss != "week" {
            world.fake.trap(loss, 0);
        }
    }
    assert_eq!(display_names(&contacts, &world).await, ["Round 0", "Round 1", "Round 2", "Stays"]);
    let connection = world.get(&format!("/v1/connections/{}", contacts.connection)).await;
    assert_eq!(connection["status"], "active");
    world.assert_allowed();
}

/// Google's feed of changes is minutes behind its other answers. An older version of a contact in the feed does not undo later writes,
/// and a deleted contact does not come back.
#[tokio::test]
async fn late_feed_does_not_win() {
    const MINUTE_MS: i64 = 60_000;
    let Some(world) = World::start().await else { return };
    let [ada, bea] =
        world.fake.with(|state| ["Ada", "Bea"].map(|name| state.put_contact(ALICE, person(name))));
    let mut contacts = AddressBook::connect(&world).await;
    assert_eq!(contacts.follow(&world).await, ["created Ada", "created Bea"]);
    let [ours, theirs] = [contacts.named(&world, "Ada").await, contacts.named(&world, "Bea").await];

    world.fake.trap("late_feed", 1);
    world.advance(MINUTE_MS);
    world.fake.with(|state| {
        state.change_contact(ALICE, &ada, person("Augusta"));
        state.change_contact(ALICE, &bea, person("Beatrice"));
    });
    world.advance(MINUTE_MS);
    let changed = world.api.patch(path(&ours), json!({ "nickname": "Countess" })).send().await.expect(200);
    assert_eq!(changed["displayName"], "Augusta", "the write has read the contact");
    world.api.delete(path(&theirs)).send().await.expect(204);
    assert_eq!(contacts.changes(&world).await, ["deleted", "updated Augusta"]);

    // The feed has caught up with the earlier writes of others.
    world.fake.clear_requests();
    world.advance(4 * MINUTE_MS + MINUTE_MS / 2);
    assert_eq!(contacts.changes(&world).await, Vec::<String>::new());
    let read: BTreeSet<String> = world.fake.requests().into_iter().map(|request| request.path).collect();
    for name in [&ada, &bea] {
        assert!(read.contains(&format!("/v1/{name}")), "what is older is read by itself: {read:?}");
    }
    assert_eq!(display_names(&contacts, &world).await, ["Augusta"]);
    assert_eq!(world.get(&path(&ours)).await["nickname"], "Countess");

    // It comes to the writes themselves.
    world.advance(5 * MINUTE_MS);
    assert_eq!(contacts.changes(&world).await, Vec::<String>::new());
    assert_eq!(world.get(&path(&ours)).await["nickname"], "Countess");
    world.assert_allowed();
}

/// A contact is written with the fields that the caller changed, one request after the other. Fields outside the model, and those that
/// others have written, stay at Google.
#[tokio::test]
async fn only_changed_fields_are_sent() {
    let Some(world) = World::start().await else { return };
    let contacts = AddressBook::connect(&world).await;
    world.fake.clear_requests();
    let picture = json!({ "url": "data:image/png;base64,iVBORw0KGgo=" });
    let ada = json!({
        "givenName": "Ada", "familyName": "Lovelace", "nickname": "Enchantress", "starred": true, "photo": picture,
        "emails": [{ "value": "ada@work.example", "type": "work" }, { "value": "ada@home.example", "primary": true }],
        "phones": [{ "value": "+44 20 7946 0958", "type": "mobile" }, { "value": "123", "type": "custom", "label": "main" }],
        "addresses": [{ "type": "home", "street": "12 St James's Square", "locality": "London", "countryCode": "GB" }],
        "organizations": [{ "name": "Analytical Engines", "title": "Mathematician" }],
        "birthday": { "month": 12, "day": 10 }, "notes": "first",
        "anniversaries": [{ "type": "anniversary", "date": { "year": 1835, "month": 7, "day": 8 } }],
        "relations": [{ "name": "Charles Babbage", "type": "friend" }],
    });
    let made = contacts.create(&world, ada).await;
    assert_eq!((&made["displayName"], &made["warnings"]), (&json!("Ada Lovelace"), &json!([])), "{made:#}");
    assert_eq!((&made["starred"], &made["phones"][0]["e164"]), (&json!(true), &json!("+442079460958")));
    assert_eq!((&made["emails"][1]["primary"], &made["phones"][1]["label"]), (&json!(true), &json!("main")));
    assert_eq!(made["birthday"], json!({ "year": null, "month": 12, "day": 10 }));
    assert!(text(&made["photo"]["url"]).starts_with("https://lh3.googleusercontent.com/"), "{made:#}");
    assert_eq!(calls(&writes(&world)), ["POST createContact", "PATCH updateContactPhoto"]);
    let id = text(&made["externalId"]);
    let theirs = || world.fake.with(|state| state.contact(ALICE, &id));
    let stored = theirs();
    for single in ["names", "biographies", "birthdays"] {
        assert_eq!(stored[single].as_array().map(Vec::len), Some(1), "{single}: {stored:#}");
    }
    assert_eq!(stored["phoneNumbers"][1]["type"], "main");
    assert_eq!(stored["events"][0]["date"], json!({ "year": 1835, "month": 7, "day": 8 }));
    let groups = stored["memberships"].as_array().expect("memberships").iter();
    let groups: BTreeSet<&str> =
        groups.filter_map(|one| one["contactGroupMembership"]["contactGroupId"].as_str()).collect();
    assert_eq!(groups, BTreeSet::from(["myContacts", "starred"]));

    let foreign = json!({
        "userDefined": [{ "key": "shoe size", "value": "38" }], "externalIds": [{ "value": "7", "type": "customer" }],
        "nicknames": [{ "value": "Enchantress" }, { "value": "AAL", "type": "INITIALS" }],
    });
    world.fake.with(|state| state.change_contact(ALICE, &id, foreign));
    let before = theirs();
    for (change, mask) in [
        (json!({ "notes": "second" }), "biographies"),
        (json!({ "emails": [{ "value": "ada@king.example" }] }), "emailAddresses"),
        (json!({ "givenName": "Augusta" }), "names"),
        (json!({ "birthday": null }), "birthdays"),
        (json!({ "nickname": "Countess" }), "nicknames"),
    ] {
        world.fake.clear_requests();
        let changed = world.api.patch(path(&made), change.clone()).send().await.expect(200);
        assert_eq!(changed["id"], made["id"]);
        let writes = writes(&world);
        assert_eq!(calls(&writes), ["PATCH updateContact"], "{change}");
        let masks: Vec<_> = writes.iter().map(|write| write.parameter("updatePersonFields")).collect();
        assert_eq!(masks, [Some(mask)], "{change}");
    }
    let after = theirs();
    for kept in
        ["userDefined", "externalIds", "phoneNumbers", "addresses", "organizations", "clientData", "photos"]
    {
        assert_eq!(after[kept], before[kept], "{kept}");
    }
    assert_eq!(
        (&after["names"][0]["displayName"], &after["birthdays"]),
        (&json!("Augusta Lovelace"), &Value::Null)
    );
    assert_eq!(
        (&after["nicknames"][0]["value"], &after["nicknames"][1]["value"]),
        (&json!("Countess"), &json!("AAL"))
    );

    world.fake.clear_requests();
    let bare = world.api.patch(path(&made), json!({ "photo": null })).send().await.expect(200);
    assert_eq!(
        (&bare["photo"], calls(&writes(&world))),
        (&Value::Null, vec!["DELETE deleteContactPhoto".to_owned()])
    );
    assert_eq!(theirs()["photos"][0]["default"], true);
    world.assert_allowed();
}

/// The answer to a write of a contact that has changed in between; Google has two statuses for it.
fn etag_differs(status: u16) -> Value {
    let message = "Request person.etag is different than the current person.etag. Clear local cache and get the latest person.";
    json!({ "error": { "code": status, "message": message, "status": "FAILED_PRECONDITION" } })
}

/// A caller who names a version gets a conflict if the contact has changed. For a caller without one the contact is read again, and no
/// data of other writers is lost.
#[tokio::test]
async fn a_stale_etag_is_a_conflict() {
    let Some(world) = World::start().await else { return };
    let contacts = AddressBook::connect(&world).await;
    let ada = contacts.create(&world, json!({ "givenName": "Ada", "notes": "first" })).await;
    let id = text(&ada["externalId"]);
    world
        .fake
        .with(|state| state.change_contact(ALICE, &id, json!({ "biographies": [{ "value": "theirs" }] })));
    let note = || world.fake.with(|state| state.contact(ALICE, &id)["biographies"][0]["value"].clone());
    let ours = || json!({ "notes": "ours" });
    world.api.patch(path(&ada), ours()).if_match(&text(&ada["etag"])).send().await.refused(409, "stale_etag");
    world.api.delete(path(&ada)).if_match(&text(&ada["etag"])).send().await.refused(409, "stale_etag");
    assert_eq!(note(), "theirs");

    for status in [400, 403] {
        world.fake.fault(Fault::status(":updateContact", status, etag_differs(status)));
        world.fake.clear_requests();
        world
            .api
            .patch(path(&ada), json!({ "nickname": format!("Round {status}") }))
            .send()
            .await
            .expect(200);
        assert_eq!(calls(&writes(&world)), ["PATCH updateContact", "PATCH updateContact"], "{status}");
        world.fake.fault(Fault::status(":updateContact", status, etag_differs(status)).times(9));
        world.api.patch(path(&ada), ours()).send().await.refused(409, "stale_etag");
        world.fake.clear_faults();
        assert_eq!(note(), "theirs");
    }

    // Google changes a new contact by itself for a while.
    world.fake.trap("etag_moves", 1);
    let bea = contacts.create(&world, json!({ "givenName": "Bea" })).await;
    world.api.patch(path(&bea), json!({ "nickname": "B" })).send().await.expect(200);
    // Another write of the account is in progress: a later attempt succeeds.
    world.fake.trap("people_busy", 1);
    world.api.patch(path(&bea), ours()).send().await.refused(503, "provider_unavailable");
    let current = world.api.patch(path(&bea), ours()).send().await.expect(200);
    world.api.delete(path(&bea)).if_match(&text(&current["etag"])).send().await.expect(204);
    assert_eq!(world.fake.with(|state| state.contact_names(ALICE)), [id]);
    world.assert_allowed();
}

/// A contact that another program changes between the read and the write is read again, whichever of its two statuses Google answers with.
#[tokio::test]
async fn a_contact_that_moves_before_its_write_is_read_again() {
    let Some(world) = World::start().await else { return };
    let contacts = AddressBook::connect(&world).await;
    let ada = contacts.create(&world, json!({ "givenName": "Ada" })).await;
    for (nickname, is_403) in [("First", false), ("Second", true)] {
        world.fake.trap("person_moves", 1);
        world.fake.trap("person_etag_403", u32::from(is_403));
        world.fake.clear_requests();
        let changed = world.api.patch(path(&ada), json!({ "nickname": nickname })).send().await.expect(200);
        assert_eq!(changed["nickname"], nickname);
        assert_eq!(calls(&writes(&world)), ["PATCH updateContact", "PATCH updateContact"], "{nickname}");
    }
    world.assert_allowed();
}

/// The first page of a full read has its own quota: the read continues after the wait, and no contact is deleted.
#[tokio::test]
async fn the_quota_of_full_reads_is_waited_for() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| state.put_contact(ALICE, person("Ada")));
    let mut contacts = AddressBook::connect(&world).await;
    assert_eq!(contacts.follow(&world).await, ["created Ada"]);
    world.fake.with(|state| {
        state.expire_contact_tokens(ALICE);
        state.put_contact(ALICE, person("Bea"));
    });
    world.fake.trap("first_page_quota", 1);
    world.server.clock.advance_ms(1);
    let path = format!("/v1/contacts?connection_id={}&limit=200", contacts.connection);
    let read = world.api.get(path).header("cache-control", "no-cache").send().await;
    assert!([200, 429].contains(&read.status), "{read}");
    assert!(!world.fake.with(|state| state.traps.is_on("first_page_quota")), "Google was asked");
    world.advance(60_000);
    assert_eq!(contacts.changes(&world).await, ["created Bea"]);
    assert_eq!(display_names(&contacts, &world).await, ["Ada", "Bea"]);
    world.assert_allowed();
}

/// Google has made the contact, or the group, and its answer is lost: the repeated request finds it and makes no second one.
#[tokio::test]
async fn a_lost_create_is_found() {
    let Some(world) = World::start().await else { return };
    let contacts = AddressBook::connect(&world).await;
    let body = json!({ "connectionId": contacts.connection, "givenName": "Ada" });
    world.fake.fault(Fault::new("people:createContact", What::Kill).after());
    let lost = world.api.post("/v1/contacts", body.clone()).keyed("lost").send().await;
    assert!(lost.status >= 500, "{lost}");
    let found = world.api.post("/v1/contacts", body.clone()).keyed("lost").send().await.expect(201);
    assert_eq!(world.fake.with(|state| state.contact_names(ALICE)), [text(&found["externalId"])]);
    // The same content under another key makes another contact.
    world.api.post("/v1/contacts", body).keyed("other").send().await.expect(201);
    assert_eq!(display_names(&contacts, &world).await, ["Ada", "Ada"]);

    let group = json!({ "connectionId": contacts.connection, "name": "Club", "contactIds": [found["id"]] });
    world.fake.fault(Fault::new("/v1/contactGroups", What::Kill).method("POST").after());
    let lost = world.api.post("/v1/contact-groups", group.clone()).keyed("group").send().await;
    assert!(lost.status >= 500, "{lost}");
    let club = world.api.post("/v1/contact-groups", group.clone()).keyed("group").send().await.expect(201);
    let members = |id: &Value| world.fake.with(|state| state.group(ALICE, &text(id)));
    let wanted = ("Club".to_owned(), vec![text(&found["externalId"])]);
    assert_eq!(members(&club["externalId"]), Some(wanted));
    world.api.post("/v1/contact-groups", group).keyed("again").send().await.refused(409, "already_exists");
    world.assert_allowed();
}

/// The name of a contact changes at Google when a profile is linked with it: it stays the same contact here.
#[tokio::test]
async fn previous_names_keep_the_contact() {
    let Some(world) = World::start().await else { return };
    let name = world.fake.with(|state| state.put_contact(ALICE, person("Ada")));
    let mut contacts = AddressBook::connect(&world).await;
    assert_eq!(contacts.follow(&world).await, ["created Ada"]);
    let ada = contacts.named(&world, "Ada").await;
    let metadata = json!({ "metadata": { "crm": "42" } });
    world.api.patch(path(&ada), metadata).send().await.expect(200);
    contacts.changes(&world).await;

    let profile = json!({ "names": [{ "givenName": "Profile" }] });
    let new_name = world.fake.with(|state| state.link_contact(ALICE, &name, "1001", profile));
    let changes = contacts.changes(&world).await;
    assert!(changes.iter().all(|change| change == "updated Ada"), "{changes:?}");
    let read = world.get(&path(&ada)).await;
    assert_eq!((&read["id"], &read["externalId"]), (&ada["id"], &json!(new_name)));
    assert_eq!((&read["displayName"], &read["metadata"]["crm"]), (&json!("Ada"), &json!("42")));
    let renamed = world.api.patch(path(&ada), json!({ "familyName": "Lovelace" })).send().await.expect(200);
    assert_eq!((&renamed["id"], &renamed["displayName"]), (&ada["id"], &json!("Ada Lovelace")));
    let theirs = world.fake.with(|state| state.contact(ALICE, &new_name));
    assert_eq!(
        (&theirs["names"][0]["givenName"], theirs["names"].as_array().map(Vec::len)),
        (&json!("Ada"), Some(1))
    );
    assert_eq!(display_names(&contacts, &world).await, ["Ada Lovelace"]);
    world.assert_allowed();
}

/// Groups are made, joined, left and deleted; a star is a group too. A contact stays in one group at least, and Google's own groups stay as
/// they are.
#[tokio::test]
async fn groups_and_stars() {
    let Some(world) = World::start().await else { return };
    let names =
        world.fake.with(|state| ["Ada", "Bea", "Cleo"].map(|name| state.put_contact(ALICE, person(name))));
    let contacts = AddressBook::connect(&world).await;
    let mut people = Vec::new();
    for name in ["Ada", "Bea", "Cleo"] {
        people.push(contacts.named(&world, name).await);
    }
    let ids: Vec<&Value> = people.iter().map(|contact| &contact["id"]).collect();
    let body = json!({ "connectionId": contacts.connection, "name": "Club", "contactIds": [ids[0], ids[1]] });
    let club = world.api.post("/v1/contact-groups", body).send().await.expect(201);
    assert_eq!((&club["kind"], &club["memberCount"]), (&json!("user"), &json!(2)), "{club:#}");
    let group = |id: &str| world.fake.with(|state| state.group(ALICE, id));
    let id = text(&club["externalId"]);
    let has = |name: &str, members: &[&String]| {
        let members: Vec<String> = members.iter().map(|member| (*member).clone()).collect();
        assert_eq!(group(&id), Some((name.to_owned(), members)));
    };
    let [ada, bea, cleo] = &names;
    has("Club", &[ada, bea]);

    let joined = world.get(&path(&people[0])).await;
    let groups = joined["groupIds"].as_array().expect("groups").iter().filter(|one| **one != club["id"]);
    let left = json!({ "groupIds": groups.collect::<Vec<_>>() });
    world.api.patch(path(&people[0]), left).send().await.expect(200);
    has("Club", &[bea]);
    let club_path = format!("/v1/contact-groups/{}", text(&club["id"]));
    let council = json!({ "name": "Council", "contactIds": [ids[2], ids[1]] });
    let council = world.api.patch(&club_path, council).send().await.expect(200);
    assert_eq!((&council["name"], &council["memberCount"]), (&json!("Council"), &json!(2)));
    has("Council", &[bea, cleo]);
    world
        .api
        .patch(&club_path, json!({ "name": "x" }))
        .if_match(&text(&club["etag"]))
        .send()
        .await
        .refused(409, "stale_etag");

    let starred = || group("contactGroups/starred").map(|(_, members)| members);
    for is_starred in [true, false] {
        let change = json!({ "starred": is_starred });
        let changed = world.api.patch(path(&people[1]), change).send().await.expect(200);
        assert_eq!(changed["starred"], is_starred);
        assert_eq!(starred(), Some(if is_starred { vec![bea.clone()] } else { Vec::new() }));
    }
    // The last group cannot be left.
    let alone = world.api.patch(path(&people[2]), json!({ "groupIds": [] })).send().await.expect(200);
    assert_eq!(alone["groupIds"].as_array().map(Vec::len), Some(1), "{alone:#}");
    assert_ne!(alone["warnings"], json!([]));

    let system = contacts.list(&world, "contact-groups").await;
    let system = system.iter().find(|group| group["kind"] == "system").expect("a group of Google's");
    let closed = format!("/v1/contact-groups/{}", text(&system["id"]));
    world.api.delete(closed).send().await.refused(400, "capability_not_supported");
    world.api.delete(&club_path).send().await.expect(204);
    assert_eq!(group(&id), None);
    assert_eq!(display_names(&contacts, &world).await, ["Ada", "Bea", "Cleo"], "its members stay");
    world.assert_allowed();
}

/// People whom Alice has only written to can be read, and Google's limit on these reads is reported as one.
#[tokio::test]
async fn other_contacts_are_read_only() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| {
        let once = json!({ "names": [{ "givenName": "Met once" }], "emailAddresses": [{ "value": "once@example.org" }] });
        state.put_other_contact(ALICE, once);
        state.put_contact(ALICE, person("Ada"));
    });
    let contacts = AddressBook::connect(&world).await;
    let once = contacts.named(&world, "Met once").await;
    assert_eq!(
        (&once["source"], &once["emails"][0]["value"]),
        (&json!("suggested"), &json!("once@example.org"))
    );
    let ada = contacts.named(&world, "Ada").await;
    assert_eq!(ada["source"], "addressBook");
    assert_ne!(once["bookId"], ada["bookId"]);
    world.fake.clear_requests();
    let unsupported = "capability_not_supported";
    let new = json!({ "bookId": once["bookId"], "displayName": "New" });
    world.api.post("/v1/contacts", new).send().await.refused(400, unsupported);
    world.api.patch(path(&once), json!({ "nickname": "x" })).send().await.refused(400, unsupported);
    world.api.delete(path(&once)).send().await.refused(400, unsupported);
    let book = json!({ "connectionId": contacts.connection, "name": "Club" });
    world.api.post("/v1/contact-books", book).send().await.refused(400, unsupported);
    assert_eq!(calls(&writes(&world)), Vec::<String>::new());

    world.fake.trap("critical_reads", 1);
    world
        .api
        .patch(path(&ada), json!({ "nickname": "x" }))
        .send()
        .await
        .refused(429, "provider_rate_limited");
    world.assert_allowed();
}
