//! `switchboard connector list|install|remove|rollback`: the store of installed connectors. A running server follows within a second,
//! without a restart and without a failed call.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use authoring::Fault;
use base::clock::{Clock, Entropy};
use clap::Args;
use runtime::{self, Installed, Manifest, Store};
use serde_json::{Value, json};

use crate::app;
use crate::app::config::Config;
use crate::cli::output::{answer, table};
use crate::cli::settings::StoreOptions;
use crate::cli::store;

const MANIFEST: &str = "connector.toml";

/// List installed and bundled connectors
#[derive(Args)]
pub struct List {
    /// Directory of bundled connectors [default: target/connectors/bundle]
    #[arg(long, env = "SWITCHBOARD_CONNECTORS", value_name = "DIR")]
    connectors: Option<PathBuf>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Check the connector in a folder completely, store it and put it into service
#[derive(Args)]
#[command(after_help = "Example:\n  switchboard connector install build/notes")]
pub struct Install {
    /// Folder with connector.toml and <name>.wasm
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Take an installed connector out of service; a bundled one of the same name takes its place
#[derive(Args)]
pub struct Change {
    /// The connector's name
    #[arg(value_name = "NAME")]
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Put the version before the current one into service; doing it twice ends where it began
#[derive(Args)]
pub struct Rollback {
    #[command(flatten)]
    change: Change,
}

impl List {
    pub fn run(self) -> Result<()> {
        let mut place = self.place.resolve()?;
        place.connectors_dir = self.connectors.or(place.connectors_dir);
        let mut found = installed(&place)?;
        for dir in place.connectors_dir.iter().flat_map(|dir| folders(dir)) {
            found.push(bundled(&dir, &found));
        }
        if self.json {
            return answer(&serde_json::to_string_pretty(&found)?);
        }
        let text = |v: &Value| v.as_str().unwrap_or("-").to_owned();
        let mut rows =
            vec![["NAME", "VERSION", "SOURCE", "IN SERVICE", "DIGEST", ""].map(str::to_owned).to_vec()];
        rows.extend(found.iter().map(|c| {
            let digest = text(&c["digest"]).chars().take(12).collect();
            let served = if c["inService"] == true { "yes" } else { "no" };
            let fault = c["error"].as_str().unwrap_or_default().to_owned();
            vec![text(&c["name"]), text(&c["version"]), text(&c["source"]), served.to_owned(), digest, fault]
        }));
        answer(&table(&rows))
    }
}

/// What the store's index holds; nothing when there is no store yet.
fn installed(config: &Config) -> Result<Vec<Value>> {
    let dir = app::connector_dir(config);
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let index = Store::open(&dir)?.index()?;
    Ok(index.connectors.iter().map(|(name, entry)| shown(name, entry)).collect())
}

fn shown(name: &str, installed: &Installed) -> Value {
    json!({
        "name": name,
        "version": installed.version,
        "source": "installed",
        "inService": true,
        "digest": installed.current,
        "previous": installed.previous,
    })
}

/// A bundled connector as its manifest tells; whether its component is sound shows when a server loads it.
fn bundled(dir: &Path, installed: &[Value]) -> Value {
    let read = || Manifest::parse(&std::fs::read_to_string(dir.join(MANIFEST))?);
    match read() {
        Ok(manifest) => json!({
            "name": manifest.name,
            "version": manifest.version,
            "source": "bundled",
            "inService": !installed.iter().any(|i| i["name"] == *manifest.name),
            "digest": null,
            "previous": [],
        }),
        Err(e) => json!({
            "name": dir.file_name().map(|n| n.to_string_lossy()),
            "version": null,
            "source": "bundled",
            "inService": false,
            "digest": null,
            "previous": [],
            "error": format!("{e:#}"),
        }),
    }
}

/// Folders that hold a manifest, sorted; none when there is no such directory.
fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(|p| p.join(MANIFEST).is_file()).collect();
    found.sort();
    found
}

impl Install {
    pub async fn run(self) -> Result<()> {
        let config = self.place.resolve()?;
        if !self.dir.join(MANIFEST).is_file() {
            let missing = format!("{} has no {MANIFEST}", self.dir.display());
            return Err(
                Fault::new(missing, "name the folder that holds it and the component: build/NAME").into()
            );
        }
        let manifest = Manifest::parse(&std::fs::read_to_string(self.dir.join(MANIFEST))?)?;
        store::make_data_dir(&config)?;
        let entropy = Entropy::system();
        let keyring = app::open_keyring(&config.data_dir, &entropy)?;
        let runtime = app::runtime_config(&config, &keyring, &Clock::system())?;
        let installed = runtime::install_offline(runtime, &self.dir)
            .await
            .with_context(|| format!("{} was not installed", self.dir.display()))?;
        told(&manifest.name, &installed, "installed", self.json)
    }
}

impl Rollback {
    pub fn run(self) -> Result<()> {
        self.change.roll_back()
    }
}

impl Change {
    fn store(&self) -> Result<Store> {
        let config = self.place.clone().resolve()?;
        let dir = app::connector_dir(&config);
        ensure!(dir.exists(), "no connector \"{}\" is installed in {}", self.name, config.data_dir.display());
        Store::open(&dir)
    }

    pub fn remove(self) -> Result<()> {
        self.store()?.remove(&self.name)?;
        match self.json {
            true => answer(&serde_json::to_string_pretty(&json!({ "name": self.name, "removed": true }))?),
            false => answer(&format!("removed {}", self.name)),
        }
    }

    fn roll_back(self) -> Result<()> {
        let installed = self.store()?.rollback(&self.name)?;
        told(&self.name, &installed, "rolled back", self.json)
    }
}

fn told(name: &str, installed: &Installed, done: &str, json: bool) -> Result<()> {
    match json {
        true => answer(&serde_json::to_string_pretty(&shown(name, installed))?),
        false => {
            let digest: String = installed.current.chars().take(12).collect();
            answer(&format!("{done} {name} {} ({digest})", installed.version))
        }
    }
}
