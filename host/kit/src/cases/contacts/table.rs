//! The cases of the contacts surface.

use crate::cases::case::{Case, case};
use crate::cases::contacts::cards::CONTACTS;
use crate::cases::contacts::{groups, pictures, values};
use crate::cases::items::{changes, discovery, paging, reading, writing};

/// In the order in which they run.
pub const CONTACTS_CASES: [Case; 23] = [
    case!(
        "contacts.D3",
        "contacts",
        "every address book is told once, the same each time",
        discovery::collections,
        CONTACTS
    ),
    case!(
        "contacts.P1",
        "contacts",
        "the pages together are every contact, and nothing twice",
        paging::pages,
        CONTACTS
    ),
    case!("contacts.P2", "contacts", "a page of contacts can be asked for again", paging::again, CONTACTS),
    case!("contacts.P3", "contacts", "any limit works for contacts", paging::any_limit, CONTACTS),
    case!(
        "contacts.P4",
        "contacts",
        "changes of contacts begin at the last page's cursor",
        paging::end,
        CONTACTS
    ),
    case!(
        "contacts.P5",
        "contacts",
        "a cursor of contacts that is not of this version starts over",
        paging::foreign_cursor,
        CONTACTS
    ),
    case!(
        "contacts.R1",
        "contacts",
        "a contact read by its id is what the list said",
        reading::get,
        CONTACTS
    ),
    case!(
        "contacts.R2",
        "contacts",
        "a contact's id that is not there is not found",
        reading::missing,
        CONTACTS
    ),
    case!("contacts.R3", "contacts", "a deleted contact is gone", reading::deleted, CONTACTS),
    case!(
        "contacts.C1",
        "contacts",
        "a new contact is told once from the cursor before it",
        changes::created,
        CONTACTS
    ),
    case!(
        "contacts.C2",
        "contacts",
        "a changed contact is told once, as it is now",
        changes::updated,
        CONTACTS
    ),
    case!("contacts.C3", "contacts", "a deleted contact is told as gone", changes::deleted, CONTACTS),
    case!(
        "contacts.C4",
        "contacts",
        "several changes of a contact end in the last state",
        changes::last_state,
        CONTACTS
    ),
    case!(
        "contacts.C6",
        "contacts",
        "where no contact has changed, nothing is told",
        changes::quiet,
        CONTACTS
    ),
    case!(
        "contacts.W1",
        "contacts",
        "the same creation twice makes one contact",
        writing::idempotent,
        CONTACTS
    ),
    case!(
        "contacts.W2",
        "contacts",
        "a creation whose answer is lost makes one contact",
        writing::lost_answer,
        CONTACTS
    ),
    case!(
        "contacts.W3",
        "contacts",
        "a change of a contact keeps what it does not name",
        writing::keeps_the_rest,
        CONTACTS
    ),
    case!(
        "contacts.W4",
        "contacts",
        "a change of an older version of a contact is refused",
        writing::stale_etag,
        CONTACTS
    ),
    case!("contacts.W6", "contacts", "a contact can be deleted twice", writing::deleted_twice, CONTACTS),
    case!("B1", "contacts", "labels and the order of values come back", values::labels),
    case!("B2", "contacts", "a picture is stored, and read by a call of its own", pictures::stored),
    case!("B3", "contacts", "members of a group are named by uid", groups::members),
    case!("B4", "contacts", "the fields of a contact that a change does not name stay", values::unnamed),
];
