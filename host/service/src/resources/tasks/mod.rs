//! Tasks: `input` validates client input, `lists` and `items` are the two kinds, `parts` are their steps and links, `find` lists.

pub mod find;
pub mod input;
pub mod items;
pub mod lists;
pub mod parts;
