//! The program as a user calls it in a folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

/// An ended command.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Returns the standard output. Panics if the command failed.
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self.stdout
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|_| panic!("no JSON: {}\n{}", self.stdout, self.stderr))
    }
}

/// The folder that cargo builds into.
pub fn target() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_switchboard-under-test"));
    program.parent().and_then(Path::parent).unwrap().to_owned()
}

/// Returns the command `switchboard` in a folder. Compiled third-party packages are kept from one run to the next.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_switchboard-under-test"));
    command.args(arguments).current_dir(folder).env("CARGO_TARGET_DIR", target().join("authoring"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SWITCHBOARD_")) {
        command.env_remove(name);
    }
    command
}

/// Runs it.
pub fn switchboard(folder: &Path, arguments: &[&str]) -> Ended {
    Ended::of(command(folder, arguments).output().unwrap())
}

/// A project in an otherwise empty folder. All projects build into one folder, so different projects have different names.
pub struct Notes {
    dir: tempfile::TempDir,
    name: &'static str,
    pub said: String,
}

impl Notes {
    pub fn folder(&self) -> PathBuf {
        self.dir.path().join(self.name)
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        switchboard(&self.folder(), arguments)
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder().join(file)).unwrap()
    }

    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.folder().join(file), text).unwrap();
    }

    /// Makes it, in Rust.
    pub fn new(name: &'static str) -> Notes {
        Notes::written_in("rust", name)
    }

    /// Makes it, in this language.
    pub fn written_in(language: &str, name: &'static str) -> Notes {
        Notes::create(name, &["--lang", language])
    }

    /// Makes it with these options of `connector new`.
    fn create(name: &'static str, options: &[&str]) -> Notes {
        let dir = tempfile::tempdir().unwrap();
        let said = switchboard(dir.path(), &[&["connector", "new", name][..], options].concat()).ok();
        let notes = Notes { dir, name, said };
        share_sdk(&notes.folder().join("vendor"));
        notes
    }

    /// Makes it, in TypeScript or JavaScript, with its tools installed.
    pub fn with_tools(language: &str, name: &'static str) -> Notes {
        let notes = Notes::written_in(language, name);
        share_tools(&notes.folder());
        notes
    }

    /// Makes it from the template of a surface, with its tools installed.
    pub fn for_surface(language: &str, surface: &str, name: &'static str) -> Notes {
        let notes = Notes::create(name, &["--lang", language, "--surface", surface]);
        if language != "rust" {
            share_tools(&notes.folder());
        }
        notes
    }
}

/// Links the tools of TypeScript into a project, as its build would install them: npm installs them once for all projects of the target
/// folder. Projects in JavaScript need some of them.
pub fn share_tools(folder: &Path) {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    const STAMP: &str = ".switchboard-lock.json";
    let installed = INSTALLED.get_or_init(|| {
        let templates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../sdk/templates/typescript"));
        let tools = target().join("authoring/npm");
        let lock = std::fs::read(templates.join("package-lock.json")).unwrap();
        if std::fs::read(tools.join(STAMP)).ok().as_ref() != Some(&lock) {
            std::fs::create_dir_all(&tools).unwrap();
            for file in ["package.json", "package-lock.json"] {
                std::fs::copy(templates.join(file), tools.join(file)).unwrap();
            }
            let mut npm = Command::new("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
            Ended::of(npm.current_dir(&tools).output().unwrap()).ok();
            std::fs::write(tools.join(STAMP), lock).unwrap();
        }
        tools.join("node_modules")
    });
    let modules = folder.join("node_modules");
    std::fs::create_dir(&modules).unwrap();
    for entry in std::fs::read_dir(installed).unwrap() {
        let entry = entry.unwrap();
        std::os::unix::fs::symlink(entry.path(), modules.join(entry.file_name())).unwrap();
    }
    // The build compares it, and then installs nothing.
    std::fs::copy(folder.join("package-lock.json"), modules.join(STAMP)).unwrap();
}

/// Gives the copy of the SDK in a project the date of the program that wrote it. All projects have equal copies at the same relative path
/// and build into one folder, so that cargo compiles the SDK once, and not for each project.
pub fn share_sdk(folder: &Path) {
    let program = std::fs::metadata(env!("CARGO_BIN_EXE_switchboard-under-test")).unwrap();
    let written = program.modified().unwrap();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            share_sdk(&path);
        } else {
            std::fs::File::options().append(true).open(&path).unwrap().set_modified(written).unwrap();
        }
    }
}

/// Returns the unchanged project, built: made once, because two tests use it and a build takes a while.
pub fn built() -> &'static Notes {
    static BUILT: OnceLock<Notes> = OnceLock::new();
    BUILT.get_or_init(|| {
        let notes = Notes::new("notes");
        notes.run(&["connector", "build"]).ok();
        notes
    })
}
