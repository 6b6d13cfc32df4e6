//! Two programs change what Alice has at Microsoft, one through the API and one in Outlook, while requests fail, answers are lost, what Graph
//! remembers of reads expires, and hosts are killed: in the end the copy here is what Graph has, nothing is lost, nothing was made twice,
//! and no message was sent twice.
//!
//! `MICROSOFT_CONVERGENCE_STEPS` makes longer histories, `CONVERGENCE_SEED` other ones.

mod calendar;
mod records;

use std::env;

use fakes::graph::GraphRequest;
use fakes::{Fault, Graph, What};
use harness::{Ask, Exchange, reconnected};
use serde_json::json;

use crate::microsoft::World;

/// Steps of a history, unless the environment says otherwise.
const STEPS: u64 = 300;
/// Steps after which both sides are compared.
const ROUND: u64 = 25;
const MINUTE_MS: i64 = 60_000;
/// Longer than the service waits after failures, ms.
const PATIENCE_MS: i64 = 31 * MINUTE_MS;
/// The path of batches.
const BATCH: &str = "/v1.0/$batch";

/// Traps of batches and of every call, for any kind of data.
const COMMON_TRAPS: [&str; 7] = [
    "batch_429",
    "batch_part_missing",
    "batch_part_503",
    "batch_reversed",
    "throttled",
    "throttled_bare",
    "unknown_error_503",
];

fn number(name: &str, or: u64) -> u64 {
    env::var(name).map_or(or, |n| n.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

/// A failure of one to three requests whose paths contain `path`, or of batches. Such requests may be parts of batches.
fn failure(path: &str, number: u8) -> Fault {
    let path = if number.is_multiple_of(5) { BATCH } else { path };
    let fault = match number % 6 {
        0 => Fault::status(path, 503, json!("Service Unavailable")),
        1 => Fault::status(path, 500, json!({ "error": { "code": "UnknownError", "message": "" } })),
        2 => Fault::new(path, What::Kill),
        3 => Fault::new(path, What::Cut).after(),
        4 => Fault::new(path, What::Kill).after(),
        _ => Fault::new(path, What::Html),
    };
    fault.times(u32::from(number % 3) + 1)
}

/// Lets the next change of each method happen at Graph, and loses its answer.
fn lose_changes(graph: &Graph, path: &str) {
    for method in ["POST", "PATCH", "DELETE"] {
        graph.fault(Fault::new(path, What::Kill).method(method).after());
    }
}

/// Ends the faults and traps.
fn calm(graph: &Graph) {
    graph.clear_faults();
    for trap in fakes::graph::GRAPH_TRAPS {
        graph.trap(trap, 0);
    }
}

/// Stops the hosts without warning and starts others on the same database.
async fn restarted(mut world: World) -> World {
    world.server = world.server.restart().await;
    world.api = reconnected(&world.server, &world.api);
    world
}

/// Waits until Graph has got a request with this method whose path contains `path`, alone or as a part of a batch, since
/// `clear_requests`.
async fn requested(graph: &Graph, method: &str, path: &str) {
    let fits = |request: &GraphRequest| {
        request.method == method && request.path != BATCH && request.path.contains(path)
    };
    while !graph.requests().iter().any(|request| fits(request) || request.parts.iter().any(fits)) {
        tokio::task::yield_now().await;
    }
}

/// Sends a request for a change and stops the hosts as soon as Graph has got a request with this method, or after the response. Returns
/// the response; none if the hosts were stopped before. Without faults and traps, because the work of a host in this process continues
/// for a moment: it must not repeat what another host takes over.
async fn killed_during(world: World, request: Ask, method: &str) -> (World, Option<Exchange>) {
    calm(&world.graph);
    world.graph.clear_requests();
    let answer = tokio::select! {
        answer = request.send() => Some(answer),
        () = requested(&world.graph, method, "/v1.0/me/") => None,
    };
    (restarted(world).await, answer)
}

/// Runs due pulls and kills the hosts as soon as one of them reads from Graph.
async fn killed_during_pull(world: World) -> World {
    world.graph.clear_requests();
    tokio::select! {
        _ = world.server.pull() => {}
        () = requested(&world.graph, "GET", "/v1.0/me/") => {}
    }
    restarted(world).await
}

/// Sends the mail that is due and kills the hosts as soon as Graph has got a request whose path contains `path`: one that stores a
/// message, or one that sends it.
async fn killed_during_sends(world: World, path: &str) -> World {
    world.graph.clear_requests();
    tokio::select! {
        () = world.server.hand_over() => {}
        () = requested(&world.graph, "POST", path) => {}
    }
    restarted(world).await
}
