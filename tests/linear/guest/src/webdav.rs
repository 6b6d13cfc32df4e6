//! `connectors/dav`, XML.

use std::hint::black_box;

use connector_dav::webdav::multistatus::Multistatus;
use connector_dav::webdav::xml::{DAV, Element};

use crate::Parser;
use crate::within;

pub const ALL: &[Parser] = &[
    ("xml.document", |input| document(input)),
    ("xml.tag", |input| document(&within("<a ", input, "><b/></a>"))),
    ("xml.multistatus", |input| document(&within(HEAD, input, "</d:multistatus>"))),
    ("xml.response", |input| {
        document(&within(
            &format!("{HEAD}<d:response><d:href>/a</d:href>"),
            input,
            "</d:response></d:multistatus>",
        ));
    }),
];

const HEAD: &str = "<d:multistatus xmlns:d=\"DAV:\" xmlns:c=\"urn:ietf:params:xml:ns:caldav\">";

fn document(bytes: &[u8]) {
    let Ok(root) = Element::parse(bytes) else { return };
    black_box(root.contains(DAV, "nothing"));
    for member in black_box(Multistatus::from(root)).responses {
        black_box((member.text(DAV, "getetag").is_some(), member.property(DAV, "displayname").is_some()));
    }
}
