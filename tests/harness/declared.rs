//! The check of every exchange of an API test against `/openapi/clients.json`: an operation may only return statuses and error codes that
//! it declares. A test server collects undeclared answers, and its test fails with all of them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex};

use reqwest::Method;
use serde_json::Value;
use switchboard::api;
use switchboard::api::openapi::{self, Flavour};

use crate::Exchange;

/// The document's operations, by method and number of path segments; read once per process.
static DECLARED: LazyLock<HashMap<(String, usize), Vec<DeclaredOperation>>> = LazyLock::new(read_document);

/// The responses that the document declares for an operation.
struct DeclaredOperation {
    id: String,
    /// Segments of the path; parameters are in braces.
    segments: Vec<String>,
    statuses: BTreeSet<String>,
    codes: BTreeSet<String>,
}

fn read_document() -> HashMap<(String, usize), Vec<DeclaredOperation>> {
    let document = openapi::print(&api::operations(), "", Flavour::Clients);
    let mut declared: HashMap<_, Vec<DeclaredOperation>> = HashMap::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let segments: Vec<String> = path.split('/').map(str::to_owned).collect();
            let row = DeclaredOperation::read(operation, segments);
            declared.entry((method.to_uppercase(), row.segments.len())).or_default().push(row);
        }
    }
    declared
}

impl DeclaredOperation {
    fn read(operation: &Value, segments: Vec<String>) -> DeclaredOperation {
        let codes = operation["x-error-codes"].as_array().expect("a list of codes");
        DeclaredOperation {
            id: operation["operationId"].as_str().expect("an id").to_owned(),
            segments,
            statuses: operation["responses"].as_object().expect("responses").keys().cloned().collect(),
            codes: codes.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        }
    }

    /// Finds the operation of a request; none for paths outside the API.
    fn find(method: &Method, path: &str) -> Option<&'static DeclaredOperation> {
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let asked: Vec<&str> = path.split('/').collect();
        let rows = DECLARED.get(&(method.to_string(), asked.len()))?;
        rows.iter().filter(|row| row.has_path(&asked)).max_by_key(|row| row.count_literals())
    }

    /// Counts the segments that are not parameters: of two matching paths, the one with more of them applies.
    fn count_literals(&self) -> usize {
        self.segments.iter().filter(|segment| !segment.starts_with('{')).count()
    }

    fn has_path(&self, asked: &[&str]) -> bool {
        let is_at =
            |own: &str, asked: &str| if own.starts_with('{') { !asked.is_empty() } else { own == asked };
        self.segments.iter().zip(asked).all(|(own, asked)| is_at(own, asked))
    }

    /// Returns a line about an undeclared response, with the row to add; none if it is declared.
    fn fault(&self, status: u16, answer: &Value) -> Option<String> {
        let id = &self.id;
        if status < 400 {
            let row = format!("(\"{id}\", {status}, \"…\"),");
            let place = "OTHER_ANSWERS in host/src/api/openapi/components.rs";
            let is_declared = self.statuses.contains(&status.to_string());
            return (!is_declared).then(|| format!("undeclared answer: {id} {status}: add {row} to {place}"));
        }
        let error = &answer["error"];
        let code = error["code"].as_str().or_else(|| error.as_str())?;
        if self.codes.contains(code) {
            return None;
        }
        let row = format!("(\"{id}\", &[{}]),", variant(code));
        let place = "ROWS in host/src/api/openapi/error_codes.rs";
        Some(format!("undeclared answer: {id} {status} {code}: add {row} to {place}"))
    }
}

/// Returns the name of the enum variant of an error code: `stale_etag` → `StaleEtag`.
fn variant(code: &str) -> String {
    let words = code.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

/// The undeclared answers of a test server, one line each.
#[derive(Clone, Default)]
pub struct UndeclaredAnswers(Arc<Mutex<BTreeSet<String>>>);

impl UndeclaredAnswers {
    /// Records the exchange if its response is not declared.
    pub fn check(&self, exchange: &Exchange) {
        let operation = DeclaredOperation::find(&exchange.method, &exchange.path);
        let fault = operation.and_then(|operation| operation.fault(exchange.status, &exchange.answer));
        if let Some(fault) = fault {
            self.0.lock().expect("no check panics").insert(fault);
        }
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no check panics").iter().cloned().collect()
    }
}

/// The part of a test server that fails its test at the end if a response was undeclared.
#[derive(Default)]
pub struct DeclarationCheck {
    pub answers: UndeclaredAnswers,
}

impl Drop for DeclarationCheck {
    fn drop(&mut self) {
        let lines = self.answers.lines();
        // A test that fails already has its own reason.
        assert!(
            lines.is_empty() || std::thread::panicking(),
            "/openapi/clients.json lacks answers of this test:\n{}",
            lines.join("\n")
        );
    }
}
