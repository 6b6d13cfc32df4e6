//! The parts that pages are made of. They know nothing of requests: each adds markup with the words that it is given.

pub mod amounts;
pub mod badge;
pub mod code;
pub mod confirm;
pub mod csv;
pub mod facts;
pub mod field;
pub mod head;
pub mod icon;
pub mod moment;
pub mod note;
pub mod pager;
pub mod plot;
pub mod qr;
pub mod table;
