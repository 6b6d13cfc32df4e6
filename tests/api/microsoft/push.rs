//! Graph posts when a calendar changes: the subscriptions that the host makes, and the effects of their notifications.

use fakes::graph::GraphSubscription;
use serde_json::{Value, json};

use crate::email::mailbox::{text, until};
use crate::fake_provider::{FollowedCalendar, builder};
use crate::microsoft::{ALICE, World};

const NOTIFICATIONS: &str = "/v1/providers/microsoft/notifications";
/// The name of the default calendar.
const DEFAULT: &str = "Calendar";
const TEAM: &str = "Team";
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// Alice's account, two calendars of which are followed.
struct FollowedAccount {
    world: World,
    calendars: [FollowedCalendar; 2],
}

impl FollowedAccount {
    /// Her default calendar and another one, each with a subscription.
    async fn start() -> Option<FollowedAccount> {
        let followed = FollowedAccount::unwatched().await?;
        assert_eq!(followed.world.server.renew().await, 2, "a subscription for each is made");
        followed.world.server.pull().await;
        Some(followed)
    }

    async fn unwatched() -> Option<FollowedAccount> {
        let world = World::on(notified().without_pulls()).await?;
        world.fake.with(|state| state.add_calendar(ALICE, TEAM));
        let connection = world.connect().await;
        let mut calendars =
            [world.calendar(&connection, DEFAULT).await, world.calendar(&connection, TEAM).await];
        for calendar in &mut calendars {
            world.follow(calendar).await;
        }
        world.server.pull().await;
        Some(FollowedAccount { world, calendars })
    }

    /// The subscriptions that Graph has, in the order in which they were made.
    fn subscriptions(&self) -> Vec<GraphSubscription> {
        self.world.fake.with(|state| state.subscriptions.open.clone())
    }

    /// Makes an event at Graph, an hour long.
    fn make(&self, calendar: &str, title: &str) {
        let time = |hour: u8| json!({ "dateTime": format!("2026-03-03T{hour:02}:00:00"), "timeZone": "UTC" });
        let made = json!({ "subject": title, "start": time(11), "end": time(12) });
        self.world.fake.with(|state| state.put_event(ALICE, calendar, made));
    }

    /// The changes in a feed since its calendar was followed, as the copy has them: Graph is not asked.
    async fn feed(&self, at: usize) -> Vec<String> {
        let calendar = &self.calendars[at];
        let cursor = calendar.cursor.as_ref().expect("it was read");
        let path = format!("/v1/calendars/{}/sync/changes?limit=100&cursor={cursor}", calendar.id);
        let page = self.world.api.get(path).send().await.expect(200);
        let changes = page["data"].as_array().expect("a list").iter();
        changes
            .map(|change| format!("{} {}", text(&change["changeType"]), change["resource"]["title"]))
            .collect()
    }

    /// How the API shows a calendar's watch.
    async fn shown(&self, at: usize) -> Value {
        let path = format!("/v1/calendars/{}/sync/status", self.calendars[at].id);
        self.world.api.get(path).send().await.expect(200)["watch"].clone()
    }

    /// Notifications so far that ended like this.
    fn counted(&self, outcome: &'static str) -> u64 {
        self.world.server.app.metrics.notifications("microsoft", outcome)
    }

    /// The subscription of the default calendar.
    fn of_default(&self) -> GraphSubscription {
        let id = self.world.fake.with(|state| state.calendars[ALICE].default_calendar());
        let all = self.subscriptions();
        let unescaped = |text: &str| text.replace("%3D", "=").replace("%2B", "+").replace("%2F", "/");
        let found = all.iter().find(|one| unescaped(&one.resource).contains(&id));
        found.unwrap_or_else(|| panic!("none for {id}: {all:#?}")).clone()
    }

    /// Has Graph post an event in the life of the default calendar's subscription.
    async fn post_lifecycle(&self, event: &str) {
        let id = self.of_default().id;
        self.world.fake.with(|state| state.subscriptions.lifecycle(&id, event));
        assert_eq!(self.world.fake.notify().await, [202], "{event}");
    }
}

/// A service that Graph can notify. Data read within the last hour is served from the copy.
fn notified() -> harness::Builder {
    builder().config(|config| {
        config.push_over_http = true;
        config.freshness_ms = 60 * MINUTE_MS;
    })
}

/// Graph calls the address within the create and waits for its answer. `/me/events` tells of the default calendar alone, so that each
/// calendar has its own subscription (microsoftgraph/microsoft-graph-docs#6595).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_calendar_is_notified() {
    let Some(followed) = FollowedAccount::start().await else { return };
    let world = &followed.world;
    let subscriptions = followed.subscriptions();
    let mut resources: Vec<String> = subscriptions.iter().map(|one| one.resource.clone()).collect();
    resources.sort();
    resources.dedup();
    assert_eq!(resources.len(), 2, "{resources:?}");
    for one in &subscriptions {
        assert!(one.resource.starts_with("/me/calendars/") && one.resource.ends_with("/events"), "{one:?}");
        assert!(one.notification_url.ends_with(NOTIFICATIONS), "{}", one.notification_url);
        assert_eq!(one.lifecycle_url.as_ref(), Some(&one.notification_url));
        assert!(one.client_state.as_ref().is_some_and(|secret| secret.len() >= 32), "it has a secret");
    }
    followed.make(TEAM, "Lunch");
    assert_eq!(followed.feed(1).await, Vec::<String>::new(), "nobody knows of it");
    world.fake.clear_requests();
    assert_eq!(world.fake.notify().await, [202]);
    world.server.pull().await;
    let lunch = async || Some(followed.feed(1).await).filter(|feed| !feed.is_empty());
    assert_eq!(until("the event is in the feed", lunch).await, ["created \"Lunch\""]);
    assert_eq!((followed.feed(0).await.len(), followed.counted("authentic")), (0, 1));
    // The same notification again, as Graph repeats them: nothing is told twice.
    world.fake.trap("notified_twice", 1);
    followed.make(DEFAULT, "Tea");
    assert_eq!(world.fake.notify().await, [202]);
    world.server.pull().await;
    assert_eq!(followed.feed(0).await, ["created \"Tea\""]);
    world.assert_allowed();
}

/// `missed` is a reason to read and no renewal; `reauthorizationRequired` is answered by a new end, and `subscriptionRemoved` by another
/// subscription.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missed_pulls() {
    let Some(followed) = FollowedAccount::start().await else { return };
    let world = &followed.world;
    let before = followed.of_default();
    followed.make(DEFAULT, "Lunch");
    // The notification of the event itself is lost.
    world.fake.with(|state| state.subscriptions.take_due(state.clock.now_ms()));
    world.advance(MINUTE_MS);
    world.fake.clear_requests();
    followed.post_lifecycle("missed").await;
    world.server.pull().await;
    assert_eq!(
        (followed.feed(0).await, world.server.renew().await),
        (vec!["created \"Lunch\"".to_owned()], 0)
    );
    assert_eq!(world.methods(), Vec::<String>::new(), "it is only read");

    world.advance(DAY_MS);
    followed.post_lifecycle("reauthorizationRequired").await;
    assert_eq!(world.server.renew().await, 1);
    assert_eq!(world.methods(), ["PATCH"]);
    let renewed = followed.of_default();
    assert_eq!(renewed.id, before.id);
    assert!(renewed.expires_ms > before.expires_ms, "it lives longer");

    world.advance(MINUTE_MS);
    followed.post_lifecycle("subscriptionRemoved").await;
    assert!(world.server.renew().await > 0, "another one is made");
    assert_eq!((followed.subscriptions().len(), followed.of_default().id == before.id), (2, false));
    world.server.pull().await;
    assert_eq!(followed.shown(0).await["status"], "active");
    world.assert_allowed();
}

/// In some tenants notifications come without the secret of their subscription (NousResearch/hermes-agent#68799). An answer other than
/// 2xx would end them all, so that such a one is taken for a hint, once a minute at most.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_is_a_hint() {
    let Some(followed) = FollowedAccount::start().await else { return };
    let world = &followed.world;
    world.advance(2 * MINUTE_MS);
    world.fake.trap("no_client_state", 2);
    followed.make(DEFAULT, "Lunch");
    assert_eq!(world.fake.notify().await, [202]);
    assert_eq!((followed.counted("unproved"), followed.counted("authentic")), (1, 0));
    world.server.pull().await;
    assert_eq!(followed.feed(0).await, ["created \"Lunch\""]);
    followed.make(DEFAULT, "Tea");
    assert_eq!(world.fake.notify().await, [202]);
    world.fake.clear_requests();
    assert_eq!((world.server.pull().await, world.round_trips()), (0, 0), "it was just read");
    world.advance(MINUTE_MS);
    world.server.pull().await;
    assert_eq!(followed.feed(0).await, ["created \"Lunch\"", "created \"Tea\""]);
    world.assert_allowed();
}

/// A notification with a wrong secret, or of a subscription that nobody made, is answered as any other, and Graph is not asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_notification_makes_no_call() {
    let Some(followed) = FollowedAccount::start().await else { return };
    let world = &followed.world;
    let subscription = followed.of_default();
    let secret = subscription.client_state.clone().expect("a secret");
    let forged = async |id: &str, secret: &str| {
        let change = json!({ "subscriptionId": id, "clientState": secret, "changeType": "updated", "resource": subscription.resource });
        let post = world.server.anonymous().post(NOTIFICATIONS, json!({ "value": [change] }));
        post.send().await.expect(202);
    };
    world.fake.clear_requests();
    forged(&subscription.id, "guessed").await;
    forged("11111111-2222-4333-8444-555555555555", &secret).await;
    assert_eq!((followed.counted("wrong_secret"), followed.counted("unknown_watch")), (1, 1));
    assert_eq!((world.server.pull().await, world.fake.requests().len()), (0, 0), "Graph is not asked");
    followed.make(DEFAULT, "Lunch");
    assert_eq!(world.fake.notify().await, [202]);
    assert_eq!((world.server.pull().await, followed.counted("authentic")), (1, 1));
    assert_eq!(followed.feed(0).await, ["created \"Lunch\""]);
    world.assert_allowed();
}

/// A calendar that Graph takes no subscription for is polled, and the status says so. The life of a subscription is what the tenant allows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calendar_without_a_subscription_is_polled() {
    let Some(followed) = FollowedAccount::unwatched().await else { return };
    let world = &followed.world;
    world.fake.trap("calendar_subscription_refused", 20);
    world.fake.trap("subscription_short_life", 20);
    assert_eq!(world.server.renew().await, 2);
    let [default]: [GraphSubscription; 1] = followed.subscriptions().try_into().expect("one subscription");
    assert!(default.expires_ms <= world.server.app.now() + 4_230 * MINUTE_MS, "{default:?}");
    assert_eq!(followed.shown(1).await["status"], "unsupported");
    followed.make(TEAM, "Lunch");
    world.advance(15 * MINUTE_MS);
    world.server.pull().await;
    assert_eq!(followed.feed(1).await, ["created \"Lunch\""]);
    world.assert_allowed();
}
