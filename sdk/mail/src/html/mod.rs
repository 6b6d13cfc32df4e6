//! A sender's HTML made fit to be shown: no scripts, forms, frames or styles that reach out of it, nothing that its writer hid, and no
//! request to a foreign server unless the caller allows it.
//!
//! ammonia decides what stays. Before it `tidy` rewrites the HTML as a small, well-formed tree: the parser that ammonia uses, like every
//! parser of HTML, takes time with the square of some inputs (elements a hundred thousand deep, formatting that is never closed, text
//! between the rows of a table, thousands of attributes), and none of those is left then. The text that lists show and messages quote is
//! made of the same tree.

mod attribute;
#[cfg(feature = "html")]
mod cleaner;
mod colors;
mod css;
mod look;
mod options;
mod plain;
mod references;
mod selector;
mod sheet;
mod tags;
mod tidy;
mod token;
mod values;
mod visible;

#[cfg(feature = "html")]
pub use crate::html::cleaner::safe;
pub use crate::html::options::{DATA_URL_BYTES, DEPTH, INPUT_BYTES, OUTPUT_BYTES, Safe};
pub use crate::html::plain::{plain, to_text};
pub use crate::html::visible::{VisibleText, visible, visible_without_quotes};
