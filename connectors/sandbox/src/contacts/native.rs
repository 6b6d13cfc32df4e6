//! The provider's JSON of address books and cards, as far as it is mapped.

use serde::{Deserialize, Serialize};

use crate::native::{object, words};

object! {
    Book {
        #[serde(skip_serializing)]
        id: String,
        #[serde(skip_serializing)]
        etag: Option<String>,
        title: String,
        notes: Option<String>,
        main: bool,
        locked: bool,
        persons: Option<i64>,
        may: May,
    }
}

object! {
    May {
        look: bool,
        edit: bool,
        remove: bool,
    }
}

object! {
    /// A person, or a circle of persons.
    Card {
        #[serde(skip_serializing)]
        id: String,
        #[serde(skip_serializing)]
        etag: Option<String>,
        #[serde(skip_serializing)]
        deleted: bool,
        #[serde(skip_serializing)]
        book: String,
        kind: CardKind,
        label: Option<String>,
        name: Name,
        mails: Vec<Mail>,
        phones: Vec<Phone>,
        postal: Vec<Postal>,
        jobs: Vec<Job>,
        pages: Vec<Page>,
        chats: Vec<Chat>,
        relatives: Vec<Relative>,
        birthday: Option<Day>,
        days: Vec<SpecialDay>,
        notes: Option<String>,
        picture: Option<Picture>,
        starred: bool,
        origin: Origin,
        members: Vec<String>,
        built_in: bool,
        locked: bool,
        created_at: Option<String>,
        updated_at: Option<String>,
    }
}

/// The kind of a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CardKind {
    #[default]
    Person,
    Circle,
}

words! {
    Origin = model::contacts::ContactSource {
        Entered = AddressBook,
        Noticed = Suggested,
        Directory = Directory,
    }
}

object! {
    Name {
        first: Option<String>,
        middle: Option<String>,
        last: Option<String>,
        before: Option<String>,
        after: Option<String>,
        nick: Option<String>,
        first_sound: Option<String>,
        last_sound: Option<String>,
    }
}

words! {
    Use = model::contacts::ContactKind {
        Any = Other,
        Private = Home,
        Office = Work,
        Own = Custom,
    }
}

object! {
    Mail {
        address: String,
        #[serde(rename = "use")]
        used_for: Use,
        called: Option<String>,
        main: bool,
    }
}

object! {
    Phone {
        number: String,
        international: Option<String>,
        line: Line,
        called: Option<String>,
        main: bool,
    }
}

words! {
    Line = model::contacts::PhoneKind {
        Any = Other,
        Mobile = Mobile,
        Private = Home,
        Office = Work,
        PrivateFax = HomeFax,
        OfficeFax = WorkFax,
        Pager = Pager,
        Own = Custom,
    }
}

object! {
    Postal {
        #[serde(rename = "use")]
        used_for: Use,
        called: Option<String>,
        whole: Option<String>,
        street: Option<String>,
        second_line: Option<String>,
        po_box: Option<String>,
        city: Option<String>,
        state: Option<String>,
        zip: Option<String>,
        country: Option<String>,
        country_code: Option<String>,
    }
}

object! {
    Job {
        company: Option<String>,
        role: Option<String>,
        unit: Option<String>,
        now: bool,
    }
}

object! {
    Page {
        url: String,
        #[serde(rename = "use")]
        used_for: Use,
    }
}

object! {
    Chat {
        network: Option<String>,
        handle: String,
    }
}

object! {
    Relative {
        label: String,
        relation: Option<String>,
    }
}

object! {
    Day {
        year: Option<i64>,
        month: i64,
        day: i64,
    }
}

object! {
    SpecialDay {
        occasion: Option<String>,
        on: Day,
    }
}

object! {
    /// Somewhere else (`url`), or stored in the card: then there is a fingerprint, and the bytes only where they are asked for.
    Picture {
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes: Option<String>,
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        fingerprint: Option<String>,
    }
}
