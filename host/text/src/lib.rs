//! Text and phone numbers for comparison: foldings for search and order, numbers in E.164 form. Pure functions.

pub mod folding;
pub mod phones;
