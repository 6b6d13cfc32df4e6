//! Help for authors of connectors in TypeScript and JavaScript: the cases name functions of the SDK in Rust.

use std::borrow::Cow;

/// Names of the Rust SDK in the help of cases, and what a connector in TypeScript or JavaScript has in their place. A longer name comes
/// before one that it begins with.
const NAMES: [(&str, &str); 5] = [
    ("Context::send_ok", "context.sendOk"),
    ("Context::send", "context.send"),
    (
        "Response::json, and #[serde(default)] on single fields, never on the whole struct, which would accept []",
        "response.json(\"items\"), which names the members that must be there",
    ),
    ("`url` of the template", "url(server, segments, query)"),
    ("Context::reached", "context.host.reached"),
];

/// Returns the help with the names of the SDK in TypeScript.
pub fn in_javascript(help: &str) -> Cow<'static, str> {
    Cow::Owned(NAMES.iter().fold(help.to_owned(), |text, (rust, javascript)| text.replace(rust, javascript)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    /// The files in a folder and in the folders below it.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn every_function_that_a_case_names_has_a_name_in_typescript() {
        let sources = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cases"));
        assert!(sources.len() > 20, "{sources:?}");
        for path in sources {
            let text = in_javascript(&fs::read_to_string(&path).unwrap()).into_owned();
            for name in ["Context::", "Response::json"] {
                let line = text.lines().find(|line| line.contains(name));
                assert_eq!(line, None, "{}: NAMES has no {name}… of this line", path.display());
            }
        }
    }

    #[test]
    fn functions_of_the_sdk_have_the_names_of_the_language() {
        assert_eq!(
            in_javascript("use Context::send_ok, not Context::send"),
            "use context.sendOk, not context.send"
        );
        let help = in_javascript(&format!("read it with {}", NAMES[2].0));
        assert_eq!(help, "read it with response.json(\"items\"), which names the members that must be there");
        assert_eq!(in_javascript("set more: false"), "set more: false");
    }
}
