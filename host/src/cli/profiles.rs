//! The profiles that `switchboard login` saves: a server and an API key each, in `profiles.toml` of the user's configuration folder.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::cli::refusal::{ensure_or_help, failure};

/// The profile that commands use unless another is named.
pub const DEFAULT_PROFILE: &str = "default";
/// Most characters of a profile's name.
const MAX_NAME_CHARS: usize = 40;
/// Most bytes of the file.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Permissions of the group and of other users.
const OF_OTHERS: u32 = 0o077;

/// A server, and the API key for it.
#[derive(Clone, Deserialize, Serialize)]
pub struct Profile {
    pub server: String,
    pub api_key: String,
}

/// The content of the file.
#[derive(Default, Deserialize, Serialize)]
struct ProfileFile {
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

/// The saved profiles, with the file that holds them.
pub struct Profiles {
    path: PathBuf,
    content: ProfileFile,
}

impl Profiles {
    /// Loads the profiles of this user; none if there is no file.
    ///
    /// # Errors
    /// If other users can read the file, or it is no such file. The text shows nothing of its content.
    pub fn load() -> Result<Profiles> {
        let folder = config_folder().ok_or_else(|| {
            failure("there is no folder for profiles: HOME is not set", "set HOME or XDG_CONFIG_HOME")
        })?;
        Profiles::load_from(folder.join("switchboard/profiles.toml"))
    }

    fn load_from(path: PathBuf) -> Result<Profiles> {
        let content = match File::open(&path) {
            Ok(file) => read(&file, &path)?,
            Err(e) if e.kind() == ErrorKind::NotFound => ProfileFile::default(),
            Err(e) => {
                let help = "check that the file and its folder belong to you";
                return Err(failure(format!("cannot read {}: {e}", path.display()), help));
            }
        };
        Ok(Profiles { path, content })
    }

    /// The file that holds the profiles.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The profile with this name.
    pub fn find(&self, name: &str) -> Option<&Profile> {
        self.content.profiles.get(name)
    }

    /// Puts a profile in place of the one with this name. It is not saved yet.
    pub fn insert(&mut self, name: &str, profile: Profile) {
        self.content.profiles.insert(name.to_owned(), profile);
    }

    /// Removes a profile, and returns whether there was one. The change is not saved yet.
    pub fn remove(&mut self, name: &str) -> bool {
        self.content.profiles.remove(name).is_some()
    }

    /// Writes the file in one step, for this user alone.
    pub fn save(&self) -> Result<()> {
        let text = toml::to_string(&self.content).context("cannot write profiles as TOML")?;
        write(&self.path, &text).map_err(|e| {
            failure(
                format!("cannot write {}: {e}", self.path.display()),
                "check that the folder belongs to you and that the disk has room",
            )
        })
    }
}

/// Whether there is a place for profiles: an account of a service may have no home.
pub fn has_folder() -> bool {
    config_folder().is_some()
}

/// The folder with the settings of this user's programs.
fn config_folder() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|dir| dir.is_absolute());
    folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")))
}

fn read(file: &File, path: &Path) -> Result<ProfileFile> {
    let shown = path.display();
    let metadata = file.metadata().with_context(|| format!("cannot read {shown}"))?;
    ensure_or_help(
        metadata.permissions().mode() & OF_OTHERS == 0,
        || format!("other users can read the API keys in {shown}"),
        || {
            format!(
                "run `chmod 600 {shown}`; if anyone may have read the keys, replace them (`switchboard keys rotate`)"
            )
        },
    )?;
    let mut text = String::new();
    file.take(MAX_FILE_BYTES).read_to_string(&mut text).with_context(|| format!("cannot read {shown}"))?;
    // The message of the error is left out: it may quote a key.
    toml::from_str(&text).map_err(|e| {
        let line = e
            .span()
            .map_or(1, |span| text.bytes().take(span.start).filter(|byte| *byte == b'\n').count() + 1);
        failure(
            format!("{shown} is not a file of profiles: see its line {line}"),
            "correct the line, or delete the file and run `switchboard login` again",
        )
    })
}

/// Replaces the file, and creates its folder if there is none.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Temporary files are for their owner alone.
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// Parses the name of a profile.
pub fn parse_name(text: &str) -> std::result::Result<String, String> {
    let is_name = !text.is_empty()
        && text.len() <= MAX_NAME_CHARS
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    match is_name {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "the name of a profile has 1 to {MAX_NAME_CHARS} letters, digits, - and _, such as staging"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(server: &str) -> Profile {
        Profile { server: server.to_owned(), api_key: "uc_live_1".to_owned() }
    }

    #[test]
    fn profiles_are_saved_for_their_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config/profiles.toml");
        let mut profiles = Profiles::load_from(path.clone()).unwrap();
        profiles.insert(DEFAULT_PROFILE, profile("http://127.0.0.1:8080/"));
        profiles.insert("staging", profile("https://staging.example.com/"));
        profiles.save().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);

        let mut profiles = Profiles::load_from(path.clone()).unwrap();
        assert!(profiles.remove("staging") && !profiles.remove("staging"));
        profiles.save().unwrap();
        let profiles = Profiles::load_from(path).unwrap();
        assert!(profiles.find("staging").is_none());
        let found = profiles.find(DEFAULT_PROFILE).unwrap();
        assert_eq!((found.server.as_str(), found.api_key.as_str()), ("http://127.0.0.1:8080/", "uc_live_1"));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("profiles.toml");
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let refused = Profiles::load_from(path.clone()).err().unwrap();
        assert!(refused.to_string().starts_with("other users can read the API keys in "), "{refused}");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        assert!(Profiles::load_from(path).is_ok());
    }

    #[test]
    fn a_broken_file_shows_no_key() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("profiles.toml");
        std::fs::write(&path, "[profiles.default]\nserver = [\"uc_live_secret\"]\n").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        let refused = format!("{:#}", Profiles::load_from(path).err().unwrap());
        assert!(refused.ends_with("see its line 2") && !refused.contains("secret"), "{refused}");
    }

    #[test]
    fn a_name_is_a_word() {
        assert_eq!(parse_name("staging-2"), Ok("staging-2".to_owned()));
        for wrong in ["", "a b", "a.b", &"x".repeat(MAX_NAME_CHARS + 1)] {
            assert!(parse_name(wrong).is_err(), "{wrong}");
        }
    }
}
