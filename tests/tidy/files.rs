//! The project's text files, and what of a source file is code, test or comment.

use std::fs;
use std::path::{Path, PathBuf};

/// Longer text is data, not something that people wrote.
const LONGEST: u64 = 1024 * 1024;

/// Every text file of the project.
pub struct Project {
    pub files: Vec<Source>,
}

/// One text file; `path` is relative to the project, with `/`.
pub struct Source {
    pub path: String,
    pub text: String,
}

impl Project {
    /// Reads the working tree, without what `.gitignore` names.
    pub fn read() -> Project {
        let root = root();
        let ignored = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
        let mut ignored: Vec<&str> =
            ignored.lines().map(|line| line.trim_matches('/')).filter(|line| !line.is_empty()).collect();
        ignored.push(".git");
        let mut files = Vec::new();
        collect(&root, &root, &ignored, &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Project { files }
    }

    /// The Rust sources.
    pub fn rust(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// The text of one file.
    pub fn file(&self, path: &str) -> Option<&Source> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl Source {
    /// It holds tests and nothing else.
    pub fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// The lines before the file's own test module; all of them where it has none.
    pub fn without_tests(&self) -> Vec<&str> {
        let lines: Vec<&str> = self.text.lines().collect();
        let module = lines
            .windows(2)
            .position(|two| two[0] == "#[cfg(test)]" && two[1].trim_start().starts_with("mod "));
        match module {
            // `mod tests;` in a file of its own leaves code behind it.
            Some(at) if lines[at + 1].ends_with('{') => lines[..at].to_vec(),
            _ => lines,
        }
    }

    /// The same without comments, with the number of each line.
    pub fn code(&self) -> Vec<(usize, &str)> {
        let lines = self.without_tests().into_iter().enumerate();
        lines
            .map(|(at, line)| (at + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
            .collect()
    }
}

/// The project's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is a folder of the project").to_owned()
}

fn collect(root: &Path, folder: &Path, ignored: &[&str], files: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("the project's folders are readable").flatten() {
        let path = entry.path();
        let relative =
            path.strip_prefix(root).expect("it is below the root").to_string_lossy().replace('\\', "/");
        let name = entry.file_name().to_string_lossy().into_owned();
        let hit = |pattern: &&&str| match pattern.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => relative == **pattern || name == **pattern,
        };
        if ignored.iter().any(|pattern| hit(&pattern)) {
            continue;
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            collect(root, &path, ignored, files);
        } else if kind.is_file() && entry.metadata().is_ok_and(|data| data.len() < LONGEST) {
            // What is not UTF-8 is no text of ours.
            if let Ok(text) = fs::read_to_string(&path) {
                files.push(Source { path: relative, text });
            }
        }
    }
}
