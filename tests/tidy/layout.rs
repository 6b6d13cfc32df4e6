//! Rules on paths: the path of a file tells its content.

use std::collections::BTreeSet;

use crate::files::Project;
use crate::ratchet::Offence;

const ENDPOINTS: &str = "host/src/api/v1/";

/// Connectors without their manifest or without fixtures.
pub fn connectors(project: &Project) -> Vec<Offence> {
    let below = project.files.iter().filter_map(|file| file.path.strip_prefix("connectors/"));
    let names: BTreeSet<&str> = below.filter_map(|path| path.split_once('/')).map(|(name, _)| name).collect();
    let mut offences = Vec::new();
    for name in names {
        let has = |start: &str| {
            project.files.iter().any(|file| file.path.starts_with(&format!("connectors/{name}/{start}")))
        };
        if !has("connector.toml") {
            offences.push(Offence::new(
                format!("connectors/{name}"),
                "it needs a connector.toml: the host reads it before the component",
            ));
        }
        // A connector that shares another one's component shares its recorded answers too.
        if !has("fixtures/") && !has("component") {
            offences.push(Offence::new(
                format!("connectors/{name}"),
                "it needs recorded answers of its provider in fixtures/",
            ));
        }
    }
    offences
}

/// Returns operations in a file that does not match their URL.
pub fn urls(project: &Project) -> Vec<Offence> {
    let homes: Vec<(String, &str)> = project
        .rust()
        .filter_map(|file| Some((home(file.path.strip_prefix(ENDPOINTS)?), file.path.as_str())))
        .collect();
    let mut offences = Vec::new();
    for (own, path) in &homes {
        let file = project.file(path).expect("the path came from the project");
        for (number, line) in file.code() {
            let Some(url) = route(line) else { continue };
            let wanted =
                homes.iter().filter(|(home, _)| serves(home, &url)).max_by_key(|(home, _)| home.len());
            if wanted.is_none_or(|(home, _)| home != own) {
                let better = wanted.map_or("a file of its own", |(_, path)| *path);
                offences.push(Offence::at(*path, number, format!("/v1/{url} belongs into {better}")));
            }
        }
    }
    offences
}

/// `calendars/mod.rs` → `calendars`, `contacts/sync.rs` → `contacts/sync`.
fn home(path: &str) -> String {
    path.trim_end_matches(".rs").trim_end_matches("/mod").trim_end_matches("mod").to_owned()
}

/// The path of a row of the operation table without `/v1/` and parameters, in snake case.
fn route(line: &str) -> Option<String> {
    let (verb, rest) = line.trim_start().strip_prefix('.')?.split_once("(\"/v1/")?;
    ["get", "post", "patch", "put", "delete"].contains(&verb).then_some(())?;
    let path = rest.split('"').next()?;
    let parts: Vec<String> =
        path.split('/').filter(|part| !part.starts_with('{')).map(|part| part.replace('-', "_")).collect();
    Some(parts.join("/"))
}

fn serves(home: &str, url: &str) -> bool {
    url.strip_prefix(home).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
