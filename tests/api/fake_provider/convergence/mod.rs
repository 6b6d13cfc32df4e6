//! Two programs change what Alice has at a provider, one through the API and one at the provider, while requests fail, answers are lost,
//! what the provider remembers of reads expires, and hosts are killed: in the end the copy here is what the provider has, nothing is lost,
//! nothing was made twice, and no message was sent twice.
//!
//! `GOOGLE_CONVERGENCE_STEPS` and `MICROSOFT_CONVERGENCE_STEPS` make longer histories, `CONVERGENCE_SEEDS` other ones: it is a list such as
//! `1,2,3`, with a history for each seed. `CONVERGENCE_SEED` names a single one.

pub mod calendar;
pub mod records;

use std::collections::BTreeMap;
use std::env;
use std::fmt::Debug;

use base::clock::Entropy;
use fakes::{Fake, Fault, What};
use harness::{Ask, Exchange, reconnected};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::{FakeProvider, World};

/// Steps of a history, unless the environment says otherwise.
const STEPS: u64 = 300;
/// Steps after which both sides are compared.
const ROUND: u64 = 25;
const MINUTE_MS: i64 = 60_000;
/// Longer than the service waits after failures, ms.
const PATIENCE_MS: i64 = 31 * MINUTE_MS;

/// A fake whose requests fail where a history says so.
pub trait FaultyProvider: FakeProvider {
    /// The environment variable with the number of steps.
    const STEPS_VARIABLE: &'static str;
    /// The beginning of the paths of Alice's data; empty where it has several.
    const DATA: &'static str;
    /// The path of batches, if requests of any kind are parts of them.
    const BATCHES: Option<&'static str>;

    /// The body of an answer with status 500.
    fn internal_error() -> Value;
    /// Whether this is a request with this method and a path that contains `path`, or a batch with one.
    fn fits(request: &Self::Request, method: &str, path: &str) -> bool;
}

/// A history so far.
pub trait History: Sized {
    type Provider: FaultyProvider;
    type Step;

    /// None where the provider's document is not installed.
    async fn start() -> Option<Self>;
    fn draw(random: &Entropy) -> Self::Step;
    async fn take(self, step: Self::Step) -> Self;
    /// Asserts that without faults and traps both sides become equal; so do the list and the feed.
    async fn settle(&mut self);
    fn world(&self) -> &World<Self::Provider>;
}

/// Runs a history of each seed to its end. The last seed that is printed is the one of a failure.
pub async fn run<H: History>() {
    for seed in seeds() {
        println!("history of seed {seed}");
        run_seed::<H>(seed).await;
    }
}

async fn run_seed<H: History>(seed: u64) {
    let Some(mut history) = H::start().await else { return };
    let random = Entropy::seeded(seed);
    for count in 1..=number(H::Provider::STEPS_VARIABLE, STEPS) {
        history = history.take(H::draw(&random)).await;
        if count.is_multiple_of(ROUND) {
            history.settle().await;
        }
    }
    history.settle().await;
    history.world().assert_allowed();
}

/// The seeds that the environment names; else 1.
fn seeds() -> Vec<u64> {
    let Ok(list) = env::var("CONVERGENCE_SEEDS") else { return vec![number("CONVERGENCE_SEED", 1)] };
    let seed = |text: &str| {
        text.trim().parse().unwrap_or_else(|_| panic!("CONVERGENCE_SEEDS must be numbers, as in 1,2,3"))
    };
    list.split(',').map(seed).collect()
}

fn number(name: &str, or: u64) -> u64 {
    env::var(name).map_or(or, |n| n.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

/// Titles, no two of which are the same.
#[derive(Default)]
pub struct Titles {
    last: u32,
}

impl Titles {
    pub fn make(&mut self) -> String {
        self.last += 1;
        format!("Title {}", self.last)
    }
}

/// The records from a feed.
struct Replica {
    /// The path of the feed, with a parameter already.
    feed: String,
    /// The type of the records; all that the feed has without one.
    resource_type: Option<&'static str>,
    by_id: BTreeMap<String, Value>,
    cursor: Option<String>,
}

impl Replica {
    fn new(feed: String, resource_type: Option<&'static str>) -> Replica {
        Replica { feed, resource_type, by_id: BTreeMap::new(), cursor: None }
    }

    /// Reads the feed to its end. Returns false where it cannot be read so far now.
    async fn read<P: FakeProvider>(&mut self, world: &World<P>) -> bool {
        loop {
            let cursor = self.cursor.as_ref().map_or_else(String::new, |cursor| format!("&cursor={cursor}"));
            world.advance(1);
            let path = format!("{}{cursor}", self.feed);
            let page = world.api.get(path).header("cache-control", "no-cache").send().await;
            match page.status {
                200 => {}
                409 => {
                    page.refused(409, "sync_reset_required");
                    (self.cursor, self.by_id) = (None, BTreeMap::new());
                    continue;
                }
                _ => {
                    assert!(matches!(page.status, 429 | 502..=504), "{page}");
                    return false;
                }
            }
            let page = page.answer;
            self.take(page["data"].as_array().expect("a list"));
            self.cursor = page["sync_cursor"].as_str().map(str::to_owned);
            if page["next_cursor"].is_null() {
                return true;
            }
        }
    }

    fn take(&mut self, changes: &[Value]) {
        let is_kept = |change: &&Value| self.resource_type.is_none_or(|kept| change["resourceType"] == kept);
        for change in changes.iter().filter(is_kept) {
            let id = text(&change["resourceId"]);
            match change["changeType"] == "deleted" {
                true => self.by_id.remove(&id),
                false => self.by_id.insert(id, change["resource"].clone()),
            };
        }
    }
}

/// A failure of one to three requests whose paths contain `path`, or of batches. Such requests may be parts of batches.
fn failure<P: FaultyProvider>(path: &str, number: u8) -> Fault {
    let path = if number.is_multiple_of(5) { P::BATCHES.unwrap_or(path) } else { path };
    let fault = match number % 6 {
        0 => Fault::status(path, 503, json!("Service Unavailable")),
        1 => Fault::status(path, 500, P::internal_error()),
        2 => Fault::new(path, What::Kill),
        3 => Fault::new(path, What::Cut).after(),
        4 => Fault::new(path, What::Kill).after(),
        _ => Fault::new(path, What::Html),
    };
    fault.times(u32::from(number % 3) + 1)
}

/// Lets the next change of each method happen at the provider, and loses its answer.
fn lose_changes<P: FaultyProvider>(fake: &Fake<P>, path: &str) {
    for method in ["POST", "PATCH", "DELETE"] {
        fake.fault(Fault::new(path, What::Kill).method(method).after());
    }
}

/// Stops the hosts without warning and starts others on the same database.
async fn restarted<P: FaultyProvider>(mut world: World<P>) -> World<P> {
    world.server = world.server.restart().await;
    world.api = reconnected(&world.server, &world.api);
    world
}

/// Waits until the fake has got a request with this method whose path contains `path`, since `clear_requests`.
async fn requested<P: FaultyProvider>(fake: &Fake<P>, method: &str, path: &str) {
    while !fake.requests().iter().any(|request| P::fits(request, method, path)) {
        tokio::task::yield_now().await;
    }
}

/// Sends a request for a change and stops the hosts as soon as the provider has got a request with this method, or after the response.
/// Returns the response; none if the hosts were stopped before. Without faults and traps, because the work of a host in this process
/// continues for a moment: it must not repeat what another host takes over.
async fn killed_during<P: FaultyProvider>(
    world: World<P>,
    request: Ask,
    method: &str,
) -> (World<P>, Option<Exchange>) {
    world.fake.calm();
    world.fake.clear_requests();
    let answer = tokio::select! {
        answer = request.send() => Some(answer),
        () = requested(&world.fake, method, P::DATA) => None,
    };
    (restarted(world).await, answer)
}

/// Runs due pulls and kills the hosts as soon as one of them reads from the provider.
async fn killed_during_pull<P: FaultyProvider>(world: World<P>) -> World<P> {
    world.fake.clear_requests();
    tokio::select! {
        _ = world.server.pull() => {}
        () = requested(&world.fake, "GET", P::DATA) => {}
    }
    restarted(world).await
}

/// Sends the mail that is due and kills the hosts as soon as the provider has got a POST request whose path contains `path`.
async fn killed_during_sends<P: FaultyProvider>(world: World<P>, path: &str) -> World<P> {
    world.fake.clear_requests();
    tokio::select! {
        () = world.server.hand_over() => {}
        () = requested(&world.fake, "POST", path) => {}
    }
    restarted(world).await
}

/// Returns the number of steps and the last ones, for messages of failures.
fn last_steps<S: Debug>(steps: &[S]) -> String {
    let from = steps.len().saturating_sub(2 * usize::try_from(ROUND).unwrap_or_default());
    format!("step {}, the last ones were {:?}", steps.len(), steps.get(from..).unwrap_or_default())
}
