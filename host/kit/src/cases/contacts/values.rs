//! Addresses, numbers and other values of a contact.

use serde_json::{Value, json};

use crate::bench::{Bench, Outcome, ensure};
use crate::cases::contacts::cards::CONTACTS;
use crate::surface_bench::merged;

/// Returns values with one label of each sort.
fn labelled_values() -> Value {
    json!({
        "emails": [
            { "value": "office@example.test", "type": "work" },
            { "value": "home@example.test", "type": "home", "primary": true },
            { "value": "boat@example.test", "type": "custom", "label": "Boat" },
        ],
        "phones": [
            { "value": "+4312345671", "type": "mobile" },
            { "value": "+4312345672", "type": "work" },
            { "value": "+4312345673", "type": "custom", "label": "Boat" },
        ],
        "addresses": [
            { "type": "home", "street": "Ringstraße 1", "locality": "Wien", "postalCode": "1010", "country": "Austria" },
            { "type": "work", "street": "Hafen 2", "locality": "Linz", "postalCode": "4020", "country": "Austria" },
        ],
    })
}

/// `B1`: labels and the order of values come back.
pub async fn labels(bench: &mut Bench) -> Outcome {
    const HELP: &str = "the values of a list come back in the order in which they were written, each with its type, its label, and whether it is the primary one; for what the provider cannot keep answer with a warning field_not_supported";
    let book = bench.collection(&CONTACTS).await?;
    let asked = labelled_values();
    let fields = merged(&(CONTACTS.body)(&CONTACTS.label("B1")), &asked);
    let (source, warned) = bench.create_item(&CONTACTS, &book, fields, &CONTACTS.key("B1")).await?;
    let read = bench.read_body(&CONTACTS, &book, &source.external_id).await?;
    let lists = asked.as_object().into_iter().flatten();
    let differ: Vec<String> = lists
        .filter(|(list, values)| !contains_fields(&read[list.as_str()], values) && !warned.contains(list))
        .map(|(list, values)| format!("{list} were {values}, and are {}", read[list.as_str()]))
        .collect();
    ensure(differ.is_empty(), || differ.join("; "), HELP)
}

/// Returns whether a value has the requested fields; others may have any value.
fn contains_fields(value: &Value, asked: &Value) -> bool {
    match (value, asked) {
        (Value::Object(value), Value::Object(asked)) => asked
            .iter()
            .all(|(name, asked)| value.get(name).is_some_and(|value| contains_fields(value, asked))),
        (Value::Array(values), Value::Array(asked)) => {
            values.len() == asked.len()
                && values.iter().zip(asked).all(|(value, asked)| contains_fields(value, asked))
        }
        (value, asked) => value == asked,
    }
}

/// Returns a contact with values in as many fields as most providers support.
fn full() -> Value {
    json!({
        "nickname": "Kitty",
        "organizations": [{ "name": "Example", "title": "Tester", "department": "Tests" }],
        "urls": [{ "value": "https://example.test/kit", "type": "work" }],
        "imAddresses": [{ "protocol": "xmpp", "handle": "kit@example.test" }],
        "birthday": { "year": 1990, "month": 2, "day": 28 },
    })
}

/// `B4`: the fields of a contact that an update does not name stay.
pub async fn unnamed(bench: &mut Bench) -> Outcome {
    const HELP: &str = "change the card that the provider has: what `changed` does not name keeps its bytes, also in a record that is only written as a whole (a vCard)";
    let book = bench.collection(&CONTACTS).await?;
    let fields = merged(&merged(&(CONTACTS.body)(&CONTACTS.label("B4")), &labelled_values()), &full());
    let (source, _) = bench.create_item(&CONTACTS, &book, fields, &CONTACTS.key("B4")).await?;
    let source = bench.read_item(&CONTACTS, &book, &source.external_id).await?;
    let before = bench.read_body(&CONTACTS, &book, &source.external_id).await?;
    let phones = json!({ "phones": [{ "value": "+4312345679", "type": "home" }] });
    bench.update_item(&CONTACTS, &book, &source, &phones, &CONTACTS.key("B4-after")).await?;
    let after = bench.read_body(&CONTACTS, &book, &source.external_id).await?;
    ensure(
        contains_fields(&after["phones"], &phones["phones"]),
        || format!("phones are {} after they were changed", after["phones"]),
        HELP,
    )?;
    let fields = before.as_object().into_iter().flatten();
    let differ: Vec<String> = fields
        .filter(|(field, value)| *field != "phones" && after[field.as_str()] != **value)
        .map(|(field, value)| format!("{field} was {value}, and is {}", after[field.as_str()]))
        .collect();
    ensure(differ.is_empty(), || format!("a change of the phones also changed: {}", differ.join("; ")), HELP)
}
