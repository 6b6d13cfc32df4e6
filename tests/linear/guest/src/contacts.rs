//! `connectors/dav`, vCard.

use std::hint::black_box;

use connector_dav::vcard::lines::{View, parse, print, set_text};
use connector_dav::vcard::{photo, read};

use crate::Parser;
use crate::text;
use crate::text_within;

pub const ALL: &[Parser] = &[
    ("vcard.object", |input| card(&text(input))),
    ("vcard.lines", |input| {
        card(&text_within("BEGIN:VCARD\r\nVERSION:3.0\r\nFN:A\r\n", input, "\r\nEND:VCARD\r\n"));
        card(&text_within(
            "BEGIN:VCARD\r\nVERSION:4.0\r\nKIND:group\r\nFN:A\r\n",
            input,
            "\r\nEND:VCARD\r\n",
        ));
    }),
    ("vcard.photo", |input| {
        let head = "BEGIN:VCARD\r\nVERSION:3.0\r\nPHOTO;ENCODING=b;TYPE=JPEG:";
        card(&text_within(head, input, "\r\nEND:VCARD\r\n"));
    }),
    ("vcard.value", |input| {
        for name in [
            "N",
            "ADR",
            "ORG",
            "CATEGORIES",
            "BDAY",
            "TEL;TYPE=home",
            "IMPP",
            "X-A;ENCODING=QUOTED-PRINTABLE",
        ] {
            let head = format!("BEGIN:VCARD\r\nVERSION:3.0\r\n{name}:");
            card(&text_within(&head, input, "\r\nEND:VCARD\r\n"));
        }
    }),
];

fn card(data: &str) {
    drop(black_box(read::items("c", data)));
    let Ok(mut card) = parse(data) else { return };
    black_box(photo::picture(&View::from_card(&card)));
    set_text(&mut card, "NOTE", Some("new"));
    black_box(print(&card));
}
