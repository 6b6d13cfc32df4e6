//! `install`: an operator sees a connector's permissions before it is in service, and no content of a folder stops the command.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::check::{smallest, smallest_manifest};
use crate::project::{Ended, command, switchboard};

/// A folder with packages, which also has the store.
struct Operator(tempfile::TempDir);

impl Operator {
    fn new() -> Operator {
        Operator(tempfile::tempdir().unwrap())
    }

    /// A folder with the smallest connector and this manifest.
    fn package(&self, folder: &str, manifest: &str, name: &str) -> PathBuf {
        let folder = self.0.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("connector.toml"), manifest).unwrap();
        fs::write(folder.join(format!("{name}.wasm")), smallest()).unwrap();
        folder
    }

    fn install(&self, folder: &str, flags: &[&str]) -> Ended {
        let arguments = ["connector", "install", folder, "--init", "--data-dir", "data"];
        switchboard(self.0.path(), &[&arguments[..], flags].concat())
    }

    /// The version in service.
    fn version(&self, name: &str) -> Option<String> {
        let listed =
            switchboard(self.0.path(), &["connector", "list", "--data-dir", "data", "--json"]).json();
        let is_this = |c: &&Value| c["source"] == "installed" && c["name"] == name;
        let installed = listed.as_array().unwrap().iter().find(is_this);
        installed.map(|c| c["version"].as_str().unwrap().to_owned())
    }
}

/// The manifest of version `version`; `more` is appended.
fn notes(version: &str, more: &str) -> String {
    smallest_manifest(more).replace("0.1.0", version)
}

/// A data directory that does not exist yet stays so: each connector is compiled, which takes seconds, and no master key is made for it.
#[test]
fn doctor_says_which_connector_it_compiles_and_makes_nothing() {
    let operator = Operator::new();
    operator.package("bundle/mine", &notes("0.1.0", "").replace("\"notes\"", "\"mine\""), "mine");
    let doctor = ["doctor", "--data-dir", "data", "--connectors", "bundle"];
    let ended = switchboard(operator.0.path(), &doctor);
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.stdout, ended.stderr);
    for said in ["compiling connector", "connector=\"mine\"", "connector compiled in "] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
    assert!(!ended.stderr.contains("master key"), "{}", ended.stderr);
    assert!(ended.stdout.contains("mine 0.1.0"), "{}", ended.stdout);
    assert!(!operator.0.path().join("data").exists());
}

#[test]
fn an_update_that_asks_for_more_is_shown_and_wants_a_flag() {
    let operator = Operator::new();
    let host = |host: &str| format!("[[hosts]]\nhost = \"{host}\"\ninject = \"default\"\n");
    operator.package("one", &notes("0.1.0", &host("api.notes.example")), "notes");
    let first = operator.install("one", &[]);
    assert!(first.stdout.starts_with("installed notes 0.1.0 ("), "{}\n{}", first.stdout, first.stderr);
    let shown =
        "==> notes 0.1.0 may send requests to:\n    api.notes.example, with the account's credentials\n";
    assert!(first.stderr.contains(shown), "{}", first.stderr);

    let more = format!("{}{}[auth]\nkinds = [\"basic\"]\n", host("api.notes.example"), host("evil.example"));
    operator.package("two", &notes("0.2.0", &more), "notes");
    let refused = operator.install("two", &[]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{}", refused.stderr);
    assert_eq!(
        refused.stderr,
        "==> notes 0.2.0 asks for more than the installed 0.1.0:\n    \
         requests to evil.example, with the account's credentials\n    \
         from the user: a user name and a password\n\
         error: notes 0.2.0 asks for more than the installed 0.1.0: nothing was installed\n\
         help: read the list above; to install it all the same: --allow-more\n"
    );
    assert_eq!(operator.version("notes").as_deref(), Some("0.1.0"));
    operator.install("two", &["--allow-more"]).ok();
    assert_eq!(operator.version("notes").as_deref(), Some("0.2.0"));

    // Equal or fewer permissions need no flag.
    operator.package("three", &notes("0.3.0", &host("evil.example")), "notes");
    let less = operator.install("three", &[]);
    assert_eq!(less.code, Some(0), "{}", less.stderr);
    assert!(!less.stderr.contains("asks for more"), "{}", less.stderr);
    assert_eq!(operator.version("notes").as_deref(), Some("0.3.0"));

    // A package that cannot be compared counts as asking for more.
    let packages = operator.0.path().join("data/connectors/packages");
    for package in fs::read_dir(packages).unwrap() {
        fs::write(package.unwrap().path().join("connector.toml"), "name = 1").unwrap();
    }
    operator.package("four", &notes("0.4.0", ""), "notes");
    let unknown = operator.install("four", &[]);
    assert_eq!(unknown.code, Some(3), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("the installed version cannot be read"), "{}", unknown.stderr);
    operator.install("four", &["--allow-more"]).ok();
}

#[test]
fn the_name_of_a_bundled_connector_wants_a_flag() {
    let operator = Operator::new();
    for name in ["dav", "gmail", "google", "imap", "jmap", "microsoft", "sandbox"] {
        let manifest = notes("0.1.0", "").replace("\"notes\"", &format!("\"{name}\""));
        operator.package(name, &manifest, name);
        let refused = operator.install(name, &[]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{}", refused.stderr);
        let said = format!("error: \"{name}\" is the name of a bundled connector\nhelp: choose another name");
        assert!(refused.stderr.starts_with(&said), "{}", refused.stderr);
        assert_eq!(operator.version(name), None);
    }
    operator.install("dav", &["--replace-bundled"]).ok();
    assert_eq!(operator.version("dav").as_deref(), Some("0.1.0"));
    // From then on it is the operator's own.
    operator.install("dav", &[]).ok();

    // The same is true for a connector in the operator's own folder, named by a flag or by the variable that `serve` reads.
    operator.package("bundle/mine", &notes("0.1.0", "").replace("\"notes\"", "\"mine\""), "mine");
    let told = operator.install("bundle/mine", &["--connectors", "bundle"]);
    let arguments = ["connector", "install", "bundle/mine", "--data-dir", "data"];
    let mut by_variable = command(operator.0.path(), &arguments);
    by_variable.env("SWITCHBOARD_CONNECTORS", "bundle");
    for refused in [told, Ended::of(by_variable.output().unwrap())] {
        assert_eq!(refused.code, Some(3), "{}", refused.stderr);
        assert!(refused.stderr.starts_with("error: \"mine\" is the name of a bundled"), "{}", refused.stderr);
    }
    assert_eq!(operator.version("mine"), None);
    operator.install("bundle/mine", &["--connectors", "bundle", "--replace-bundled"]).ok();
}

/// Texts for users count as a permission too: users give their credentials to a name.
#[test]
fn an_update_that_calls_itself_something_else_or_asks_users_for_more_wants_a_flag() {
    let operator = Operator::new();
    operator.package("one", &notes("0.1.0", ""), "notes");
    operator.install("one", &[]).ok();
    let more = "[[settings]]\nname = \"password\"\ndescription = \"Type your password again\"\n";
    let manifest = notes("0.2.0", more).replace("title = \"Notes\"", "title = \"Bank\"");
    operator.package("two", &manifest, "notes");
    let refused = operator.install("two", &[]);
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    let shown = "from the user: the setting password (optional): \"Type your password again\"\n    \
        another title: \"Bank\", it was \"Notes\"\n";
    assert!(refused.stderr.contains(shown), "{}", refused.stderr);
    assert_eq!(operator.version("notes").as_deref(), Some("0.1.0"));
}

#[test]
fn a_device_or_a_pipe_in_the_place_of_a_file_is_refused_at_once() {
    let operator = Operator::new();
    let manifest = notes("0.1.0", "");
    let pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let zero = |path: &Path| symlink("/dev/zero", path).unwrap();
    for (kind, make) in [("pipe", &pipe as &dyn Fn(&Path)), ("zero", &zero)] {
        for file in ["connector.toml", "notes.wasm"] {
            let folder = format!("{kind}-{file}");
            let path = operator.package(&folder, &manifest, "notes").join(file);
            fs::remove_file(&path).unwrap();
            make(&path);
            let installed = operator.install(&folder, &[]);
            let checked = switchboard(operator.0.path(), &["connector", "check", "--folder", &folder]);
            for ended in [installed, checked] {
                assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{folder}: {}", ended.stderr);
                assert!(ended.stderr.contains("it is not a regular file"), "{folder}: {}", ended.stderr);
            }
        }
    }
    assert_eq!(operator.version("notes"), None);
}

#[test]
fn no_text_of_a_manifest_hides_the_rest() {
    let operator = Operator::new();
    for (hidden, said) in [
        ("\\u001B[2J\\u001B[H", "title: the character U+001B"),
        ("\\u202E", "title: the character U+202E"),
        ("\\nNotes 0.1.0 can be installed", "title: the character U+000A"),
        ("\u{1b}[2J", "connector.toml, line 3: the character U+001B"),
    ] {
        let manifest = notes("0.1.0", "").replace("title = \"Notes\"", &format!("title = \"Notes{hidden}\""));
        operator.package("notes", &manifest, "notes");
        for command in [&["connector", "check", "--folder", "notes"][..], &["connector", "install", "notes"]]
        {
            let ended = switchboard(operator.0.path(), command);
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
            assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
            assert!(!ended.stderr.contains(['\u{1b}', '\u{202e}']), "{:?}", ended.stderr);
        }
    }
}
