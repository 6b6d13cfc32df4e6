//! The cases of the contacts surface.

use crate::cases::case::{Case, case};
use crate::cases::contacts::cards::CONTACTS;
use crate::cases::contacts::{groups, pictures, values};
use crate::cases::items::{
    changes, discovery, faults, meanwhile, paging, paths, reading, secrets, sent_fields, walks, writing,
};

/// In the order in which they run.
pub const CONTACTS_CASES: [Case; 42] = [
    case!(
        "contacts.D3",
        "contacts",
        "every address book is reported once, the same each time",
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
    case!("contacts.P2", "contacts", "a page of contacts can be requested again", paging::again, CONTACTS),
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
        "a contact read by its id is the one in the list",
        reading::get,
        CONTACTS
    ),
    case!("contacts.R2", "contacts", "an unknown id of a contact is not found", reading::missing, CONTACTS),
    case!("contacts.R3", "contacts", "a deleted contact is gone", reading::deleted, CONTACTS),
    case!(
        "contacts.C1",
        "contacts",
        "a new contact is reported once from the cursor before it",
        changes::created,
        CONTACTS
    ),
    case!(
        "contacts.C2",
        "contacts",
        "a changed contact is reported once, as it is now",
        changes::updated,
        CONTACTS
    ),
    case!(
        "contacts.C3",
        "contacts",
        "a deleted contact is reported once, as deleted",
        changes::deleted,
        CONTACTS
    ),
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
        "where no contact has changed, nothing is reported",
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
        "a change of an older version of a contact is rejected",
        writing::stale_etag,
        CONTACTS
    ),
    case!("contacts.W6", "contacts", "a contact can be deleted twice", writing::deleted_twice, CONTACTS),
    case!(
        "contacts.P6",
        "contacts",
        "a contact deleted between two pages hides no other one",
        walks::deleted_meanwhile,
        CONTACTS
    ),
    case!(
        "contacts.P7",
        "contacts",
        "a cursor of address books that is not of this version starts over",
        walks::foreign_list_cursor,
        CONTACTS
    ),
    case!(
        "contacts.C7",
        "contacts",
        "all pages of changes of contacts are of one kind",
        walks::several_pages,
        CONTACTS
    ),
    case!(
        "contacts.C8",
        "contacts",
        "changes of an address book that does not exist are not found",
        walks::unknown_collection,
        CONTACTS
    ),
    case!(
        "contacts.C9",
        "contacts",
        "a change of a contact is not reported again from the next cursor",
        walks::not_again,
        CONTACTS
    ),
    case!(
        "contacts.W5",
        "contacts",
        "a change is rejected if the contact changed after the connector read it",
        meanwhile::changed_meanwhile,
        CONTACTS
    ),
    case!(
        "contacts.W9",
        "contacts",
        "a change of a contact sends the fields that changed, and no others",
        sent_fields::unchanged_fields,
        CONTACTS
    ),
    case!(
        "contacts.F2",
        "contacts",
        "a rejected credential is reported, whatever was called of contacts",
        faults::refused,
        CONTACTS
    ),
    case!(
        "contacts.F3",
        "contacts",
        "a rate limit on contacts is passed on with its wait",
        faults::rate_limited,
        CONTACTS
    ),
    case!(
        "contacts.F4",
        "contacts",
        "an overloaded provider of contacts gets the time it asks for",
        faults::overloaded,
        CONTACTS
    ),
    case!(
        "contacts.F5",
        "contacts",
        "a provider's error on contacts is reported as unavailable",
        faults::broken,
        CONTACTS
    ),
    case!(
        "contacts.F6",
        "contacts",
        "an answer about contacts that does not come is a timeout",
        faults::slow,
        CONTACTS
    ),
    case!("contacts.F7", "contacts", "half an answer about contacts is no answer", faults::cut, CONTACTS),
    case!(
        "contacts.F8",
        "contacts",
        "an answer about contacts that is not the expected JSON is no answer",
        faults::malformed,
        CONTACTS
    ),
    case!(
        "contacts.F12",
        "contacts",
        "a redirect of contacts to another host is not followed",
        faults::redirected,
        CONTACTS
    ),
    case!(
        "contacts.F13",
        "contacts",
        "a provider of contacts that cannot be reached is tried again",
        faults::unreachable,
        CONTACTS
    ),
    case!(
        "contacts.S5",
        "contacts",
        "no secret leaves the connector with contacts",
        secrets::secrets,
        CONTACTS
    ),
    case!("contacts.S6", "contacts", "the log holds nothing of contacts", secrets::quiet_log, CONTACTS),
    case!(
        "contacts.S8",
        "contacts",
        "ids of contacts cannot lead to other URLs",
        paths::escaped_ids,
        CONTACTS
    ),
    case!("B1", "contacts", "labels and the order of values come back", values::labels),
    case!("B2", "contacts", "a picture is stored, and read by a call of its own", pictures::stored),
    case!("B3", "contacts", "members of a group are named by uid", groups::members),
    case!("B4", "contacts", "the fields of a contact that a change does not name stay", values::unnamed),
];
