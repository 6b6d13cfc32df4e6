//! Questions to the person in front of the client: the form that shows an act, and the sealed state that ties the answer to it.

mod form;
mod question;
mod state;

pub use form::new_question;
pub use question::{PersonAnswer, Question};
pub use state::{SealedAct, new_nonce};
