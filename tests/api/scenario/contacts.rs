//! Contacts: a person, a group, a book.

use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::scenario::accounts::ConnectedAccount;
use crate::scenario::support::{ChangeFeed, carried_out, home, is_able, leave, read};

/// Everything that the scenario does with contacts.
pub async fn use_contacts(account: &impl ConnectedAccount, capabilities: &Value) {
    let book = home(account, "/v1/contact-books", |book| book["isDefault"] == true).await;
    let start = json!({ "connectionId": account.desk() });
    let changes = format!("/v1/contacts/sync/changes?connection_id={}&limit=100", account.desk());
    let mut feed = ChangeFeed::follow(account, "/v1/contacts/sync/start", start, changes).await;

    account.put_contact(&book, "Cassandra").await;
    let theirs = feed.arrival(account, "Cassandra").await;
    assert_eq!(theirs["bookId"], book["id"]);
    let grace = write(account, &book, capabilities).await;
    if let Some(grace) = grace {
        gather(account, &book, &grace, capabilities).await;
        let path = format!("/v1/contacts/{}", text(&grace["id"]));
        let deleted = account.api().delete(&path).send().await;
        carried_out(is_able(capabilities, "/operations/deleteContact"), deleted);
        account.api().get(&path).send().await.refused(404, "not_found");
    }
    use_own_book(account, capabilities).await;
    leave(account, &format!("/v1/contact-books/{}?force=true", text(&book["id"]))).await;
}

/// A contact that is created once, and changed; none where the provider takes none.
async fn write(account: &impl ConnectedAccount, book: &Value, capabilities: &Value) -> Option<Value> {
    let new = json!({
        "bookId": book["id"], "givenName": "Grace", "familyName": "Hopper",
        "emails": [{ "value": "grace@navy.example", "type": "work" }],
    });
    let create = async || account.api().post("/v1/contacts", new.clone()).keyed("grace").send().await;
    let made = create().await;
    let made = carried_out(is_able(capabilities, "/operations/createContact"), made)?;
    assert_eq!(create().await.expect(201)["id"], made["id"], "one request, one contact");
    assert_eq!(made["displayName"], "Grace Hopper");
    let path = format!("/v1/contacts/{}", text(&made["id"]));
    let changed = account.api().patch(&path, json!({ "notes": "COBOL" })).send().await;
    if let Some(changed) = carried_out(is_able(capabilities, "/operations/updateContact"), changed) {
        assert_eq!((&changed["notes"], &changed["emails"]), (&json!("COBOL"), &made["emails"]));
    }
    let star = account.api().patch(format!("{path}?strict=true"), json!({ "starred": true })).send().await;
    if let Some(starred) = carried_out(is_able(capabilities, "/features/starred"), star) {
        assert_eq!(starred["starred"], true);
    }
    Some(made)
}

async fn gather(account: &impl ConnectedAccount, book: &Value, contact: &Value, capabilities: &Value) {
    let new = json!({ "bookId": book["id"], "name": "Pioneers", "contactIds": [contact["id"]] });
    let made = account.api().post("/v1/contact-groups", new).send().await;
    let Some(group) = carried_out(is_able(capabilities, "/operations/createGroup"), made) else { return };
    assert_eq!(group["memberCount"], 1, "{group:#}");
    let groups = read(account, &format!("/v1/contacts/{}", text(&contact["id"]))).await["groupIds"].clone();
    assert!(groups.as_array().expect("a list").contains(&group["id"]), "{groups:#}");
    let path = format!("/v1/contact-groups/{}", text(&group["id"]));
    let renamed = account.api().patch(&path, json!({ "name": "Admirals" })).send().await;
    if let Some(renamed) = carried_out(is_able(capabilities, "/operations/updateGroup"), renamed) {
        assert_eq!(renamed["name"], "Admirals");
    }
    let deleted = account.api().delete(&path).send().await;
    carried_out(is_able(capabilities, "/operations/deleteGroup"), deleted);
}

async fn use_own_book(account: &impl ConnectedAccount, capabilities: &Value) {
    let new = json!({ "connectionId": account.desk(), "name": "Club" });
    let made = account.api().post("/v1/contact-books", new).send().await;
    let Some(book) = carried_out(is_able(capabilities, "/operations/createBook"), made) else { return };
    let path = format!("/v1/contact-books/{}", text(&book["id"]));
    let deleted = account.api().delete(&path).send().await;
    carried_out(is_able(capabilities, "/operations/deleteBook"), deleted);
}
