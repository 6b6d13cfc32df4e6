//! Address books and the cards in them: persons, and circles of persons.

pub mod books;
pub mod cards;
pub mod types;
mod write;
