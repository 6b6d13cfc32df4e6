//! The shape of the code, checked. A rule here is worth more than a page of good intentions: it reads the sources as text and
//! names what breaks it. What broke a rule when it came is listed in `ratchet.txt`, which may only shrink.

mod circles;
mod dependencies;
mod files;
mod layers;
mod layout;
mod ratchet;
mod sizes;
mod words;

use crate::files::Project;
use crate::ratchet::Offence;

/// A rule: everything in the project that breaks it.
type Rule = fn(&Project) -> Vec<Offence>;

#[track_caller]
fn check(name: &str, rule: Rule) {
    let project = Project::read();
    let complaints = ratchet::compare(name, &rule(&project), &project);
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// A file has at most 400 lines without its tests, a file of tests 800.
#[test]
fn files_are_short() {
    check("file-length", sizes::files);
}

/// A function has at most 70 lines.
#[test]
fn functions_are_short() {
    check("function-length", sizes::functions);
}

/// Every source file says in its first line what lives in it.
#[test]
fn files_begin_with_their_purpose() {
    check("purpose", words::purpose);
}

/// Nothing is left for later, and nothing prints for debugging.
#[test]
fn nothing_is_left_for_later() {
    check("leftover", words::leftovers);
}

/// No text depends on somebody's machine.
#[test]
fn no_text_names_a_folder_of_one_machine() {
    check("machine", words::machines);
}

/// Imports begin with `crate::` and a module, so that the rules on layers can be checked by reading text.
#[test]
fn imports_are_absolute() {
    check("import-form", words::imports);
}

/// In the host an import points down, never up.
#[test]
fn imports_point_down() {
    check("layer", layers::host);
}

/// No files import each other, directly or over others.
#[test]
fn no_files_import_each_other() {
    check("circle", circles::files);
}

/// What a module never imports, because of what it is.
#[test]
fn modules_keep_apart() {
    check("apart", layers::apart);
}

/// A big dependency is named in its home alone.
#[test]
fn big_dependencies_have_one_home() {
    check("home", dependencies::homes);
}

/// The model is free of everything, a connector knows the SDK, the host knows no connector.
#[test]
fn crates_point_down() {
    check("crate", dependencies::crates);
}

/// A connector is a folder with its manifest and with recorded answers of its provider.
#[test]
fn connectors_are_whole() {
    check("connector", layout::connectors);
}

/// `/v1/calendars/{calendarId}/events` is served by `api/v1/calendars/events.rs`.
#[test]
fn the_url_is_the_file_name() {
    check("url", layout::urls);
}

/// The list of exceptions names rules that exist.
#[test]
fn the_ratchet_is_well_formed() {
    let complaints = ratchet::malformed(&Project::read());
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}
