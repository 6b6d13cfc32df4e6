//! The result of reading an account, as JSON and as text.

use runtime::{LoadedConnector, Surface};
use serde::Serialize;
use serde_json::{Map, Value};
use service::connections::{check, granted};
use storage::connections::Connection;

use crate::cli::connector::try_account::calls::CallFigures;
use crate::cli::connector::try_account::failure::StepFailure;
use crate::cli::output::table;

/// The full report.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TrialReport {
    /// Whether no step failed.
    pub ok: bool,
    connector: String,
    version: String,
    connection: String,
    /// The connection's status.
    status: String,
    scopes: ScopeReport,
    /// Kinds of data that the connector supports and the account lacks.
    lacking: Vec<String>,
    surfaces: Vec<SurfaceReport>,
}

/// The scopes of the connection.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeReport {
    granted: Vec<String>,
    /// Scopes that were requested and not granted.
    missing: Vec<MissingScope>,
    /// The provider's own names of the granted scopes, if it reports them.
    provider: Vec<String>,
}

/// A scope that the account did not grant.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct MissingScope {
    scope: String,
    /// The provider's scopes that it needs, from the manifest.
    needs: Vec<String>,
}

/// The steps of one kind of data.
#[derive(Debug, Serialize)]
pub struct SurfaceReport {
    pub surface: Surface,
    pub steps: Vec<StepReport>,
}

/// One step.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    pub step: &'static str,
    /// The number of the collection in its list, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<usize>,
    /// The connector's operation. None: it was not called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<&'static str>,
    #[serde(flatten)]
    pub figures: CallFigures,
    #[serde(flatten)]
    pub result: StepOutcome,
}

/// The outcome of a step.
#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum StepOutcome {
    Ok { result: Map<String, Value> },
    Failed { failure: StepFailure },
    Skipped { reason: String },
}

impl TrialReport {
    pub fn new(
        connection: &Connection,
        connector: &LoadedConnector,
        surfaces: Vec<SurfaceReport>,
    ) -> TrialReport {
        let lacking = check::surfaces(connector).into_iter();
        let ok = !steps(&surfaces).any(|(_, step)| matches!(step.result, StepOutcome::Failed { .. }));
        TrialReport {
            ok,
            connector: connector.manifest.name.clone(),
            version: connector.manifest.version.clone(),
            connection: connection.id.clone(),
            status: connection.status.clone(),
            scopes: ScopeReport::new(connection, connector),
            lacking: lacking.filter(|name| !connection.surfaces.contains(name)).collect(),
            surfaces,
        }
    }

    /// The report in lines that end with a line feed.
    pub fn text(&self) -> String {
        let mut text = format!("{} {}, {}: {}\n", self.connector, self.version, self.connection, self.status);
        text.push_str(&format!("granted: {}\n", join_names(&self.scopes.granted)));
        for missing in &self.scopes.missing {
            text.push_str(&format!(
                "missing: {}, which needs {}\n",
                missing.scope,
                join_names(&missing.needs)
            ));
        }
        if !self.scopes.provider.is_empty() {
            text.push_str(&format!(
                "granted by the provider's names: {}\n",
                join_names(&self.scopes.provider)
            ));
        }
        if !self.lacking.is_empty() {
            text.push_str(&format!("not in this account: {}\n", join_names(&self.lacking)));
        }
        text.push('\n');
        let rows: Vec<Vec<String>> = steps(&self.surfaces).map(|(of, step)| step.row(of)).collect();
        text.push_str(&table(&rows));
        for (surface, step) in steps(&self.surfaces) {
            let StepOutcome::Failed { failure } = &step.result else { continue };
            text.push_str(&format!(
                "\nfailed: {surface} {}: {}: {}\nhelp: {}\n",
                step.name(),
                failure.code,
                failure.message,
                failure.help
            ));
        }
        text
    }
}

impl ScopeReport {
    fn new(connection: &Connection, connector: &LoadedConnector) -> ScopeReport {
        let missing = connection.requested_scopes.iter().filter(|scope| granted(connection, scope).is_err());
        let needs = |scope: &String| connector.manifest.auth.scopes.get(scope).cloned().unwrap_or_default();
        ScopeReport {
            granted: connection.granted_scopes.clone(),
            missing: missing
                .map(|scope| MissingScope { scope: scope.clone(), needs: needs(scope) })
                .collect(),
            provider: connection.provider_scopes.clone(),
        }
    }
}

impl StepReport {
    /// `page of 2`: the step and the number of its collection.
    fn name(&self) -> String {
        self.collection.map_or_else(|| self.step.to_owned(), |number| format!("{} of {number}", self.step))
    }

    fn row(&self, surface: Surface) -> Vec<String> {
        let (outcome, what) = match &self.result {
            StepOutcome::Ok { result } => ("ok", render_figures(result)),
            StepOutcome::Failed { failure } => ("failed", failure.code.to_owned()),
            StepOutcome::Skipped { reason } => ("skipped", reason.clone()),
        };
        let requests = if self.figures.requests == 1 { "request" } else { "requests" };
        vec![
            outcome.to_owned(),
            surface.to_string(),
            self.name(),
            format!("{} {requests}{}", self.figures.requests, units(&self.figures)),
            format!("{} ms", self.figures.milliseconds),
            what,
        ]
    }
}

/// Units after the number of requests: `, mail 25 units`.
fn units(figures: &CallFigures) -> String {
    figures.units.iter().map(|(bucket, units)| format!(", {bucket} {units} units")).collect()
}

/// Each step with its kind of data.
fn steps(surfaces: &[SurfaceReport]) -> impl Iterator<Item = (Surface, &StepReport)> {
    surfaces.iter().flat_map(|of| of.steps.iter().map(|step| (of.surface, step)))
}

/// A step's figures in a line: `records 3, items event 2 task 1, more`. Absent ones are left out.
fn render_figures(result: &Map<String, Value>) -> String {
    let member = |(name, value): (&String, &Value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(name.clone()),
        Value::Object(counts) => {
            let counts = counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>();
            (!counts.is_empty()).then(|| format!("{name} {}", counts.join(" ")))
        }
        Value::Array(list) => {
            let words = list.iter().filter_map(Value::as_str).collect::<Vec<_>>();
            (!words.is_empty()).then(|| format!("{name} {}", words.join(" ")))
        }
        Value::String(word) => Some(format!("{name} {word}")),
        Value::Number(number) => Some(format!("{name} {number}")),
    };
    result.iter().filter_map(member).collect::<Vec<_>>().join(", ")
}

fn join_names(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_are_a_line() {
        let result =
            json!({ "records": 3, "items": { "event": 2, "task": 1 }, "enumeration": false, "more": true });
        let Value::Object(result) = result else { panic!("an object") };
        let line = render_figures(&result);
        for part in ["records 3", "items event 2 task 1", "more"] {
            assert!(line.contains(part), "{line}");
        }
        assert!(!line.contains("enumeration"), "{line}");
    }
}
