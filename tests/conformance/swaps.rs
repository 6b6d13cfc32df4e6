//! Versions of a connector that change while many calls wait for their provider, as with `connector dev`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::body::Bytes;
use http::{Request, Response};
use runtime::{
    CarriedBody, Limits, LoadedConnector, Network, Runtime, Surface, Transport, TransportError, Verb,
};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::world::{SELF_HOSTED, World, call, component, guest_text, manifest};

const NAME: &str = "swap";
const SERVER: &str = "https://provider.test";
const SWAPS: usize = 50;
const BETWEEN_SWAPS: Duration = Duration::from_millis(150);
/// The interval between the beginnings of two calls: 200 calls begin in a second.
const BETWEEN_CALLS: Duration = Duration::from_millis(5);
const PROVIDER_TAKES: Duration = Duration::from_millis(300);

/// The newest swap that has begun, and the newest one that `Runtime::load` has returned from. Swap `n` publishes version `n % 2`; swap 0
/// is the version that is in service before the first call.
#[derive(Default)]
struct Swaps {
    begun: AtomicUsize,
    ended: AtomicUsize,
}

/// Answers each request after `PROVIDER_TAKES` with the number of the newest swap that had begun when the request arrived.
struct SlowProvider(Arc<Swaps>);

#[async_trait]
impl Transport for SlowProvider {
    async fn send(
        &self,
        _: Request<Bytes>,
        _: &dyn Network,
    ) -> Result<Response<CarriedBody>, TransportError> {
        let begun = self.0.begun.load(Ordering::SeqCst);
        tokio::time::sleep(PROVIDER_TAKES).await;
        Ok(Response::new(CarriedBody::whole(begun.to_string())))
    }
}

/// A call that has succeeded.
struct Served {
    /// The newest swap that had ended when the call began.
    oldest: usize,
    /// The newest swap that had begun when the connector's request reached the provider.
    newest: usize,
    /// The version that answered: 0 or 1.
    version: usize,
    took: Duration,
}

impl Served {
    /// Whether the version that answered was published by one of the swaps from `oldest` to `newest`.
    fn is_of_its_time(&self) -> bool {
        (self.oldest..=self.newest).any(|swap| swap % 2 == self.version)
    }
}

async fn serve(runtime: Runtime, swaps: Arc<Swaps>) -> Served {
    let mut call = call(NAME);
    call.body = format!("{SERVER}/slow");
    call.context.settings = json!({ "serverUrl": SERVER }).as_object().expect("an object").clone();
    let began = Instant::now();
    let oldest = swaps.ended.load(Ordering::SeqCst);
    let answer = runtime.call(call).await.expect("no call fails while versions change");
    let took = began.elapsed();
    let newest = answer.body.parse::<usize>().expect("the number of a swap");
    let version = answer.cursor.as_deref().and_then(|cursor| cursor.strip_prefix('v'));
    let version = version.and_then(|digit| digit.parse::<usize>().ok()).expect("v0 or v1");
    Served { oldest, newest, version, took }
}

/// Swaps the two versions `SWAPS` times; returns the published ones, oldest first.
async fn swap(runtime: Runtime, folders: [PathBuf; 2], swaps: Arc<Swaps>) -> Vec<Weak<LoadedConnector>> {
    let mut published = Vec::new();
    let mut pace = tokio::time::interval(BETWEEN_SWAPS);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for number in 1..=SWAPS {
        pace.tick().await;
        swaps.begun.store(number, Ordering::SeqCst);
        let loaded = runtime.load(&folders[number % 2]).await.expect("both versions are sound");
        swaps.ended.store(number, Ordering::SeqCst);
        published.push(Arc::downgrade(&loaded));
    }
    published
}

/// Enough capacity for every call in flight, and more: 200 calls a second of 300 ms are 60 at once. No call is refused because a swap or
/// the machine delayed others.
fn roomy() -> Limits {
    Limits {
        max_concurrent: 128,
        max_per_connector: 128,
        max_per_tenant: 128,
        total_memory_mib: 128 * Limits::default().standard_mib,
        queue_timeout_ms: 20_000,
        ..Limits::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_swaps_under_load() {
    let swaps = Arc::new(Swaps::default());
    let provider = SlowProvider(swaps.clone());
    let world = World::with(roomy(), &[], |config| config.transport = Some(Arc::new(provider))).await;
    let folders = [0, 1].map(|version| {
        let text = guest_text("versioned").replace("\"v0\"", &format!("\"v{version}\""));
        let manifest = manifest(NAME, &format!("1.0.{version}"), SELF_HOSTED);
        world.write(&format!("v{version}"), &manifest, NAME, &component(&text))
    });
    // Both are compiled before the first call, and version 0 is in service.
    let mut published = Vec::new();
    for folder in [&folders[1], &folders[0]] {
        published.push(Arc::downgrade(&world.runtime.load(folder).await.unwrap()));
    }

    let swapping = tokio::spawn(swap(world.runtime.clone(), folders, swaps.clone()));
    let mut calls = JoinSet::new();
    let mut pace = tokio::time::interval(BETWEEN_CALLS);
    let began = Instant::now();
    while !swapping.is_finished() {
        pace.tick().await;
        calls.spawn(serve(world.runtime.clone(), swaps.clone()));
    }
    let elapsed = began.elapsed();
    published.extend(swapping.await.unwrap());
    let mut served = Vec::new();
    while let Some(call) = calls.join_next().await {
        served.push(call.expect("no call fails while versions change"));
    }

    for call in &served {
        let Served { oldest, newest, version, .. } = call;
        assert!(call.is_of_its_time(), "version {version} answered between the swaps {oldest} and {newest}");
    }
    for version in [0, 1] {
        assert!(served.iter().any(|call| call.version == version), "version {version} has answered");
    }
    // Only one version may have answered a call that met no swap before its request was sent.
    let undisturbed = served.iter().filter(|call| call.oldest == call.newest).count();
    assert!(undisturbed > 0, "each call has met a swap");
    let due = elapsed.as_millis() / BETWEEN_CALLS.as_millis();
    assert!(served.len() as u128 >= due / 2, "{} calls in {elapsed:?}: that is no load", served.len());
    let mut took: Vec<_> = served.iter().map(|call| call.took).collect();
    took.sort();
    println!(
        "{SWAPS} swaps in {elapsed:?}, {} calls, none failed; p50 {:?}, max {:?}; {undisturbed} met no swap",
        took.len(),
        took[took.len() / 2],
        took[took.len() - 1]
    );

    let in_service = world.runtime.find(NAME).unwrap();
    let stats = in_service.stats();
    assert_eq!(stats.running, 0);
    assert_eq!(stats.outcomes, [(Surface::Calendar, Verb::Fetch, "ok", served.len() as u64)]);
    only_the_last_is_left(&published, &in_service).await;
    world.settled().await;
}

/// The memory of a version that was replaced is freed after its last call, on another thread.
async fn only_the_last_is_left(published: &[Weak<LoadedConnector>], in_service: &Arc<LoadedConnector>) {
    let (last, replaced) = published.split_last().expect("versions were published");
    assert!(Weak::ptr_eq(last, &Arc::downgrade(in_service)), "the last version is in service");
    let began = Instant::now();
    while replaced.iter().any(|version| version.strong_count() > 0) {
        let left = replaced.iter().filter(|version| version.strong_count() > 0).count();
        assert!(began.elapsed() < Duration::from_secs(5), "{left} versions that were replaced are left");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
