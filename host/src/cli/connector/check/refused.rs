//! Reasons why a host refuses a connector, and their remedies.

use std::path::Path;

use authoring::Fault;
use runtime::{Manifest, ManifestSyntaxError};

/// Maximum edit distance between a misspelled key and the suggested one.
const FARTHEST: usize = 3;

const WIT: &str =
    "build it again with this program's SDK, or with the WIT package that `switchboard connector wit` writes";
const SURFACES: &str =
    "make surfaces in connector.toml and the interfaces that the component exports the same";
const BUILD_AGAIN: &str = "build it again: switchboard connector build";

/// Parts of the runtime's messages with the remedy; the first part that a message contains applies.
const REMEDIES: [(&str, &str); 21] = [
    ("cannot be seen", "write the line again: such a character comes with text that was copied"),
    ("a regular file", "give the file itself, as the build wrote it: no device, no pipe, no folder"),
    ("no surface is called", "surfaces are email, calendar, contacts, tasks, lifecycle and watch"),
    (
        "connector.toml: surfaces: this host speaks version 1",
        "write the surface with @1.0.0, and build the component against version 1 of the WIT package: switchboard connector wit",
    ),
    ("wasi:sockets/", "a connector has no sockets: send requests through the host's http"),
    ("would offer them", "write level = \"compat\" in connector.toml, or build the component without WASI"),
    ("does not offer: switchboard:connector/", WIT),
    (
        "does not offer: ",
        "build it without these imports: `switchboard connector wit` writes what a connector may import",
    ),
    ("another type than this host offers", WIT),
    ("another signature than wit/", WIT),
    ("has no function", WIT),
    ("this host speaks version 1", WIT),
    ("does not export", SURFACES),
    ("does not name", SURFACES),
    ("a core module, not a component", "`switchboard connector build` makes components"),
    ("is compiled code", "give the component as the build wrote it: NAME.wasm"),
    ("not a WebAssembly component", BUILD_AGAIN),
    ("is too large: ", "leave debug information out, and look for large dependencies"),
    ("choose a larger class", "write memory = \"standard\" or memory = \"large\" in connector.toml"),
    (
        "does not start",
        "do less before the first call: what runs at start-up (statics, the top level of modules) runs for each call",
    ),
    ("does not compile", "the file is damaged, or uses WebAssembly that is not standardized: build it again"),
];

/// A manifest and its source text.
pub struct ManifestFile {
    pub text: String,
    pub manifest: Manifest,
}

/// Reads and checks `connector.toml` in `folder`.
pub fn read_manifest(folder: &Path) -> Result<ManifestFile, Fault> {
    let path = folder.join("connector.toml");
    let shown = path.strip_prefix(".").unwrap_or(&path).display().to_string();
    let text = runtime::manifest_text(path.strip_prefix(".").unwrap_or(&path)).map_err(|error| {
        let said = format!("{error:#}");
        let folder = "name the folder that holds connector.toml and the component: --folder build/NAME";
        Fault::new(said.clone(), remedy(&said).unwrap_or(folder))
    })?;
    match Manifest::parse(&text) {
        Ok(manifest) => Ok(ManifestFile { text, manifest }),
        Err(error) => Err(match error.downcast_ref::<ManifestSyntaxError>() {
            Some(error) => of_text(&shown, error),
            None => {
                let said = format!("{error:#}");
                let help = remedy(&said).unwrap_or("change the value of the key that the error names");
                Fault::new(said, help)
            }
        }),
    }
}

/// Returns the error for a manifest that is not TOML, or has an unknown key or an invalid value.
fn of_text(path: &str, error: &ManifestSyntaxError) -> Fault {
    let message = error.message.as_str();
    let said = format!("{path}, line {}: {message}", error.line);
    if let Some(key) = nearest(message) {
        return Fault::new(said, format!("write {key}, or take the line out"));
    }
    let help = if message.starts_with("unknown field") {
        "take the line out: the error names all keys that may stand there"
    } else if message.starts_with("missing field") {
        "add the key that the error names, with its value"
    } else {
        let compare = "change that line: `switchboard connector new` writes a manifest to compare it with";
        remedy(message).unwrap_or(compare)
    };
    Fault::new(said, help)
}

/// Returns the error for the component in the file `path`.
pub fn of_component(path: &Path, error: &anyhow::Error) -> Fault {
    let said = format!("{}: {error:#}", path.display());
    let help = remedy(&said).unwrap_or(BUILD_AGAIN);
    Fault::new(said, help)
}

fn remedy(message: &str) -> Option<&'static str> {
    REMEDIES.iter().find(|(part, _)| message.contains(part)).map(|(_, remedy)| *remedy)
}

/// Returns the known key nearest to the unknown one in "unknown field `a`, expected one of `b`, `c`".
fn nearest(message: &str) -> Option<&str> {
    let mut keys = message.strip_prefix("unknown field")?.split('`').skip(1).step_by(2);
    let unknown = keys.next()?;
    let near = keys.map(|key| (distance(unknown, key), key)).min()?;
    (near.0 <= FARTHEST).then_some(near.1)
}

/// Returns the number of letters to insert, delete or replace to turn `a` into `b` (Levenshtein distance).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (done, from) in a.chars().enumerate() {
        let mut diagonal = done;
        row[0] = done + 1;
        for (at, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_is_recognized() {
        assert_eq!((distance("titel", "title"), distance("", "ab"), distance("same", "same")), (2, 2, 0));
        let message = "unknown field `descripton`, expected one of `name`, `title`, `description`";
        assert_eq!(nearest(message), Some("description"));
        assert_eq!(nearest("unknown field `colour`, expected one of `name`, `title`"), None);
        assert_eq!(nearest("missing field `title`"), None);
    }

    #[test]
    fn sockets_are_refused_for_what_they_are() {
        let error = anyhow::anyhow!(
            "the component imports what level \"compat\" does not offer: wasi:sockets/tcp@0.2.0"
        );
        let fault = of_component(Path::new("x.wasm"), &error);
        assert!(fault.help.contains("no sockets"), "{}", fault.help);
    }
}
