//! Maps positions in the built module of a TypeScript or JavaScript project to the author's files and lines.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Written beside the module by the build.
const MAP: &str = ".switchboard/build/connector.js.map";
/// The module, as the engine's stacks name it.
const MODULE: &str = "connector.js:";
const SCRIPT: &str = include_str!("places.mjs");

/// Returns the text with every `/connector.js:500:42` replaced by the position in the author's file: `src/paper.ts:41:7`. Unchanged if
/// the project in `folder` has no such module, or node cannot be started.
pub fn placed(folder: &Path, text: &str) -> String {
    let map = folder.join(MAP);
    if !text.contains(MODULE) || !map.is_file() {
        return text.to_owned();
    }
    map_with_node(&map, text).unwrap_or_else(|| text.to_owned())
}

fn map_with_node(map: &Path, text: &str) -> Option<String> {
    let mut node = Command::new("node");
    node.args(["--input-type=module", "--eval", SCRIPT, "--"]).arg(map);
    node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = node.spawn().ok()?;
    // Node reads all of it before it writes.
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the author's own lines of a stack, without their columns: `at onward (src/connector.ts:88)`; all lines if there are none.
pub fn own_frames(stack: &str) -> Vec<String> {
    let frames: Vec<&str> = stack.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let own: Vec<String> =
        frames.iter().filter(|frame| frame.contains("(src/")).map(|frame| without_column(frame)).collect();
    if own.is_empty() { frames.into_iter().map(str::to_owned).collect() } else { own }
}

fn without_column(frame: &str) -> String {
    match frame.rsplit_once(':') {
        Some((place, _)) if frame.ends_with(')') => format!("{place})"),
        _ => frame.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_places_stays_as_it_is() {
        let nowhere = Path::new("/nowhere");
        for text in ["all is well", "    at f (/connector.js:1:2)"] {
            assert_eq!(placed(nowhere, text), text);
        }
    }

    #[test]
    fn the_authors_frames_are_shown() {
        let stack = "    at send (vendor/switchboard/guest.ts:31:24)\n    at onward (src/connector.ts:88:12)\n    at call (native)\n";
        assert_eq!(own_frames(stack), ["at onward (src/connector.ts:88)"]);
        assert_eq!(own_frames("    at call (native)\n"), ["at call (native)"]);
    }
}
