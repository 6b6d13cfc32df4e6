//! The shape of the code, checked. A checked rule is worth more than a page of good intentions: it reads the sources as text and names
//! violations. Violations that existed when the rule came are listed in `ratchet.txt`, which may only shrink.

mod arguments;
mod circles;
mod dependencies;
mod files;
mod layers;
mod layout;
mod names;
mod ratchet;
mod report;
mod rooms;
mod sizes;
mod words;
mod writers;

use crate::files::Project;
use crate::ratchet::Offence;

/// A rule: returns all violations in the project.
type Rule = fn(&Project) -> Vec<Offence>;

#[track_caller]
fn check(name: &str, rule: Rule) {
    let project = Project::current();
    let complaints = ratchet::compare(name, &rule(project), project);
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

/// Every source file describes its content in its first line.
#[test]
fn files_begin_with_their_purpose() {
    check("purpose", words::purpose);
}

/// No event of the log has a field that every line has.
#[test]
fn a_line_of_the_log_has_each_field_once() {
    check("log-field", words::log_fields);
}

/// Notes to oneself and debug output are not allowed.
#[test]
fn nothing_is_left_for_later() {
    check("leftover", words::leftovers);
}

/// No text contains a path of one developer's machine.
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

/// No files import each other, directly or indirectly.
#[test]
fn no_files_import_each_other() {
    check("circle", circles::files);
}

/// Modules do not import what `APART` forbids them.
#[test]
fn modules_keep_apart() {
    check("apart", layers::apart);
}

/// A big dependency is used in its home only.
#[test]
fn big_dependencies_have_one_home() {
    check("home", dependencies::homes);
}

/// The model depends on nothing, a connector on the SDK only, and the host on no connector.
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

/// A doc comment begins with what the item is or returns.
#[test]
fn doc_comments_begin_with_their_subject() {
    check("first-word", words::first_words);
}

/// A type is a noun, not a participle alone.
#[test]
fn types_are_nouns() {
    check("participle", names::participles);
}

/// No two types of a crate have one name.
#[test]
fn types_of_a_crate_have_different_names() {
    check("doubled-name", names::doubles);
}

/// A function has at most six parameters.
#[test]
fn functions_have_few_parameters() {
    check("parameters", arguments::numbers);
}

/// No parameter is a tuple.
#[test]
fn no_parameter_is_a_tuple() {
    check("tuple-parameter", arguments::tuples);
}

/// Provider records, connection locks and the end of the log are used in few places.
#[test]
fn shared_state_has_one_writer() {
    check("writer", writers::calls);
}

/// Between the host's modules no file stands alone.
#[test]
fn modules_are_folders() {
    check("room", rooms::files);
}

/// A top folder has at most 1 % more lines of Rust than the list says.
#[test]
fn the_project_stays_small() {
    check("total", sizes::totals);
}

/// The list of exceptions names rules that exist.
#[test]
fn the_ratchet_is_well_formed() {
    let complaints = ratchet::malformed(Project::current());
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// Prints the figures of `cargo xtask rooms`, each with its label and a tab, for the project in the folder that `SWITCHBOARD_ROOMS` names.
#[test]
#[ignore = "`cargo xtask rooms` runs it"]
fn the_figures_are_printed() {
    let folder = std::env::var("SWITCHBOARD_ROOMS").expect("`cargo xtask rooms` sets SWITCHBOARD_ROOMS");
    println!();
    for (label, figure) in report::rows(&Project::read(folder.as_ref())) {
        println!("{label}\t{figure}");
    }
}
