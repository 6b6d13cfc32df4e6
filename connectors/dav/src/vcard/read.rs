//! Card → `Contact`, or `ContactGroup`, as items.

use model::contacts::{Anniversary, Contact, ContactEmail, ContactPhone, ContactUrl, ImAddress, Relation};
use model::wire::{Item, ItemError, JsonText};
use vcard::tree::line::VcardLine;

use crate::vcard::addresses::addresses;
use crate::vcard::dates::day;
use crate::vcard::extra::extra;
use crate::vcard::group::{group, is_group, uid};
use crate::vcard::lines::{View, components, list, param, parse, value};
use crate::vcard::lists::Entry;
use crate::vcard::organizations::organizations;
use crate::vcard::photo::photo;

/// The `Item.kind` of a person or organization.
pub const CONTACT: &str = "contact";
/// The `Item.kind` of a group.
pub const GROUP: &str = "contact_group";

/// The one item of a resource: the contact, or the group. `error` names the fault, never the content.
pub fn items(external_id: &str, data: &str) -> Result<Vec<Item>, ItemError> {
    let unreadable = |message: String| ItemError { code: "unreadable".into(), message };
    let card = parse(data).map_err(unreadable)?;
    let view = View::from_card(&card);
    let (kind, body) = match is_group(&view) {
        true => (GROUP, JsonText::of(&group(&view))),
        false => (CONTACT, JsonText::of(&contact(&view))),
    };
    Ok(vec![Item {
        external_id: external_id.to_owned(),
        kind: Some(kind.into()),
        uid: uid(&view),
        body: body.map_err(|error| unreadable(error.to_string()))?,
        provider_data: extra(&view),
        ..Item::default()
    }])
}

/// The card as a contact. Its groups name it, not it them.
pub fn contact(view: &View) -> Contact {
    let [family, given, middle, prefix, suffix] = names(name_line(view));
    let [phonetic_family, phonetic_given, ..] = names(phonetic_line(view));
    Contact {
        display_name: view.text("FN"),
        given_name: given,
        middle_name: middle,
        family_name: family,
        prefix,
        suffix,
        nickname: nickname(view),
        phonetic_given_name: view.text("X-PHONETIC-FIRST-NAME").or(phonetic_given),
        phonetic_family_name: view.text("X-PHONETIC-LAST-NAME").or(phonetic_family),
        emails: entries::<ContactEmail>(view),
        phones: entries::<ContactPhone>(view),
        addresses: addresses(view),
        organizations: organizations(view),
        urls: entries::<ContactUrl>(view),
        im_addresses: entries::<ImAddress>(view),
        relations: entries::<Relation>(view),
        birthday: view.first("BDAY").and_then(day),
        anniversaries: entries::<Anniversary>(view),
        notes: notes(view),
        photo: photo(view),
        ..Contact::default()
    }
}

fn entries<T: Entry>(view: &View) -> Vec<T> {
    T::all(view).into_iter().map(|(_, entry)| entry).collect()
}

/// The N that is the name itself, not a way to pronounce it.
pub fn name_line<'c, 'a>(view: &View<'c, 'a>) -> Option<&'c VcardLine<'a>> {
    view.all("N").find(|line| param(line, "PHONETIC").is_none())
}

/// The N that says how the name is pronounced (RFC 9554 section 4.6).
pub fn phonetic_line<'c, 'a>(view: &View<'c, 'a>) -> Option<&'c VcardLine<'a>> {
    view.all("N").find(|line| param(line, "PHONETIC").is_some())
}

/// The components of N; several names in one are joined.
pub fn name_parts(line: &VcardLine) -> Vec<String> {
    components(line, " ")
}

/// Family name, given name, middle names, prefixes and suffixes (RFC 6350 section 6.2.2).
fn names(line: Option<&VcardLine>) -> [Option<String>; 5] {
    let mut parts = line.map(name_parts).unwrap_or_default().into_iter();
    std::array::from_fn(|_| parts.next().filter(|part| !part.is_empty()))
}

/// All notes, one after the other.
pub fn notes(view: &View) -> Option<String> {
    let notes: Vec<String> = view.all("NOTE").map(|line| value(line).trim().to_owned()).collect();
    let notes: Vec<&str> = notes.iter().map(String::as_str).filter(|note| !note.is_empty()).collect();
    (!notes.is_empty()).then(|| notes.join("\n"))
}

/// All nicknames in one.
pub fn nickname(view: &View) -> Option<String> {
    let names: Vec<String> = view.all("NICKNAME").flat_map(list).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
