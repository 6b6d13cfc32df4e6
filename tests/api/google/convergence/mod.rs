//! Two programs change what Alice has at Google, one through the API and one at Google, while requests fail, answers are lost, what Google
//! remembers of reads expires, and hosts are killed: in the end the copy here is what Google has, nothing is lost, nothing was made twice,
//! and no message was sent twice.
//!
//! `GOOGLE_CONVERGENCE_STEPS` makes longer histories, `CONVERGENCE_SEED` other ones.

mod calendar;
mod records;

use std::env;

use fakes::{Fault, Google, What};
use harness::{Ask, Exchange, reconnected};
use serde_json::json;

use crate::google::World;

/// Steps of a history, unless the environment says otherwise.
const STEPS: u64 = 300;
/// Steps after which both sides are compared.
const ROUND: u64 = 25;
const MINUTE_MS: i64 = 60_000;
/// Longer than the service waits after failures, ms.
const PATIENCE_MS: i64 = 31 * MINUTE_MS;

fn number(name: &str, or: u64) -> u64 {
    env::var(name).map_or(or, |n| n.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

/// A failure of one to three requests whose paths contain `path`.
fn failure(path: &str, number: u8) -> Fault {
    let fault = match number % 6 {
        0 => Fault::status(path, 503, json!("Service Unavailable")),
        1 => Fault::status(path, 500, json!({ "error": { "code": 500, "message": "Backend Error" } })),
        2 => Fault::new(path, What::Kill),
        3 => Fault::new(path, What::Cut).after(),
        4 => Fault::new(path, What::Kill).after(),
        _ => Fault::new(path, What::Html),
    };
    fault.times(u32::from(number % 3) + 1)
}

/// Lets the next change of each method happen at Google, and loses its answer.
fn lose_changes(google: &Google, path: &str) {
    for method in ["POST", "PATCH", "DELETE"] {
        google.fault(Fault::new(path, What::Kill).method(method).after());
    }
}

/// Ends the faults and traps.
fn calm(google: &Google) {
    google.clear_faults();
    for trap in fakes::google::TRAPS {
        google.trap(trap, 0);
    }
}

/// Stops the hosts without warning and starts others on the same database.
async fn restarted(mut world: World) -> World {
    world.server = world.server.restart().await;
    world.api = reconnected(&world.server, &world.api);
    world
}

/// Waits until Google has got a request with this method since `clear_requests`.
async fn requested(google: &Google, method: &str) {
    while !google.requests().iter().any(|request| request.method == method) {
        tokio::task::yield_now().await;
    }
}

/// Sends a request for a change and stops the hosts as soon as Google has got a request with this method, or after the response. Returns
/// the response; none if the hosts were stopped before. Without faults and traps, because the work of a host in this process continues
/// for a moment: it must not repeat what another host takes over.
async fn killed_during(world: World, request: Ask, method: &str) -> (World, Option<Exchange>) {
    calm(&world.google);
    world.google.clear_requests();
    let answer = tokio::select! {
        answer = request.send() => Some(answer),
        () = requested(&world.google, method) => None,
    };
    (restarted(world).await, answer)
}

/// Runs due pulls and kills the hosts as soon as one of them reads from Google.
async fn killed_during_pull(world: World) -> World {
    world.google.clear_requests();
    tokio::select! {
        _ = world.server.pull() => {}
        () = requested(&world.google, "GET") => {}
    }
    restarted(world).await
}

/// Sends the mail that is due and kills the hosts as soon as Google has got a message.
async fn killed_during_sends(world: World) -> World {
    world.google.clear_requests();
    tokio::select! {
        () = world.server.hand_over() => {}
        () = requested(&world.google, "POST") => {}
    }
    restarted(world).await
}
