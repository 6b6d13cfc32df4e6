//! The address books that an account begins with: people from everywhere, and some of them twice with a typo, as address books have
//! them.

use std::sync::Arc;

use model::contacts::ContactBook;
use serde::Deserialize;

use crate::contacts::{Card, CardBody};
use crate::document::Document;
use crate::seed::colleagues::PEOPLE;
use crate::state::State;
use crate::times::instant;

/// The cards of both books.
const CARDS: &str = include_str!("contacts.json");

/// A card of the file.
#[derive(Debug, Deserialize)]
struct CardSeed {
    book: String,
    id: String,
    body: CardBody,
}

/// The books, empty: the main one, and for the three the team's directory, too.
pub fn begin(state: &mut State, mail: &str, now_ms: i64) {
    let now = instant(now_ms);
    let main = ContactBook { name: "Contacts".to_owned(), is_default: true, ..ContactBook::default() };
    state.put_head::<Card>(mail, Document::new("contacts", main, &now));
    if PEOPLE.iter().any(|person| person.mail == mail) {
        let team = ContactBook {
            name: "Team directory".to_owned(),
            description: Some("Everybody here, kept by the office".to_owned()),
            read_only: true,
            ..ContactBook::default()
        };
        state.put_head::<Card>(mail, Document::new("directory", team, &now));
    }
}

/// Fills the address books of the three.
pub fn fill(state: &mut State, mail: &str, now_ms: i64) {
    if !PEOPLE.iter().any(|person| person.mail == mail) {
        return;
    }
    let seeds: Vec<CardSeed> = serde_json::from_str(CARDS).unwrap_or_default();
    for CardSeed { book, id, body } in seeds {
        state.put(mail, &book, now_ms, Arc::new(Document::new(&id, body, &instant(now_ms))));
    }
}
