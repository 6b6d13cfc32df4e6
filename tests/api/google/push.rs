//! Google posts when a calendar changes: the channels that the host opens, and the effects of their notifications.

use std::time::Duration;

use fakes::google::Channel;
use fakes::{Fault, What};
use harness::Exchange;
use serde_json::{Value, json};
use storage::jobs::{self, Job};

use crate::email::mailbox::{text, until};
use crate::fake_provider::{FollowedCalendar, builder};
use crate::google::{ALICE, World, ZONE, event};

const NOTIFICATIONS: &str = "/v1/providers/google/notifications/calendar";
const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// How long Google keeps a channel open: seven days less a second.
const LIFE_MS: i64 = 7 * DAY_MS - 1_000;

/// Alice's account, one calendar of which is followed.
struct Followed {
    world: World,
    connection: String,
    calendar: FollowedCalendar,
}

impl Followed {
    /// Her primary calendar, with a channel that has greeted.
    async fn start() -> Option<Followed> {
        let followed = Followed::of(World::on(notified().without_pulls()).await?, ALICE).await;
        assert_eq!(followed.world.server.renew().await, 1, "a channel is opened");
        assert_eq!(followed.world.fake.notify().await, [200], "it greets");
        followed.world.server.pull().await;
        Some(followed)
    }

    async fn of(world: World, name: &str) -> Followed {
        let connection = world.connect().await;
        let mut calendar = world.calendar(&connection, name).await;
        world.follow(&mut calendar).await;
        world.server.pull().await;
        Followed { world, connection: text(&connection["id"]), calendar }
    }

    /// The channels that Google has open.
    fn channels(&self) -> Vec<Channel> {
        self.world.fake.with(|state| state.channels.open.clone())
    }

    /// Lets time pass, here and at Google.
    fn advance(&self, ms: i64) {
        self.world.server.clock.advance_ms(ms);
        self.world.fake.advance(Duration::from_millis(ms.unsigned_abs()));
    }

    /// Makes an event at Google, an hour long.
    fn make(&self, id: &str, title: &str) {
        let made = event(id, title, "2026-03-03T11:00:00Z", json!({}));
        self.world.fake.with(|state| state.put_event(ALICE, made));
    }

    /// The changes in the feed since the calendar was followed, as the copy has them: Google is not asked.
    async fn feed(&self) -> Vec<String> {
        let cursor = self.calendar.cursor.as_ref().expect("it was read");
        let path = format!("/v1/calendars/{}/sync/changes?limit=100&cursor={cursor}", self.calendar.id);
        let page = self.world.api.get(path).send().await.expect(200);
        let changes = page["data"].as_array().expect("a list").iter();
        changes
            .map(|change| format!("{} {}", text(&change["changeType"]), change["resource"]["title"]))
            .collect()
    }

    /// How the API shows the calendar's watch.
    async fn shown(&self) -> Value {
        let path = format!("/v1/calendars/{}/sync/status", self.calendar.id);
        self.world.api.get(path).send().await.expect(200)["watch"].clone()
    }

    /// The job of this kind for the calendar.
    async fn job(&self, kind: &str) -> Job {
        let id = format!("{kind}:{}:calendar:{}", self.connection, self.calendar.id);
        jobs::find(self.world.server.app.db.reader(), &id).await.expect("a query").expect("it is there")
    }

    /// Notifications so far that ended like this.
    fn counted(&self, outcome: &'static str) -> u64 {
        self.world.server.app.metrics.notifications("google", outcome)
    }

    /// Replaces the channel by another one, and stops it a minute later.
    async fn replace_channel(&self) {
        self.advance(LIFE_MS * 6 / 10);
        assert_eq!(self.world.server.renew().await, 1, "another one is opened");
        self.advance(MINUTE_MS);
        assert_eq!(self.world.server.renew().await, 1, "the old one is stopped");
    }

    /// Posts with these headers what Google posts of a change.
    async fn post(&self, address: &str, headers: &[(&str, &str)]) -> Exchange {
        let request = self.world.server.anonymous().post(address, Value::Null);
        let request = request.header("x-goog-resource-state", "exists");
        headers.iter().fold(request, |request, (name, value)| request.header(name, value)).send().await
    }
}

/// A service that Google can notify. Data read within the last hour is served from the copy.
fn notified() -> harness::Builder {
    builder().config(|config| {
        config.push_over_http = true;
        config.freshness_ms = 60 * MINUTE_MS;
    })
}

/// A channel cannot be renewed: another one is opened before its end, and for a minute both post.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn channels_are_renewed_with_overlap() {
    let Some(followed) = Followed::start().await else { return };
    let world = &followed.world;
    let [first]: [Channel; 1] = followed.channels().try_into().expect("one channel");
    assert!(first.address.ends_with(NOTIFICATIONS), "{}", first.address);
    assert_eq!((first.calendar.as_deref(), first.user.as_str()), (Some(ALICE), ALICE));
    assert!(first.token.as_ref().is_some_and(|token| token.len() >= 32), "it has a secret");
    followed.advance(LIFE_MS * 6 / 10);
    assert_eq!(world.server.renew().await, 1);
    let [old, new]: [Channel; 2] = followed.channels().try_into().expect("two channels");
    assert_eq!((&old.id, &old.resource_id), (&first.id, &new.resource_id), "both are of the calendar");
    assert!(new.id != first.id && new.token != first.token);
    followed.make("lunch", "Lunch");
    assert_eq!(
        world.fake.notify().await,
        [202, 200, 202],
        "the old one, the new one's greeting, the new one"
    );
    world.server.pull().await;
    assert_eq!(followed.feed().await, ["created \"Lunch\""], "what both tell of is told once");
    world.fake.clear_requests();
    followed.advance(MINUTE_MS);
    assert_eq!(world.server.renew().await, 1);
    let [left]: [Channel; 1] = followed.channels().try_into().expect("one channel");
    assert_eq!(left.id, new.id);
    let stops: Vec<Value> = world
        .fake
        .requests()
        .into_iter()
        .filter(|request| request.path == "/calendar/v3/channels/stop")
        .filter_map(|request| request.body)
        .collect();
    assert_eq!(stops, [json!({ "id": first.id, "resourceId": first.resource_id })]);
    assert_eq!(followed.shown().await["status"], "active");
    world.assert_allowed();
}

/// A holiday calendar cannot be watched: Google refuses public holidays. That is no fault of the account, and the calendar is polled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holiday_calendar_is_polled() {
    const HOLIDAYS: &str = "en.german#holiday@group.v.calendar.google.com";
    let Some(world) = World::on(notified().without_pulls()).await else { return };
    world.fake.with(|state| state.add_holidays(ALICE, HOLIDAYS, "Holidays", ZONE));
    let followed = Followed::of(world, "Holidays").await;
    let world = &followed.world;
    world.fake.clear_requests();
    assert_eq!(world.server.renew().await, 1);
    let asked = world.fake.requests().iter().filter(|request| request.path.ends_with("/watch")).count();
    assert_eq!((asked, followed.channels().len()), (1, 0), "Google was asked, and refused");
    assert_eq!(followed.shown().await["status"], "unsupported");
    let renew = followed.job("renew").await;
    assert_eq!((renew.last_error, renew.due_at), (None, Some(world.server.app.now() + DAY_MS)));
    let path = format!("/v1/connections/{}", followed.connection);
    let connection = world.api.get(path).send().await.expect(200);
    assert_eq!(connection["status"], "active", "{connection:#}");
    let days = json!({ "start": { "date": "2026-10-03" }, "end": { "date": "2026-10-04" } });
    let holiday = event("unity", "Unity Day", "2026-10-03T00:00:00Z", days);
    world.fake.with(|state| state.put_event(HOLIDAYS, holiday));
    assert_eq!(world.fake.notify().await, Vec::<u16>::new());
    followed.advance(15 * MINUTE_MS);
    world.server.pull().await;
    assert_eq!(followed.feed().await, ["created \"Unity Day\""]);
    world.assert_allowed();
}

/// Google's calendar push posts the state `exists` without a body; a handler made for Drive would wait for `add` and a body. A change is
/// in the feed as soon as Google has posted: the service's clock stands still.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notification_pulls_within_a_second() {
    let Some(world) = World::on(notified()).await else { return };
    let followed = Followed::of(world, ALICE).await;
    let world = &followed.world;
    assert_eq!(world.server.renew().await, 1, "a channel is opened");
    assert_eq!(world.fake.notify().await, [200], "it greets");
    world.server.pull().await;
    followed.make("lunch", "Lunch");
    assert_eq!(followed.feed().await, Vec::<String>::new(), "nobody knows of it");
    let now = world.server.app.now();
    assert_eq!(world.fake.notify().await, [202]);
    let lunch = async || Some(followed.feed().await).filter(|feed| !feed.is_empty());
    assert_eq!(until("the event is in the feed", lunch).await, ["created \"Lunch\""]);
    assert_eq!(world.server.app.now(), now);
    assert_eq!(followed.counted("authentic"), 1);
    world.assert_allowed();
}

/// A channel that was stopped may post once more. That is accepted, so that Google does not repeat it, and makes nothing due.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_channel_posts_and_nothing_happens() {
    let Some(followed) = Followed::start().await else { return };
    followed.replace_channel().await;
    let world = &followed.world;
    assert_eq!(world.fake.notify().await, [200], "the new one greets");
    world.server.pull().await;
    let before = followed.job("pull").await;
    world.fake.clear_requests();
    world.fake.with(|state| state.channels.stopped_post());
    assert_eq!(world.fake.notify().await, [202]);
    assert_eq!((followed.counted("unknown_watch"), followed.counted("authentic")), (1, 0));
    assert_eq!(followed.job("pull").await, before);
    assert_eq!((world.server.pull().await, world.fake.requests().len()), (0, 0), "Google is not asked");
    world.assert_allowed();
}

/// A renewal stored before Google has the new channel would orphan the old one. The old one stays until the new one exists: also if
/// Google refuses, and if its answer is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renewal_that_fails_orphans_no_channel() {
    let Some(followed) = Followed::start().await else { return };
    let world = &followed.world;
    let [first]: [Channel; 1] = followed.channels().try_into().expect("one channel");
    followed.advance(LIFE_MS * 6 / 10);
    world.fake.fault(Fault::status("/watch", 503, json!("Service Unavailable")).method("POST"));
    assert_eq!(world.server.renew().await, 1);
    let [kept]: [Channel; 1] = followed.channels().try_into().expect("one channel");
    assert_eq!((kept.id, followed.shown().await["status"].clone()), (first.id.clone(), json!("active")));
    followed.make("lunch", "Lunch");
    assert_eq!(world.fake.notify().await, [202], "the old one posts");
    assert_eq!(followed.counted("authentic"), 1);
    world.server.pull().await;
    assert_eq!(followed.feed().await, ["created \"Lunch\""]);

    followed.advance(10 * MINUTE_MS);
    world.fake.fault(Fault::new("/watch", What::Kill).method("POST").after());
    assert_eq!(world.server.renew().await, 1);
    assert_eq!(followed.channels().len(), 2, "the second one is unknown here");
    followed.make("tea", "Tea");
    let statuses = world.fake.notify().await;
    assert!(statuses.iter().all(|status| (200..300).contains(status)), "{statuses:?}");
    assert_eq!(followed.counted("authentic"), 2, "the old one is known still");
    world.server.pull().await;
    let feed = followed.feed().await;
    assert_eq!(feed.iter().filter(|change| change.ends_with("\"Tea\"")).count(), 1, "{feed:?}");

    followed.advance(10 * MINUTE_MS);
    assert_eq!(world.server.renew().await, 1, "another one is opened");
    world.fake.notify().await;
    followed.advance(2 * MINUTE_MS);
    assert_eq!(world.server.renew().await, 1, "the old one is stopped");
    assert!(!followed.channels().iter().any(|channel| channel.id == first.id));
    assert_eq!(followed.shown().await["status"], "active");
    world.assert_allowed();
}

/// A calendar that Google does not watch for now is polled, which is no fault of the account either, and is asked about again a day later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_calendar_that_cannot_be_watched_is_asked_about_again() {
    let Some(world) = World::on(notified().without_pulls()).await else { return };
    world.fake.trap("push_not_supported", 1);
    let followed = Followed::of(world, ALICE).await;
    let world = &followed.world;
    assert_eq!(world.server.renew().await, 1);
    assert_eq!((followed.channels().len(), followed.job("renew").await.last_error), (0, None));
    assert_eq!(followed.shown().await["status"], "unsupported");
    followed.make("lunch", "Lunch");
    followed.advance(15 * MINUTE_MS);
    world.server.pull().await;
    assert_eq!(followed.feed().await, ["created \"Lunch\""]);
    followed.advance(DAY_MS);
    assert_eq!(world.server.renew().await, 1);
    assert_eq!(followed.channels().len(), 1);
    assert_eq!(world.fake.notify().await, [200], "it greets");
    assert_eq!(followed.shown().await["status"], "active");
    world.assert_allowed();
}

/// A notification without the secret of its channel makes the service ask Google for nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_notification_makes_no_call() {
    let Some(followed) = Followed::start().await else { return };
    let world = &followed.world;
    let [channel]: [Channel; 1] = followed.channels().try_into().expect("one channel");
    let token = channel.token.expect("a secret");
    let (id, secret) = ("x-goog-channel-id", "x-goog-channel-token");
    let before = followed.job("pull").await;
    world.fake.clear_requests();
    followed.post(NOTIFICATIONS, &[(id, channel.id.as_str()), (secret, "guessed")]).await.expect(202);
    followed.post(NOTIFICATIONS, &[(id, "invented"), (secret, token.as_str())]).await.expect(202);
    followed.post(NOTIFICATIONS, &[(id, channel.id.as_str())]).await.refused(401, "missing_api_key");
    let right = [(id, channel.id.as_str()), (secret, token.as_str())];
    followed.post("/v1/providers/google/notifications", &right).await.refused(404, "not_found");
    assert_eq!((followed.counted("wrong_secret"), followed.counted("unknown_watch")), (1, 1));
    assert_eq!(followed.job("pull").await, before);
    assert_eq!((world.server.pull().await, world.fake.requests().len()), (0, 0), "Google is not asked");
    followed.post(NOTIFICATIONS, &right).await.expect(202);
    assert_eq!((world.server.pull().await, followed.counted("authentic")), (1, 1));
    assert!(!world.fake.requests().is_empty());
    world.assert_allowed();
}
