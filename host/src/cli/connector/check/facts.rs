//! Facts about a connector and its demands, as text and as JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtime::{Level, Limits, LoadedConnector, Manifest, MemoryClass, TRIAL_CPU, has_debug_info};
use serde::Serialize;

use crate::cli::connector::check::words;

/// Most lines of one label in the text. JSON has all values.
const SHOWN: usize = 5;

/// A connector that a host would install.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectorFacts {
    pub name: String,
    pub version: String,
    pub title: String,
    /// SHA-256 (hex) over manifest and component.
    pub digest: String,
    pub surfaces: Surfaces,
    pub level: Level,
    pub imports: Vec<Import>,
    pub component: Component,
    pub start: StartCost,
    pub may_send_requests_to: Vec<String>,
    pub may_use_per_call: CallBudget,
    pub needs_from_user: Vec<String>,
    pub needs_from_operator: Vec<String>,
    /// The manifest with its defaults.
    pub manifest: Arc<Manifest>,
}

/// The connector's interfaces.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Surfaces {
    /// Surfaces of the manifest, with the version of the WIT package.
    pub claimed: Vec<String>,
    /// Surfaces of the component.
    pub exported: Vec<String>,
}

/// An interface that the component imports.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    pub name: String,
    /// The meaning of the import for the connector.
    pub means: &'static str,
}

/// The component's file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    pub path: PathBuf,
    pub bytes: usize,
    pub most_bytes: usize,
    pub has_debug_information: bool,
}

/// Cost of a start, and its limits. Each call starts the component again.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartCost {
    pub cpu_us: u64,
    pub most_cpu_us: u64,
    pub memory_bytes: u64,
    pub most_memory_bytes: u64,
}

/// Limits of one call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallBudget {
    pub memory: MemoryClass,
    pub memory_mib: usize,
    pub cpu_ms: u64,
    pub wall_ms: u64,
}

impl ConnectorFacts {
    /// The facts of a connector that was loaded from the bytes `wasm` of the file `path`.
    pub fn new(loaded: &LoadedConnector, path: &Path, wasm: &[u8], limits: &Limits) -> ConnectorFacts {
        let manifest = loaded.manifest.clone();
        let memory_mib = limits.memory_mib(manifest.memory);
        let import = |name: String| Import { means: words::import(&name), name };
        ConnectorFacts {
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            title: manifest.title.clone(),
            digest: loaded.digest.clone(),
            surfaces: Surfaces {
                claimed: manifest.surfaces.iter().map(|claimed| String::from(*claimed)).collect(),
                exported: loaded.surfaces.iter().map(ToString::to_string).collect(),
            },
            level: manifest.level,
            imports: loaded.imports().into_iter().map(import).collect(),
            component: Component {
                path: path.to_owned(),
                bytes: wasm.len(),
                most_bytes: limits.component_bytes,
                has_debug_information: has_debug_info(wasm),
            },
            start: StartCost {
                cpu_us: loaded.start_up.cpu_us,
                most_cpu_us: u64::try_from(TRIAL_CPU.as_micros()).unwrap_or(u64::MAX),
                memory_bytes: loaded.start_up.peak_memory,
                most_memory_bytes: (memory_mib as u64) << 20,
            },
            may_send_requests_to: words::destinations(&manifest),
            may_use_per_call: CallBudget {
                memory: manifest.memory,
                memory_mib,
                cpu_ms: limits.cpu_ms,
                wall_ms: limits.wall_ms,
            },
            needs_from_user: words::needs_from_user(&manifest),
            needs_from_operator: words::needs_from_operator(&manifest),
            manifest,
        }
    }

    /// The imports that WASI defines.
    pub fn wasi(&self) -> impl Iterator<Item = &Import> {
        self.imports.iter().filter(|import| import.name.starts_with("wasi:"))
    }

    /// The facts in lines that end with a line feed.
    pub fn text(&self) -> String {
        let mut text = format!("{} {}: {}\n", self.name, self.version, self.title);
        let claimed = format!("{}, as connector.toml says", self.surfaces.claimed.join(", "));
        add(&mut text, "exports", &[claimed]);
        self.add_imports(&mut text);
        let Component { path, bytes, most_bytes, .. } = &self.component;
        let size = format!(
            "{}, {} of at most {}",
            path.display(),
            mebibytes(*bytes as u64),
            mebibytes(*most_bytes as u64)
        );
        add(&mut text, "component", &[size]);
        let start = &self.start;
        let start = format!(
            "{} of processor time (at most {}), {} of memory (at most {})",
            milliseconds(start.cpu_us),
            milliseconds(start.most_cpu_us),
            mebibytes(start.memory_bytes),
            mebibytes(start.most_memory_bytes),
        );
        add(&mut text, "starts with", &[start]);
        add(&mut text, "may send requests to", &self.may_send_requests_to);
        let CallBudget { memory_mib, cpu_ms, wall_ms, .. } = self.may_use_per_call;
        let budget = format!(
            "{memory_mib} MiB, {} of processor time, {} in all",
            milliseconds(cpu_ms * 1_000),
            milliseconds(wall_ms * 1_000)
        );
        add(&mut text, "may use per call", &[budget]);
        add(&mut text, "needs from the user", &[join_values(&self.needs_from_user)]);
        if !self.needs_from_operator.is_empty() {
            add(&mut text, "needs from the operator", &[join_values(&self.needs_from_operator)]);
        }
        text
    }

    fn add_imports(&self, text: &mut String) {
        let own: Vec<&str> =
            self.imports.iter().filter_map(|import| words::own_interface(&import.name)).collect();
        let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
        add(text, "imports", &[own]);
        let mut granted: Vec<&str> = Vec::new();
        for import in self.wasi() {
            if !granted.contains(&import.means) {
                granted.push(import.means);
            }
        }
        let wasi = match self.level {
            Level::Strict => "none: level strict".to_owned(),
            Level::Compat if granted.is_empty() => "none".to_owned(),
            Level::Compat => format!("{}; sockets are refused", granted.join(", ")),
        };
        add(text, "imports of WASI", &[wasi]);
    }
}

/// Appends a label and its values, one a line.
fn add(text: &mut String, label: &str, values: &[String]) {
    let (shown, rest) = values.split_at(values.len().min(SHOWN));
    let more = (!rest.is_empty()).then(|| format!("and {} more, which --json shows", rest.len()));
    for (at, value) in shown.iter().chain(&more).enumerate() {
        let label = if at == 0 { label } else { "" };
        text.push_str(&format!("  {label:24}{value}\n"));
    }
}

fn join_values(values: &[String]) -> String {
    if values.is_empty() { "nothing".to_owned() } else { values.join("; ") }
}

/// Whole mebibytes without a fraction, others with one decimal.
fn mebibytes(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) >> 20;
    match tenths % 10 {
        0 => format!("{} MiB", tenths / 10),
        tenth => format!("{}.{tenth} MiB", tenths / 10),
    }
}

/// Whole seconds without a fraction, others in milliseconds with one decimal.
fn milliseconds(micros: u64) -> String {
    match micros {
        1_000_000.. if micros.is_multiple_of(1_000_000) => format!("{} s", micros / 1_000_000),
        _ if micros.is_multiple_of(1_000) => format!("{} ms", micros / 1_000),
        _ => format!("{}.{} ms", micros / 1_000, micros % 1_000 / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        assert_eq!(mebibytes(912_345), "0.8 MiB");
        assert_eq!((mebibytes(64 << 20), mebibytes(1_200_000)), ("64 MiB".to_owned(), "1.1 MiB".to_owned()));
        let times = [500, 500_000, 2_000_000, 2_500_000].map(milliseconds);
        assert_eq!(times, ["0.5 ms", "500 ms", "2 s", "2500 ms"]);
    }

    #[test]
    fn a_long_list_is_cut() {
        let mut text = String::new();
        add(&mut text, "hosts", &(0..7).map(|host| format!("host {host}")).collect::<Vec<_>>());
        assert_eq!(text.lines().count(), SHOWN + 1);
        assert!(text.starts_with("  hosts                   host 0\n"), "{text}");
        assert!(text.ends_with("and 2 more, which --json shows\n"), "{text}");
    }
}
