//! The project's text files, and the division of a source file into code, tests and comments.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Longer files are data, not texts that people write.
const LONGEST: u64 = 1024 * 1024;

/// Every text file of the project.
pub struct Project {
    pub files: Vec<Source>,
    /// Folders with a `Cargo.toml`, the longest path first.
    crates: Vec<String>,
}

/// One text file; `path` is relative to the project, with `/`.
pub struct Source {
    pub path: String,
    pub text: String,
}

impl Project {
    /// The working tree, read once for all rules.
    pub fn current() -> &'static Project {
        static CURRENT: OnceLock<Project> = OnceLock::new();
        CURRENT.get_or_init(|| Project::read(&root()))
    }

    /// Reads a folder with the project's sources, except files that its `.gitignore` names.
    pub fn read(root: &Path) -> Project {
        let ignored = fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
        let mut ignored: Vec<&str> =
            ignored.lines().map(|line| line.trim_matches('/')).filter(|line| !line.is_empty()).collect();
        ignored.push(".git");
        let mut files = Vec::new();
        collect(root, root, &ignored, &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Project::new(files)
    }

    /// A project of these files.
    pub fn new(files: Vec<Source>) -> Project {
        let manifests = files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
        let mut crates: Vec<String> = manifests.map(str::to_owned).collect();
        crates.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        Project { files, crates }
    }

    /// The Rust sources.
    pub fn rust(&self) -> impl Iterator<Item = &Source> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }

    /// The Rust sources that people edit: no fixtures, and no generated files.
    pub fn authored(&self) -> impl Iterator<Item = &Source> {
        self.rust()
            .filter(|file| !file.path.contains("/fixtures/") && !file.text.starts_with("// @generated"))
    }

    /// The name of a file's crate in the list of exceptions: the folder of its `Cargo.toml`, or `src` of it where other crates lie in
    /// the same folder, as in `host/src`. Empty for a file without a crate.
    pub fn crate_of(&self, path: &str) -> String {
        let is_in =
            |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let Some(folder) = self.crates.iter().find(|folder| is_in(path, folder)) else {
            return String::new();
        };
        let sources = format!("{folder}/src");
        let has_crates = self.crates.iter().any(|other| is_in(other, folder));
        if has_crates && is_in(path, &sources) { sources } else { folder.clone() }
    }

    /// The text of one file.
    pub fn file(&self, path: &str) -> Option<&Source> {
        self.files.iter().find(|file| file.path == path)
    }
}

impl Source {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Source {
        Source { path: path.into(), text: text.into() }
    }

    /// Returns whether the file has only tests.
    pub fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// Returns the lines before the file's own test module; all lines if it has none.
    pub fn without_tests(&self) -> Vec<&str> {
        let lines: Vec<&str> = self.text.lines().collect();
        let module = lines.windows(2).position(|two| {
            two[0] == "#[cfg(test)]" && two[1].trim_start().trim_start_matches("pub ").starts_with("mod ")
        });
        match module {
            // After `mod tests;`, with the tests in another file, more code may follow.
            Some(at) if lines[at + 1].ends_with('{') => lines[..at].to_vec(),
            _ => lines,
        }
    }

    /// Returns the same lines without comments, each with its number.
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
            // Files that are not UTF-8 are no texts of ours.
            if let Ok(text) = fs::read_to_string(&path) {
                files.push(Source { path: relative, text });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Project, Source};

    #[test]
    fn a_crate_has_the_name_of_its_folder() {
        let paths = ["Cargo.toml", "host/Cargo.toml", "host/storage/Cargo.toml", "sdk/mail/Cargo.toml"];
        let project = Project::new(paths.map(|path| Source::new(path, "")).into());
        assert_eq!(project.crate_of("host/src/api/mod.rs"), "host/src");
        assert_eq!(project.crate_of("host/storage/src/lib.rs"), "host/storage");
        assert_eq!(project.crate_of("sdk/mail/src/html/mod.rs"), "sdk/mail");
        assert_eq!(project.crate_of("sdk/mailbox.rs"), "");
    }
}
