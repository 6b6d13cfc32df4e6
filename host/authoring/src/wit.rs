//! The WIT package that components are built against, for languages that have no template.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::archive;
use crate::fault::{Fault, Result};
use crate::name::ConnectorName;

/// The path at which WIT tools look for dependencies.
const PACKAGE: &str = "deps/switchboard-connector";
/// The version of the package.
const VERSION: &str = "1.0.0";
/// Interfaces that a connector can export; each has a world.
pub const SURFACES: [&str; 6] = ["email", "calendar", "contacts", "tasks", "lifecycle", "watch"];

/// Writes the package and `world.wit`, the world of a connector with these surfaces, into a folder, as WIT tools read them. Existing
/// files are replaced. Returns the written paths.
pub fn write_wit(name: &ConnectorName, surfaces: &[String], into: &Path) -> Result<Vec<PathBuf>> {
    if let Some(unknown) = surfaces.iter().find(|surface| !SURFACES.contains(&surface.as_str())) {
        return Err(Fault::new(
            format!("there is no surface \"{unknown}\""),
            format!("name some of {}", SURFACES.join(", ")),
        ));
    }
    let packed = archive::below("vendor/connector-sdk/wit").map_err(|error| {
        Fault::new(format!("the SDK in this program cannot be read: {error}"), "reinstall the program")
    })?;
    let mut files: Vec<(PathBuf, String)> =
        packed.into_iter().map(|file| (Path::new(PACKAGE).join(file.path), file.text)).collect();
    files.push((PathBuf::from("world.wit"), world(name, surfaces)));
    for (path, text) in &files {
        let path = into.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Fault::of_file("create", parent, error))?;
        }
        fs::write(&path, text).map_err(|error| Fault::of_file("write", &path, error))?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

fn world(name: &ConnectorName, surfaces: &[String]) -> String {
    let name = name.as_str();
    let mut text = format!(
        "package local:{name};\n\n/// What the connector {name} imports and exports.\nworld connector {{\n"
    );
    for surface in surfaces {
        let _ = writeln!(text, "    include switchboard:connector/{surface}-connector@{VERSION};");
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_and_the_world_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let name = "my-notes".parse().unwrap();
        let surfaces = ["tasks", "lifecycle"].map(str::to_owned);
        let written = write_wit(&name, &surfaces, dir.path()).unwrap();
        assert!(written.contains(&PathBuf::from("deps/switchboard-connector/connector.wit")), "{written:?}");
        assert_eq!(
            fs::read_to_string(dir.path().join("world.wit")).unwrap(),
            "package local:my-notes;\n\n/// What the connector my-notes imports and exports.\nworld connector {\n    \
             include switchboard:connector/tasks-connector@1.0.0;\n    \
             include switchboard:connector/lifecycle-connector@1.0.0;\n}\n"
        );
        // The version and the worlds are those of the package.
        let package = fs::read_to_string(dir.path().join(PACKAGE).join("connector.wit")).unwrap();
        assert!(package.starts_with(&format!("package switchboard:connector@{VERSION};")));
        for surface in SURFACES {
            assert!(package.contains(&format!("world {surface}-connector ")), "{surface}");
        }
        let fault = write_wit(&name, &["mail".to_owned()], dir.path()).unwrap_err();
        assert_eq!(fault.said, "there is no surface \"mail\"");
    }
}
