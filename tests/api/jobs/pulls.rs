//! Followed collections are pulled by jobs: one host at a time pulls a collection, and its result is discarded if the collection was
//! reset meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::error::Result;
use harness::{Actor, Beside, Builder, TestServer, reconnected};
use serde_json::{Value, json};
use service::app::App;
use service::app::config::Config;
use service::app::resource_kind::ResourceKind;
use service::job_runner::kind::{JobEnd, JobKind, JobRun};
use service::job_runner::runner;
use service::jobs::REQUIRED_JOBS;
use service::jobs::pull::PULL;
use storage::jobs::{self, Job};
use storage::sql::query;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::email::mailbox::{Mailbox, Provider, letter, text, until};
use crate::email::sync::start;

const MINUTE_MS: i64 = 60_000;

/// A calendar with one event, which is followed. The tests pull it.
struct World {
    server: TestServer,
    beside: Option<Beside>,
    api: Actor,
    provider: Actor,
    calendar: String,
    /// The calendar's events at the provider.
    theirs: String,
    /// The id of the job that pulls it.
    job: String,
}

impl World {
    async fn new(builder: Builder) -> World {
        let server = builder.without_pulls().start().await;
        let (api, provider) = (server.client().await, server.provider("zoe"));
        let made = json!({ "name": "Shared", "timeZone": "UTC" });
        let made = provider.post("/sandbox/v1/calendars", made).send().await.expect(201);
        let theirs = format!("/sandbox/v1/calendars/{}/events", text(&made["id"]));
        let account = json!({ "provider": "sandbox", "scopes": ["calendar.read"],
            "credentials": { "username": "zoe@sandbox.test", "password": "sandbox" } });
        let connection = api.connect(account).await;
        let calendar = api.calendar(&connection, "Shared").await;
        let surface = ResourceKind::Event.surface().as_str();
        let job = format!("pull:{}:{surface}:{calendar}", text(&connection["id"]));
        let beside = server.beside().await;
        let world = World { server, beside, api, provider, calendar, theirs, job };
        world.make("first").await;
        world.sync("start", json!({})).await;
        world
    }

    /// The other host, where there can be one.
    fn other(&self) -> App {
        self.beside.as_ref().map_or_else(|| self.server.app.clone(), |beside| beside.app.clone())
    }

    async fn make(&self, title: &str) {
        let at = |hour: u8| json!(format!("2026-03-02T{hour}:00:00Z"));
        let event = json!({ "id": title, "title": title, "start": at(11), "end": at(12), "timeZone": "UTC" });
        self.provider.post(&self.theirs, event).send().await.expect(201);
    }

    async fn sync(&self, what: &str, body: Value) {
        self.api.post(format!("/v1/calendars/{}/sync/{what}", self.calendar), body).send().await.expect(202);
    }

    async fn job(&self) -> Job {
        jobs::find(self.server.app.db.reader(), &self.job).await.expect("a query").expect("it is there")
    }

    /// Returns the number of events in the copy, without reading from the provider.
    async fn here(&self) -> usize {
        let sql = "select count(*) as n from items where parent_id = $1 and deleted_at is null";
        let found =
            query(sql).bind(&self.calendar).fetch_one(self.server.app.db.reader(), |row| row.get::<i64>("n"));
        usize::try_from(found.await.expect("a query")).expect("a count")
    }

    /// Whether the account's calendars, as the provider lists them now, have this one.
    async fn is_listed(&self) -> bool {
        self.server.clock.advance_ms(1);
        let page = self.api.get("/v1/calendars").header("cache-control", "no-cache").send().await.expect(200);
        page["data"].as_array().expect("a list").iter().any(|one| one["id"] == *self.calendar)
    }

    /// Runs jobs of this kind at the other host, whose first request the provider does and does not answer. Returns when it has done it.
    async fn pull_held(&self, kind: JobKind) -> JoinHandle<u64> {
        let fault = json!({ "method": "GET", "pathPrefix": self.theirs, "heldAnswer": true });
        self.provider.post("/sandbox/faults", fault).send().await.expect(201);
        let app = self.other();
        let pulling = tokio::spawn(async move { drain(&app, kind).await });
        until("the answer is held", async || (held(&self.provider).await > 0).then_some(())).await;
        pulling
    }

    async fn let_go(&self) {
        self.provider.delete("/sandbox/faults").send().await.expect(204);
    }

    /// The requests that the provider has got so far from the host that serves.
    async fn requests(&self) -> i64 {
        let usage = self.api.get("/v1/usage").send().await.expect(200);
        usage["sync"]["providerCalls"].as_i64().expect("a number")
    }
}

async fn drain(app: &App, kind: JobKind) -> u64 {
    runner::drain(app, &[kind]).await.expect("the jobs are run")
}

/// Answers that the provider holds of an account.
async fn held(provider: &Actor) -> i64 {
    provider.get("/sandbox/faults").send().await.expect(200)["held"].as_i64().expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_host_pulls_a_scope() {
    let world = World::new(TestServer::builder()).await;
    let pulling = world.pull_held(PULL).await;
    let job = world.job().await;
    assert_eq!((job.state.as_str(), job.owner.as_ref()), ("running", Some(&world.other().boot)));
    assert_eq!(drain(&world.server.app, PULL).await, 0, "another host is at it");
    // Requested again, it is pulled once more after this run.
    world
        .api
        .post(format!("/v1/calendars/{}/sync/start", world.calendar), json!({}))
        .send()
        .await
        .expect(200);
    assert_eq!(drain(&world.server.app, PULL).await, 0);
    world.let_go().await;
    assert_eq!(pulling.await.expect("it ends"), 2);
    assert_eq!(world.here().await, 1);
    let job = world.job().await;
    assert_eq!((job.state.as_str(), job.owner), ("queued", None));
    assert_eq!(job.due_at, Some(world.server.app.now() + MINUTE_MS));
    assert_eq!(drain(&world.server.app, PULL).await, 0, "it is not due");
}

static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
static HAS_READ_A_PART: AtomicBool = AtomicBool::new(false);

/// The first run is that of a pull, and later ones are postponed.
async fn once(turn: &JobRun, has_begun: &AtomicBool) -> Result<JobEnd> {
    match has_begun.swap(true, Ordering::Relaxed) {
        false => (PULL.run)(turn).await,
        true => Ok(JobEnd::PutOff(turn.app.now() + MINUTE_MS)),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_fences_out_a_pull_elsewhere() {
    let world = World::new(TestServer::builder()).await;
    assert_eq!(world.server.pull().await, 1);
    assert_eq!(world.here().await, 1);
    world.make("second").await;
    world.server.clock.advance_ms(MINUTE_MS);
    let pulling = world.pull_held(JobKind { run: |turn| Box::pin(once(turn, &HAS_BEGUN)), ..PULL }).await;
    let before = world.job().await;
    assert_eq!(before.state, "running");
    world.sync("reset", json!({ "mode": "soft" })).await;
    let after = world.job().await;
    assert_eq!((after.state.as_str(), after.due_at), ("queued", Some(world.server.app.now())));
    assert_eq!(after.owner, None);
    assert_ne!(after.fence, before.fence);
    world.let_go().await;
    assert_eq!(pulling.await.expect("it ends"), 2, "its own turn, and the reset's, which was put off");
    assert_eq!(world.here().await, 1, "what it has read is not written");
    world.server.clock.advance_ms(MINUTE_MS);
    assert_eq!(world.server.pull().await, 1);
    assert_eq!(world.here().await, 2);
}

/// The host that acknowledged a reset dies before the first read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_survives_its_host() {
    let mut world = World::new(TestServer::builder()).await;
    assert_eq!(world.server.pull().await, 1);
    assert_eq!(world.server.pull().await, 0, "the next one is due in a minute");
    world.sync("reset", json!({ "mode": "hard" })).await;
    world.server = world.server.restart().await;
    world.api = reconnected(&world.server, &world.api);
    assert_eq!(world.server.pull().await, 1);
    let path = format!("/v1/calendars/{}/sync/status", world.calendar);
    let status = world.api.get(path).send().await.expect(200);
    assert_eq!((&status["status"], &status["epoch"]), (&json!("caught_up"), &json!(2)));
    assert_eq!(status["progress"]["seen"], 1, "all of it was read again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interactive_pull_uses_what_another_host_read() {
    let world = World::new(TestServer::builder().config(|c| c.freshness_ms = MINUTE_MS)).await;
    world.make("second").await;
    assert_eq!(drain(&world.other(), PULL).await, 1);
    world.make("third").await;
    world.server.clock.advance_ms(1_000);
    let before = world.requests().await;
    let events = format!("/v1/calendars/{}/events", world.calendar);
    assert_eq!(world.api.all(&events).await.len(), 2);
    assert_eq!(world.requests().await, before, "the provider was asked a second ago");
    let now = world.api.get(&events).header("cache-control", "no-cache").send().await.expect(200);
    assert_eq!(now["data"].as_array().map(Vec::len), Some(3));
    assert!(world.requests().await > before);
    assert_eq!(
        world.job().await.due_at,
        Some(world.server.app.now() - 1_000 + MINUTE_MS),
        "the job stays due"
    );
}

/// A long initial sync is done in several runs. Readers during it get all records in the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_turn_has_read_is_not_taken_for_the_whole() {
    let few = |c: &mut Config| (c.pull_page, c.freshness_ms) = (1, MINUTE_MS);
    let world = World::new(TestServer::builder().config(few)).await;
    for number in 0..24 {
        world.make(&format!("event-{number}")).await;
    }
    let part = JobKind { run: |turn| Box::pin(once(turn, &HAS_READ_A_PART)), ..PULL };
    assert_eq!(drain(&world.other(), part).await, 2, "a turn, and the rest, which was put off");
    let read = world.here().await;
    assert!(0 < read && read < 25, "{read} were read");
    assert_eq!(world.job().await.done_at, None);
    let events = format!("/v1/calendars/{}/events", world.calendar);
    assert_eq!(world.api.all(&events).await.len(), 25);
}

/// A calendar that the provider hides for a while keeps its id, and is followed as before when it comes back. In between it has no job.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calendar_that_comes_back_is_pulled_again() {
    let world = World::new(TestServer::builder()).await;
    assert_eq!(world.server.pull().await, 1);
    world.make("second").await;
    let external = world.theirs.split('/').nth(4).expect("the calendar's id").to_owned();
    world.provider.post("/sandbox/faults", json!({ "missing": external })).send().await.expect(201);
    assert!(!world.is_listed().await);
    world.server.clock.advance_ms(MINUTE_MS);
    assert_eq!(world.server.pull().await, 1, "a look whether it is gone");
    let job = jobs::find(world.server.app.db.reader(), &world.job).await.expect("a query");
    assert_eq!(job, None, "nothing is left to do");
    assert!(world.is_listed().await);
    assert_eq!(world.server.pull().await, 1);
    assert_eq!(world.here().await, 2);
}

/// Its pull ends with the collection, and a calendar that is restored at the provider is read on request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collection_that_a_client_deletes_has_no_job() {
    let server = TestServer::builder().without_pulls().start().await;
    let api = server.client().await;
    let connection = api.connect_account("zoe").await;
    for (path, surface) in [("/v1/calendars", "calendar"), ("/v1/task-lists", "tasks")] {
        let new = json!({ "connectionId": connection, "name": "Shared" });
        let id = text(&api.post(path, new).send().await.expect(201)["id"]);
        api.post(format!("{path}/{id}/sync/start"), json!({})).send().await.expect(202);
        assert_eq!(server.pull().await, 1, "{path}");
        let job = async || {
            let id = format!("pull:{connection}:{surface}:{id}");
            jobs::find(server.app.db.reader(), &id).await.expect("a query")
        };
        assert!(job().await.is_some(), "{path}");
        api.delete(format!("{path}/{id}")).send().await.expect(204);
        assert_eq!(job().await, None, "{path}");
        server.clock.advance_ms(60 * MINUTE_MS);
        assert_eq!(server.pull().await, 0, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quiet_mailbox_is_polled_ever_later() {
    let server = Provider::Sandbox.server().without_pulls();
    let mailbox = Mailbox::open_with(Provider::Sandbox, server).await.expect("a sandbox");
    start(&mailbox).await;
    assert_eq!(mailbox.server.pull().await, 1);
    let app = &mailbox.server.app;
    let id = format!("pull:{}:email:", mailbox.connection);
    let wait = async || {
        let job = jobs::find(app.db.reader(), &id).await.expect("a query").expect("it is there");
        job.due_at.expect("it is pulled again") - app.now()
    };
    let next = async || {
        mailbox.server.clock.advance_ms(wait().await);
        assert_eq!(mailbox.server.pull().await, 1);
    };
    let mut minutes = Vec::new();
    for _ in 0..40 {
        minutes.push(wait().await / MINUTE_MS);
        next().await;
    }
    assert!(minutes.is_sorted(), "{minutes:?}");
    minutes.dedup();
    assert_eq!(minutes, [1, 2, 4, 8, 15]);

    // A change at the provider.
    mailbox.there.deliver(&letter("News", "news@x.test", "")).await;
    next().await;
    assert_eq!(wait().await, MINUTE_MS);
    mailbox.server.clock.advance_ms(180 * MINUTE_MS);
    assert_eq!(mailbox.server.pull().await, 1);
    assert_eq!(wait().await, 15 * MINUTE_MS);
    // A client requests it.
    let again = json!({ "connectionId": mailbox.connection });
    mailbox.api.post("/v1/email/sync/start", again).send().await.expect(200);
    assert_eq!(mailbox.server.pull().await, 1);
    assert_eq!(wait().await, MINUTE_MS);
}

static PULLS: [JobKind; 1] = [PULL];

/// An account of the sandbox with a mailbox that is followed; the connection's id.
async fn follow(api: &Actor, name: &str) -> String {
    let connection = api
        .connect(json!({ "provider": "sandbox", "scopes": ["email.read"],
            "credentials": { "username": format!("{name}@sandbox.test"), "password": "sandbox" } }))
        .await;
    let id = text(&connection["id"]);
    api.post("/v1/email/sync/start", json!({ "connectionId": id })).send().await.expect(202);
    id
}

async fn do_all_hang(providers: &[Actor]) -> bool {
    for provider in providers {
        if held(provider).await == 0 {
            return false;
        }
    }
    true
}

/// Eight mailboxes whose provider takes requests and answers none: a ninth is read as if they were not there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hanging_providers_delay_nobody_else() {
    let server = TestServer::builder().without_pulls().start().await;
    let api = server.client().await;
    let hanging: Vec<Actor> = (0..8).map(|n| server.provider(&format!("hanging{n}"))).collect();
    for (number, provider) in hanging.iter().enumerate() {
        follow(&api, &format!("hanging{number}")).await;
        let fault =
            json!({ "method": "GET", "pathPrefix": "/sandbox/v1/mail", "heldAnswer": true, "times": 100 });
        provider.post("/sandbox/faults", fault).send().await.expect(201);
    }
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(server.app.clone(), &PULLS, REQUIRED_JOBS, stopping));
    until("all of them hang", async || do_all_hang(&hanging).await.then_some(())).await;
    let healthy = follow(&api, "healthy").await;
    let path = format!("/v1/email/sync/status/{healthy}");
    until("the healthy one is read", async || {
        let status = api.get(&path).send().await.expect(200);
        (status["status"] == "caught_up").then_some(())
    })
    .await;
    assert!(do_all_hang(&hanging).await, "it did not wait for them");
    for provider in &hanging {
        provider.delete("/sandbox/faults").send().await.expect(204);
    }
    stop.send_replace(true);
    tokio::time::timeout(Duration::from_secs(60), running).await.expect("it ends").expect("without a panic");
}
