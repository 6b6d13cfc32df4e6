//! Warnings about a connector that a host would install.

use std::path::Path;

use authoring::{Language, Project};
use runtime::{Level, MemoryClass, Pkce};
use serde::Serialize;
use serde_json::Value;

use crate::cli::connector::check::facts::ConnectorFacts;

/// Size of a component in Rust, in bytes, above which it contains something unnecessarily large.
const LARGE_RUST: usize = 5_000_000;
/// Beginnings of the names of files that hold a licence, in lower case.
const LICENCE_FILES: [&str; 4] = ["licence", "license", "copying", "unlicense"];

/// A problem for which a host does not refuse a connector.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// The code for programs.
    pub code: &'static str,
    pub said: String,
    pub help: &'static str,
}

/// Finds all warnings. Without a project only those of the manifest and the component.
pub fn find(facts: &ConnectorFacts, project: Option<&Project>) -> Vec<Warning> {
    let mut found = of_manifest(facts);
    found.extend(of_component(facts, project));
    if let Some(project) = project.filter(|project| !has_licence(&project.folder)) {
        let help = match project.language {
            Language::Rust => "write license = \"MIT\" under [package] of Cargo.toml, or add a file LICENSE",
            _ => "write \"license\": \"MIT\" in package.json, or add a file LICENSE",
        };
        found.push(Warning { code: "licence", said: "the project has no licence".to_owned(), help });
    }
    found
}

fn of_manifest(facts: &ConnectorFacts) -> Vec<Warning> {
    let manifest = &facts.manifest;
    let mut found = Vec::new();
    let mut warn = |code, said: String, help| found.push(Warning { code, said, help });
    if manifest.description.trim().is_empty() {
        warn(
            "description",
            "connector.toml has no description".to_owned(),
            "say in a sentence which accounts the connector opens: description = \"…\"",
        );
    }
    let wildcards: Vec<&str> =
        manifest.hosts.iter().map(|rule| rule.host.as_str()).filter(|host| host.starts_with("*.")).collect();
    if !wildcards.is_empty() {
        warn(
            "wildcard",
            format!("the connector may send requests to every host of {}", wildcards.join(", ")),
            "name the hosts one by one if they are known",
        );
    }
    if !manifest.hosts.is_empty() && !manifest.hosts_from_settings.is_empty() {
        warn(
            "hosts",
            "the connector may send requests to the user's server and to fixed hosts".to_owned(),
            "leave hosts or hosts_from_settings out unless the provider needs both",
        );
    }
    if manifest.memory == MemoryClass::Large {
        warn(
            "memory",
            format!(
                "a call may take {} MiB, so that fewer calls run at once",
                facts.may_use_per_call.memory_mib
            ),
            "write memory = \"standard\" unless calls need more than its 64 MiB",
        );
    }
    if manifest.auth.pkce == Pkce::Off {
        warn(
            "pkce",
            "auth.pkce is \"off\": authorization codes are not protected against injection".to_owned(),
            "leave it out unless the provider refuses PKCE",
        );
    }
    found
}

fn of_component(facts: &ConnectorFacts, project: Option<&Project>) -> Vec<Warning> {
    let component = &facts.component;
    let mut found = Vec::new();
    let mut warn = |code, said: String, help| found.push(Warning { code, said, help });
    if facts.level == Level::Compat && facts.wasi().next().is_none() {
        warn(
            "level",
            "level is compat, and the component imports nothing of WASI".to_owned(),
            "write level = \"strict\"",
        );
    }
    let is_rust = project.is_some_and(|project| project.language == Language::Rust);
    if is_rust && component.bytes > LARGE_RUST {
        warn(
            "size",
            format!("the component has {} MiB", component.bytes >> 20),
            "keep lto = true, codegen-units = 1 and strip = \"debuginfo\" in [profile.release], and look for large dependencies",
        );
    }
    if component.has_debug_information {
        warn(
            "debug",
            "the component has debug information, which a host does not read".to_owned(),
            "build it without --dev, in Rust with strip = \"debuginfo\" in [profile.release]",
        );
    }
    found
}

/// Whether the project has a license file, or names a license in the manifest of its language.
fn has_licence(folder: &Path) -> bool {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_licence = |name: &str| LICENCE_FILES.iter().any(|start| name.starts_with(start));
    let mut names = files.map(|file| file.file_name().to_string_lossy().to_lowercase());
    names.any(|name| is_licence(&name)) || is_licensed_crate(folder) || is_licensed_npm_package(folder)
}

fn is_licensed_crate(folder: &Path) -> bool {
    let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let manifest: toml::Table = toml::from_str(&text).unwrap_or_default();
    let package = manifest.get("package").and_then(toml::Value::as_table);
    package.is_some_and(|package| ["license", "license-file"].iter().any(|key| package.contains_key(*key)))
}

fn is_licensed_npm_package(folder: &Path) -> bool {
    let text = std::fs::read_to_string(folder.join("package.json")).unwrap_or_default();
    let manifest: Value = serde_json::from_str(&text).unwrap_or_default();
    manifest["license"].is_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_a_file_or_a_name() {
        for (file, text, expected) in [
            ("README.md", "the license", false),
            ("LICENSE-MIT", "", true),
            ("Licence.txt", "", true),
            ("COPYING", "", true),
            ("Cargo.toml", "[package]\nname = \"notes\"", false),
            ("Cargo.toml", "[package]\nlicense = \"MIT\"", true),
            ("Cargo.toml", "[package]\nlicense-file = \"../mine\"", true),
            ("package.json", "{\"name\": \"notes\"}", false),
            ("package.json", "{\"license\": \"MIT\"}", true),
            ("package.json", "{", false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(file), text).unwrap();
            assert_eq!(has_licence(dir.path()), expected, "{file}: {text}");
        }
    }
}
