//! Initial data of accounts. `alice`, `bob` and `carol` work together in three time zones and know each other; all other accounts
//! begin with an empty main calendar, address book and task list. All of it lies around the week in which it is created.

mod colleagues;
mod contacts;
mod events;
mod mail;
mod todos;

use std::sync::Arc;

use crate::calendar::invitations::spread;
use crate::calendar::types::Event;
use crate::ops::Op;
use crate::problem::Problem;
use crate::record::Account;
use crate::state::{MAX_ACCOUNTS, State};

pub use crate::seed::colleagues::PEOPLE;

/// Creates the missing accounts.
pub fn accounts(state: &mut State, wanted: &[String], now_ms: i64) -> Result<(), Problem> {
    let missing: Vec<&String> = wanted.iter().filter(|m| state.account(m).is_none()).collect();
    if state.accounts.len() + missing.len() > MAX_ACCOUNTS {
        return Err(Problem::full(format!("the sandbox holds at most {MAX_ACCOUNTS} accounts")));
    }
    for mail in &missing {
        begin(state, mail);
    }
    let is_bare = |mail: &&String| state.account(mail).is_some_and(|account| account.calendars.is_empty());
    let bare: Vec<&String> = wanted.iter().filter(is_bare).collect();
    // An invitation needs the calendar of the one who is invited.
    for mail in &bare {
        events::begin(state, mail, now_ms);
    }
    for mail in &bare {
        events::fill(state, mail, now_ms);
    }
    for mail in wanted {
        complete(state, mail, now_ms);
    }
    Ok(())
}

/// Whether the account exists with all initial data.
pub fn is_complete(state: &State, mail: &str) -> bool {
    state.account(mail).is_some_and(|account| {
        let is_empty = account.calendars.is_empty() || account.books.is_empty() || account.lists.is_empty();
        !is_empty && !account.mailboxes.is_empty()
    })
}

/// Gives address books, task lists and a mailbox to an account without: a new one, or one of a journal that is older than they
/// are.
fn complete(state: &mut State, mail: &str, now_ms: i64) {
    let is_missing = |is_empty: fn(&Account) -> bool| state.account(mail).is_some_and(is_empty);
    let (has_no_book, has_no_list) = (is_missing(|a| a.books.is_empty()), is_missing(|a| a.lists.is_empty()));
    if has_no_book {
        contacts::begin(state, mail, now_ms);
        contacts::fill(state, mail, now_ms);
    }
    if has_no_list {
        todos::begin(state, mail, now_ms);
        todos::fill(state, mail, now_ms);
    }
    if state.account(mail).is_some_and(|account| account.mailboxes.is_empty()) {
        mail::begin(state, mail, now_ms);
        mail::fill(state, mail, now_ms);
    }
}

/// Resets the account to its initial data.
pub fn reset(state: &mut State, mail: &str, now_ms: i64) {
    begin(state, mail);
    events::begin(state, mail, now_ms);
    events::fill(state, mail, now_ms);
    complete(state, mail, now_ms);
    // Invitations by other organizers come back.
    let others = state.accounts.values().filter(|a| a.mail != mail);
    let invitations: Vec<(String, Arc<Event>)> = others
        .flat_map(|a| a.calendars.values().flat_map(|f| f.live()).map(|e| (a.mail.clone(), e.clone())))
        .filter(|(host, e)| e.body.organizer.is_some() && e.is_organized_by(host))
        .filter(|(_, e)| e.body.attendees.iter().any(|a| a.email == mail))
        .collect();
    for (host, event) in invitations {
        spread(state, &host, now_ms, &event);
    }
}

/// The account, with nothing in it.
fn begin(state: &mut State, mail: &str) {
    let known = PEOPLE.iter().find(|person| person.mail == mail);
    let zone = known.map_or("UTC", |person| person.zone).to_owned();
    let name = known.map_or_else(|| mail.split('@').next().unwrap_or(mail), |person| person.name).to_owned();
    state.commit(Op::Account { mail: mail.to_owned(), name, zone });
}
