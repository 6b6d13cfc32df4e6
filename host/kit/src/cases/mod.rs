//! The cases, in the order in which they run. A case is one promise of every connector; its finding says what was seen, and what the
//! usual mistake behind it is.

mod changes;
mod discovery;
mod faults;
mod paging;
mod reading;
mod sandbox;
mod writing;

use std::pin::Pin;

use crate::bench::{Bench, Outcome};

/// One promise.
pub struct Case {
    pub id: &'static str,
    /// As the report groups them.
    pub group: &'static str,
    /// The promise, in a sentence.
    pub title: &'static str,
    pub(crate) run: for<'a> fn(&'a mut Bench) -> Running<'a>,
}

pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

macro_rules! case {
    ($id:literal, $group:literal, $title:literal, $run:path) => {
        Case { id: $id, group: $group, title: $title, run: |bench| Box::pin($run(bench)) }
    };
}

/// All of them.
pub const CASES: [Case; 13] = [
    case!(
        "D1",
        "discovery",
        "the account has one id, and surfaces that the component exports",
        discovery::account
    ),
    case!("D3", "discovery", "every task list is told once, the same each time", discovery::lists),
    case!("P1", "paging", "the pages together are everything, and nothing twice", paging::pages),
    case!("P5", "paging", "a cursor that is not of this version starts over", paging::foreign_cursor),
    case!("R1", "reading", "a task read by its id is what the list said", reading::get),
    case!("R2", "reading", "an id that is not there is not found", reading::missing),
    case!("C1", "changes", "what was created is told once from the cursor before it", changes::created),
    case!("W1", "writing", "the same creation twice makes one task", writing::idempotent),
    case!("W2", "writing", "a creation whose answer is lost makes one task", writing::lost_answer),
    case!("F3", "faults", "a provider that asks to wait is waited for", faults::rate_limited),
    case!("F8", "faults", "an answer that is no JSON is the provider's fault", faults::malformed),
    case!("S1", "sandbox", "an operation that is not known is unsupported", sandbox::unknown_operation),
    case!("S5", "sandbox", "no secret leaves the connector", sandbox::secrets),
];
