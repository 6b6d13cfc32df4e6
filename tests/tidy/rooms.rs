//! Modules are folders: a single file beside them shows neither its module nor its allowed importers.

use crate::files::Project;
use crate::ratchet::Offence;

/// Folders that contain modules, and no files but the root files of a crate or a module.
const FOLDERS: [&str; 3] = ["host/src/", "host/src/api/", "host/service/src/"];

/// The root files of a crate or a module.
const FIRST: [&str; 3] = ["lib.rs", "main.rs", "mod.rs"];

/// Returns single files between modules.
pub fn files(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for folder in FOLDERS {
        let why = format!("{folder} holds folders alone: put the file into the module that it belongs to");
        offences.extend(alone(project, folder).map(|path| Offence::new(path, why.clone())));
    }
    offences
}

/// Returns the paths of the sources directly in this folder, apart from root files.
pub fn alone<'p>(project: &'p Project, folder: &str) -> impl Iterator<Item = &'p str> {
    project.rust().map(|file| file.path.as_str()).filter(move |path| {
        path.strip_prefix(folder).is_some_and(|name| !name.contains('/') && !FIRST.contains(&name))
    })
}

#[cfg(test)]
mod tests {
    use super::files;
    use crate::files::{Project, Source};

    #[test]
    fn a_file_beside_the_modules_stands_alone() {
        let paths = [
            "host/src/lib.rs",
            "host/src/api/mod.rs",
            "host/src/api/page.rs",
            "host/src/log.rs",
            "host/service/src/sync/page.rs",
            "host/src/log.md",
        ];
        let project = Project::new(paths.map(|path| Source::new(path, "")).into());
        let found: Vec<String> = files(&project).into_iter().map(|offence| offence.place).collect();
        assert_eq!(found, ["host/src/log.rs", "host/src/api/page.rs"]);
    }
}
