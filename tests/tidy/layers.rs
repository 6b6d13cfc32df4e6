//! The layers of the host: which module may import which. Read as text: `crate::x` in the code of a module is an import of `x`.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use crate::files::{Project, Source};
use crate::ratchet::Offence;

const HOST: &str = "host/src/";

/// From the bottom to the top; an import points to its own row or to one before it.
const LAYERS: [&[&str]; 19] = [
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
    &["admin", "api"],
    &["api::v1", "cli", "lib", "main"],
];

/// What a module, or a crate in host/, never names, beyond what the layers say: modules of ours and crates.
const APART: [(&[&str], &[&str], &str); 6] = [
    (&["scheduling"], &["sqlx::", "axum::", "tokio::", "async "], "it is pure, to be tested by the million"),
    (&["storage"], &["axum::"], "SQL knows nothing of HTTP; what is not there is `None` here"),
    (&["runtime"], &["axum::"], "a connector call is a function of its arguments; credentials are handed in"),
    (
        &[
            "access_tokens",
            "bookings",
            "connections",
            "freebusy",
            "job_runner",
            "jobs",
            "local_copy",
            "push",
            "resources",
            "retention",
            "sending",
            "sync",
            "tracking",
            "webhooks",
            "writes",
        ],
        &["axum::"],
        "background jobs call it too",
    ),
    (&["admin"], &["crate::api"], "the panel and the API meet below, not in each other"),
    (&["api::v1"], &["sqlx::"], "queries live in storage"),
];

/// Imports that point up, and modules without a place.
pub fn host(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in sources(project) {
        let from = module(&file.path[HOST.len()..]);
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

/// What breaks a row of `APART`, and endpoints that import each other.
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

fn sources(project: &Project) -> impl Iterator<Item = &Source> {
    project.rust().filter(|file| file.path.starts_with(HOST) && !file.is_test())
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

/// The front page of `api/` puts the endpoints and the plumbing together.
fn front_page(path: &str, to: &str) -> bool {
    path == "host/src/api/mod.rs" && to == "api::v1"
}

/// The module that a file belongs to: the first part of its path, endpoints apart.
fn module(path: &str) -> String {
    match path.starts_with("api/v1/") {
        true => "api::v1".to_owned(),
        false => path.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_owned(),
    }
}

/// The modules that a line names.
fn imports(line: &str) -> Vec<String> {
    let ends = |c: char| !(c.is_alphanumeric() || c == '_');
    let mut found = Vec::new();
    for (at, start) in line.match_indices("crate::") {
        if line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
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
