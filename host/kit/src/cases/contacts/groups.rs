//! Groups of contacts.

use model::wire::Source;
use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, body, ensure};
use crate::cases::contacts::cards::CONTACTS;
use crate::surface_bench::{Collection, ItemChange, main_item, supported, written_source};

const UIDS: &str = "members are named by the uid of their items (where an item has none, by its externalId): contactIds of the group, or groupIds of the contact, whichever the provider keeps";

/// `B3`: members of a group are named by uid.
pub async fn members(bench: &mut Bench) -> Outcome {
    bench.needs_feature(&CONTACTS, "groups").await?;
    let book = bench.collection(&CONTACTS).await?;
    let member = bench.create_named(&CONTACTS, &book, "B3-member").await?;
    let joining = bench.create_named(&CONTACTS, &book, "B3-joining").await?;
    let name = CONTACTS.label("B3-group");
    let args = json!({
        "collection": book.id,
        "body": { "name": name, "contactIds": [uid(&member)] },
        "changed": ["name", "contactIds"],
        "strict": false,
    });
    let made = bench.calls.mutate(CONTACTS.surface, "groups.create", &args, &CONTACTS.key("B3-group")).await;
    let group = written_source(&supported(made, "groups.create")?)?;
    let read = bench.read_item(&CONTACTS, &book, &group.external_id).await?;
    let kind = main_item(&read).and_then(|item| item.kind.clone());
    let seen = body::<Value>(&read).unwrap_or_default()["name"].clone();
    ensure(
        kind.as_deref() == Some("contact_group") && seen == name.as_str(),
        || format!("a group has the kind {}, and the name {seen}", json!(kind)),
        "Item.kind of a group is contact_group, its body a ContactGroup",
    )?;
    ensure_member(bench, &book, &group, &member).await?;

    let mut args = (CONTACTS.write)(&book, ItemChange::update(&joining, &json!({})));
    args["joins"] = json!([group.external_id]);
    let joined =
        bench.calls.mutate(CONTACTS.surface, CONTACTS.update_op, &args, &CONTACTS.key("B3-join")).await;
    supported(joined, CONTACTS.update_op)?;
    for contact in [&member, &joining] {
        ensure_member(bench, &book, &group, contact).await?;
    }

    let args = (CONTACTS.delete)(&book, &group.external_id);
    let deleted =
        bench.calls.mutate(CONTACTS.surface, "groups.delete", &args, &CONTACTS.key("B3-delete")).await;
    supported(deleted, "groups.delete")?;
    // A group's deletion keeps its members: a missing member ends the case.
    bench.read_item(&CONTACTS, &book, &member.external_id).await.map(|_| ())
}

/// Returns the id by which other items refer to a source's main item: its `uid`, else the external id.
fn uid(source: &Source) -> String {
    let uid = main_item(source).and_then(|item| item.uid.clone());
    uid.unwrap_or_else(|| source.external_id.clone())
}

async fn ensure_member(bench: &mut Bench, book: &Collection, group: &Source, contact: &Source) -> Outcome {
    let group = bench.read_item(&CONTACTS, book, &group.external_id).await?;
    let contact = bench.read_item(&CONTACTS, book, &contact.external_id).await?;
    let names = |source: &Source, field: &str| -> Vec<String> {
        let names = body::<Value>(source).unwrap_or_default()[field].clone();
        names.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (members, groups) = (names(&group, "contactIds"), names(&contact, "groupIds"));
    let (contact, group) = (uid(&contact), uid(&group));
    ensure(
        members.contains(&contact) || groups.contains(&group),
        || {
            format!(
                "the contact \"{contact}\" is not a member of the group \"{group}\": contactIds are {members:?}, groupIds of the contact are {groups:?}"
            )
        },
        UIDS,
    )
}
