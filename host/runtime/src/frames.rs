//! The guest's stack at the point where a call stopped, with the names of the source code.

use std::fmt;

use rustc_demangle::demangle;
use wasmtime::{FrameInfo, WasmBacktrace};

use crate::log::harmless;

/// Frames of a report.
const MAX_FRAMES: usize = 8;
/// Bytes of a name, and of a file's path.
const LONGEST: usize = 200;
/// The folder of the project in debug information of our toolchain.
const PROJECT: &str = "/src/";
/// The folder of a project that holds the SDK.
const VENDORED: &str = "vendor/";
/// Crates between the author's code and the trap.
const OTHER_CRATES: [&str; 9] =
    ["std", "core", "alloc", "__rustc", "dlmalloc", "connector_sdk", "wit_bindgen", "serde", "serde_json"];
/// Prefixes of names that a toolchain generates.
const MADE: [&str; 5] = ["rust_", "__rust", "__rg_", "cabi_", "wit-component:"];

/// A function of the guest on the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name in the source code.
    pub function: String,
    /// File, from the project's folder, and line: where the component has debug information and
    /// [`Config::lines`](crate::Config::lines) enables it.
    pub place: Option<(String, u32)>,
    /// The instruction's offset in its module.
    pub offset: Option<usize>,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.function)?;
        match (&self.place, self.offset) {
            (Some((file, line)), _) => write!(f, "  {file}:{line}"),
            (None, Some(offset)) => write!(f, " at {offset:#x}"),
            (None, None) => Ok(()),
        }
    }
}

/// The author's functions, innermost first; all functions where none is the author's.
pub(crate) fn frames(trace: &WasmBacktrace) -> Vec<Frame> {
    let all: Vec<Frame> = trace.frames().iter().flat_map(of_info).collect();
    let own: Vec<Frame> = all.iter().filter(|frame| is_authors(frame)).cloned().collect();
    let mut shown = if own.is_empty() { all } else { own };
    shown.truncate(MAX_FRAMES);
    shown
}

/// The frames of one instruction: several if the compiler has inlined functions. Debug information has a function's name without
/// its path; the name section has the path, of the outermost one alone.
fn of_info(info: &FrameInfo) -> Vec<Frame> {
    let (offset, symbols) = (info.module_offset(), info.symbols());
    let outermost = info.func_name().map(readable);
    let mut frames: Vec<Frame> = symbols
        .iter()
        .map(|symbol| {
            let place = symbol.file().zip(symbol.line());
            let place = place
                .map(|(file, line)| (harmless(file.strip_prefix(PROJECT).unwrap_or(file), LONGEST), line));
            Frame { function: symbol.name().map(readable).unwrap_or_default(), place, offset }
        })
        .collect();
    if frames.is_empty() {
        frames.push(Frame { function: String::new(), place: None, offset });
    }
    if let (Some(frame), Some(function)) = (frames.last_mut(), outermost) {
        frame.function = function;
    }
    for frame in frames.iter_mut().filter(|frame| frame.function.is_empty()) {
        "<unnamed>".clone_into(&mut frame.function);
    }
    frames
}

/// The name without the hash that Rust adds.
fn readable(symbol: &str) -> String {
    harmless(&format!("{:#}", demangle(symbol)), LONGEST)
}

/// Whether the frame is the author's code. Decided by the file, if it is known: files of other packages are elsewhere, or below
/// `vendor`.
fn is_authors(frame: &Frame) -> bool {
    match &frame.place {
        Some((file, _)) => !file.starts_with('/') && !file.starts_with(VENDORED),
        None => is_authors_name(&frame.function),
    }
}

fn is_authors_name(function: &str) -> bool {
    // `<notes::Notes as connector_sdk::Tasks>::changes` is a function of notes; the exported name has a `#`.
    let name = function.trim_start_matches(['<', '&', '*', '[', '(']);
    let crate_name = name.split("::").next().unwrap_or_default();
    let is_made = function.contains('#') || MADE.iter().any(|beginning| name.starts_with(beginning));
    let is_of_other_crate = name.contains("::") && OTHER_CRATES.contains(&crate_name);
    !is_made && !is_of_other_crate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_the_author_wrote() {
        assert_eq!(readable("_ZN5notes5paper7to_task17h0123456789abcdefE"), "notes::paper::to_task");
        assert_eq!(readable("map_event"), "map_event");
        assert_eq!(readable("a\nb"), "a\\u{a}b");
    }

    #[test]
    fn a_file_says_whose_a_function_is() {
        let frame =
            |file: &str| Frame { function: "source".into(), place: Some((file.into(), 1)), offset: None };
        assert!(is_authors(&frame("src/paper.rs")));
        for other in
            ["/rust/library/core/src/option.rs", "/cargo/registry/src/x/lib.rs", "vendor/model/src/lib.rs"]
        {
            assert!(!is_authors(&frame(other)), "{other}");
        }
    }

    #[test]
    fn what_lies_between_is_not_the_authors() {
        for own in [
            "notes::paper::to_task",
            "<notes::Notes as connector_sdk::Tasks>::changes",
            "standard::read",
            "map_event",
        ] {
            assert!(is_authors_name(own), "{own}");
        }
        for other in [
            "core::option::unwrap_failed",
            "<core::option::Option<T> as core::ops::Try>::branch",
            "connector_sdk::guest::run",
            "__rustc::rust_panic",
            "rust_begin_unwind",
            "cabi_realloc",
            "wit-component:shim",
            "switchboard:connector/tasks@1.0.0#changes",
        ] {
            assert!(!is_authors_name(other), "{other}");
        }
    }
}
