//! The cost of a call in each language that connectors are written in: the same call of the same connector, made of the templates. `cargo
//! xtask bench` builds the components and names their folder; without it there is nothing to measure.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::body::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use runtime::{Call, CarriedBody, Limits, Network, Runtime, Surface, Transport, TransportError, Verb};
use serde_json::{Value, json};

use crate::world::{Fixed, World, call};

/// Folders of the projects, which are the connectors' names too, and their languages.
const PROJECTS: [(&str, &str); 2] = [("paper-rust", "rust"), ("paper-typescript", "typescript")];
const SERVER: &str = "https://paper.test";
/// Tasks of the page that is read.
const TASKS: usize = 100;
/// Runs of each language, and calls of a run.
const TURNS: usize = 20;
const CALLS: usize = 50;

/// Answers each request with the same page at once: the provider's time is not part of the comparison.
struct OnePage(Bytes);

impl OnePage {
    fn new() -> Self {
        let item = |number: usize| {
            json!({
                "id": format!("i{number:06}"),
                "etag": format!("\"{number}\""),
                "title": format!("Task {number} of the list"),
                "note": "Two sentences that somebody wrote down. They are about as long as most notes are.",
                "done": number.is_multiple_of(2),
                "due": "2030-01-31",
            })
        };
        let items: Vec<Value> = (0..TASKS).map(item).collect();
        OnePage(json!({ "items": items, "nextSince": "s100" }).to_string().into())
    }
}

#[async_trait]
impl Transport for OnePage {
    async fn send(
        &self,
        _: Request<Bytes>,
        _: &dyn Network,
    ) -> Result<Response<CarriedBody>, TransportError> {
        let response = Response::builder().header(CONTENT_TYPE, "application/json");
        response.body(CarriedBody::whole(self.0.clone())).map_err(|_| TransportError::broken())
    }
}

/// A call that reads the page.
fn page(connector: &str) -> Call {
    let mut call = call(connector);
    (call.surface, call.verb, call.op) = (Surface::Tasks, Verb::Changes, "tasks".to_owned());
    let settings = json!({ "serverUrl": SERVER });
    let args = json!({ "collection": "inbox", "limit": TASKS });
    call.body = json!({ "connection": { "settings": settings }, "args": args }).to_string();
    call.context.settings = settings.as_object().expect("an object").clone();
    call.context.credentials = Arc::new(Fixed("Bearer paper-bench", None));
    call
}

/// The figures of one language's calls.
struct Figures {
    name: &'static str,
    language: &'static str,
    wall: Vec<Duration>,
    cpu_us: Vec<u64>,
    peak_memory: u64,
    component_bytes: u64,
}

impl Figures {
    /// Installs the connector and makes a first call.
    async fn install(
        runtime: &Runtime,
        projects: &Path,
        (name, language): (&'static str, &'static str),
    ) -> Self {
        let folder = projects.join(name).join("build").join(name);
        runtime.install(&folder).await.expect("a template is sound");
        let answer = runtime.call(page(name)).await.expect("a page");
        let body: Value = answer.parse().expect("JSON");
        assert_eq!(body["sources"].as_array().map(Vec::len), Some(TASKS), "{name}");
        assert!(!answer.more, "{name}");
        let component = std::fs::metadata(folder.join(format!("{name}.wasm"))).expect("the component");
        let (wall, cpu_us) = (Vec::new(), Vec::new());
        Figures { name, language, wall, cpu_us, peak_memory: 0, component_bytes: component.len() }
    }

    async fn turn(&mut self, runtime: &Runtime, calls: usize) {
        for _ in 0..calls {
            let call = page(self.name);
            let began = Instant::now();
            let answer = runtime.call(call).await.expect("a page");
            self.wall.push(began.elapsed());
            self.cpu_us.push(answer.stats.cpu_us);
            self.peak_memory = self.peak_memory.max(answer.stats.peak_memory);
        }
    }

    fn print(mut self) {
        self.wall.sort_unstable();
        self.cpu_us.sort_unstable();
        let calls = self.wall.len();
        let wall_us = |share: f64| self.wall[((calls - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
        let figures = json!({
            "language": self.language,
            "tasks": TASKS,
            "calls": calls,
            "p50Us": wall_us(0.5),
            "p99Us": wall_us(0.99),
            "cpuUs": self.cpu_us[calls / 2],
            "peakMemory": self.peak_memory,
            "componentBytes": self.component_bytes,
        });
        println!("BENCH {figures}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_page_in_each_language() {
    let Some(projects) = std::env::var_os("SWITCHBOARD_TEMPLATES").map(PathBuf::from) else { return };
    let provider = OnePage::new();
    let limits = Limits::default();
    let world = World::with(limits, &[], |config| config.transport = Some(Arc::new(provider))).await;
    let mut languages = Vec::new();
    for project in PROJECTS.into_iter().filter(|(name, _)| projects.join(name).is_dir()) {
        languages.push(Figures::install(&world.runtime, &projects, project).await);
    }
    assert!(!languages.is_empty(), "no project in {}", projects.display());
    let (turns, calls) = if cfg!(debug_assertions) { (2, 5) } else { (TURNS, CALLS) };
    for _ in 0..turns {
        for figures in &mut languages {
            figures.turn(&world.runtime, calls).await;
        }
        // A B B A, so that no side always has the warmer machine.
        languages.reverse();
    }
    for figures in languages {
        figures.print();
    }
    world.settled().await;
}
