//! Contacts: `input` validates client input, `books`, `groups` and `people` are the three kinds, `find` lists, `photo` reads photos,
//! `duplicates` suggests merges.

pub mod books;
pub mod duplicates;
pub mod find;
pub mod groups;
pub mod input;
pub mod people;
pub mod photo;
