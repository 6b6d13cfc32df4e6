//! Rules on callers: functions that change shared state, or that have to be called in a certain order, are called from few places.

use crate::circles;
use crate::files::Project;
use crate::ratchet::Offence;

/// Functions that are called from few places.
struct Restriction {
    /// The module or the type, and its functions.
    of: &'static str,
    functions: &'static [&'static str],
    /// Beginnings of the paths of files that may call them, beside those of host/storage.
    homes: &'static [&'static str],
    why: &'static str,
}

const RESTRICTIONS: [Restriction; 3] = [
    Restriction {
        of: "items",
        functions: &[
            "depart",
            "insert",
            "leave_source",
            "leave_sources",
            "put_parts",
            "replace",
            "set_keys",
            "set_provider_sides",
            "set_refs",
            "set_source",
            "set_uid",
            "update",
            "write",
        ],
        homes: &["host/service/src/local_copy/"],
        why: "local_copy alone writes provider records: call it",
    },
    Restriction {
        of: "ConnectionLock",
        functions: &["take"],
        homes: &["host/service/src/connections/", "host/service/src/local_copy/"],
        why: "local_copy and connections take the lock of a connection: hand them the work to be done under it",
    },
    Restriction {
        of: "log",
        functions: &["last_sequence"],
        homes: &["host/service/src/connections/write_context.rs", "host/service/src/sync/pull.rs"],
        why: "a pull and a provider call read the end of the log before they ask the provider: take the number from them",
    },
];

/// The crate that has the functions.
const STORAGE: &str = "host/storage/";

/// Names of restricted functions outside their homes. The list counts those of a file.
pub fn calls(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in project.authored().filter(|file| !file.is_test() && !file.path.starts_with(STORAGE)) {
        for restriction in RESTRICTIONS {
            let is_home = restriction.homes.iter().any(|home| file.path.starts_with(home));
            if is_home || !file.text.contains("storage::") || !file.text.contains(restriction.of) {
                continue;
            }
            for path in circles::paths(file) {
                if let [.., of, function] = path[..]
                    && of == restriction.of
                    && restriction.functions.contains(&function)
                {
                    offences.push(Offence::new(&file.path, format!("{of}::{function}: {}", restriction.why)));
                }
            }
        }
    }
    offences
}

#[cfg(test)]
mod tests {
    use super::calls;
    use crate::files::{Project, Source};

    /// Returns the offences of a file, each with the function that it names.
    fn named(path: &str, text: &str) -> Vec<String> {
        let project = Project::new(vec![Source::new(path, text)]);
        let whys = calls(&project).into_iter().map(|offence| offence.why);
        whys.map(|why| why.split(": ").next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn functions_are_found_by_their_paths() {
        let text = "use storage::items::{self, Item, replace};\nuse storage::locked::ConnectionLock;\n\
                    fn f() {\n    items::update(x);\n    collection_items::update(x); // items::insert\n    ConnectionLock::take(x)\n}\n";
        let expected = ["items::replace", "items::update", "ConnectionLock::take"];
        assert_eq!(named("host/service/src/sync/page.rs", text), expected);
    }

    #[test]
    fn a_home_may_name_its_functions() {
        let text = "use storage::items;\nuse storage::log;\nfn f() {\n    items::insert(x);\n    log::last_sequence(y);\n}\n";
        assert_eq!(named("host/service/src/local_copy/upsert.rs", text), ["log::last_sequence"]);
        assert_eq!(named("host/service/src/sync/pull.rs", text), ["items::insert"]);
        assert!(named("host/storage/src/log.rs", text).is_empty());
        assert!(
            named("host/src/api/page.rs", "use crate::resources::items;\nfn f() { items::update(x) }")
                .is_empty()
        );
    }
}
