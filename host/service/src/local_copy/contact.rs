//! Values derived from a contact: display name, sort and search texts, keys.

use model::bounds::contact::MAX_MEMBERS;
use model::contacts::{Contact, ContactGroup};
use storage::items::Key;
use text::folding::fold;
use text::phones;

use crate::local_copy::search_text::{searchable, sort_key};

/// Most members that a group lists; of larger groups only the number is shown.
pub const MAX_INLINE_MEMBERS: usize = MAX_MEMBERS;

/// Most addresses and numbers by which one contact is found.
pub(crate) const MAX_KEYS: usize = 200;

/// Fills in derived fields: the display name, and numbers as E.164.
pub fn derive(contact: &mut Contact) {
    if contact.display_name.as_deref().is_none_or(|name| name.trim().is_empty()) {
        contact.display_name = composed_name(contact).or_else(|| other_name(contact));
    }
    // Contract silent: which country a number without one is in. That of the contact's own address, else none is guessed.
    let region = contact.addresses.iter().find_map(|a| a.country_code.clone());
    for phone in &mut contact.phones {
        phone.e164 = phones::e164(&phone.value, region.as_deref());
    }
}

/// Returns the parts of the name, in the order of a postal address.
pub fn composed_name(contact: &Contact) -> Option<String> {
    let parts =
        [&contact.prefix, &contact.given_name, &contact.middle_name, &contact.family_name, &contact.suffix];
    let parts: Vec<&str> = parts.into_iter().flatten().map(|p| p.trim()).filter(|p| !p.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Returns a display name for a contact without a name.
pub(crate) fn other_name(contact: &Contact) -> Option<String> {
    let organization = contact.organizations.iter().find_map(|o| o.name.clone());
    let email = || contact.emails.first().map(|e| e.value.clone());
    let phone = || contact.phones.first().map(|p| p.value.clone());
    let found = contact.nickname.clone().or(organization).or_else(email).or_else(phone);
    found.filter(|name| !name.trim().is_empty())
}

/// Returns the sort key of lists: the display name, ignoring case.
pub fn sort_text(display_name: Option<&str>) -> String {
    sort_key(display_name.map(|name| fold(name.trim())).as_deref())
}

/// Returns the text that `q` searches.
pub fn search_text(contact: &Contact) -> String {
    let names = [
        &contact.display_name,
        &contact.given_name,
        &contact.middle_name,
        &contact.family_name,
        &contact.nickname,
        &contact.phonetic_given_name,
        &contact.phonetic_family_name,
    ];
    let organizations = contact.organizations.iter().flat_map(|o| [&o.name, &o.title, &o.department]);
    let addresses = contact
        .addresses
        .iter()
        .flat_map(|a| [&a.formatted, &a.street, &a.locality, &a.region, &a.postal_code, &a.country]);
    let numbers = contact.phones.iter().flat_map(|p| [Some(p.value.as_str()), p.e164.as_deref()]);
    let texts = names.into_iter().chain(organizations).chain(addresses).map(Option::as_deref);
    let emails = contact.emails.iter().map(|e| Some(e.value.as_str()));
    let handles = contact.im_addresses.iter().map(|i| Some(i.handle.as_str()));
    let relations = contact.relations.iter().map(|r| Some(r.name.as_str()));
    searchable(
        texts.chain(emails).chain(numbers).chain(handles).chain(relations).chain([contact.notes.as_deref()]),
    )
}

/// Returns the text of a group that `q` would search.
pub fn group_search_text(group: &ContactGroup) -> String {
    searchable([Some(group.name.as_str())])
}

/// Returns the keys by which a contact is found exactly.
pub fn keys(contact: &Contact) -> Vec<Key> {
    let emails = contact.emails.iter().take(MAX_KEYS).map(|e| email_key(&e.value));
    let phones = contact.phones.iter().take(MAX_KEYS).flat_map(|p| {
        [p.e164.clone().unwrap_or_default(), digits(&p.value)].map(|value| Key { name: "phone", value })
    });
    let groups = contact.group_ids.iter().map(|id| group_key(id));
    let mut keys: Vec<Key> = emails.chain(phones).chain(groups).filter(|k| !k.value.is_empty()).collect();
    keys.sort();
    keys.dedup();
    keys
}

/// Returns the key of an address, ignoring case.
pub fn email_key(email: &str) -> Key {
    Key { name: "email", value: plain(&fold(email.trim())) }
}

/// Returns the key of a number: E.164 if it can be determined, else its digits.
pub fn phone_key(number: &str, region: Option<&str>) -> Key {
    Key { name: "phone", value: phones::e164(number, region).unwrap_or_else(|| digits(number)) }
}

pub(crate) fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}

pub fn group_key(id: &str) -> Key {
    Key { name: "group", value: id.to_owned() }
}

/// Removes control characters: PostgreSQL text cannot hold U+0000, and searches do not contain the others.
pub(crate) fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
