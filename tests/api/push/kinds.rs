//! Connectors that notify in several ways, or in ways that prove less, by example: the sandbox's with other tables in its manifest.

use harness::{Actor, Exchange, TestServer};
use serde_json::{Value, json};
use storage::jobs;
use tempfile::TempDir;

use crate::email::mailbox::text;
use crate::oauth::register_client;
use crate::push::keys::{KeyServer, Signer};
use crate::push::tokens::{ACCOUNT, ISSUER, about};
use crate::push::{HOUR_MS, MINUTE_MS, NOTIFICATIONS, World, connectors};

/// How the sandbox provider's notifications are read.
const HEADERS: &str = "auth = \"channel-token\"\nwatch = \"header:x-sandbox-channel\"\nsecret = \"header:x-sandbox-token\"\nstate = \"header:x-sandbox-state\"\n";

/// A service with this connector that can be notified.
fn builder(connectors: &TempDir) -> harness::Builder {
    let folder = connectors.path().to_owned();
    TestServer::builder().config(|config| {
        config.push_over_http = true;
        config.connectors_dir = Some(folder);
        config.egress_allow = vec!["127.0.0.0/8".parse().expect("a network")];
    })
}

/// Posts a notification of a watch to this address.
async fn post(world: &World, address: &str, headers: &[(&str, &str)]) -> Exchange {
    let request = world.server.anonymous().post(address, Value::Null);
    headers.iter().fold(request, |request, (name, value)| request.header(name, value)).send().await
}

/// When a calendar is pulled next, in ms from now on.
async fn pulled_in(server: &TestServer, connection: &str, calendar: &str) -> i64 {
    let id = format!("pull:{connection}:calendar:{calendar}");
    let job = jobs::find(server.app.db.reader(), &id).await.expect("a query").expect("it is there");
    job.due_at.expect("it is due some time") - server.app.now()
}

/// A table for calendars, and one for contacts.
fn two_kinds() -> String {
    format!(
        "[[push]]\nname = \"calendar\"\nsurfaces = [\"calendar\"]\n{HEADERS}\n\
         [[push]]\nname = \"people\"\nsurfaces = [\"contacts\"]\nhandshake = \"query:validationToken\"\n{HEADERS}"
    )
}

/// Each kind has its own address, whose notifications count only for watches of its surfaces.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_has_an_address_of_its_own() {
    let connectors = connectors(&two_kinds());
    let world = World::on(builder(&connectors), &["Shared"]).await;
    let (calendars, people) = (format!("{NOTIFICATIONS}/calendar"), format!("{NOTIFICATIONS}/people"));
    let watch = world.watch(0).await;
    let token = world.token(&watch);
    let changed = [
        ("x-sandbox-channel", watch.id.as_str()),
        ("x-sandbox-token", token.as_str()),
        ("x-sandbox-state", "exists"),
    ];
    let before = world.pull_job(0).await;
    post(&world, &people, &changed).await.expect(202);
    assert_eq!((world.counted("unknown_watch"), world.counted("authentic")), (1, 0));
    assert_eq!(world.pull_job(0).await, before, "the watch is none of people");
    for nowhere in [NOTIFICATIONS.to_owned(), format!("{NOTIFICATIONS}/mail")] {
        post(&world, &nowhere, &changed).await.refused(404, "not_found");
    }
    post(&world, &calendars, &changed).await.expect(202);
    assert_eq!(world.counted("authentic"), 1);
    assert_eq!(pulled_in(&world.server, &world.connection, &world.calendars[0].0).await, 0);
    let asked = |address: &str| format!("{address}?validationToken=x");
    assert_eq!(post(&world, &asked(&people), &[]).await.expect(200), "x");
    post(&world, &asked(&calendars), &[]).await.refused(401, "missing_api_key");

    // The provider gets the address for the kind that it watches.
    let connection = world.api.connect_account("alice").await;
    let start = json!({ "connectionId": connection });
    world.api.post("/v1/contacts/sync/start", start).send().await.expect(202);
    world.server.pull().await;
    assert!(world.server.renew().await > 0, "books are watched");
    let theirs = world.server.provider("alice").get("/sandbox/v1/watches").send().await.expect(200);
    let theirs = theirs["watches"].as_array().expect("a list");
    assert!(!theirs.is_empty(), "the provider watches them");
    assert!(theirs.iter().all(|watch| text(&watch["address"]).ends_with(&people)), "{theirs:?}");
    assert!(text(&world.theirs().await[0]["address"]).ends_with(&calendars));
}

/// At the address of one kind anybody can name what another kind posts of: too many of these take nothing from the other one's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_at_one_address_harms_no_other_kind() {
    let connectors = connectors(&two_kinds());
    let world = World::on(builder(&connectors), &["Shared"]).await;
    let (calendars, people) = (format!("{NOTIFICATIONS}/calendar"), format!("{NOTIFICATIONS}/people"));
    let watch = world.watch(0).await;
    let token = world.token(&watch);
    let changed = [("x-sandbox-channel", watch.id.as_str()), ("x-sandbox-token", token.as_str())];
    for _ in 0..22 {
        post(&world, &people, &changed).await.expect(202);
    }
    post(&world, &people, &changed).await.refused(503, "overloaded");
    post(&world, &calendars, &changed).await.expect(202);
    assert_eq!((world.counted("unknown_watch"), world.counted("authentic")), (22, 1));
    assert_eq!(pulled_in(&world.server, &world.connection, &world.calendars[0].0).await, 0);
}

/// A surface that no table is for is polled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_kind_is_for_is_polled() {
    let connectors = connectors(&format!("[[push]]\nsurfaces = [\"contacts\"]\n{HEADERS}"));
    let world = World::unwatched(builder(&connectors).without_pulls().start().await, &["Shared"]).await;
    assert_eq!(world.server.renew().await, 0);
    assert_eq!(world.shown(0).await["status"], "unsupported");
    assert_eq!(world.pull_job(0).await.due_at, Some(world.server.app.now() + MINUTE_MS));
}

/// A notification without its secret proves nothing: it makes a pull due, and that once a minute at most.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notification_without_its_secret_is_a_hint_once_a_minute() {
    let connectors = connectors(&format!("[push]\nwithout_secret = \"hint\"\n{HEADERS}"));
    let world = World::on(builder(&connectors), &["Shared"]).await;
    let watch = world.watch(0).await;
    let hint =
        async || post(&world, NOTIFICATIONS, &[("x-sandbox-channel", watch.id.as_str())]).await.expect(202);
    let due = async || pulled_in(&world.server, &world.connection, &world.calendars[0].0).await;
    // The provider's own notification of this is lost.
    world.provider.post("/sandbox/faults", json!({ "pushLost": true })).send().await.expect(201);
    world.make(0, "lunch").await;
    hint().await;
    assert_eq!((world.counted("unproved"), due().await), (1, MINUTE_MS), "it was just read");
    assert_eq!(world.watch(0).await, watch, "nothing else comes of it");
    world.server.clock.advance_ms(MINUTE_MS / 2);
    hint().await;
    assert_eq!(due().await, MINUTE_MS / 2, "one pull is for both");
    world.server.clock.advance_ms(MINUTE_MS / 2);
    assert_eq!((world.server.pull().await, world.here(0).await), (1, 1));
    world.server.clock.advance_ms(MINUTE_MS);
    hint().await;
    assert_eq!(due().await, 0, "nothing was read for a minute");
    assert_eq!(world.server.pull().await, 1);
    hint().await;
    assert_eq!((world.counted("unproved"), due().await), (4, MINUTE_MS));

    // A wrong secret is no hint, nor is an unknown watch, and the poster learns nothing.
    let job = world.pull_job(0).await;
    world.notify(&watch.id, "wrong").await.expect(202);
    post(&world, NOTIFICATIONS, &[("x-sandbox-channel", "wat_nobodys")]).await.expect(202);
    post(&world, NOTIFICATIONS, &[]).await.expect(202);
    assert_eq!((world.counted("wrong_secret"), world.counted("unknown_watch")), (1, 1));
    assert_eq!(world.pull_job(0).await, job);
    // The right one comes first.
    world.notify(&watch.id, &world.token(&watch)).await.expect(202);
    assert_eq!(due().await, 0);
}

/// A service account posts for each application, as its operator said.
struct Posters {
    world: World,
    /// A client of another application, with its connection and its calendar.
    other: (Actor, String, String),
    signer: Signer,
    _keys: KeyServer,
    _connectors: TempDir,
}

const FIRST: &str = "first@project.iam.gserviceaccount.com";
const SECOND: &str = "second@project.iam.gserviceaccount.com";

impl Posters {
    /// Starts two applications that follow the same account.
    async fn start() -> Posters {
        let signer = Signer::es256("1");
        let keys = KeyServer::start(&[&signer]).await;
        let table = format!(
            "[push]\nname = \"topic\"\nauth = \"jwt\"\naccount = \"/emailAddress\"\nbase64 = \"/message/data\"\n\n\
             [push.jwt]\nissuers = [\"{ISSUER}\"]\njwks_url = \"{}\"\nemail_setting = \"poster\"\n\n\
             [[settings]]\nname = \"poster\"\noperator = true\ndescription = \"The account that posts\"\n",
            keys.url()
        );
        let connectors = connectors(&table);
        let world = World::unwatched(builder(&connectors).without_pulls().start().await, &["Shared"]).await;
        let api = world.server.key("other", |_| ()).await;
        let account = json!({ "provider": "sandbox", "scopes": ["calendar.read"],
            "credentials": { "username": ACCOUNT, "password": "sandbox" } });
        let connection = api.connect(account).await;
        let calendar = api.calendar(&connection, "Shared").await;
        api.post(format!("/v1/calendars/{calendar}/sync/start"), json!({})).send().await.expect(202);
        assert_eq!(world.server.pull().await, 1);
        let other = (api, text(&connection["id"]), calendar);
        let posters = Posters { world, other, signer, _keys: keys, _connectors: connectors };
        let server = &posters.world.server;
        assert_eq!(server.renew().await, 0, "nobody could prove a notification: both are polled");
        assert_eq!(posters.pulled_in().await, (MINUTE_MS, MINUTE_MS));
        posters.register(&posters.world.api, FIRST).await;
        posters.register(&posters.other.0, SECOND).await;
        server.clock.advance_ms(MINUTE_MS);
        assert_eq!(
            (server.pull().await, server.renew().await),
            (2, 2),
            "from the next pull on both are watched"
        );
        assert_eq!(server.pull().await, 2);
        posters
    }

    /// Registers, as the operator does, the account that posts for an application.
    async fn register(&self, api: &Actor, poster: &str) {
        register_client(&self.world.server, api, "sandbox", |client| {
            client.settings.insert("poster".to_owned(), json!(poster));
        })
        .await;
    }

    /// Posts that something of the account has changed, with a token of the account that posts.
    async fn push(&self, email: &str, is_verified: bool) -> Exchange {
        self.push_for(&format!("{NOTIFICATIONS}/topic"), email, is_verified).await
    }

    /// Pushes with a token for this address of the service.
    async fn push_for(&self, audience: &str, email: &str, is_verified: bool) -> Exchange {
        let (server, now_s) = (&self.world.server, self.world.server.app.now() / 1_000);
        let audience = format!("{}{audience}", server.app.config.public_address());
        let token = self.signer.token(&json!({ "iss": ISSUER, "aud": audience, "sub": "1", "iat": now_s,
            "exp": now_s + 3_600, "email": email, "email_verified": is_verified }));
        let request = server.anonymous().post(format!("{NOTIFICATIONS}/topic"), about(ACCOUNT));
        request.header("authorization", &format!("Bearer {token}")).send().await
    }

    /// When the calendars of the first and of the second application are pulled next, in ms from now on.
    async fn pulled_in(&self) -> (i64, i64) {
        let (server, (_, connection, calendar)) = (&self.world.server, &self.other);
        let first = pulled_in(server, &self.world.connection, &self.world.calendars[0].0).await;
        (first, pulled_in(server, connection, calendar).await)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_posts_for_the_applications_that_name_it() {
    let posters = Posters::start().await;
    let (server, api) = (&posters.world.server, &posters.world.api);
    assert_eq!(posters.pulled_in().await, (HOUR_MS, HOUR_MS));
    for (email, is_verified) in [("stranger@other.iam.gserviceaccount.com", true), (FIRST, false), ("", true)]
    {
        posters.push(email, is_verified).await.refused(401, "invalid_api_key");
    }
    // A token is for the address of its kind.
    posters.push_for(NOTIFICATIONS, FIRST, true).await.refused(401, "invalid_api_key");
    assert_eq!((posters.world.counted("wrong_secret"), posters.pulled_in().await), (4, (HOUR_MS, HOUR_MS)));
    posters.push(FIRST, true).await.expect(202);
    assert_eq!(posters.pulled_in().await, (0, HOUR_MS), "the second application has another account");
    assert_eq!(server.pull().await, 1);
    posters.push(SECOND, true).await.expect(202);
    assert_eq!(posters.pulled_in().await, (HOUR_MS, 0));
    assert_eq!(server.pull().await, 1);

    // One account may post for several, and the operator's changes apply a second later.
    posters.register(api, SECOND).await;
    server.clock.advance_ms(1_000);
    posters.push(FIRST, true).await.refused(401, "invalid_api_key");
    posters.push(SECOND, true).await.expect(202);
    assert_eq!(posters.pulled_in().await, (0, 0));
}
