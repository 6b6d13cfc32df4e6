//! The layers of the host and of the crate `service` below it: the allowed imports between modules. Sources are read as text: `crate::x`
//! and `service::x` in the code of a module are imports of `x`.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use std::collections::BTreeSet;

use crate::files::{Project, Source};
use crate::ratchet::Offence;

/// The folders of the two crates that are divided into layers.
const CRATES: [&str; 2] = ["host/src/", "host/service/src/"];

/// From the bottom to the top; an import points to its own row or to one before it.
const LAYERS: [&[&str]; 21] = [
    &["locale"],
    &["app"],
    &["access_tokens"],
    &["job_runner"],
    &["connections"],
    &["local_copy"],
    &["writes"],
    &["sync"],
    &["push"],
    &["tracking"],
    &["sending"],
    &["resources"],
    &["freebusy"],
    &["webhooks"],
    &["bookings"],
    &["retention"],
    &["jobs"],
    &["manage"],
    &["web"],
    &["admin", "api"],
    &["api::v1", "cli", "lib", "main", "routes"],
];

/// Modules and crates that a module, or a crate in host/, must not name, beyond the rules of the layers, with the reason.
const APART: [(&[&str], &[&str], &str); 5] = [
    (&["scheduling"], &["sqlx::", "axum::", "tokio::", "async "], "it is pure, to be tested by the million"),
    (&["storage"], &["axum::"], "SQL knows nothing of HTTP; what is not there is `None` here"),
    (&["runtime"], &["axum::"], "a connector call is a function of its arguments; credentials are handed in"),
    (&["admin"], &["crate::api"], "the panel and the API meet below, not in each other"),
    (&["api::v1"], &["sqlx::"], "queries live in storage"),
];

/// Returns imports that point up, and modules that are in no layer.
pub fn host(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in sources(project) {
        let from = module(inside(file));
        let Some(own) = rank(&from) else {
            offences.push(Offence::new(
                &file.path,
                format!("{from} has no place in LAYERS of tests/tidy/layers.rs"),
            ));
            continue;
        };
        for (number, line) in file.code() {
            for to in imports(line) {
                if rank(&to).is_some_and(|rank| rank > own) && !front_page(&file.path, &to) {
                    let why =
                        format!("{from} imports {to}, which is above it: move what both need further down");
                    offences.push(Offence::at(&file.path, number, why));
                }
            }
        }
    }
    offences
}

/// Returns violations of `APART`, and endpoints that import each other.
pub fn apart(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (from, file) in parts(project) {
        for (number, line) in file.code() {
            for (_, never, why) in APART.iter().filter(|row| row.0.contains(&from.as_str())) {
                if let Some(name) = never.iter().find(|name| line.contains(*name)) {
                    offences.push(Offence::at(
                        &file.path,
                        number,
                        format!("{from} never names {}: {why}", name.trim().trim_end_matches("::")),
                    ));
                }
            }
            let endpoint = from == "api::v1" && !file.path.ends_with("/mod.rs");
            if endpoint && line.contains("crate::api::v1::") {
                offences.push(Offence::at(
                    &file.path,
                    number,
                    "an endpoint never imports an endpoint: they meet below",
                ));
            }
        }
    }
    offences
}

/// The modules of both crates, without the files of their roots.
pub fn modules(project: &Project) -> BTreeSet<&str> {
    let names = sources(project).map(|file| top(inside(file)));
    names.filter(|name| !["lib", "main"].contains(name)).collect()
}

/// Returns the pairs of modules of which the first imports the second.
pub fn arrows(project: &Project) -> BTreeSet<(&str, &str)> {
    let modules = modules(project);
    let mut arrows = BTreeSet::new();
    for file in sources(project) {
        let from = top(inside(file));
        for (_, line) in file.code() {
            for name in imports(line) {
                let to = name.split(':').next().unwrap_or_default();
                if let Some(to) = modules.get(to).filter(|to| **to != from && modules.contains(from)) {
                    arrows.insert((from, *to));
                }
            }
        }
    }
    arrows
}

/// Returns the number of arrows to the same row or to a higher one of the project's own table of layers.
pub fn not_downward(project: &Project, arrows: &BTreeSet<(&str, &str)>) -> usize {
    let rows = rows(project);
    let is_wrong = |(from, to): &&(&str, &str)| {
        let known = row_of(from, &rows).zip(row_of(to, &rows));
        known.is_some_and(|(from, to)| from <= to)
    };
    arrows.iter().filter(is_wrong).count()
}

/// The number of the row that names this module.
fn row_of(module: &str, rows: &[Vec<&str>]) -> Option<usize> {
    rows.iter().position(|row| row.contains(&module))
}

/// Returns the table of layers in the project's own sources, which may be those of an older revision.
fn rows(project: &Project) -> Vec<Vec<&str>> {
    let text = project.file("tests/tidy/layers.rs").map(|file| file.text.as_str()).unwrap_or_default();
    let table =
        text.split_once("const LAYERS").and_then(|(_, rest)| rest.split_once("\n];")).unwrap_or_default().0;
    table.split("&[").skip(2).map(|row| row.split('"').skip(1).step_by(2).collect()).collect()
}

fn sources(project: &Project) -> impl Iterator<Item = &Source> {
    project.rust().filter(|file| !inside(file).is_empty() && !file.is_test())
}

/// The path of a file inside its crate; empty for a file of another crate.
fn inside(file: &Source) -> &str {
    CRATES.iter().find_map(|folder| file.path.strip_prefix(folder)).unwrap_or_default()
}

/// The sources of the host and of the crates beside it, each with the module or the crate that it belongs to. Examples are programs of
/// their own, which nothing imports.
fn parts(project: &Project) -> impl Iterator<Item = (String, &Source)> {
    let files = project.rust().filter(|file| !file.is_test() && !file.path.contains("/examples/"));
    files.filter_map(|file| {
        let (folder, path) = file.path.strip_prefix("host/")?.split_once('/')?;
        let part = if folder == "src" { module(path) } else { folder.replace('-', "_") };
        Some((part, file))
    })
}

/// Returns whether the import is from the root of `api/`, which combines the endpoints and the plumbing.
fn front_page(path: &str, to: &str) -> bool {
    path == "host/src/api/mod.rs" && to == "api::v1"
}

/// Returns the module of a file: the first part of its path, endpoints separately.
fn module(path: &str) -> String {
    match path.starts_with("api/v1/") {
        true => "api::v1".to_owned(),
        false => path.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned(),
    }
}

/// The first part of a path in the host's sources.
fn top(path: &str) -> &str {
    path.split('/').next().unwrap_or_default().trim_end_matches(".rs")
}

/// The modules that a line names.
fn imports(line: &str) -> Vec<String> {
    let ends = |c: char| !(c.is_alphanumeric() || c == '_');
    let mut found = Vec::new();
    let starts = line.match_indices("crate::").chain(line.match_indices("service::"));
    for (at, start) in starts {
        if line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        let path = &line[at + start.len()..];
        let name = path.split(ends).next().unwrap_or_default();
        let endpoint = path.starts_with("api::v1");
        // A macro or a type at the crate's root is no module.
        if endpoint || path[name.len()..].starts_with("::") || path[name.len()..].starts_with(';') {
            found.push(if endpoint { "api::v1".to_owned() } else { name.to_owned() });
        }
    }
    found
}

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

#[cfg(test)]
mod tests {
    use super::{arrows, modules, not_downward};
    use crate::files::{Project, Source};

    #[test]
    fn arrows_lead_from_module_to_module() {
        let table =
            "const LAYERS: [&[&str]; 2] = [\n    &[\"app\"],\n    &[\"api\", \"sync\", \"api::v1\"],\n];\n";
        let files = [
            ("host/src/main.rs", "use crate::api::run;"),
            ("host/service/src/app.rs", "use crate::sync::Pull;\nuse crate::app::App;"),
            ("host/src/api/mod.rs", "use service::app::App;\nuse service::sync::pull;"),
            ("host/src/api/v1/mod.rs", "use crate::api::Reply;\nuse crate::Macro;\nuse service::sync::pull;"),
            ("host/service/src/sync/mod.rs", "use crate::app::App;\nuse crate::api::v1::list;"),
            ("host/service/src/sync/tests.rs", "use crate::api::Reply;"),
            ("tests/tidy/layers.rs", table),
        ];
        let project = Project::new(files.map(|(path, text)| Source::new(path, text)).into());
        assert_eq!(modules(&project).into_iter().collect::<Vec<_>>(), ["api", "app", "sync"]);
        let found = arrows(&project);
        let expected = [("api", "app"), ("api", "sync"), ("app", "sync"), ("sync", "api"), ("sync", "app")];
        assert_eq!(found.iter().copied().collect::<Vec<_>>(), expected);
        assert_eq!(not_downward(&project, &found), 3);
    }
}
