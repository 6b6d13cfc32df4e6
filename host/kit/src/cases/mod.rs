//! The cases, in the order in which they run. A case is one promise of every connector; its finding says what happened, and names the
//! usual mistake.

mod calendar;
mod case;
mod changes;
mod claims;
mod contacts;
mod discovery;
mod email;
mod items;
mod paging;
mod reading;
mod sandbox;
mod tasks;
mod writing;

pub use crate::cases::case::Case;
pub(crate) use crate::cases::items::secrets::find_secrets;

use crate::cases::calendar::table::CALENDAR_CASES;
use crate::cases::case::case;
use crate::cases::contacts::table::CONTACTS_CASES;
use crate::cases::email::table::EMAIL_CASES;
use crate::cases::items::{faults, meanwhile, paths, secrets, sent_fields, walks};
use crate::cases::tasks::TASKS;

/// All cases.
pub const CASES: [Case; COUNT] = all();

const COUNT: usize = TASKS_CASES.len() + CALENDAR_CASES.len() + CONTACTS_CASES.len() + EMAIL_CASES.len();

const fn all() -> [Case; COUNT] {
    const CALENDAR: usize = TASKS_CASES.len();
    const CONTACTS: usize = CALENDAR + CALENDAR_CASES.len();
    const EMAIL: usize = CONTACTS + CONTACTS_CASES.len();
    let (mut all, mut at) = ([TASKS_CASES[0]; COUNT], 0);
    while at < COUNT {
        all[at] = match at {
            ..CALENDAR => TASKS_CASES[at],
            CALENDAR..CONTACTS => CALENDAR_CASES[at - CALENDAR],
            CONTACTS..EMAIL => CONTACTS_CASES[at - CONTACTS],
            EMAIL.. => EMAIL_CASES[at - EMAIL],
        };
        at += 1;
    }
    all
}

/// The cases of the tasks surface, and those that all surfaces share.
const TASKS_CASES: [Case; 48] = [
    case!(
        "D1",
        "discovery",
        "the account has one id, and surfaces that the component exports",
        discovery::account
    ),
    case!("D2", "discovery", "a rejected credential is reported as auth-expired", discovery::refused),
    case!("D3", "discovery", "every task list is reported once, the same each time", discovery::lists),
    case!("P1", "paging", "the pages together are everything, and nothing twice", paging::pages),
    case!("P2", "paging", "a page can be requested again", paging::again),
    case!("P3", "paging", "any limit works", paging::any_limit),
    case!("P5", "paging", "a cursor that is not of this version starts over", paging::foreign_cursor),
    case!(
        "P6",
        "paging",
        "a task deleted between two pages hides no other task",
        walks::deleted_meanwhile,
        TASKS
    ),
    case!(
        "P7",
        "paging",
        "a cursor of task lists that is not of this version starts over",
        walks::foreign_list_cursor,
        TASKS
    ),
    case!("R1", "reading", "a task read by its id is the one in the list", reading::get),
    case!("R2", "reading", "an unknown id is not found", reading::missing),
    case!("R3", "reading", "a deleted task is gone", reading::deleted),
    case!("C1", "changes", "a new task is reported once from the cursor before it", changes::created),
    case!("C2", "changes", "a changed task is reported once, as it is now", changes::updated),
    case!("C3", "changes", "a deleted task is reported once, as deleted", changes::deleted),
    case!("C4", "changes", "several changes end in the last state", changes::last_state),
    case!("C5", "changes", "a cursor that the provider has forgotten starts over", changes::expired),
    case!("C6", "changes", "where nothing has changed, nothing is reported", changes::quiet),
    case!("C7", "changes", "all pages of changes are of one kind", walks::several_pages, TASKS),
    case!(
        "C8",
        "changes",
        "changes of a task list that does not exist are not found",
        walks::unknown_collection,
        TASKS
    ),
    case!("C9", "changes", "a change is not reported again from the next cursor", walks::not_again, TASKS),
    case!("W1", "writing", "the same creation twice makes one task", writing::idempotent),
    case!("W2", "writing", "a creation whose answer is lost makes one task", writing::lost_answer),
    case!("W3", "writing", "a change keeps what it does not name", writing::keeps_the_rest),
    case!("W4", "writing", "a change of an older version is rejected", writing::stale_etag),
    case!(
        "W5",
        "writing",
        "a change is rejected if the task changed after the connector read it",
        meanwhile::changed_meanwhile,
        TASKS
    ),
    case!("W6", "writing", "a task can be deleted twice", writing::deleted_twice),
    case!("W7", "writing", "what was written comes back, or a warning says so", writing::round_trip),
    case!("W8", "writing", "a strict write is complete or rejected", writing::strict),
    case!(
        "W9",
        "writing",
        "a change sends the fields that changed, and no others",
        sent_fields::unchanged_fields,
        TASKS
    ),
    case!("F2", "faults", "a rejected credential is reported, whatever was called", faults::refused, TASKS),
    case!("F3", "faults", "a rate limit is passed on with its wait", faults::rate_limited, TASKS),
    case!("F4", "faults", "an overloaded provider gets the time it asks for", faults::overloaded, TASKS),
    case!("F5", "faults", "a provider's error is reported as unavailable", faults::broken, TASKS),
    case!("F6", "faults", "an answer that does not come is a timeout", faults::slow, TASKS),
    case!("F7", "faults", "half an answer is no answer", faults::cut, TASKS),
    case!("F8", "faults", "an answer that is not the expected JSON is no answer", faults::malformed, TASKS),
    case!("F12", "faults", "a redirect to another host is not followed", faults::redirected, TASKS),
    case!("F13", "faults", "a provider that cannot be reached is tried again", faults::unreachable, TASKS),
    case!("S1", "sandbox", "an unknown operation is unsupported", sandbox::unknown_operation),
    case!("S2", "sandbox", "an unknown argument is ignored", sandbox::unknown_argument),
    case!("S3", "sandbox", "a large page stays within the budgets", sandbox::budgets),
    case!("S5", "sandbox", "no secret leaves the connector", secrets::secrets, TASKS),
    case!("S6", "sandbox", "the log holds nothing of the account", secrets::quiet_log, TASKS),
    case!("S7", "sandbox", "messages are for users", sandbox::messages),
    case!("S8", "sandbox", "ids cannot lead to other URLs", paths::escaped_ids, TASKS),
    case!("X1", "claims", "every feature that works is claimed", claims::unclaimed),
    case!("X2", "claims", "every feature that is claimed works", claims::claimed),
];
