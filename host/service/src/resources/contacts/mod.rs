//! Contacts: what is derived from them (`derive`, sort and search texts, keys), `input` checks what clients write, `books`,
//! `groups` and `people` are the three kinds, `find` lists, `photo` reads pictures, `duplicates` suggests merges.

pub mod books;
pub mod duplicates;
pub mod find;
pub mod groups;
pub mod input;
pub mod people;
pub mod photo;
