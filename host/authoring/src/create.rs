//! `connector new`: makes a project from the archive.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::archive::{self, ArchiveFile};
use crate::fault::{Fault, Result};
use crate::language::Language;
use crate::name::ConnectorName;
use crate::surface::TemplateSurface;

/// A project that was made.
#[derive(Debug)]
pub struct CreatedProject {
    pub folder: PathBuf,
    /// The author's own files, relative to the folder, sorted; those of `vendor/` are not among them.
    pub files: Vec<String>,
}

/// Makes the project `name` in `into`, in a folder of that name, completely or not at all. An existing folder must be empty.
pub fn create(
    name: &ConnectorName,
    language: Language,
    surface: TemplateSurface,
    into: &Path,
) -> Result<CreatedProject> {
    let folder = into.join(name.as_str());
    if !is_free(&folder) {
        return Err(Fault::new(
            format!("{} is there already and is not empty", folder.display()),
            "choose another name, or another folder by --in",
        ));
    }
    let unpacked = |from: &str| {
        archive::below(from).map_err(|error| {
            Fault::new(format!("the SDK in this program cannot be read: {error}"), "reinstall the program")
        })
    };
    let mut own = BTreeMap::new();
    for folder in surface.folders(language)? {
        let files = unpacked(&folder)?.into_iter();
        own.extend(files.map(|file| (file.path, surface.put_into(&file.text))));
    }
    let vendor = unpacked(language.vendor())?;
    fs::create_dir_all(into).map_err(|error| Fault::of_file("create", into, error))?;
    let temporary = tempfile::Builder::new().prefix(".connector-new-").tempdir_in(into);
    let temporary = temporary.map_err(|error| Fault::of_file("write into", into, error))?;
    for (path, text) in &own {
        write(temporary.path(), &name.put_into(path), &name.put_into(text))?;
    }
    for ArchiveFile { path, text } in &vendor {
        write(temporary.path(), &format!("vendor/{path}"), text)?;
    }
    // An empty folder is replaced; one that another program fills in between is not.
    let _ = fs::remove_dir(&folder);
    fs::rename(temporary.path(), &folder).map_err(|error| Fault::of_file("create", &folder, error))?;
    readable(&folder)?;
    let _ = temporary.keep();
    let files = own.keys().map(|path| name.put_into(path)).collect();
    Ok(CreatedProject { folder, files })
}

fn is_free(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => !folder.exists() && !folder.is_symlink(),
    }
}

fn write(folder: &Path, path: &str, text: &str) -> Result<()> {
    let path = folder.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| Fault::of_file("create", parent, error))?;
    }
    fs::write(&path, text).map_err(|error| Fault::of_file("write", &path, error))
}

/// Gives a folder the permissions of other folders: a temporary one is readable by its owner only.
#[cfg(unix)]
fn readable(folder: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder, permissions).map_err(|error| Fault::of_file("open", folder, error))
}

#[cfg(not(unix))]
fn readable(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes() -> ConnectorName {
        "my-notes".parse().unwrap()
    }

    #[test]
    fn new_writes_what_it_says() {
        let dir = tempfile::tempdir().unwrap();
        let created = create(&notes(), Language::Rust, TemplateSurface::Tasks, dir.path()).unwrap();
        assert_eq!(created.folder, dir.path().join("my-notes"));
        assert_eq!(
            created.files,
            [
                ".gitignore",
                "Cargo.lock",
                "Cargo.toml",
                "README.md",
                "connector.toml",
                "project.toml",
                "src/lib.rs",
                "src/paper.rs",
                "tests/mapping.rs",
            ]
        );
        let mut texts = Vec::new();
        for file in &created.files {
            texts.push(fs::read_to_string(created.folder.join(file)).unwrap());
        }
        let all = texts.concat();
        assert!(["my-notes", "my_notes", "MyNotes"].iter().all(|name| all.contains(name)));
        assert!(!["my-connector", "my_connector", "MyConnector"].iter().any(|name| all.contains(name)));
        for file in
            ["model/Cargo.toml", "connector-sdk/src/lib.rs", "connector-sdk/wit/types.wit", "LICENSE-MIT"]
        {
            assert!(created.folder.join("vendor").join(file).is_file(), "{file}");
        }
        // Nothing else is left in the folder.
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_surface_changes_the_files_that_know_it() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = |folder: &Path| fs::read_to_string(folder.join("connector.toml")).unwrap();
        let created = create(&notes(), Language::Rust, TemplateSurface::Calendar, dir.path()).unwrap();
        for file in
            ["Cargo.lock", "Cargo.toml", "src/event.rs", "src/lib.rs", "src/paper.rs", "tests/mapping.rs"]
        {
            assert!(created.files.iter().any(|made| made == file), "{file}: {:?}", created.files);
        }
        let text = manifest(&created.folder);
        assert!(text.contains("surfaces = [\"calendar@1.0.0\", \"lifecycle@1.0.0\"]"), "{text}");
        assert!(text.contains("description = \"Calendars and events of Paper\""), "{text}");
        let contacts: ConnectorName = "people".parse().unwrap();
        let created = create(&contacts, Language::TypeScript, TemplateSurface::Contacts, dir.path()).unwrap();
        assert!(created.files.iter().any(|file| file == "src/contact.ts"), "{:?}", created.files);
        assert!(manifest(&created.folder).contains("\"contacts@1.0.0\""));
        let fault =
            create(&"others".parse().unwrap(), Language::JavaScript, TemplateSurface::Calendar, dir.path());
        assert!(fault.unwrap_err().help.starts_with("write --lang typescript"));
        assert!("mail".parse::<TemplateSurface>().unwrap_err().help.contains("--surface calendar"));
    }

    #[test]
    fn new_refuses_a_taken_folder_and_leaves_it_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("my-notes");
        fs::create_dir(&folder).unwrap();
        create(&notes(), Language::Rust, TemplateSurface::Tasks, dir.path())
            .expect("an empty folder is free");
        let before = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let fault = create(&notes(), Language::Rust, TemplateSurface::Tasks, dir.path()).unwrap_err();
        assert!(fault.said.ends_with("my-notes is there already and is not empty"), "{}", fault.said);
        assert!(fault.help.contains("--in"));
        assert_eq!(fs::read_to_string(folder.join("Cargo.toml")).unwrap(), before);
        // A file in the way is no folder.
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(create(&notes(), Language::Rust, TemplateSurface::Tasks, &dir.path().join("file")).is_err());
    }
}
