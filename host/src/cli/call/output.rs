//! The output of `switchboard api`: JSON that is indented as it arrives, in constant memory, to stdout or a file.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use crate::cli::refusal::failure;

/// Spaces of one level.
const INDENT: usize = 2;
/// Levels that are indented.
const MAX_INDENTED_LEVELS: usize = 40;

/// The place that an answer is written to.
pub enum CallOutput {
    Stdout,
    /// A file, which gets its name once the answer is complete.
    File {
        part: NamedTempFile,
        path: PathBuf,
    },
    /// A device or a pipe, which is written to and never replaced.
    Device {
        file: File,
        path: PathBuf,
    },
}

impl CallOutput {
    /// The file with this name, or stdout without one and for `-`.
    pub fn open(path: Option<&Path>) -> Result<CallOutput> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else { return Ok(CallOutput::Stdout) };
        if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let opened = OpenOptions::new().write(true).open(path);
            let file = opened.map_err(|e| cannot_write(path, &e))?;
            return Ok(CallOutput::Device { file, path: path.to_owned() });
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let part = NamedTempFile::new_in(folder).map_err(|e| cannot_write(path, &e))?;
        Ok(CallOutput::File { part, path: path.to_owned() })
    }

    /// Whether a person reads the output at a terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(self, CallOutput::Stdout) && std::io::stdout().is_terminal()
    }

    /// Whether the output is for a file, which gets an answer byte by byte as it is.
    pub fn is_file(&self) -> bool {
        matches!(self, CallOutput::File { .. } | CallOutput::Device { .. })
    }

    /// Writes bytes. Returns false if the reader of stdout or of a pipe has gone (`| head`).
    pub fn write(&mut self, bytes: &[u8]) -> Result<bool> {
        match self {
            CallOutput::Stdout => {
                let mut stdout = std::io::stdout().lock();
                match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
                    Ok(()) => Ok(true),
                    Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(false),
                    Err(e) => Err(e).context("cannot write to stdout"),
                }
            }
            CallOutput::File { part, path } => match part.write_all(bytes) {
                Ok(()) => Ok(true),
                Err(e) => Err(cannot_write(path, &e)),
            },
            CallOutput::Device { file, path } => match file.write_all(bytes) {
                Ok(()) => Ok(true),
                Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(false),
                Err(e) => Err(cannot_write(path, &e)),
            },
        }
    }

    /// Gives the file its name.
    pub fn finish(self) -> Result<()> {
        match self {
            CallOutput::Stdout | CallOutput::Device { .. } => Ok(()),
            CallOutput::File { part, path } => {
                part.persist(&path).map_err(|e| cannot_write(&path, &e.error))?;
                Ok(())
            }
        }
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> anyhow::Error {
    failure(
        format!("cannot write {}: {error}", path.display()),
        "check that the folder is there, that you may write to it, and that the disk has room",
    )
}

/// The first byte, in UTF-8, of the control characters U+0080 to U+009F, and of some letters.
const C1_LEAD: u8 = 0xc2;

/// Indents JSON piece by piece.
#[derive(Default)]
pub struct JsonIndenter {
    depth: usize,
    /// The last byte was `C1_LEAD`, and is not written yet.
    has_c1_lead: bool,
    is_in_text: bool,
    is_escaped: bool,
    /// The last token opened an object or a list, which may be empty.
    is_just_opened: bool,
}

impl JsonIndenter {
    /// Returns the next piece, indented.
    pub fn indent(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(piece.len() * 2);
        for byte in piece {
            if self.is_in_text {
                self.push_text(*byte, &mut out);
            } else {
                self.push_token(*byte, &mut out);
            }
        }
        out
    }

    /// Adds a byte of a string. Control characters are escaped.
    fn push_text(&mut self, byte: u8, out: &mut Vec<u8>) {
        let follows_lead = std::mem::replace(&mut self.has_c1_lead, byte == C1_LEAD);
        if follows_lead && !matches!(byte, 0x80..=0x9f) {
            out.push(C1_LEAD);
        }
        match byte {
            C1_LEAD => {}
            0x80..=0x9f if follows_lead => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            0..0x20 | 0x7f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
        self.is_in_text = self.is_escaped || byte != b'"';
        self.is_escaped = !self.is_escaped && byte == b'\\';
    }

    fn push_token(&mut self, byte: u8, out: &mut Vec<u8>) {
        match byte {
            // Outside of its strings JSON is ASCII.
            0..=0x20 | 0x7f.. => {}
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if !std::mem::take(&mut self.is_just_opened) {
                    self.begin_line(out);
                }
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                self.begin_line(out);
            }
            b':' => out.extend_from_slice(b": "),
            _ => {
                if std::mem::take(&mut self.is_just_opened) {
                    self.begin_line(out);
                }
                out.push(byte);
                self.is_in_text = byte == b'"';
                if matches!(byte, b'{' | b'[') {
                    self.depth += 1;
                    self.is_just_opened = true;
                }
            }
        }
    }

    fn begin_line(&self, out: &mut Vec<u8>) {
        out.push(b'\n');
        out.resize(out.len() + INDENT * self.depth.min(MAX_INDENTED_LEVELS), b' ');
    }
}

/// Removes control characters, except line ends and tabs, from plain text that goes to a terminal, piece by piece.
#[derive(Default)]
pub struct TerminalText {
    /// The last byte was `C1_LEAD`, and is not written yet.
    has_c1_lead: bool,
}

impl TerminalText {
    /// Returns the next piece without control characters.
    pub fn filter(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(piece.len() + 1);
        for byte in piece.iter().copied() {
            let follows_lead = std::mem::replace(&mut self.has_c1_lead, byte == C1_LEAD);
            let is_c1 = follows_lead && matches!(byte, 0x80..=0x9f);
            if follows_lead && !is_c1 {
                out.push(C1_LEAD);
            }
            match byte {
                b'\n' | b'\t' => out.push(byte),
                0..0x20 | 0x7f | C1_LEAD => {}
                _ if is_c1 => {}
                _ => out.push(byte),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_indented_as_it_arrives() {
        let value = json!({
            "text": "a \"quoted\" {brace}, \\ and: [bracket]\n",
            "empty": {}, "none": [], "nested": [[1, -2.5e3], { "a": null, "b": [true, false] }], "é": "ü",
        });
        let compact = value.to_string().into_bytes();
        let expected = serde_json::to_string_pretty(&value).unwrap();
        for size in [1, 2, 7, compact.len()] {
            let mut indenter = JsonIndenter::default();
            let out: Vec<u8> = compact.chunks(size).flat_map(|piece| indenter.indent(piece)).collect();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{size}");
        }
        let mut again = JsonIndenter::default();
        assert_eq!(String::from_utf8(again.indent(expected.as_bytes())).unwrap(), expected);
    }

    #[test]
    fn no_control_character_reaches_a_terminal() {
        let out = JsonIndenter::default().indent(b"\x1b[\"a\x1b[31m\"]");
        assert_eq!(String::from_utf8(out).unwrap(), "[\n  \"a\\u001b[31m\"\n]");
        let text = "\"é£\u{9b}31m\u{85}\u{7f}Â\"".as_bytes();
        for size in [1, text.len()] {
            let mut indenter = JsonIndenter::default();
            let out: Vec<u8> = text.chunks(size).flat_map(|piece| indenter.indent(piece)).collect();
            assert_eq!(String::from_utf8(out).unwrap(), "\"é£\\u009b31m\\u0085\\u007fÂ\"", "{size}");
            let mut plain = TerminalText::default();
            let out: Vec<u8> = text.chunks(size).flat_map(|piece| plain.filter(piece)).collect();
            assert_eq!(String::from_utf8(out).unwrap(), "\"é£31mÂ\"", "{size}");
        }
    }

    #[test]
    fn a_device_is_not_replaced() {
        let null = Path::new("/dev/null");
        assert!(matches!(CallOutput::open(Some(null)).unwrap(), CallOutput::Device { .. }));
        assert!(matches!(CallOutput::open(Some(Path::new("-"))).unwrap(), CallOutput::Stdout));
    }

    #[test]
    fn a_file_has_its_name_once_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("answer.json");
        let mut output = CallOutput::open(Some(&path)).unwrap();
        assert!(output.write(b"{}").unwrap() && !path.exists());
        output.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"{}");
        drop(CallOutput::open(Some(&dir.path().join("other"))).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
