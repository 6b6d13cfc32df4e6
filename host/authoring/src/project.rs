//! A connector's project: its `project.toml`, and its build.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::{env, fs, process};

use serde::Deserialize;
use toml::Value;

use crate::fault::{Fault, Result};
use crate::group;
use crate::javascript;
use crate::language::Language;
use crate::name::ConnectorName;
use crate::text_file;
use crate::toolchain::{Install, TARGET, Toolchain};

/// A project on disk.
#[derive(Clone, Debug)]
pub struct Project {
    pub folder: PathBuf,
    /// The connector's name, of `connector.toml`.
    pub name: String,
    /// Names of the surfaces that `connector.toml` says the component exports.
    pub surfaces: Vec<String>,
    pub language: Language,
    /// The provider that tests run against.
    pub provider: Provider,
    /// Tests replay `recordings/` in place of the provider.
    pub is_replayed: bool,
    /// How the provider's answers are recorded.
    pub record: Record,
    /// The settings of a test's connection, as a user would enter them when connecting an account.
    pub settings: BTreeMap<String, Value>,
    /// The list or other collection whose content tests may change, by its name or id; none: the tests choose one.
    pub collection: Option<String>,
}

/// A provider that tests run against.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Provider {
    BuiltIn(BuiltIn),
    Local(Local),
}

/// A provider that is in the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BuiltIn {
    /// A small service of lists, calendars and address books, which the templates are written for.
    Paper,
}

/// A server of the author's.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// The command that starts the provider, with its arguments; empty: it is already running. It is stopped when the test ends.
    #[serde(default)]
    pub command: Vec<String>,
    /// The provider's base URL.
    pub url: String,
    /// The bearer token that opens an account there whose content tests may change.
    token: Option<String>,
    /// In place of a token: the user name of such an account.
    username: Option<String>,
    password: Option<String>,
}

/// The credentials that open an account at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountLogin {
    /// A bearer token.
    Token(String),
    /// A user name and a password, sent with the Basic scheme.
    Password { username: String, password: String },
}

impl Local {
    /// Returns the credentials of the account there. Fails unless they are a token, or a user name and a password.
    pub fn login(&self) -> Result<AccountLogin> {
        let wrong = match (&self.token, &self.username, &self.password) {
            (Some(token), None, None) => return Ok(AccountLogin::Token(token.clone())),
            // RFC 7617, section 2.
            (None, Some(username), Some(_)) if username.contains(':') => {
                "a username with a colon, which the Basic scheme cannot send"
            }
            (None, Some(username), Some(password)) => {
                let (username, password) = (username.clone(), password.clone());
                return Ok(AccountLogin::Password { username, password });
            }
            (Some(_), _, _) => "both a token and a username or password",
            (None, Some(_), None) => "a username without a password",
            (None, None, Some(_)) => "a password without a username",
            (None, None, None) => "no credentials",
        };
        let said = format!("provider of project.toml ({}) has {wrong}", self.url);
        Err(Fault::new(said, "write token = \"…\", or username = \"…\" and password = \"…\""))
    }
}

/// How a provider's answers are recorded: `[record]` of `project.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// The provider to record; none: the one that tests run against.
    pub provider: Option<Provider>,
    /// Response headers that are recorded beside the usual ones.
    pub keep_headers: Vec<String>,
    /// Texts that are recorded unchanged: a value, an address, `@` and a domain, or the name of a member that holds no secret.
    pub keep: Vec<String>,
    /// JSON pointers of members of request bodies that are not compared when a recording is replayed.
    pub ignore: Vec<String>,
}

/// The purpose of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Optimised, for users.
    Release,
    /// Built in the shortest time, with lines for the frames of traps.
    Dev,
}

/// A component that was built.
#[derive(Clone, Debug)]
pub struct BuiltComponent {
    /// Holds `connector.toml` and the component, as a host reads them.
    pub folder: PathBuf,
    pub component: PathBuf,
    pub bytes: usize,
    /// The component differs from the one of the last build.
    pub is_new: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    lang: Language,
    #[serde(default)]
    test: Test,
    #[serde(default)]
    record: Record,
}

/// The target of tests: a recording or a provider.
#[derive(Deserialize)]
#[serde(untagged)]
enum TestTarget {
    Replay(Replay),
    Provider(Provider),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Replay {
    Recorded,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Test {
    provider: Option<TestTarget>,
    collection: Option<String>,
    #[serde(default)]
    settings: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct CargoPackage {
    name: String,
}

/// The fields of `connector.toml` that a build reads.
#[derive(Deserialize)]
struct Manifest {
    name: String,
    #[serde(default)]
    surfaces: Vec<String>,
}

/// `tasks` of `tasks@1.0.0`.
fn name_of(surface: &str) -> String {
    surface.split('@').next().unwrap_or_default().to_owned()
}

impl Project {
    /// Reads the project in `folder`.
    pub fn open(folder: &Path) -> Result<Project> {
        let path = folder.join("project.toml");
        if !path.is_file() {
            return Err(Fault::new(
                format!("there is no project.toml in {}", folder.display()),
                "go to a project's folder, or make one: switchboard connector new NAME --lang rust",
            ));
        }
        let file: File = read(
            &path,
            "lang = \"rust\" (or another of the templates' languages), [test] with provider, settings and collection, and [record] with provider, keep_headers, keep and ignore, are all that it may have",
        )?;
        let named: Manifest = read(&folder.join("connector.toml"), "name = \"…\" is its first line")?;
        let (is_replayed, provider) = match file.test.provider {
            Some(TestTarget::Replay(Replay::Recorded)) => (true, file.record.provider.clone()),
            Some(TestTarget::Provider(provider)) => (false, Some(provider)),
            None => (false, None),
        };
        Ok(Project {
            folder: folder.to_owned(),
            name: named.name,
            surfaces: named.surfaces.iter().map(|surface| name_of(surface)).collect(),
            language: file.lang,
            provider: provider.unwrap_or(Provider::BuiltIn(BuiltIn::Paper)),
            is_replayed,
            record: file.record,
            settings: file.test.settings,
            collection: file.test.collection,
        })
    }

    /// Builds the component and puts it, with the manifest, into `build/<name>`. Output of the compiler goes to stderr. A failed build
    /// leaves the last component in place.
    pub fn build(&self, profile: Profile) -> Result<BuiltComponent> {
        let built = self.build_unless(profile, None)?;
        Ok(built.expect("without a flag the build cannot be cancelled"))
    }

    /// Builds the component, unless another thread sets `called_off`: the build then ends at once without a component, and the last one
    /// stays.
    pub fn build_unless(
        &self,
        profile: Profile,
        called_off: Option<&AtomicBool>,
    ) -> Result<Option<BuiltComponent>> {
        let compiled = match self.language {
            Language::Rust => self.build_rust(profile, called_off)?,
            Language::TypeScript | Language::JavaScript => {
                let name: ConnectorName = self.name.parse()?;
                javascript::build(&self.folder, &name, &self.surfaces, profile == Profile::Dev, called_off)?
            }
        };
        let Some(compiled) = compiled else { return Ok(None) };
        let folder = self.folder.join("build").join(&self.name);
        fs::create_dir_all(&folder).map_err(|error| Fault::of_file("create", &folder, error))?;
        let component = folder.join(format!("{}.wasm", self.name));
        let (bytes, is_new) = copy_if_changed(&compiled, &component)?;
        copy_if_changed(&self.folder.join("connector.toml"), &folder.join("connector.toml"))?;
        Ok(Some(BuiltComponent { folder, component, bytes, is_new }))
    }

    fn build_rust(&self, profile: Profile, called_off: Option<&AtomicBool>) -> Result<Option<PathBuf>> {
        let target =
            env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.folder.join("target"), PathBuf::from);
        let toolchain = Toolchain::find(&self.folder, &target, Install::Nothing)?;
        let profile = match profile {
            Profile::Release => "release",
            Profile::Dev => "dev-wasm",
        };
        let mut cargo = toolchain.cargo();
        cargo.current_dir(&self.folder).args(["build", "--target", TARGET, "--profile", profile, "--lib"]);
        let status = group::run(cargo.stdout(process::Stdio::null()), called_off);
        let status =
            status.map_err(|error| Fault::new(format!("bash cannot be started: {error}"), "install bash"))?;
        let Some(status) = status else { return Ok(None) };
        if !status.success() {
            return Err(Fault::new(
                "the connector was not built",
                "fix what cargo says above, then build again",
            ));
        }
        let compiled = target.join(TARGET).join(profile).join(format!("{}.wasm", self.library()?));
        if !compiled.is_file() {
            return Err(Fault::new(
                format!("cargo has built no component: {} does not exist", compiled.display()),
                "Cargo.toml needs [lib] crate-type = [\"cdylib\", \"rlib\"]",
            ));
        }
        Ok(Some(compiled))
    }

    /// The name of the library that cargo builds.
    fn library(&self) -> Result<String> {
        #[derive(Deserialize)]
        struct Cargo {
            package: CargoPackage,
            lib: Option<Library>,
        }
        #[derive(Deserialize)]
        struct Library {
            name: Option<String>,
        }
        let cargo: Cargo =
            read(&self.folder.join("Cargo.toml"), "a package of its own, with [package] name")?;
        let own = cargo.lib.and_then(|lib| lib.name);
        Ok(own.unwrap_or_else(|| cargo.package.name.replace('-', "_")))
    }
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path, help: &str) -> Result<T> {
    let text = text_file::read(path).map_err(|error| Fault::of_file("read", path, error))?;
    toml::from_str(&text).map_err(|error| {
        let place =
            error.span().map_or(1, |span| 1 + text.bytes().take(span.start).filter(|b| *b == b'\n').count());
        Fault::new(format!("{}, line {place}: {}", path.display(), error.message()), help)
    })
}

/// Copies by rename, so that a host that watches the folder never reads half a file; an equal file is left alone. Returns the size, and
/// whether the content changed.
fn copy_if_changed(from: &Path, to: &Path) -> Result<(usize, bool)> {
    let bytes = fs::read(from).map_err(|error| Fault::of_file("read", from, error))?;
    if fs::read(to).is_ok_and(|old| old == bytes) {
        return Ok((bytes.len(), false));
    }
    let temporary = to.with_extension(format!("tmp{}", process::id()));
    fs::write(&temporary, &bytes).map_err(|error| Fault::of_file("write", &temporary, error))?;
    fs::rename(&temporary, to).map_err(|error| Fault::of_file("write", to, error))?;
    Ok((bytes.len(), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(project: &str, connector: &str) -> Result<Project> {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("project.toml"), project).unwrap();
        fs::write(dir.path().join("connector.toml"), connector).unwrap();
        Project::open(dir.path())
    }

    #[test]
    fn a_project_says_who_plays_its_provider() {
        let paper = project("lang = \"rust\"", "name = \"notes\"").unwrap();
        assert_eq!((paper.name.as_str(), paper.provider), ("notes", Provider::BuiltIn(BuiltIn::Paper)));
        let local = project(
            "lang = \"rust\"\n[test]\nprovider = { command = [\"serve\"], url = \"http://127.0.0.1:9000\", token = \"t\" }\n\
             settings = { serverUrl = \"http://127.0.0.1:9000\" }",
            "name = \"notes\"",
        )
        .unwrap();
        assert!(matches!(local.provider, Provider::Local(local) if local.command == ["serve"]));
        assert_eq!(local.settings["serverUrl"].as_str(), Some("http://127.0.0.1:9000"));
    }

    #[test]
    fn a_provider_is_opened_by_a_token_or_by_a_user_name_and_a_password() {
        let login = |credentials: &str| {
            let provider = format!("provider = {{ url = \"http://127.0.0.1:9000\"{credentials} }}");
            let project =
                project(&format!("lang = \"rust\"\n[test]\n{provider}"), "name = \"notes\"").unwrap();
            let Provider::Local(local) = project.provider else { panic!("{:?}", project.provider) };
            local.login()
        };
        assert_eq!(login(", token = \"t\"").unwrap(), AccountLogin::Token("t".into()));
        let expected = AccountLogin::Password { username: "ann".into(), password: "p:w".into() };
        assert_eq!(login(", username = \"ann\", password = \"p:w\"").unwrap(), expected);
        for (credentials, said) in [
            ("", "no credentials"),
            (", username = \"ann\"", "a username without a password"),
            (", password = \"p\"", "a password without a username"),
            (
                ", username = \"a:n\", password = \"p\"",
                "a username with a colon, which the Basic scheme cannot send",
            ),
            (", token = \"t\", username = \"ann\"", "both a token and a username or password"),
        ] {
            let fault = login(credentials).unwrap_err();
            assert_eq!(fault.said, format!("provider of project.toml (http://127.0.0.1:9000) has {said}"));
            assert!(fault.help.contains("username = \"…\" and password"), "{}", fault.help);
        }
    }

    #[test]
    fn a_project_says_how_its_provider_is_recorded() {
        let text = "lang = \"rust\"\n[test]\nprovider = \"recorded\"\n[record]\nkeep = [\"@home.org\"]";
        let project_of = |more: &str| project(&format!("{text}\n{more}"), "name = \"notes\"").unwrap();
        let paper = project_of("");
        assert_eq!((paper.is_replayed, paper.provider), (true, Provider::BuiltIn(BuiltIn::Paper)));
        assert_eq!(paper.record.keep, ["@home.org"]);
        let local = project_of("provider = { url = \"http://127.0.0.1:9000\", token = \"t\" }");
        assert!(local.is_replayed && Some(&local.provider) == local.record.provider.as_ref());
    }

    #[test]
    fn what_is_wrong_in_a_project_is_told_with_its_line() {
        for (text, said) in [
            (
                "lang = \"cobol\"",
                "project.toml, line 1: unknown variant `cobol`, expected one of `rust`, `typescript`, `javascript`",
            ),
            ("lang = \"rust\"\n\nlanguage = 1", "project.toml, line 3: unknown field `language`"),
            ("", "project.toml, line 1: missing field `lang`"),
        ] {
            let fault = project(text, "name = \"notes\"").unwrap_err();
            assert!(fault.said.contains(said), "{}", fault.said);
        }
        let nowhere = tempfile::tempdir().unwrap();
        let fault = Project::open(nowhere.path()).unwrap_err();
        assert!(fault.help.contains("connector new NAME --lang rust"));
    }
}
