//! A connector that is inspected before it is installed.

use std::path::Path;
use std::sync::Arc;

use crate::limits::Limits;
use crate::manifest::Manifest;
use crate::packages::{Package, Source, Store};

/// A connector as it was read from a folder: later changes of the folder do not affect the installation.
pub struct InstallCandidate {
    pub(crate) package: Package,
    installed: Option<InstalledVersion>,
}

/// The installed version that a candidate replaces.
pub struct InstalledVersion {
    pub version: String,
    /// Its manifest, or the error of reading its files.
    pub manifest: anyhow::Result<Arc<Manifest>>,
    digest: String,
}

impl InstalledVersion {
    /// Its digest, as the store's index has it.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl InstallCandidate {
    /// Reads the connector in `dir`, and the installed version of the same name where `store` has one. None of its code runs.
    pub fn read(dir: &Path, store: Option<&Store>, limits: &Limits) -> anyhow::Result<Self> {
        let package = Package::read(dir, Source::Bundle, limits.component_bytes)?;
        let package = Package { source: Source::Installed, ..package };
        let mut installed = None;
        if let Some(store) = store
            && let Some(entry) = store.index()?.connectors.remove(&package.manifest.name)
        {
            let manifest = store.read(&entry.current, limits.component_bytes).map(|current| current.manifest);
            installed = Some(InstalledVersion { version: entry.version, manifest, digest: entry.current });
        }
        Ok(InstallCandidate { package, installed })
    }

    /// The candidate's manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.package.manifest
    }

    /// The digest over the candidate's manifest and component.
    pub fn digest(&self) -> &str {
        &self.package.digest
    }

    /// None: no connector of this name is installed.
    pub fn installed(&self) -> Option<&InstalledVersion> {
        self.installed.as_ref()
    }

    /// The digest of the installed version.
    pub(crate) fn predecessor(&self) -> Option<String> {
        self.installed.as_ref().map(|installed| installed.digest.clone())
    }
}
