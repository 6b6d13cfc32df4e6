//! `switchboard connector list|install|remove|rollback`: the store of installed connectors. A running server follows within a second,
//! without a restart and without a failed call.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use authoring::Fault;
use base::clock::{Clock, Entropy};
use clap::Args;
use runtime::{self, InstallCandidate, Installed, Limits, Manifest, Store};
use serde_json::{Value, json};
use service::app;
use service::app::config::Config;

use crate::cli::bundle;
use crate::cli::connector::check::{refused, words};
use crate::cli::connector::permissions;
use crate::cli::connector::project::step;
use crate::cli::output::{answer, print_note, table};
use crate::cli::refusal::ensure_or_help;
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

const MANIFEST: &str = "connector.toml";
/// Exit code: a flag is needed for what the connector asks for or replaces.
const FLAG_NEEDED: u8 = 3;

/// List installed and bundled connectors
#[derive(Args)]
pub struct ListConnectors {
    /// Directory of bundled connectors [default: target/connectors/bundle]
    #[arg(long, env = "SWITCHBOARD_CONNECTORS", value_name = "DIR")]
    connectors: Option<PathBuf>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Check the connector in a folder and install it
///
/// An update that needs more than the installed version (hosts, surfaces, credentials, settings, scopes), or has another title, is only
/// installed with --allow-more; without it the difference is shown.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard connector install build/notes
  switchboard connector install build/notes --allow-more

Exit code 3: nothing was installed, because --allow-more or --replace-bundled is needed.")]
pub struct Install {
    /// Folder with connector.toml and <name>.wasm
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Install an update that needs more than the installed version
    #[arg(long)]
    allow_more: bool,
    /// Replace the bundled connector of the same name
    #[arg(long)]
    replace_bundled: bool,
    /// Create the data directory and the master key if there are none yet
    #[arg(long)]
    init: bool,
    /// Directory of bundled connectors, whose names need --replace-bundled [default: target/connectors/bundle]
    #[arg(long, env = "SWITCHBOARD_CONNECTORS", value_name = "DIR")]
    connectors: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Remove an installed connector; a bundled one of the same name replaces it
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

/// Go back to the previous version; a second time returns to the current one
#[derive(Args)]
pub struct Rollback {
    #[command(flatten)]
    change: Change,
}

impl ListConnectors {
    pub fn run(self) -> Result<()> {
        let mut place = self.place.resolve()?;
        place.connectors_dir = self.connectors.or(place.connectors_dir);
        let mut found = list_installed(&place)?;
        for manifest in place.connectors_dir.iter().flat_map(|dir| bundle::manifests(dir)) {
            found.push(describe_bundled(&manifest, &found));
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

/// The connectors in the store's index; empty if there is no store yet.
fn list_installed(config: &Config) -> Result<Vec<Value>> {
    let dir = app::connector_dir(config);
    if !dir.exists() {
        return Ok(Vec::new());
    }
    let index = Store::open(&dir)?.index()?;
    Ok(index.connectors.iter().map(|(name, entry)| render_installed(name, entry)).collect())
}

fn render_installed(name: &str, installed: &Installed) -> Value {
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
fn describe_bundled(manifest: &Path, installed: &[Value]) -> Value {
    match runtime::manifest_text(manifest).and_then(|text| Manifest::parse(&text)) {
        Ok(manifest) => json!({
            "name": manifest.name,
            "version": manifest.version,
            "source": "bundled",
            "inService": !installed.iter().any(|i| i["name"] == *manifest.name),
            "digest": null,
            "previous": [],
        }),
        Err(e) => json!({
            "name": manifest.parent().and_then(Path::file_name).map(|n| n.to_string_lossy()),
            "version": null,
            "source": "bundled",
            "inService": false,
            "digest": null,
            "previous": [],
            "error": format!("{e:#}"),
        }),
    }
}

impl Install {
    /// Installs what was read and compared, whatever becomes of the folder meanwhile. Says so, with an exit code, where a flag is needed.
    pub async fn run(self) -> Result<ExitCode> {
        let mut config = self.place.clone().resolve()?;
        config.connectors_dir = self.connectors.clone().or(config.connectors_dir);
        if !self.dir.join(MANIFEST).exists() {
            let missing = format!("{} has no {MANIFEST}", self.dir.display());
            return Err(
                Fault::new(missing, "name the folder that holds it and the component: build/NAME").into()
            );
        }
        refused::read_manifest(&self.dir)?;
        let failed = || format!("{} was not installed", self.dir.display());
        let candidate = read_candidate(&self.dir, &config).with_context(failed)?;
        let name = candidate.manifest().name.clone();
        if let Some(needed) = self.missing_flag(&config, &candidate) {
            print_note(&format!("error: {needed}\nhelp: {}", needed.help));
            return Ok(ExitCode::from(FLAG_NEEDED));
        }
        store::ensure_data_dir(&config, self.init)?;
        let entropy = Entropy::system();
        let keyring = app::open_keyring(&config.data_dir, &entropy)?;
        let runtime = app::runtime_config(&config, &keyring, &Clock::system())?;
        let installed = runtime::install_candidate(runtime, candidate).await.with_context(failed)?;
        print_installed(&name, &installed, "installed", self.json)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Shows what the candidate asks for, and says which flag it needs. None: it may be installed.
    fn missing_flag(&self, config: &Config, candidate: &InstallCandidate) -> Option<Fault> {
        let manifest = candidate.manifest();
        let Some(installed) = candidate.installed() else {
            if !self.replace_bundled && bundle::has(config.connectors_dir.as_deref(), &manifest.name) {
                let said = format!("\"{}\" is the name of a bundled connector", manifest.name);
                let help =
                    "choose another name in connector.toml; to use this one in its place: --replace-bundled";
                return Some(Fault::new(said, help));
            }
            show(
                &format!("{} {} may send requests to", manifest.name, manifest.version),
                &words::destinations(manifest),
            );
            return None;
        };
        let more = match &installed.manifest {
            Ok(old) => permissions::added(old, manifest),
            Err(error) => vec![format!("unknown, because the installed version cannot be read: {error:#}")],
        };
        if more.is_empty() {
            return None;
        }
        let compared = format!("{} asks for more than the installed {}", manifest.version, installed.version);
        show(&format!("{} {compared}", manifest.name), &more);
        let said = format!("{} {compared}: nothing was installed", manifest.name);
        (!self.allow_more)
            .then(|| Fault::new(said, "read the list above; to install it all the same: --allow-more"))
    }
}

/// Reads the connector in `dir`, and what is installed under its name.
fn read_candidate(dir: &Path, config: &Config) -> Result<InstallCandidate> {
    let folder = app::connector_dir(config);
    let store = if folder.exists() { Some(Store::open(&folder)?) } else { None };
    InstallCandidate::read(dir, store.as_ref(), &Limits::default())
}

/// A heading and a line for each item, on stderr.
fn show(heading: &str, items: &[String]) {
    step(&format!("{heading}:"));
    for item in items {
        print_note(&format!("    {item}"));
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
        ensure_or_help(
            dir.exists(),
            || format!("no connector \"{}\" is installed in {}", self.name, config.data_dir.display()),
            || {
                "`switchboard connector list` shows the installed ones; name another place with --data-dir"
                    .to_owned()
            },
        )?;
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
        print_installed(&self.name, &installed, "rolled back", self.json)
    }
}

fn print_installed(name: &str, installed: &Installed, done: &str, json: bool) -> Result<()> {
    match json {
        true => answer(&serde_json::to_string_pretty(&render_installed(name, installed))?),
        false => {
            let digest: String = installed.current.chars().take(12).collect();
            answer(&format!("{done} {name} {} ({digest})", installed.version))
        }
    }
}
