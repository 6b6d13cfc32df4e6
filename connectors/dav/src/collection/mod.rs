//! The common part of calendars, address books and task lists over WebDAV: a collection of resources, each of which holds items. One call
//! is a [`Session`]; the differences between the services are the session's [`Content`]. One file per concern: `make` for the collections
//! themselves, `objects` for resources, `sync` for changes.

pub mod changed;
pub mod make;
pub mod objects;
pub mod sync;

use connector_sdk::{Context, Outcome};
use model::Instant;
use model::wire::{Item, ItemError};
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use crate::webdav::discovery::Service;
use crate::webdav::{Client, Name};

/// A service by its names: on the wire, in settings, and in messages to people.
pub struct ServiceKind {
    /// The service, by which its collections are found, and their resource type.
    pub service: Service,
    /// The property with a resource's text.
    pub data: Name,
    /// The report that reads many resources.
    pub multiget: Name,
    /// Media type of a resource on PUT.
    pub media_type: &'static str,
    /// The extension of a new resource's name, without the dot.
    pub suffix: &'static str,
    /// A strong ETag in the answer to a PUT means that the resource is stored as it was sent (RFC 6352 section 6.3.2.3), so that it
    /// need not be read back. RFC 4791 section 5.3.4 says the same, but servers that schedule write into events and still tell one.
    pub trusts_etag: bool,
    /// `calendar`.
    pub collection: &'static str,
    /// `a calendar`.
    pub a_collection: &'static str,
    /// `calendars`.
    pub collections: &'static str,
    /// `event`.
    pub item: &'static str,
    /// `an event`.
    pub an_item: &'static str,
    /// `events`.
    pub items: &'static str,
    /// The model's name for the UID: `iCalUid`.
    pub uid: &'static str,
}

/// How the text of a service's resources is read.
pub trait Content {
    const KIND: ServiceKind;

    /// Attributes of [`ServiceKind::data`] in requests, each with a space before it.
    fn data_attributes(&self) -> &'static str {
        ""
    }

    /// Everything that a resource holds; empty where it holds nothing of this service.
    fn items(&self, external_id: &str, data: &str) -> Result<Vec<Item>, ItemError>;

    /// The UID of its content.
    fn uid(&self, data: &str) -> Option<String>;
}

/// One call: the server, and how its resources are read.
pub struct Session<'a, R> {
    pub client: Client<'a>,
    pub reader: R,
}

impl<'a, R: Content> Session<'a, R> {
    /// A session of the context's connection.
    pub fn with(cx: &'a Context<'a>, reader: R) -> Outcome<Self> {
        Ok(Session { client: Client::new(cx)?, reader })
    }

    pub fn cx(&self) -> &'a Context<'a> {
        self.client.cx
    }

    pub fn now(&self) -> Instant {
        Instant::from_millis(self.cx().now_ms())
    }

    /// Returns the collection homes of the account: those that `check` found, else those of the user.
    pub fn homes(&self) -> Vec<Url> {
        let several = format!("{}s", R::KIND.service.setting);
        let all = list_setting(self.cx(), &several);
        let one = self.cx().setting(R::KIND.service.setting);
        let mut homes: Vec<Url> = all.filter_map(|home| self.client.url(home).ok()).collect();
        if homes.is_empty() {
            homes.extend(one.and_then(|home| self.client.url(home).ok()));
        }
        if homes.is_empty() {
            homes.push(self.client.base().clone());
        }
        homes
    }
}

/// A list of texts among the connection's settings.
pub fn list_setting<'a>(cx: &'a Context, name: &str) -> impl Iterator<Item = &'a str> {
    cx.connection.settings.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Whether the server announced this in its `DAV` header.
pub fn has_class(cx: &Context, class: &str) -> bool {
    list_setting(cx, "davClasses").any(|found| found == class)
}

/// A UUID that is the same for every attempt at one change in one place, so that a repeated create finds the first. Without an
/// idempotency key it is random.
pub fn stable_id(cx: &Context, place: &str) -> String {
    let seed = match &cx.idempotency_key {
        Some(key) => Sha256::digest(format!("{place}\n{key}").as_bytes()).to_vec(),
        None => cx.random_bytes(16),
    };
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&seed[..16]);
    // RFC 9562: version 8 (made by a rule of one's own), variant 10.
    bytes[6] = (bytes[6] & 0x0F) | 0x80;
    bytes[8] = (bytes[8] & 0x3F) | 0x80;
    let dashed = |(at, byte): (usize, &u8)| match at {
        4 | 6 | 8 | 10 => format!("-{byte:02x}"),
        _ => format!("{byte:02x}"),
    };
    bytes.iter().enumerate().map(dashed).collect()
}
