//! A request's body between its reading and its handler.

use std::sync::{Arc, Mutex};

use base::error::Result;
use serde_json::{Map, Value};

/// The parsed object of a body, or the error.
pub type Object = Result<Map<String, Value>>;

/// A body that was read, for its handler. Extensions of a request are cloned, so the content can be taken only once.
#[derive(Clone)]
pub struct ReceivedBody(Arc<Mutex<Option<Object>>>);

/// A body that is a form, for the handlers that take one.
#[derive(Clone)]
pub struct Form(pub ReceivedBody);

impl ReceivedBody {
    pub fn new(object: Object) -> Self {
        ReceivedBody(Arc::new(Mutex::new(Some(object))))
    }

    /// The parsed object; an absent body is an empty one.
    pub fn into_object(self) -> Object {
        let taken = self.0.lock().ok().and_then(|mut slot| slot.take());
        taken.unwrap_or_else(|| Err(anyhow::anyhow!("a body is read once").into()))
    }
}
