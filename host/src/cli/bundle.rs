//! The bundled connectors.

use std::path::{Path, PathBuf};

use runtime::Manifest;
use service::app::config::Config;

/// Names of the connectors of this repository, in any folder.
const NAMES: [&str; 7] = ["dav", "gmail", "google", "imap", "jmap", "microsoft", "sandbox"];

/// Finds the folder into which the build puts connectors: below the current directory, or beside the binary if that was started from
/// elsewhere.
pub fn find() -> Option<PathBuf> {
    let here = Config::default().connectors_dir?;
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join("connectors/bundle"));
    match here.is_dir() {
        true => Some(here),
        false => beside().filter(|dir| dir.is_dir()).or(Some(here)),
    }
}

/// Whether a connector of this name is bundled with the program, or is in the folder of bundled connectors.
pub fn has(folder: Option<&Path>, name: &str) -> bool {
    NAMES.contains(&name) || folder.into_iter().flat_map(manifests).any(|manifest| is_of(&manifest, name))
}

/// The manifests in the folders of `folder`, sorted; none if there is no such directory.
pub fn manifests(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path().join("connector.toml")).collect();
    found.retain(|manifest| manifest.is_file());
    found.sort();
    found
}

/// A manifest that cannot be read is named by its folder.
fn is_of(manifest: &Path, name: &str) -> bool {
    let read = runtime::manifest_text(manifest).and_then(|text| Manifest::parse(&text));
    match read {
        Ok(manifest) => manifest.name == name,
        Err(_) => manifest.parent().and_then(Path::file_name).is_some_and(|folder| folder == name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_connectors_in_the_repository() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../connectors"));
        let found = manifests(folder);
        let read = |path: &PathBuf| Manifest::parse(&runtime::manifest_text(path).unwrap()).unwrap().name;
        assert_eq!(found.iter().map(read).collect::<Vec<_>>(), NAMES);
        assert!(has(None, "imap") && !has(None, "notes") && has(Some(folder), "dav"));
    }
}
