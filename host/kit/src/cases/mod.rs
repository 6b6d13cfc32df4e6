//! The cases, in the order in which they run. A case is one promise of every connector; its finding says what was seen, and what the
//! usual mistake behind it is.

mod calendar;
mod case;
mod changes;
mod claims;
mod contacts;
mod discovery;
mod faults;
mod items;
mod paging;
mod reading;
mod sandbox;
mod writing;

pub use crate::cases::case::Case;

use crate::cases::calendar::table::CALENDAR_CASES;
use crate::cases::case::case;
use crate::cases::contacts::table::CONTACTS_CASES;

/// All of them.
pub const CASES: [Case; COUNT] = all();

const COUNT: usize = TASKS_CASES.len() + CALENDAR_CASES.len() + CONTACTS_CASES.len();

const fn all() -> [Case; COUNT] {
    const CALENDAR: usize = TASKS_CASES.len();
    const CONTACTS: usize = CALENDAR + CALENDAR_CASES.len();
    let (mut all, mut at) = ([TASKS_CASES[0]; COUNT], 0);
    while at < COUNT {
        all[at] = match at {
            ..CALENDAR => TASKS_CASES[at],
            CALENDAR..CONTACTS => CALENDAR_CASES[at - CALENDAR],
            CONTACTS.. => CONTACTS_CASES[at - CONTACTS],
        };
        at += 1;
    }
    all
}

/// The cases of the tasks surface, and of what all surfaces have in common.
const TASKS_CASES: [Case; 40] = [
    case!(
        "D1",
        "discovery",
        "the account has one id, and surfaces that the component exports",
        discovery::account
    ),
    case!("D2", "discovery", "a credential that is refused is told as such", discovery::refused),
    case!("D3", "discovery", "every task list is told once, the same each time", discovery::lists),
    case!("P1", "paging", "the pages together are everything, and nothing twice", paging::pages),
    case!("P2", "paging", "a page can be asked for again", paging::again),
    case!("P3", "paging", "any limit works", paging::any_limit),
    case!("P5", "paging", "a cursor that is not of this version starts over", paging::foreign_cursor),
    case!("R1", "reading", "a task read by its id is what the list said", reading::get),
    case!("R2", "reading", "an id that is not there is not found", reading::missing),
    case!("R3", "reading", "a deleted task is gone", reading::deleted),
    case!("C1", "changes", "what was created is told once from the cursor before it", changes::created),
    case!("C2", "changes", "what was changed is told once, as it is now", changes::updated),
    case!("C3", "changes", "what was deleted is told as gone", changes::deleted),
    case!("C4", "changes", "several changes end in the last state", changes::last_state),
    case!("C5", "changes", "a cursor that the provider has forgotten starts over", changes::expired),
    case!("C6", "changes", "where nothing has changed, nothing is told", changes::quiet),
    case!("W1", "writing", "the same creation twice makes one task", writing::idempotent),
    case!("W2", "writing", "a creation whose answer is lost makes one task", writing::lost_answer),
    case!("W3", "writing", "a change keeps what it does not name", writing::keeps_the_rest),
    case!("W4", "writing", "a change of an older version is refused", writing::stale_etag),
    case!("W6", "writing", "a task can be deleted twice", writing::deleted_twice),
    case!("W7", "writing", "what was written comes back, or a warning tells", writing::round_trip),
    case!("W8", "writing", "a strict write is whole or refused", writing::strict),
    case!("F2", "faults", "a credential that stays refused is told as such", faults::refused),
    case!("F3", "faults", "a provider that asks to wait is waited for", faults::rate_limited),
    case!("F4", "faults", "an overloaded provider is waited for", faults::overloaded),
    case!("F5", "faults", "a provider's error is its own", faults::broken),
    case!("F6", "faults", "an answer that does not come is waited for no longer", faults::slow),
    case!("F7", "faults", "an answer that breaks off is none", faults::cut),
    case!("F8", "faults", "an answer that is no JSON is the provider's fault", faults::malformed),
    case!("F12", "faults", "a redirect to elsewhere is not followed", faults::redirected),
    case!("F13", "faults", "a provider that cannot be reached is tried again", faults::unreachable),
    case!("S1", "sandbox", "an operation that is not known is unsupported", sandbox::unknown_operation),
    case!("S2", "sandbox", "an argument that is not known is ignored", sandbox::unknown_argument),
    case!("S3", "sandbox", "a large page stays within the budgets", sandbox::budgets),
    case!("S5", "sandbox", "no secret leaves the connector", sandbox::secrets),
    case!("S6", "sandbox", "the log holds nothing of the account", sandbox::quiet_log),
    case!("S7", "sandbox", "messages are for users", sandbox::messages),
    case!("X1", "claims", "every feature that was seen is claimed", claims::unclaimed),
    case!("X2", "claims", "every feature that is claimed was seen", claims::claimed),
];
