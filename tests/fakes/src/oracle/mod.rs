//! Documents of providers as judges of their fakes.

mod discovery;
mod odata;
mod odata_models;
mod schema;

use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use anyhow::{Context, Result};
use serde::Serialize;

pub use discovery::{Discovery, DiscoveryMethod, MatchedCall, load};
pub use odata::{Odata, OdataMethod, OdataRequest, load_extract};

/// The sender of a message that a document forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    Request,
    Answer,
}

/// A request or an answer that its document forbids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    pub side: Side,
    /// The method and the member or parameter, as in `calendar.events.list: query.maxResults`.
    pub place: String,
    pub fault: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.fault)
    }
}

/// The folder of Google's discovery documents in the Python environment of the tests.
///
/// # Errors
/// There is none: the package google-api-python-client of tests/peers/oracle.txt is not installed.
pub fn documents() -> Result<PathBuf> {
    environments().find_map(|environment| documents_of(&environment)).context(
        "Google's discovery documents are missing: run `cargo xtask test`, or set ORACLE_PYTHON to the Python of an environment \
         with tests/peers/oracle.txt installed",
    )
}

/// The extract of what Graph takes and answers, in the Python environment of the tests.
///
/// # Errors
/// There is none: the package msgraph-sdk of tests/peers/wheels.txt has not been read.
pub fn graph_extract() -> Result<PathBuf> {
    environments().map(|environment| environment.join("wheels/graph-oracle.json")).find(|file| file.is_file()).context(
        "The extract of Microsoft Graph is missing: run `cargo xtask test`, or set ORACLE_PYTHON to the Python of an environment \
         whose folder has wheels/graph-oracle.json, made by tests/peers/graph_oracle.py",
    )
}

/// The Python of the environment that has the extract of Graph, and the wheel of Microsoft's client there.
pub fn graph_client() -> Option<(PathBuf, PathBuf)> {
    let environment =
        environments().find(|environment| environment.join("wheels/graph-oracle.json").is_file())?;
    let files = fs::read_dir(environment.join("wheels")).ok()?;
    let is_client = |file: &PathBuf| {
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("msgraph_sdk-"))
    };
    let wheel = files.flatten().map(|file| file.path()).find(is_client)?;
    Some((environment.join("bin/python"), wheel))
}

/// The Python of the environment that has the documents.
pub fn python() -> Option<PathBuf> {
    environments()
        .find(|environment| documents_of(environment).is_some())
        .map(|found| found.join("bin/python"))
}

/// Python environments that may have the documents: the one of `ORACLE_PYTHON`, and the one that `cargo xtask test` installs.
fn environments() -> impl Iterator<Item = PathBuf> {
    let python = env::var_os("ORACLE_PYTHON").map(PathBuf::from);
    let named = python.as_deref().and_then(Path::parent).and_then(Path::parent).map(Path::to_owned);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    named.into_iter().chain([target.join("oracle")])
}

fn documents_of(environment: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(environment.join("lib")).ok()?;
    let inside = "site-packages/googleapiclient/discovery_cache/documents";
    versions.flatten().map(|version| version.path().join(inside)).find(|folder| folder.is_dir())
}
