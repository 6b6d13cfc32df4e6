//! `supported-calendar-component-set` (RFC 4791 section 5.2.3): whether a collection holds events, tasks or both.

use crate::webdav::multistatus::Member;
use crate::webdav::xml::{CALDAV, Element, escape};
use crate::webdav::{Name, qualified};

pub const SET: Name = (CALDAV, "supported-calendar-component-set");

/// Whether the collection holds components of this name; one that does not list its components holds them all.
pub fn holds(collection: &Member, component: &str) -> bool {
    let (namespace, name) = SET;
    collection.property(namespace, name).is_none_or(|kinds: &Element| {
        let mut names = kinds.all(CALDAV, "comp").filter_map(|kind| kind.attribute("name"));
        kinds.children.is_empty() || names.any(|name| name.eq_ignore_ascii_case(component))
    })
}

/// The property for a new collection of one kind.
pub fn only(component: &str) -> String {
    format!("<{0}><C:comp name=\"{1}\"/></{0}>", qualified(SET), escape(component))
}
