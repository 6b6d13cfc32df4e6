//! Cases of address books: values and their labels, pictures, groups.

pub mod cards;
pub mod groups;
pub mod pictures;
pub mod table;
pub mod values;
