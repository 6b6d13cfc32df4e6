//! Rules on names of types: a type is a noun of its domain, and no other type of the crate has its name.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use std::collections::{BTreeMap, BTreeSet};

use crate::files::{Project, Source};
use crate::ratchet::Offence;

/// Participles and past forms that end neither in `ed` nor in `ing`. Those that are nouns as well (`Cut`, `Put`, `Set`, `Split`) are no
/// offence.
const IRREGULAR: &str = "\
    Been Begun Bent Born Bought Broken Brought Built Caught Chosen Dealt Done Drawn Driven Fallen Fed \
    Felt Forgotten Found Frozen Given Gone Got Grown Had Heard Held Hidden Hung Kept Known Laid Led Left \
    Lent Lost Made Meant Met Paid Proven Ran Read Said Seen Sent Shown Sold Sought Spelt Spent Spoken \
    Stolen Stood Struck Stuck Swept Taken Taught Thrown Told Took Torn Understood Unread Unseen Woken \
    Won Worn Written Wrote";

/// Nouns that end as participles do.
const NOUNS: &str = "\
    Bed Binding Booking Branding Building Ceiling Crossing Deed Drawing Embed Encoding Feed Finding \
    Greeting Heading Hundred King Listing Mapping Matching Meeting Morning Need Nothing Opening Ping \
    Posting Ranking Reading Recording Ring Seed Setting Shed Speed Spelling Spring String Thing Warning";

/// Names that modules of one crate may share: each has its error, its settings and its options.
const SHARED: [&str; 3] = ["Config", "Error", "Options"];

/// Returns types whose name is a participle alone, such as `Found` or `Pending`, without what was found. The list counts those of a
/// crate.
pub fn participles(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in sources(project) {
        for (number, name) in types(file).into_iter().filter(|(_, name)| is_participle(name)) {
            let why = format!("`{name}` is a participle: name what it is, as in `SearchResult` for `Found`");
            offences.push(Offence::inside(project.crate_of(&file.path), &file.path, number, why));
        }
    }
    offences
}

/// Types that have the name of another one in the same crate. The list counts them by crate.
pub fn doubles(project: &Project) -> Vec<Offence> {
    let mut named: BTreeMap<(String, &str), Vec<(&str, usize)>> = BTreeMap::new();
    for file in sources(project) {
        for (number, name) in types(file).into_iter().filter(|(_, name)| !SHARED.contains(name)) {
            named.entry((project.crate_of(&file.path), name)).or_default().push((&file.path, number));
        }
    }
    let mut offences = Vec::new();
    for ((place, name), places) in &named {
        let files: BTreeSet<&str> = places.iter().map(|(path, _)| *path).collect();
        for (path, number) in places {
            // A file may have a type twice, for two platforms.
            let Some(other) = files.iter().find(|other| *other != path) else { continue };
            let why = format!("{other} has a type `{name}` too: name each after what it is of");
            offences.push(Offence::inside(place, path, *number, why));
        }
    }
    offences
}

/// The files whose types are of a crate; examples and the templates of surfaces are crates of their own.
fn sources(project: &Project) -> impl Iterator<Item = &Source> {
    const OTHERS: [&str; 2] = ["/examples/", "/templates/"];
    project.authored().filter(|file| !file.is_test() && !OTHERS.iter().any(|other| file.path.contains(other)))
}

/// The top-level types of a file, each with its line.
pub fn types(file: &Source) -> Vec<(usize, &str)> {
    let lines = file.without_tests().into_iter().enumerate();
    lines.filter_map(|(at, line)| Some((at + 1, type_name(line)?))).collect()
}

/// The name when a type begins on this line, which is not indented.
fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split(' ');
    loop {
        match words.next()? {
            "struct" | "enum" | "trait" | "type" | "union" => break,
            "pub" | "unsafe" => {}
            word if word.starts_with("pub(") => {}
            _ => return None,
        }
    }
    let name = words.next()?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    Some(&name[..end])
}

/// One word that is a participle.
fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().filter(|c| c.is_uppercase()).count() == 1;
    let is_regular = (name.ends_with("ed") || name.ends_with("ing")) && !has_word(NOUNS, name);
    is_one_word && (is_regular || has_word(IRREGULAR, name))
}

fn has_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

#[cfg(test)]
mod tests {
    use super::{doubles, is_participle, participles, types};
    use crate::files::{Project, Source};

    /// A project with a crate `sdk/x` of these files.
    fn project(files: &[(&str, &str)]) -> Project {
        let sources = files.iter().map(|(path, text)| Source::new(format!("sdk/x/{path}"), *text));
        Project::new(sources.chain([Source::new("sdk/x/Cargo.toml", "")]).collect())
    }

    #[test]
    fn participles_are_told_from_nouns() {
        for name in ["Found", "Stored", "Unresolved", "Pending", "Kept"] {
            assert!(is_participle(name), "{name}");
        }
        for name in ["Feed", "Booking", "String", "StoredItem", "FoundSlot", "Split"] {
            assert!(!is_participle(name), "{name}");
        }
    }

    #[test]
    fn a_type_begins_without_indentation() {
        let text = "pub struct Found<T>(T);\npub(crate) enum Kept {\n    Told,\n}\nunsafe trait Seen: Send {}\ntype Wanted = u8;\n\
                    fn f() {\n    struct Held;\n}\n// struct Lost;\n#[cfg(test)]\nmod tests {\n}\nstruct Named;\n";
        let source = Source::new("a.rs", text);
        assert_eq!(types(&source), [(1, "Found"), (2, "Kept"), (5, "Seen"), (6, "Wanted")]);
    }

    #[test]
    fn participles_are_counted_by_crate() {
        let found = participles(&project(&[
            ("src/a.rs", "struct Found;\nstruct FoundItem;"),
            ("tests/b.rs", "struct Kept;"),
        ]));
        let places: Vec<_> = found.iter().map(|offence| (offence.place.as_str(), offence.line)).collect();
        assert_eq!(places, [("sdk/x", Some(1))]);
    }

    #[test]
    fn a_name_is_shared_by_types_of_several_files() {
        let text = "struct Error;\nstruct Page;\n";
        let files = [
            ("src/a.rs", text),
            ("src/b.rs", text),
            ("src/c.rs", "#[cfg(unix)]\nstruct Job;\n#[cfg(windows)]\nstruct Job;"),
            ("examples/d.rs", text),
        ];
        let found = doubles(&project(&files));
        assert_eq!(found.iter().map(|offence| offence.line).collect::<Vec<_>>(), [Some(2), Some(2)]);
    }
}
