//! The reach of a change: from its files to crates, from crates to those that depend on them, and from both to tests. This module reads no
//! file and runs no command.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// The crate of the tests that start a server; only the targets that the rules below choose run.
pub const TESTS: &str = "tests";
/// The tests of the API for a file that has no rule.
const SMOKE: &[&str] = &["contract::", "calendars::events::"];

/// The tests of `tests/api` (filters on their names) and other targets of `tests/` that run after a change. A pattern that ends with
/// `/` is the beginning of the file's path; another is a folder or file name in a path below `host/` or `sdk/`. All rules that match count.
const RULES: &[(&str, &[&str], &[&str])] = &[
    ("calendar", &["calendars::"], &[]),
    ("calendars", &["calendars::"], &[]),
    ("events", &["calendars::"], &[]),
    ("freebusy", &["calendars::"], &[]),
    ("scheduling", &["calendars::", "scheduling::"], &[]),
    ("bookings", &["scheduling::"], &[]),
    ("recurrence", &["calendars::", "task_lists::"], &[]),
    ("email", &["email::"], &[]),
    ("mail", &["email::"], &[]),
    ("outbox", &["email::"], &[]),
    ("sending", &["email::"], &[]),
    ("tracking", &["email::"], &[]),
    ("webhooks", &["webhooks::"], &[]),
    ("auth", &["oauth::"], &[]),
    ("oauth", &["oauth::"], &[]),
    ("access_tokens", &["contract::keys::", "oauth::token::"], &[]),
    ("authorization", &["oauth::"], &[]),
    ("authorization_server", &["oauth::"], &[]),
    ("push", &["push::"], &[]),
    ("jwks", &["push::tokens::"], &[]),
    ("jobs", &["jobs::", "email::tracking::", "webhooks::"], &[]),
    ("job_runner", &["jobs::", "webhooks::delivery::"], &[]),
    ("contacts", &["contacts::", "contact_books::", "contact_groups::"], &[]),
    ("contact_books", &["contact_books::"], &[]),
    ("contact_groups", &["contact_groups::"], &[]),
    ("merging", &["contacts::merge_suggestions::"], &[]),
    ("text", &["contacts::"], &[]),
    ("folding", &["contacts::"], &[]),
    ("phones", &["contacts::"], &[]),
    ("tasks", &["task_lists::", "tasks::"], &[]),
    ("task_lists", &["task_lists::"], &[]),
    ("connections", &["connections::", "contract::"], &[]),
    ("cli", &["cli::", "admin::commands::"], &[]),
    ("admin", &["admin::"], &[]),
    ("manage", &["admin::", "contract::key_rotation::", "contract::keys::"], &[]),
    ("operators", &["operators::"], &[]),
    ("web", &["admin::", "contract::"], &[]),
    ("routes", &["admin::", "contract::"], &[]),
    ("usage", &["usage::"], &[]),
    ("retention", &["retention::"], &[]),
    ("locale", &["oauth::round_trip::", "scheduling::mail::", "scheduling::page"], &[]),
    ("storage", SMOKE, &[]),
    ("app", &["calendars::events::", "contract::", "jobs::", "local_reads::"], &[]),
    ("local_copy", &["sync::", "contract::", "local_reads::"], &[]),
    (
        "writes",
        &["calendars::events::", "contacts::people::", "contract::", "email::changing::", "task_lists::"],
        &[],
    ),
    ("sync", &["sync::", "contract::", "jobs::"], &[]),
    ("runtime", &["connections::", "contract::"], &["conformance"]),
    ("sandbox_provider", &["sandbox_provider::", "sandbox_connector::"], &[]),
    ("sdk/clients/", &["contract::clients::"], &[]),
    ("sdk/connector/", &["sandbox_connector::"], &["conformance"]),
    ("wit/", &["contract::"], &["conformance"]),
    ("connectors/dav/", &["dav::"], &["conformance"]),
    ("connectors/gmail/", &["oauth::gmail_imap::"], &["conformance"]),
    ("connectors/google/", &["google::"], &["conformance"]),
    ("connectors/imap/", &["imap::", "email::sync::", "oauth::gmail_imap::"], &["conformance"]),
    ("connectors/jmap/", &["jmap::"], &["conformance"]),
    ("connectors/microsoft/", &["microsoft::"], &["conformance"]),
    ("connectors/sandbox/", &["sandbox_connector::", "contract::"], &["conformance"]),
    ("tests/contract/", &["contract::"], &[]),
    ("tests/conformance/", &[], &["conformance"]),
    ("tests/linear/", &[], &["linear"]),
    ("tests/memory/", &[], &["memory"]),
    // No test of these runs without real servers or minutes of time, or none but `tidy`.
    ("tests/browser/", &[], &[]),
    ("tests/clients/", &[], &[]),
    ("tests/api/fake_provider/", &["google::", "microsoft::"], &[]),
    ("tests/fakes/", &["google::", "microsoft::"], &[]),
    ("tests/fuzz/", &[], &[]),
    ("tests/mirror/", &[], &[]),
    ("tests/peers/", &[], &[]),
    ("tests/schemathesis/", &[], &[]),
    ("tests/tidy/", &[], &[]),
    ("xtask/", &[], &[]),
];

/// Folders outside the crates and a file of two crates, and where the code is that compiles them.
const COMPILED_IN: &[(&str, &[&str])] = &[
    // Laid out with the component of that crate.
    ("connectors/gmail/", &["connectors/imap/"]),
    ("migrations/", &["host/storage/"]),
    ("wit/", &["host/runtime/", "sdk/connector/"]),
    ("xtask/src/relay.rs", &["tests/", "xtask/"]),
];

/// Files that can change how every crate is compiled.
const EVERYWHERE: &[&str] = &["Cargo.toml", "Cargo.lock", "clippy.toml", ".cargo/"];

/// A crate of the workspace.
pub struct Package {
    pub name: String,
    pub manifest: PathBuf,
    /// Relative to the project; so are those of `dependencies`.
    pub folder: String,
    dependencies: Vec<String>,
    pub targets: Vec<Target>,
}

/// A target of a crate.
pub struct Target {
    pub kind: Kind,
    pub name: String,
    /// Cargo runs its tests by default.
    test: bool,
}

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Lib,
    Bin,
    Example,
    Test,
}

/// The identity of a target in cargo's messages: the manifest of its crate, its kind and its name.
pub type TargetKey = (PathBuf, Kind, String);

/// The lints and tests to run after a change. Crates are named by their folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Crates whose own tests run.
    pub tested: BTreeSet<String>,
    /// Crates that are built and linted: those that changed, and those that depend on them.
    pub linted: BTreeSet<String>,
    /// Filters for `tests/api`.
    pub api: BTreeSet<String>,
    /// Further test targets of `tests/`.
    pub targets: BTreeSet<String>,
    /// Changed files that reach every crate.
    pub everywhere: BTreeSet<String>,
}

/// The crates of the workspace, from the output of `cargo metadata --no-deps`.
pub fn packages(metadata: &Value) -> Result<Vec<Package>> {
    let root = Path::new(metadata["workspace_root"].as_str().context("the metadata has no workspace root")?);
    let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let mut packages = Vec::new();
    for package in items(&metadata["packages"]) {
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        let paths = items(&package["dependencies"]).iter().filter_map(|one| one["path"].as_str());
        packages.push(Package {
            name: text(&package["name"]),
            folder: relative(manifest.parent().context("a manifest lies in a folder")?),
            dependencies: paths.map(|path| relative(Path::new(path))).collect(),
            targets: items(&package["targets"]).iter().filter_map(Target::read).collect(),
            manifest,
        });
    }
    Ok(packages)
}

impl Target {
    /// A target as `cargo metadata` and the messages of a build describe it; none for build scripts and benchmarks.
    fn read(target: &Value) -> Option<Target> {
        let kind = match target["kind"][0].as_str()? {
            "bin" => Kind::Bin,
            "example" => Kind::Example,
            "test" => Kind::Test,
            "custom-build" | "bench" => return None,
            _ => Kind::Lib,
        };
        Some(Target { kind, name: text(&target["name"]), test: target["test"] == true })
    }

    /// A library whose unit tests cargo runs.
    pub fn is_unit_tested(&self) -> bool {
        self.kind == Kind::Lib && self.test
    }
}

/// The crate with the longest folder that contains `file`.
fn owner<'p>(packages: &'p [Package], file: &str) -> Option<&'p Package> {
    let contains =
        |package: &&Package| file.strip_prefix(&package.folder).is_some_and(|rest| rest.starts_with('/'));
    packages.iter().filter(contains).max_by_key(|package| package.folder.len())
}

/// `changed` and every crate that depends on one of them, directly or through others.
fn with_dependents(packages: &[Package], changed: &BTreeSet<String>) -> BTreeSet<String> {
    let mut reached = changed.clone();
    loop {
        let before = reached.len();
        for package in packages {
            if package.dependencies.iter().any(|folder| reached.contains(folder)) {
                reached.insert(package.folder.clone());
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

impl Plan {
    /// Returns the plan for these changed files.
    pub fn new(packages: &[Package], files: &[String]) -> Plan {
        let mut plan = Plan::default();
        for file in files {
            if EVERYWHERE.iter().any(|name| file.starts_with(name)) {
                plan.everywhere.insert(file.clone());
                plan.add_tests(SMOKE, &[]);
                continue;
            }
            let compiled_in = COMPILED_IN.iter().find(|(folder, _)| file.starts_with(folder));
            let inside = compiled_in.map_or_else(|| vec![file.as_str()], |(_, inside)| inside.to_vec());
            let owners: Vec<&Package> = inside.iter().filter_map(|file| owner(packages, file)).collect();
            plan.tested.extend(owners.iter().map(|package| package.folder.clone()));
            if !owners.is_empty() {
                plan.apply_rules(file);
            }
        }
        plan.linted = with_dependents(packages, &plan.tested);
        // A connector is rebuilt with what it depends on, and then tested as if it had changed.
        for folder in plan.linted.clone().into_iter().filter(|folder| folder.starts_with("connectors/")) {
            plan.apply_rules(&format!("{folder}/"));
            plan.tested.insert(folder);
        }
        if !plan.everywhere.is_empty() {
            plan.linted = packages.iter().map(|package| package.folder.clone()).collect();
        }
        plan
    }

    /// Adds the tests that the rules name for `file`.
    fn apply_rules(&mut self, file: &str) {
        let module = file.strip_prefix("tests/api/").and_then(|path| path.split(['/', '.']).next());
        // `main.rs`, `engines.txt` and what two modules share have no tests.
        if let Some(module) = module.filter(|module| !matches!(*module, "main" | "engines" | "fake_provider"))
        {
            self.api.insert(format!("{module}::"));
            return;
        }
        let mut matching = RULES.iter().filter(|(pattern, ..)| matches(pattern, file)).peekable();
        if matching.peek().is_none() {
            self.add_tests(SMOKE, &[]);
        }
        for (_, api, targets) in matching {
            self.add_tests(api, targets);
        }
    }

    fn add_tests(&mut self, api: &[&str], targets: &[&str]) {
        self.api.extend(api.iter().map(|filter| (*filter).to_owned()));
        self.targets.extend(targets.iter().map(|target| (*target).to_owned()));
    }

    /// The target's tests run.
    pub fn runs(&self, package: &Package, target: &Target) -> bool {
        if package.folder == TESTS {
            return target.kind == Kind::Test
                && match target.name.as_str() {
                    "tidy" => true,
                    "api" => !self.api.is_empty(),
                    name => self.targets.contains(name),
                };
        }
        // A program beside a library has its code, and so its tests, in the library.
        let has_lib = || package.targets.iter().any(|target| target.kind == Kind::Lib);
        let has_tests = match target.kind {
            Kind::Lib => true,
            Kind::Bin => !has_lib(),
            Kind::Test => !needs_servers(target),
            Kind::Example => false,
        };
        has_tests && target.test && self.tested.contains(&package.folder)
    }
}

fn matches(pattern: &str, file: &str) -> bool {
    if pattern.ends_with('/') {
        return file.starts_with(pattern);
    }
    let mut names = file.split('/').map(|name| name.strip_suffix(".rs").unwrap_or(name).replace('-', "_"));
    (file.starts_with("host/") || file.starts_with("sdk/")) && names.any(|name| name == pattern)
}

/// Tests on real servers: by convention they are in targets with such a name.
pub fn needs_servers(target: &Target) -> bool {
    target.kind == Kind::Test && target.name.starts_with("live")
}

/// The arguments of cargo that select these targets, each once; libraries are not selected by name.
pub fn selection<'t>(targets: impl Iterator<Item = &'t Target>) -> Vec<String> {
    let mut named: Vec<(&str, &str)> = Vec::new();
    for target in targets {
        match target.kind {
            Kind::Lib => {}
            Kind::Bin => named.push(("--bin", &target.name)),
            Kind::Example => named.push(("--example", &target.name)),
            Kind::Test => named.push(("--test", &target.name)),
        }
    }
    named.sort_unstable();
    named.dedup();
    named.iter().flat_map(|(flag, name)| [(*flag).to_owned(), (*name).to_owned()]).collect()
}

/// The executable of a target's tests, if a line of cargo's messages names one.
pub fn executable(line: &str) -> Option<(TargetKey, PathBuf)> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let target = Target::read(&message["target"])?;
    let manifest = message["manifest_path"].as_str()?;
    Some(((manifest.into(), target.kind, target.name), message["executable"].as_str()?.into()))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use serde_json::{Value, json};

    use super::{Kind, Package, Plan, executable, owner, packages, with_dependents};

    fn package(folder: &str, dependencies: &[&str], targets: &[(&str, &str)]) -> Value {
        let paths = dependencies.iter().map(|path| json!({ "name": path, "path": format!("/p/{path}") }));
        let targets =
            targets.iter().map(|(kind, name)| json!({ "kind": [kind], "name": name, "test": true }));
        json!({
            "name": folder.rsplit('/').next(),
            "manifest_path": format!("/p/{folder}/Cargo.toml"),
            "dependencies": paths.chain([json!({ "name": "serde" })]).collect::<Vec<_>>(),
            "targets": targets.collect::<Vec<_>>(),
        })
    }

    fn workspace() -> Vec<Package> {
        let metadata = json!({ "workspace_root": "/p", "packages": [
            package("host", &["host/storage", "host/runtime", "sdk/mail"], &[("lib", "switchboard"), ("bin", "switchboard")]),
            package("host/storage", &[], &[("lib", "storage")]),
            package("host/runtime", &["sdk/mail"], &[("lib", "runtime")]),
            package("sdk/mail", &[], &[("lib", "mail"), ("test", "corpus")]),
            package("sdk/connector", &[], &[("lib", "connector_sdk")]),
            package("connectors/imap", &["sdk/mail", "sdk/connector"], &[("cdylib", "connector_imap"), ("test", "live"), ("test", "uids")]),
            package("connectors/dav", &["sdk/connector"], &[("cdylib", "connector_dav"), ("example", "mapping")]),
            package("xtask", &[], &[("bin", "xtask")]),
            package("tests", &["host", "connectors/dav"], &[("lib", "harness"), ("test", "api"), ("test", "tidy"), ("test", "linear")]),
        ] });
        packages(&metadata).unwrap()
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn plan(files: &[&str]) -> Plan {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        Plan::new(&workspace(), &files)
    }

    fn runs(plan: &Plan) -> Vec<String> {
        let all = workspace();
        let targets = all.iter().flat_map(|one| one.targets.iter().map(move |target| (one, target)));
        let chosen = targets.filter(|(package, target)| plan.runs(package, target));
        chosen.map(|(package, target)| format!("{} {}", package.folder, target.name)).collect()
    }

    #[test]
    fn a_file_belongs_to_the_crate_with_the_longest_folder() {
        let all = workspace();
        let folder = |file| owner(&all, file).map(|package| package.folder.as_str());
        assert_eq!(folder("host/storage/src/items/list.rs"), Some("host/storage"));
        assert_eq!(folder("host/src/storage/items/list.rs"), Some("host"));
        assert_eq!(folder("host/storage2/x.rs"), Some("host"));
        assert_eq!(folder("README.md"), None);
    }

    #[test]
    fn a_change_reaches_the_crates_that_depend_on_it() {
        let all = workspace();
        assert_eq!(with_dependents(&all, &set(&["host/storage"])), set(&["host/storage", "host", "tests"]));
        let reached = set(&["sdk/mail", "host/runtime", "host", "connectors/imap", "tests"]);
        assert_eq!(with_dependents(&all, &set(&["sdk/mail"])), reached);
    }

    #[test]
    fn a_path_chooses_tests_of_the_api() {
        let api = |file: &str| plan(&[file]).api;
        assert_eq!(api("host/src/api/v1/calendars/freebusy.rs"), set(&["calendars::"]));
        assert_eq!(api("host/service/src/resources/events/write.rs"), set(&["calendars::"]));
        assert_eq!(
            api("host/storage/src/items/mail.rs"),
            set(&["calendars::events::", "contract::", "email::"])
        );
        assert_eq!(api("host/sandbox-provider/src/lib.rs"), api("host/src/sandbox_provider/mod.rs"));
        assert_eq!(api("host/src/lib.rs"), set(&["calendars::events::", "contract::"]));
        assert_eq!(
            api("host/service/src/app/named_locks.rs"),
            set(&["calendars::events::", "contract::", "jobs::", "local_reads::"])
        );
        assert_eq!(
            api("host/service/src/local_copy/upsert.rs"),
            set(&["contract::", "local_reads::", "sync::"])
        );
        assert_eq!(api("host/service/src/job_runner/turn.rs"), set(&["jobs::", "webhooks::delivery::"]));
        assert_eq!(api("tests/api/task_lists/parts.rs"), set(&["task_lists::"]));
        assert_eq!(api("tests/api/cli.rs"), set(&["cli::"]));
        assert_eq!(api("tests/api/fake_provider/mail.rs"), set(&["google::", "microsoft::"]));
        assert_eq!(api("tests/api/engines.txt"), set(&["calendars::events::", "contract::"]));
        assert_eq!(api("xtask/src/main.rs"), set(&[]));
        assert_eq!(api("README.md"), set(&[]));
    }

    #[test]
    fn own_tests_run_and_those_of_dependents_do_not() {
        let storage = plan(&["host/storage/src/items/list.rs"]);
        assert_eq!(storage.linted, set(&["host/storage", "host", "tests"]));
        assert_eq!(runs(&storage), ["host/storage storage", "tests api", "tests tidy"]);
        assert_eq!(runs(&plan(&["xtask/src/main.rs"])), ["xtask xtask", "tests tidy"]);
        assert_eq!(runs(&plan(&["CHANGELOG.md"])), ["tests tidy"]);
        assert_eq!(runs(&plan(&["tests/linear/main.rs"])), ["tests tidy", "tests linear"]);
    }

    #[test]
    fn a_connector_is_tested_with_what_it_depends_on() {
        let mail = plan(&["sdk/mail/src/read/mod.rs"]);
        assert_eq!(mail.tested, set(&["sdk/mail", "connectors/imap"]));
        assert!(mail.api.contains("imap::") && mail.targets.contains("conformance"));
        let expected =
            ["sdk/mail mail", "sdk/mail corpus", "connectors/imap connector_imap", "connectors/imap uids"];
        assert_eq!(runs(&mail)[..4], expected);
        assert_eq!(plan(&["wit/connector.wit"]).tested.len(), 4);
    }

    #[test]
    fn the_manifest_of_the_workspace_reaches_every_crate() {
        let plan = plan(&["Cargo.lock"]);
        assert_eq!((plan.linted.len(), plan.tested.len()), (workspace().len(), 0));
        assert!(plan.api.contains("contract::"));
    }

    #[test]
    fn an_executable_is_read_from_a_message_of_cargo() {
        let line = |test: bool| {
            json!({
                "reason": "compiler-artifact", "manifest_path": "/p/sdk/mail/Cargo.toml", "profile": { "test": test },
                "target": { "kind": ["test"], "name": "corpus", "test": true }, "executable": "/t/corpus-1",
            })
        };
        let (key, path) = executable(&line(true).to_string()).unwrap();
        assert_eq!(key, ("/p/sdk/mail/Cargo.toml".into(), Kind::Test, "corpus".to_owned()));
        assert_eq!(path, Path::new("/t/corpus-1"));
        assert!(executable(&line(false).to_string()).is_none() && executable("warning").is_none());
    }
}
