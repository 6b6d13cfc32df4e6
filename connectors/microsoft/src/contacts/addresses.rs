//! Postal addresses of a contact: Graph has one of each kind. Pure.

use model::contacts::{ContactKind, PostalAddress};
use model::wire::Warning;
use serde_json::{Map, Value, json};

use crate::calendar::patch::field_warning;
use crate::contacts::mapping::text;

const FIELD: &str = "addresses";
/// Graph's members.
const PLACES: [(&str, ContactKind); 3] = [
    ("businessAddress", ContactKind::Work),
    ("homeAddress", ContactKind::Home),
    ("otherAddress", ContactKind::Other),
];

/// Adds the members with the addresses, and warnings about what Graph has no place for.
pub fn put_addresses(ours: &[PostalAddress], body: &mut Map<String, Value>, lost: &mut Vec<Warning>) {
    let of_kind = |kind: ContactKind| {
        // An address with a name of the user's own is another one.
        let is_it = move |one: &&PostalAddress| match one.kind {
            ContactKind::Custom => kind == ContactKind::Other,
            own => own == kind,
        };
        ours.iter().filter(is_it)
    };
    for (member, kind) in PLACES {
        body.insert(member.to_owned(), of_kind(kind).next().map_or_else(empty, address_to));
    }
    let has_second = PLACES.iter().any(|(_, kind)| of_kind(*kind).count() > 1);
    let has = |part: Option<&String>| text(part).is_some();
    let is_labelled = |one: &PostalAddress| has(one.label.as_ref()) || one.kind == ContactKind::Custom;
    let is_joined = |one: &PostalAddress| has(one.extended.as_ref()) || has(one.po_box.as_ref());
    let is_coded = |one: &PostalAddress| has(one.country_code.as_ref()) && has(one.country.as_ref());
    let warnings = [
        (has_second, "Outlook keeps one address of each kind: the others were left out"),
        (ours.iter().any(is_labelled), "Outlook has no labels of addresses"),
        (
            ours.iter().any(is_joined),
            "Outlook has no addition and no post office box: they are lines of the street",
        ),
        (ours.iter().any(is_coded), "Outlook has the name of the country or its code: the code was left out"),
    ];
    lost.extend(
        warnings.into_iter().filter(|(is_lost, _)| *is_lost).map(|(_, text)| field_warning(FIELD, text)),
    );
}

/// An address without parts, which empties the one that is there.
fn empty() -> Value {
    address_to(&PostalAddress::default())
}

fn address_to(ours: &PostalAddress) -> Value {
    let lines = [&ours.street, &ours.extended, &ours.po_box];
    let lines: Vec<String> = lines.into_iter().filter_map(|line| text(line.as_ref())).collect();
    let joined = Some(lines.join("\n")).filter(|street| !street.is_empty());
    let parts = [&ours.locality, &ours.region, &ours.postal_code, &ours.country, &ours.country_code];
    let has_parts = joined.is_some() || parts.into_iter().any(|part| text(part.as_ref()).is_some());
    // The text of the whole says the parts once more; without them it is all there is.
    let whole = text(ours.formatted.as_ref()).filter(|_| !has_parts);
    json!({
        "street": joined.or(whole),
        "city": text(ours.locality.as_ref()),
        "state": text(ours.region.as_ref()),
        "postalCode": text(ours.postal_code.as_ref()),
        "countryOrRegion": text(ours.country.as_ref()).or_else(|| text(ours.country_code.as_ref())),
    })
}
