//! The provider's address books and cards to the model and back. Pure.

use connector_sdk::Outcome;
use model::contacts::{
    Anniversary, BookRights, Contact, ContactBook, ContactEmail, ContactGroup, ContactPhone, ContactUrl,
    GroupKind, ImAddress, Organization, PartialDate, Photo, PostalAddress, Relation,
};
use model::wire::{Item, JsonText, Source};
use serde_json::json;

use crate::collections::Collection;
use crate::contacts::native;
use crate::contacts::pictures;
use crate::items::{Record, deleted_source, survive, text};

impl Collection for native::Book {
    type Ours = ContactBook;
    const PATH: &'static str = "books";
    const NAME: &'static str = "address book";
    const PLACES: &'static [(&'static str, &'static str)] = &[("name", "title"), ("description", "notes")];

    fn id(&self) -> &str {
        &self.id
    }

    fn etag(&self) -> Option<String> {
        self.etag.clone()
    }

    fn body(&self) -> Outcome<JsonText> {
        text(&ContactBook {
            name: self.title.clone(),
            description: self.notes.clone(),
            is_default: self.main,
            read_only: self.locked,
            contact_count: self.persons,
            rights: BookRights { read: self.may.look, write: self.may.edit, delete: self.may.remove },
        })
    }

    fn from_model(ours: &ContactBook) -> Self {
        native::Book { title: ours.name.clone(), notes: ours.description.clone(), ..native::Book::default() }
    }
}

impl Record for native::Card {
    const PATH: [&'static str; 2] = ["books", "cards"];
    const NAME: &'static str = "contact";

    /// A contact or a group.
    fn source(&self) -> Outcome<Source> {
        if self.deleted {
            return Ok(Source { etag: self.etag.clone(), ..deleted_source(&self.id) });
        }
        survive("contact", &self.id, self.label.as_deref());
        let (kind, body) = match self.kind {
            native::CardKind::Person => ("contact", text(&contact_from(self))?),
            native::CardKind::Circle => ("contact_group", text(&group_from(self))?),
        };
        let item = Item {
            external_id: self.id.clone(),
            kind: Some(kind.to_owned()),
            body,
            provider_data: Some(json!({ "createdAt": self.created_at, "updatedAt": self.updated_at })),
            ..Item::default()
        };
        let (external_id, etag) = (self.id.clone(), self.etag.clone());
        Ok(Source { external_id, etag, items: vec![item], ..Source::default() })
    }
}

/// The model's group of a circle: it names its members by their ids.
fn group_from(theirs: &native::Card) -> ContactGroup {
    ContactGroup {
        book_id: Some(theirs.book.clone()),
        name: theirs.label.clone().unwrap_or_default(),
        kind: if theirs.built_in { GroupKind::System } else { GroupKind::User },
        contact_ids: Some(theirs.members.clone()),
        member_count: i64::try_from(theirs.members.len()).unwrap_or(i64::MAX),
        read_only: theirs.locked,
    }
}

/// The circle of a group.
pub fn group_to(ours: &ContactGroup) -> native::Card {
    native::Card {
        kind: native::CardKind::Circle,
        label: Some(ours.name.clone()),
        members: ours.contact_ids.clone().unwrap_or_default(),
        ..native::Card::default()
    }
}

/// The model's contact of a person. Its groups name it, it does not name them.
fn contact_from(theirs: &native::Card) -> Contact {
    Contact {
        book_id: Some(theirs.book.clone()),
        display_name: theirs.label.clone().filter(|label| !label.is_empty()),
        given_name: theirs.name.first.clone(),
        middle_name: theirs.name.middle.clone(),
        family_name: theirs.name.last.clone(),
        prefix: theirs.name.before.clone(),
        suffix: theirs.name.after.clone(),
        nickname: theirs.name.nick.clone(),
        phonetic_given_name: theirs.name.first_sound.clone(),
        phonetic_family_name: theirs.name.last_sound.clone(),
        emails: theirs.mails.iter().map(email_from).collect(),
        phones: theirs.phones.iter().map(phone_from).collect(),
        addresses: theirs.postal.iter().map(address_from).collect(),
        organizations: theirs.jobs.iter().map(organization_from).collect(),
        urls: theirs
            .pages
            .iter()
            .map(|page| ContactUrl { value: page.url.clone(), kind: page.used_for.into() })
            .collect(),
        im_addresses: theirs
            .chats
            .iter()
            .map(|chat| ImAddress { protocol: chat.network.clone(), handle: chat.handle.clone() })
            .collect(),
        relations: theirs
            .relatives
            .iter()
            .map(|relative| Relation { name: relative.label.clone(), kind: relative.relation.clone() })
            .collect(),
        birthday: theirs.birthday.as_ref().map(date_from),
        anniversaries: theirs
            .days
            .iter()
            .map(|day| Anniversary { kind: day.occasion.clone(), date: date_from(&day.on) })
            .collect(),
        notes: theirs.notes.clone(),
        photo: theirs
            .picture
            .as_ref()
            .map(|picture| Photo { url: picture.url.clone(), etag: picture.fingerprint.clone() }),
        group_ids: Vec::new(),
        source: theirs.origin.into(),
        starred: theirs.starred,
        merged_into: None,
    }
}

/// The person of a contact. Fails when its photo is a `data:` URL that cannot be read.
pub fn contact_to(ours: &Contact) -> Outcome<native::Card> {
    Ok(native::Card {
        kind: native::CardKind::Person,
        label: ours.display_name.clone(),
        name: native::Name {
            first: ours.given_name.clone(),
            middle: ours.middle_name.clone(),
            last: ours.family_name.clone(),
            before: ours.prefix.clone(),
            after: ours.suffix.clone(),
            nick: ours.nickname.clone(),
            first_sound: ours.phonetic_given_name.clone(),
            last_sound: ours.phonetic_family_name.clone(),
        },
        mails: ours.emails.iter().map(email_to).collect(),
        phones: ours.phones.iter().map(phone_to).collect(),
        postal: ours.addresses.iter().map(address_to).collect(),
        jobs: ours.organizations.iter().map(organization_to).collect(),
        pages: ours
            .urls
            .iter()
            .map(|url| native::Page { url: url.value.clone(), used_for: url.kind.into() })
            .collect(),
        chats: ours
            .im_addresses
            .iter()
            .map(|im| native::Chat { network: im.protocol.clone(), handle: im.handle.clone() })
            .collect(),
        relatives: ours
            .relations
            .iter()
            .map(|relation| native::Relative {
                label: relation.name.clone(),
                relation: relation.kind.clone(),
            })
            .collect(),
        birthday: ours.birthday.as_ref().map(date_to),
        days: ours
            .anniversaries
            .iter()
            .map(|day| native::SpecialDay { occasion: day.kind.clone(), on: date_to(&day.date) })
            .collect(),
        notes: ours.notes.clone(),
        picture: ours.photo.as_ref().map(pictures::to).transpose()?.flatten(),
        starred: ours.starred,
        origin: ours.source.into(),
        ..native::Card::default()
    })
}

/// The model's contact fields and where the provider keeps them. Fields that only the provider sets are not here.
pub const CONTACT_PLACES: &[(&str, &str)] = &[
    ("displayName", "label"),
    ("givenName", "name.first"),
    ("middleName", "name.middle"),
    ("familyName", "name.last"),
    ("prefix", "name.before"),
    ("suffix", "name.after"),
    ("nickname", "name.nick"),
    ("phoneticGivenName", "name.firstSound"),
    ("phoneticFamilyName", "name.lastSound"),
    ("emails", "mails"),
    ("phones", "phones"),
    ("addresses", "postal"),
    ("organizations", "jobs"),
    ("urls", "pages"),
    ("imAddresses", "chats"),
    ("relations", "relatives"),
    ("birthday", "birthday"),
    ("anniversaries", "days"),
    ("notes", "notes"),
    ("photo", "picture"),
    ("starred", "starred"),
];

/// The same for groups.
pub const GROUP_PLACES: &[(&str, &str)] = &[("name", "label"), ("contactIds", "members")];

fn email_from(theirs: &native::Mail) -> ContactEmail {
    ContactEmail {
        value: theirs.address.clone(),
        kind: theirs.used_for.into(),
        label: theirs.called.clone(),
        primary: theirs.main,
    }
}

fn email_to(ours: &ContactEmail) -> native::Mail {
    native::Mail {
        address: ours.value.clone(),
        used_for: ours.kind.into(),
        called: ours.label.clone(),
        main: ours.primary,
    }
}

fn phone_from(theirs: &native::Phone) -> ContactPhone {
    ContactPhone {
        value: theirs.number.clone(),
        e164: theirs.international.clone(),
        kind: theirs.line.into(),
        label: theirs.called.clone(),
        primary: theirs.main,
    }
}

fn phone_to(ours: &ContactPhone) -> native::Phone {
    native::Phone {
        number: ours.value.clone(),
        international: ours.e164.clone(),
        line: ours.kind.into(),
        called: ours.label.clone(),
        main: ours.primary,
    }
}

fn address_from(theirs: &native::Postal) -> PostalAddress {
    PostalAddress {
        kind: theirs.used_for.into(),
        label: theirs.called.clone(),
        formatted: theirs.whole.clone(),
        street: theirs.street.clone(),
        extended: theirs.second_line.clone(),
        po_box: theirs.po_box.clone(),
        locality: theirs.city.clone(),
        region: theirs.state.clone(),
        postal_code: theirs.zip.clone(),
        country: theirs.country.clone(),
        country_code: theirs.country_code.clone(),
    }
}

fn address_to(ours: &PostalAddress) -> native::Postal {
    native::Postal {
        used_for: ours.kind.into(),
        called: ours.label.clone(),
        whole: ours.formatted.clone(),
        street: ours.street.clone(),
        second_line: ours.extended.clone(),
        po_box: ours.po_box.clone(),
        city: ours.locality.clone(),
        state: ours.region.clone(),
        zip: ours.postal_code.clone(),
        country: ours.country.clone(),
        country_code: ours.country_code.clone(),
    }
}

fn organization_from(theirs: &native::Job) -> Organization {
    Organization {
        name: theirs.company.clone(),
        title: theirs.role.clone(),
        department: theirs.unit.clone(),
        current: theirs.now,
    }
}

fn organization_to(ours: &Organization) -> native::Job {
    native::Job {
        company: ours.name.clone(),
        role: ours.title.clone(),
        unit: ours.department.clone(),
        now: ours.current,
    }
}

fn date_from(theirs: &native::Day) -> PartialDate {
    PartialDate { year: theirs.year, month: theirs.month, day: theirs.day }
}

fn date_to(ours: &PartialDate) -> native::Day {
    native::Day { year: ours.year, month: ours.month, day: ours.day }
}
