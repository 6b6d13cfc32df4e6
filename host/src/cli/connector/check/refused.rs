//! Why a host refuses a connector, and what its author can do about it.

use std::path::Path;

use authoring::Fault;
use runtime::Manifest;

/// Most letters that a misspelt key differs by from the key that is meant.
const FARTHEST: usize = 3;

const WIT: &str =
    "build it again with this program's SDK, or with the WIT package that `switchboard connector wit` writes";
const SURFACES: &str =
    "make surfaces in connector.toml and the interfaces that the component exports the same";
const ANEW: &str = "build it again: switchboard connector build";

/// Parts of the runtime's messages, and the remedy; the first part that a message has counts.
const REMEDIES: [(&str, &str); 19] = [
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
    ("not a WebAssembly component", ANEW),
    ("is too large: ", "leave debug information out, and look for large dependencies"),
    ("choose a larger class", "write memory = \"standard\" or memory = \"large\" in connector.toml"),
    (
        "does not start",
        "do less before the first call: what runs at start-up (statics, the top level of modules) runs for each call",
    ),
    ("does not compile", "the file is damaged, or uses WebAssembly that is not standardized: build it again"),
];

/// Reads and checks `connector.toml` in `folder`.
pub fn read_manifest(folder: &Path) -> Result<Manifest, Fault> {
    let path = folder.join("connector.toml");
    let shown = path.strip_prefix(".").unwrap_or(&path).display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let said = format!("cannot read {shown}: {error}");
        Fault::new(said, "name the folder that holds connector.toml and the component: --folder build/NAME")
    })?;
    Manifest::parse(&text).map_err(|error| match error.downcast_ref::<toml::de::Error>() {
        Some(error) => of_text(&shown, &text, error),
        None => {
            let said = format!("{error:#}");
            let help = remedy(&said).unwrap_or("change the value of the key that the error names");
            Fault::new(said, help)
        }
    })
}

/// A manifest that is no TOML, or has a key or a value that no manifest has.
fn of_text(path: &str, text: &str, error: &toml::de::Error) -> Fault {
    let start = error.span().map_or(0, |span| span.start);
    let line = 1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count();
    let message = error.message();
    let said = format!("{path}, line {line}: {}", message.trim().replace('\n', " "));
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

/// The refusal of the component in the file `path`.
pub fn of_component(path: &Path, error: &anyhow::Error) -> Fault {
    let said = format!("{}: {error:#}", path.display());
    let help = remedy(&said).unwrap_or(ANEW);
    Fault::new(said, help)
}

fn remedy(message: &str) -> Option<&'static str> {
    REMEDIES.iter().find(|(part, _)| message.contains(part)).map(|(_, remedy)| *remedy)
}

/// The key that is spelt most like the unknown one of "unknown field `a`, expected one of `b`, `c`".
fn nearest(message: &str) -> Option<&str> {
    let mut keys = message.strip_prefix("unknown field")?.split('`').skip(1).step_by(2);
    let unknown = keys.next()?;
    let near = keys.map(|key| (distance(unknown, key), key)).min()?;
    (near.0 <= FARTHEST).then_some(near.1)
}

/// Letters to insert, delete or replace until `a` is `b` (Levenshtein).
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
