//! Every fixture becomes the items that its snapshot says. Drop a file into `fixtures/` to add a case.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]
#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use connector_dav::ical::people::Selves;
use connector_dav::ical::read::Reader;

fn fixtures() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let mut all: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ics"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n").replace('\n', "\r\n"))
        })
        .collect();
    all.sort();
    all
}

fn reader() -> Reader {
    Reader::new(Selves::new(["me@example.com"]), Some("Europe/Berlin"))
}

/// A resource's events in the normalized model.
#[test]
fn a_resource_becomes_items() {
    for (name, text) in fixtures() {
        match reader().items(&format!("/calendars/me/{name}.ics"), &text) {
            Ok(items) => insta::assert_json_snapshot!(name, serde_json::to_value(items).unwrap()),
            Err(error) => insta::assert_json_snapshot!(name, error),
        }
    }
}

/// Reading gives an answer for any bytes, and soon.
#[test]
fn cut_and_mangled_resources_give_an_answer() {
    let reader = reader();
    for (_, text) in fixtures() {
        for cut in 0..text.len() {
            if let Some(part) = text.get(..cut) {
                let _ = reader.items("/x.ics", part);
            }
        }
        for (at, _) in text.char_indices().step_by(3) {
            let mangled = format!("{}{}{}", &text[..at], "\u{FFFD}:;\"", &text[at..]);
            let _ = reader.items("/x.ics", &mangled);
        }
    }
}
