//! Text and telephone numbers made comparable: foldings for search and order, numbers in E.164 form. Pure.

pub mod folding;
pub mod phones;
