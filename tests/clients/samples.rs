//! The samples of the documentation as files, to be checked by the tools of their languages.

use std::fs;
use std::path::{Path, PathBuf};

use switchboard::api;
use switchboard::api::docs::reference::ApiReference;
use switchboard::api::docs::samples;
use switchboard::api::docs::samples::request::SampleRequest;
use switchboard::api::openapi::{Flavour, print};

/// The address of the service in the samples.
const ADDRESS: &str = "https://api.example.com";

/// Writes the samples of all operations in a language into a folder, in place of what is there. Returns the files, each named after its
/// operation.
pub fn write(language: &str, ending: &str, folder: &Path) -> Vec<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).expect("the samples of before can be removed");
    }
    fs::create_dir_all(folder).expect("a folder");
    let reference = ApiReference::read(&print(&api::operations(), ADDRESS, Flavour::Clients), ADDRESS);
    let mut files = Vec::new();
    for operation in &reference.operations {
        let all = samples::all(&SampleRequest::for_operation(&reference, operation));
        let sample = all.into_iter().find(|sample| sample.language == language).expect("a language");
        let file = folder.join(format!("{}.{ending}", operation.id.replace('.', "_")));
        fs::write(&file, sample.code).expect("the sample can be written");
        files.push(file);
    }
    assert!(files.len() > 150, "there are samples of all operations: {}", files.len());
    files
}
