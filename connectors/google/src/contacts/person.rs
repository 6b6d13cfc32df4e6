//! Google's people and groups as the model's contacts and groups. Pure.

use model::contacts::{
    Anniversary, Contact, ContactEmail, ContactGroup, ContactPhone, ContactSource, ContactUrl, GroupKind,
    ImAddress, Organization, PartialDate, Photo, PostalAddress, Relation,
};
use serde_json::{Map, Value, json};

use crate::contacts::kinds::{kind_from, phone_kind_from};
use crate::contacts::native::{Person, PersonGroup, STARRED};
use crate::contacts::values::{
    FieldMetadata, PersonAddress, PersonDate, PersonEmail, PersonName, PersonNickname, PersonOrganization,
    PersonPhone,
};

/// Returns the contact of a person.
pub fn contact_from(theirs: &Person, source: ContactSource) -> Contact {
    Contact {
        display_name: name_text(theirs, |name| name.display_name.as_ref())
            .or_else(|| name_text(theirs, |name| name.unstructured_name.as_ref())),
        given_name: name_text(theirs, |name| name.given_name.as_ref()),
        middle_name: name_text(theirs, |name| name.middle_name.as_ref()),
        family_name: name_text(theirs, |name| name.family_name.as_ref()),
        prefix: name_text(theirs, |name| name.honorific_prefix.as_ref()),
        suffix: name_text(theirs, |name| name.honorific_suffix.as_ref()),
        phonetic_given_name: name_text(theirs, |name| name.phonetic_given_name.as_ref()),
        phonetic_family_name: name_text(theirs, |name| name.phonetic_family_name.as_ref()),
        nickname: main_nickname(&theirs.nicknames)
            .and_then(|at| text(theirs.nicknames.get(at)?.value.as_ref())),
        emails: emails_from(&theirs.email_addresses),
        phones: phones_from(&theirs.phone_numbers),
        addresses: theirs.addresses.iter().map(address_from).collect(),
        organizations: theirs.organizations.iter().map(organization_from).collect(),
        urls: urls_from(theirs),
        im_addresses: ims_from(theirs),
        relations: relations_from(theirs),
        birthday: theirs.birthdays.first().and_then(|birthday| date_from(birthday.date.as_ref())),
        anniversaries: anniversaries_from(theirs),
        notes: theirs.biographies.first().and_then(|note| text(note.value.as_ref())),
        photo: photo_from(theirs),
        group_ids: theirs.groups().map(str::to_owned).collect(),
        starred: theirs.groups().any(|group| group == STARRED),
        source,
        ..Contact::default()
    }
}

/// A text of the name.
fn name_text(theirs: &Person, field: impl Fn(&PersonName) -> Option<&String>) -> Option<String> {
    text(field(theirs.names.first()?))
}

/// Returns a text; an empty one is none.
pub fn text(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.is_empty()).cloned()
}

/// Returns the place of the nickname that the model has: the first one of no particular kind.
pub fn main_nickname(theirs: &[PersonNickname]) -> Option<usize> {
    let is_plain = |one: &PersonNickname| matches!(one.kind.as_deref(), None | Some("" | "DEFAULT"));
    theirs.iter().position(is_plain).or_else(|| (!theirs.is_empty()).then_some(0))
}

/// The place of the value that is the first to use: the one that the user has named, else the one that Google names.
fn primary_of(metadata: &[Option<&FieldMetadata>]) -> Option<usize> {
    let has = |flag: fn(&FieldMetadata) -> Option<bool>| {
        metadata.iter().position(|one| one.and_then(flag) == Some(true))
    };
    has(|one| one.source_primary).or_else(|| has(|one| one.primary))
}

fn emails_from(theirs: &[PersonEmail]) -> Vec<ContactEmail> {
    let metadata: Vec<_> = theirs.iter().map(|one| one.metadata.as_ref()).collect();
    let primary = primary_of(&metadata);
    let values = theirs.iter().enumerate().filter_map(|(at, one)| {
        let (kind, label) = kind_from(one.kind.as_deref());
        Some(ContactEmail { value: text(one.value.as_ref())?, kind, label, primary: primary == Some(at) })
    });
    values.collect()
}

fn phones_from(theirs: &[PersonPhone]) -> Vec<ContactPhone> {
    let metadata: Vec<_> = theirs.iter().map(|one| one.metadata.as_ref()).collect();
    let primary = primary_of(&metadata);
    let values = theirs.iter().enumerate().filter_map(|(at, one)| {
        let (kind, label) = phone_kind_from(one.kind.as_deref());
        Some(ContactPhone {
            value: text(one.value.as_ref())?,
            e164: text(one.canonical_form.as_ref()),
            kind,
            label,
            primary: primary == Some(at),
        })
    });
    values.collect()
}

/// Returns the model's address.
pub fn address_from(theirs: &PersonAddress) -> PostalAddress {
    let (kind, label) = kind_from(theirs.kind.as_deref());
    PostalAddress {
        kind,
        label,
        formatted: text(theirs.formatted_value.as_ref()),
        street: text(theirs.street_address.as_ref()),
        extended: text(theirs.extended_address.as_ref()),
        po_box: text(theirs.po_box.as_ref()),
        locality: text(theirs.city.as_ref()),
        region: text(theirs.region.as_ref()),
        postal_code: text(theirs.postal_code.as_ref()),
        country: text(theirs.country.as_ref()),
        country_code: text(theirs.country_code.as_ref()),
    }
}

fn organization_from(theirs: &PersonOrganization) -> Organization {
    Organization {
        name: text(theirs.name.as_ref()),
        title: text(theirs.title.as_ref()),
        department: text(theirs.department.as_ref()),
        current: theirs.current.unwrap_or(true),
    }
}

fn urls_from(theirs: &Person) -> Vec<ContactUrl> {
    let values = theirs.urls.iter().filter_map(|one| {
        Some(ContactUrl { value: text(one.value.as_ref())?, kind: kind_from(one.kind.as_deref()).0 })
    });
    values.collect()
}

fn ims_from(theirs: &Person) -> Vec<ImAddress> {
    let values = theirs.im_clients.iter().filter_map(|one| {
        Some(ImAddress { protocol: text(one.protocol.as_ref()), handle: text(one.username.as_ref())? })
    });
    values.collect()
}

fn relations_from(theirs: &Person) -> Vec<Relation> {
    let values = theirs
        .relations
        .iter()
        .filter_map(|one| Some(Relation { name: text(one.person.as_ref())?, kind: text(one.kind.as_ref()) }));
    values.collect()
}

fn anniversaries_from(theirs: &Person) -> Vec<Anniversary> {
    let values = theirs.events.iter().filter_map(|one| {
        Some(Anniversary { kind: text(one.kind.as_ref()), date: date_from(one.date.as_ref())? })
    });
    values.collect()
}

/// Returns a day; none where the month or the day is not known.
pub fn date_from(theirs: Option<&PersonDate>) -> Option<PartialDate> {
    let known = |part: Option<i64>| part.filter(|number| *number > 0);
    let date = theirs?;
    Some(PartialDate { year: known(date.year), month: known(date.month)?, day: known(date.day)? })
}

/// The picture's public address. Google has no version of it.
fn photo_from(theirs: &Person) -> Option<Photo> {
    let photo = theirs.photos.iter().find(|photo| photo.is_default != Some(true))?;
    Some(Photo { url: Some(text(photo.url.as_ref())?), etag: None })
}

/// Returns members of a person that the model has no field for; none where there are none.
pub fn person_data(theirs: &Person) -> Option<Value> {
    let mut data = Map::new();
    let updated = theirs.contact_source().and_then(|source| source.update_time.as_ref());
    data.extend(updated.map(|time| ("updatedAt".to_owned(), json!(time))));
    let lists = [
        ("calendarUrls", &theirs.calendar_urls),
        ("externalIds", &theirs.external_ids),
        ("genders", &theirs.genders),
        ("interests", &theirs.interests),
        ("locales", &theirs.locales),
        ("locations", &theirs.locations),
        ("miscKeywords", &theirs.misc_keywords),
        ("occupations", &theirs.occupations),
        ("sipAddresses", &theirs.sip_addresses),
        ("skills", &theirs.skills),
        ("userDefined", &theirs.user_defined),
    ];
    for (name, values) in lists {
        insert_values(&mut data, name, values.iter().map(without_metadata).collect());
    }
    let clients = theirs.client_data.iter().filter(|one| !one.is_ours());
    insert_values(&mut data, "clientData", clients.map(|one| json!(one)).collect());
    let unknown = theirs.birthdays.iter().filter(|one| date_from(one.date.as_ref()).is_none());
    insert_values(&mut data, "birthdays", unknown.map(|one| without_metadata(&json!(one))).collect());
    let unknown = theirs.events.iter().filter(|one| date_from(one.date.as_ref()).is_none());
    insert_values(&mut data, "events", unknown.map(|one| without_metadata(&json!(one))).collect());
    let main = main_nickname(&theirs.nicknames);
    let others = theirs.nicknames.iter().enumerate().filter(|(at, _)| Some(*at) != main);
    insert_values(&mut data, "nicknames", others.map(|(_, one)| without_metadata(&json!(one))).collect());
    (!data.is_empty()).then_some(Value::Object(data))
}

fn insert_values(data: &mut Map<String, Value>, name: &str, values: Vec<Value>) {
    if !values.is_empty() {
        data.insert(name.to_owned(), Value::Array(values));
    }
}

/// A value without its source, and without what Google makes of its type.
fn without_metadata(value: &Value) -> Value {
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        members.remove("metadata");
        members.remove("formattedType");
    }
    value
}

/// Returns the group. Its members name it, it does not name them.
pub fn group_from(theirs: &PersonGroup) -> ContactGroup {
    let name = match theirs.is_system() {
        true => text(theirs.formatted_name.as_ref()).or_else(|| text(theirs.name.as_ref())),
        false => text(theirs.name.as_ref()).or_else(|| text(theirs.formatted_name.as_ref())),
    };
    ContactGroup {
        name: name.unwrap_or_default(),
        kind: if theirs.is_system() { GroupKind::System } else { GroupKind::User },
        contact_ids: None,
        member_count: theirs.member_count,
        read_only: theirs.is_system(),
        ..ContactGroup::default()
    }
}
