//! Contacts as the kit writes them.

use model::wire::ItemDelete;
use model::wire::contacts::ContactWrite;
use runtime::Surface;
use serde_json::{Value, json};

use crate::surface_bench::{Collection, ItemChange, ItemKind, whole_args};

/// The operations on contacts.
pub static CONTACTS: ItemKind = ItemKind {
    surface: Surface::Contacts,
    item: "contact",
    collection: "address book",
    list_op: "books.list",
    changes_op: "contacts",
    get_op: "contacts.get",
    create_op: "contacts.create",
    update_op: "contacts.update",
    delete_op: "contacts.delete",
    name: "displayName",
    other: "notes",
    body: contact,
    write,
    delete,
};

fn contact(name: &str) -> Value {
    json!({
        "displayName": name,
        "givenName": "Ünïcödé",
        "familyName": "Kit",
        "emails": [{ "value": "kit@example.test", "type": "work" }],
        "phones": [{ "value": "+4312345670", "type": "mobile" }],
        "organizations": [{ "name": "Example", "title": "Tester" }],
        "notes": "first line\nsecond line, with ünïcödé",
    })
}

fn write(book: &Collection, change: ItemChange) -> Value {
    whole_args::<ContactWrite>(json!({
        "collection": book.id,
        "source": change.source,
        "body": change.body,
        "changed": change.changed,
        "ifMatch": change.if_match,
        "strict": false,
        "joins": [],
        "leaves": [],
    }))
}

fn delete(book: &Collection, id: &str) -> Value {
    whole_args::<ItemDelete>(json!({ "collection": book.id, "source": id }))
}
