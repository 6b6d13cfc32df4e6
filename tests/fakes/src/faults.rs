//! Faults that a test queues for the next requests.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::door::{Ask, Delivery, Reply};

/// A fault of the next `times` requests that fit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The method of these requests; every method without one.
    #[serde(default)]
    pub method: Option<String>,
    /// A part of the path of these requests, percent-decoded; every path contains the empty one.
    #[serde(default)]
    pub path: String,
    #[serde(default = "once")]
    pub times: u32,
    /// The request has its effect before the fault; otherwise it has none.
    #[serde(default)]
    pub after: bool,
    pub what: What,
}

/// The form of a fault.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Another answer.
    Status {
        status: u16,
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// Text as it is, anything else as JSON.
        #[serde(default)]
        body: Value,
    },
    /// The answer ends in its middle, and the connection closes.
    Cut,
    /// The connection closes without an answer.
    Kill,
    /// Status 200 with a page of HTML.
    Html,
    /// The answer comes this many milliseconds later.
    Slow(u64),
}

fn once() -> u32 {
    1
}

impl Fault {
    /// A fault of the next request whose path contains `path`, before it has an effect.
    pub fn new(path: &str, what: What) -> Fault {
        Fault { method: None, path: path.to_owned(), times: 1, after: false, what }
    }

    /// An answer with this status and this body.
    pub fn status(path: &str, status: u16, body: Value) -> Fault {
        Fault::new(path, What::Status { status, headers: BTreeMap::new(), body })
    }

    /// The same fault for requests with this method alone.
    pub fn method(mut self, method: &str) -> Fault {
        self.method = Some(method.to_owned());
        self
    }

    /// The same fault for this many requests.
    pub fn times(mut self, times: u32) -> Fault {
        self.times = times;
        self
    }

    /// The same fault after the request had its effect.
    pub fn after(mut self) -> Fault {
        self.after = true;
        self
    }

    fn fits(&self, ask: &Ask) -> bool {
        self.times > 0
            && self.method.as_ref().is_none_or(|method| *method == ask.method)
            && ask.path.contains(&self.path)
    }
}

/// Removes one use of the first fault that fits this request and returns the fault.
pub fn take(queue: &mut Vec<Fault>, ask: &Ask) -> Option<Fault> {
    let at = queue.iter().position(|fault| fault.fits(ask))?;
    let fault = queue.get_mut(at)?;
    fault.times -= 1;
    let found = fault.clone();
    queue.retain(|fault| fault.times > 0);
    Some(found)
}

/// The answer of a front end that reached no API.
pub fn html() -> Reply {
    let page = "<!DOCTYPE html><html lang=\"en\"><title>Sorry...</title><p>We're sorry, but your computer or network may be sending \
                automated queries.</p></html>";
    Reply::new(200).header("content-type", "text/html; charset=UTF-8").body(page)
}

impl What {
    /// The answer with this fault; `reply` is the answer without one.
    pub fn apply(&self, reply: Reply) -> Reply {
        match self {
            What::Status { status, headers, body } => {
                let is_text = body.is_string();
                let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
                let kind =
                    if is_text { "text/html; charset=UTF-8" } else { "application/json; charset=UTF-8" };
                let mut reply = Reply::new(*status).header("content-type", kind);
                reply.body = if body.is_null() { Bytes::new() } else { text.into() };
                headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value))
            }
            What::Cut => Reply { delivery: Delivery::Cut, ..reply },
            What::Kill => Reply { delivery: Delivery::Kill, ..reply },
            What::Html => html(),
            What::Slow(_) => reply,
        }
    }
}
