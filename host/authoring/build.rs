//! Packs what `connector new` writes into one archive: the SDK's crates with manifests of their own, `wit/`, the templates, and the
//! versions of their dependencies. Sorted and without times, so that the same tree gives the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

/// A folder or a file of the repository, and where it is in the archive.
const CONTENT: [(&str, &str); 18] = [
    ("sdk/model/src", "vendor/model/src"),
    ("sdk/templates/vendor/model.toml", "vendor/model/Cargo.toml"),
    ("sdk/connector/src", "vendor/connector-sdk/src"),
    ("sdk/templates/vendor/connector-sdk.toml", "vendor/connector-sdk/Cargo.toml"),
    ("wit", "vendor/connector-sdk/wit"),
    ("sdk/templates/vendor/README.md", "vendor/README.md"),
    ("LICENSE-APACHE", "vendor/LICENSE-APACHE"),
    ("LICENSE-MIT", "vendor/LICENSE-MIT"),
    ("sdk/templates/rust", "templates/rust"),
    ("sdk/js", "vendor-js/switchboard"),
    ("sdk/templates/vendor/README-js.md", "vendor-js/README.md"),
    ("LICENSE-APACHE", "vendor-js/LICENSE-APACHE"),
    ("LICENSE-MIT", "vendor-js/LICENSE-MIT"),
    ("sdk/templates/typescript", "templates/typescript"),
    ("sdk/templates/javascript", "templates/javascript"),
    ("sdk/templates/shared", "templates/shared"),
    ("sdk/templates/calendar", "templates/calendar"),
    ("sdk/templates/contacts", "templates/contacts"),
];

/// The path of the template's lock file in the archive.
const LOCK: &str = "templates/rust/Cargo.lock";

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = BTreeMap::new();
    for (from, to) in CONTENT {
        println!("cargo::rerun-if-changed={}", root.join(from).display());
        collect(&root.join(from), to, &mut files)?;
    }
    let lock = root.join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rerun-if-changed=build.rs");
    files.insert(LOCK.to_owned(), versions(&fs::read_to_string(lock)?).into_bytes());
    let out =
        env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(out.join("sdk.tar.gz"), pack(&files)?)
}

/// The files of a folder and of the folders in it, or one file.
fn collect(from: &Path, to: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    if !from.is_dir() {
        files.insert(to.to_owned(), fs::read(from)?);
        return Ok(());
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        collect(&entry.path(), &format!("{to}/{}", entry.file_name().to_string_lossy()), files)?;
    }
    Ok(())
}

fn pack(files: &BTreeMap<String, Vec<u8>>) -> io::Result<Vec<u8>> {
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for (path, content) in files {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        archive.append_data(&mut header, path, content.as_slice())?;
    }
    let mut encoder = archive.into_inner()?;
    encoder.flush()?;
    encoder.finish()
}

/// Returns the packages of this lock file that the SDK's crates need, as a separate lock file: a new project starts with the versions
/// that this host was built and tested with. Cargo removes those that the project does not use.
fn versions(lock: &str) -> String {
    let mut packages = lock.split("[[package]]\n");
    let head = packages.next().unwrap_or_default();
    let packages: Vec<&str> = packages.collect();
    let mut wanted = vec!["model", "connector-sdk"];
    let mut seen = BTreeSet::new();
    while let Some(name) = wanted.pop() {
        if !seen.insert(name) {
            continue;
        }
        // Where there are several versions of a package, all of them: they are few.
        for package in packages.iter().filter(|package| field(package, "name") == Some(name)) {
            wanted.extend(dependencies(package));
        }
    }
    let kept =
        packages.iter().filter(|package| field(package, "name").is_some_and(|name| seen.contains(name)));
    kept.fold(head.to_owned(), |text, package| text + "[[package]]\n" + package)
}

fn field<'a>(package: &'a str, name: &str) -> Option<&'a str> {
    let line = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
    Some(line.trim_matches('"'))
}

/// Names; a version that stands behind one is left off.
fn dependencies(package: &str) -> impl Iterator<Item = &str> {
    let lines = package.lines().skip_while(|line| *line != "dependencies = [").skip(1);
    let entries = lines.take_while(|line| *line != "]").map(|line| line.trim().trim_matches([',', '"']));
    entries.filter_map(|entry| entry.split(' ').next())
}
