//! Converts the model's contacts to Google's people, without side effects: the members that the caller changed, each based on the current
//! one.

use model::contacts::{
    Anniversary, Contact, ContactEmail, ContactKind, ContactPhone, ContactUrl, ImAddress, Organization,
    PartialDate, PhoneKind, PostalAddress, Relation,
};
use model::wire::Warning;

use crate::calendar::patch::field_warning;
use crate::contacts::kinds::{kind_from, kind_to, phone_kind_to};
use crate::contacts::name::names_to;
use crate::contacts::native::Person;
use crate::contacts::person::{address_from, date_from, main_nickname, text};
use crate::contacts::values::{
    FieldMetadata, PersonAddress, PersonBiography, PersonBirthday, PersonDate, PersonEmail, PersonEvent,
    PersonIm, PersonNickname, PersonOrganization, PersonPhone, PersonRelation, PersonUrl,
};

/// The fields in Google's name, which is written as a whole.
const NAME_FIELDS: [&str; 8] = [
    "displayName",
    "givenName",
    "middleName",
    "familyName",
    "prefix",
    "suffix",
    "phoneticGivenName",
    "phoneticFamilyName",
];

/// A change of a person.
#[derive(Debug, Default)]
pub struct PersonEdit {
    /// The changed members.
    pub person: Person,
    /// The names of these members, for the mask. An empty member is cleared.
    pub fields: Vec<&'static str>,
    /// Warnings about fields that Google does not support.
    pub lost: Vec<Warning>,
}

impl PersonEdit {
    /// The mask for the change.
    pub fn mask(&self) -> String {
        self.fields.join(",")
    }
}

/// Returns the change that sets the fields in `changed` to those of `ours`. `before` is the current person at Google: a list is replaced as
/// a whole, but its values keep members that the model does not have.
pub fn person_to(ours: &Contact, changed: &[String], before: &Person) -> PersonEdit {
    let has = |field: &str| changed.iter().any(|name| name == field);
    let mut edit = PersonEdit::default();
    let PersonEdit { person, fields, .. } = &mut edit;
    if NAME_FIELDS.iter().any(|field| has(field)) {
        person.names = names_to(ours, changed, before);
        fields.push("names");
    }
    if has("nickname") {
        person.nicknames = nicknames_to(ours.nickname.as_deref(), &before.nicknames);
        fields.push("nicknames");
    }
    if has("emails") {
        person.email_addresses =
            ours.emails.iter().map(|one| email_to(one, &before.email_addresses)).collect();
        fields.push("emailAddresses");
    }
    if has("phones") {
        person.phone_numbers = ours.phones.iter().map(|one| phone_to(one, &before.phone_numbers)).collect();
        fields.push("phoneNumbers");
    }
    if has("addresses") {
        person.addresses = ours.addresses.iter().map(|one| address_to(one, &before.addresses)).collect();
        fields.push("addresses");
    }
    if has("organizations") {
        let old = &before.organizations;
        person.organizations = ours.organizations.iter().map(|one| organization_to(one, old)).collect();
        fields.push("organizations");
    }
    if has("urls") {
        person.urls = ours.urls.iter().map(|one| url_to(one, &before.urls)).collect();
        fields.push("urls");
    }
    if has("imAddresses") {
        person.im_clients = ours.im_addresses.iter().map(|one| im_to(one, &before.im_clients)).collect();
        fields.push("imClients");
    }
    if has("relations") {
        person.relations = ours.relations.iter().map(relation_to).collect();
        fields.push("relations");
    }
    put_days(&mut edit, ours, &has, before);
    edit.lost = losses(ours, &has);
    edit
}

/// Adds the birthday, the other days and the notes.
fn put_days(edit: &mut PersonEdit, ours: &Contact, has: &dyn Fn(&str) -> bool, before: &Person) {
    let PersonEdit { person, fields, .. } = edit;
    if has("birthday") {
        let birthday = ours
            .birthday
            .as_ref()
            .map(|date| PersonBirthday { date: Some(date_to(date)), ..PersonBirthday::default() });
        person.birthdays = birthday.into_iter().collect();
        fields.push("birthdays");
    }
    if has("anniversaries") {
        // Keeps dates without a month or day, which the model cannot express.
        let kept = before.events.iter().filter(|one| date_from(one.date.as_ref()).is_none());
        let kept = kept.map(|one| PersonEvent { metadata: None, ..one.clone() });
        person.events = ours.anniversaries.iter().map(event_to).chain(kept).collect();
        fields.push("events");
    }
    if has("notes") {
        let note = ours.notes.as_ref().filter(|note| !note.is_empty()).map(|note| PersonBiography {
            value: Some(note.clone()),
            content_type: Some("TEXT_PLAIN".to_owned()),
            metadata: None,
        });
        person.biographies = note.into_iter().collect();
        fields.push("biographies");
    }
}

/// Warnings about changed fields that Google does not support.
fn losses(ours: &Contact, has: &dyn Fn(&str) -> bool) -> Vec<Warning> {
    const LABEL: &str = "Google has a type or a label for a value, not both: the label was left out";
    let is_lost = |label: &Option<String>, is_custom: bool| {
        !is_custom && label.as_ref().is_some_and(|label| !label.is_empty())
    };
    let mut lost = Vec::new();
    if has("emails") && ours.emails.iter().any(|one| is_lost(&one.label, one.kind == ContactKind::Custom)) {
        lost.push(field_warning("emails", LABEL));
    }
    if has("phones") && ours.phones.iter().any(|one| is_lost(&one.label, one.kind == PhoneKind::Custom)) {
        lost.push(field_warning("phones", LABEL));
    }
    let is_custom = |one: &PostalAddress| one.kind == ContactKind::Custom;
    if has("addresses") && ours.addresses.iter().any(|one| is_lost(&one.label, is_custom(one))) {
        lost.push(field_warning("addresses", LABEL));
    }
    lost
}

fn nicknames_to(ours: Option<&str>, before: &[PersonNickname]) -> Vec<PersonNickname> {
    let main = main_nickname(before);
    let wanted = ours.filter(|name| !name.is_empty()).map(|name| PersonNickname {
        value: Some(name.to_owned()),
        kind: main.and_then(|at| before.get(at)?.kind.clone()),
        metadata: None,
    });
    let others = before.iter().enumerate().filter(|(at, _)| Some(*at) != main);
    let others = others.map(|(_, one)| PersonNickname { metadata: None, ..one.clone() });
    wanted.into_iter().chain(others).collect()
}

fn email_to(ours: &ContactEmail, before: &[PersonEmail]) -> PersonEmail {
    let old = before.iter().find(|old| old.value.as_ref() == Some(&ours.value));
    PersonEmail {
        value: Some(ours.value.clone()),
        kind: kind_to(ours.kind, ours.label.as_deref(), old.and_then(|old| old.kind.as_deref())),
        display_name: old.and_then(|old| old.display_name.clone()),
        metadata: ours.primary.then(FieldMetadata::of_primary),
    }
}

fn phone_to(ours: &ContactPhone, before: &[PersonPhone]) -> PersonPhone {
    let old = before.iter().find(|old| old.value.as_ref() == Some(&ours.value));
    PersonPhone {
        value: Some(ours.value.clone()),
        kind: phone_kind_to(ours.kind, ours.label.as_deref(), old.and_then(|old| old.kind.as_deref())),
        metadata: ours.primary.then(FieldMetadata::of_primary),
        ..PersonPhone::default()
    }
}

/// The address without its kind and formatted text.
fn parts(address: &PostalAddress) -> PostalAddress {
    PostalAddress { kind: ContactKind::Other, label: None, formatted: None, ..address.clone() }
}

fn address_to(ours: &PostalAddress, before: &[PersonAddress]) -> PersonAddress {
    let same = before.iter().find(|old| parts(&address_from(old)) == parts(ours));
    // A formatted text that belongs to the old parts would show the old address.
    let is_of = |old: &PersonAddress| old.formatted_value.as_ref() == ours.formatted.as_ref();
    let is_outdated = same.is_none() && before.iter().any(is_of);
    PersonAddress {
        formatted_value: text(ours.formatted.as_ref()).filter(|_| !is_outdated),
        kind: kind_to(ours.kind, ours.label.as_deref(), same.and_then(|old| old.kind.as_deref())),
        street_address: text(ours.street.as_ref()),
        extended_address: text(ours.extended.as_ref()),
        po_box: text(ours.po_box.as_ref()),
        city: text(ours.locality.as_ref()),
        region: text(ours.region.as_ref()),
        postal_code: text(ours.postal_code.as_ref()),
        country: text(ours.country.as_ref()),
        country_code: text(ours.country_code.as_ref()),
        metadata: None,
    }
}

fn organization_to(ours: &Organization, before: &[PersonOrganization]) -> PersonOrganization {
    let is_there = |old: &&PersonOrganization| old.name.is_some() && old.name == ours.name;
    let same = before.iter().find(|old| is_there(old) && old.title == ours.title);
    let old = same.or_else(|| before.iter().find(is_there));
    let is_said = old.is_some_and(|old| old.current.unwrap_or(true) == ours.current);
    PersonOrganization {
        name: text(ours.name.as_ref()),
        title: text(ours.title.as_ref()),
        department: text(ours.department.as_ref()),
        current: if is_said { old.and_then(|old| old.current) } else { Some(ours.current) },
        metadata: None,
        ..old.cloned().unwrap_or_default()
    }
}

fn url_to(ours: &ContactUrl, before: &[PersonUrl]) -> PersonUrl {
    let old = before.iter().find(|old| old.value.as_ref() == Some(&ours.value));
    let old = old.and_then(|old| old.kind.as_deref());
    // The model has no labels for URLs: keep Google's.
    let kind = kind_to(ours.kind, kind_from(old).1.as_deref(), old);
    PersonUrl { value: Some(ours.value.clone()), kind, metadata: None }
}

fn im_to(ours: &ImAddress, before: &[PersonIm]) -> PersonIm {
    let old = before.iter().find(|old| old.username.as_ref() == Some(&ours.handle));
    PersonIm {
        username: Some(ours.handle.clone()),
        protocol: text(ours.protocol.as_ref()),
        kind: old.and_then(|old| old.kind.clone()),
        metadata: None,
    }
}

fn relation_to(ours: &Relation) -> PersonRelation {
    PersonRelation { person: Some(ours.name.clone()), kind: text(ours.kind.as_ref()), metadata: None }
}

fn event_to(ours: &Anniversary) -> PersonEvent {
    PersonEvent { date: Some(date_to(&ours.date)), kind: text(ours.kind.as_ref()), metadata: None }
}

fn date_to(ours: &PartialDate) -> PersonDate {
    PersonDate { year: ours.year, month: Some(ours.month), day: Some(ours.day) }
}
