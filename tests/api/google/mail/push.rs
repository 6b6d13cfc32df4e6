//! Gmail publishes to a topic of the operator's when a mailbox changes, and the topic's subscription posts that to the service.

use std::mem;

use fakes::google::Topic;
use harness::bundle;
use serde_json::{Value, json};
use storage::jobs::{self, Job};
use storage::oauth_clients::OAuthClient;
use tempfile::TempDir;

use crate::email::mailbox::text;
use crate::fake_provider::mail::MINUTE_MS;
use crate::fake_provider::{builder, set_up};
use crate::google::mail::MailAccount;
use crate::google::{REDIRECT, World};
use crate::oauth::{register, register_client};
use crate::push::keys::{KeyServer, Signer};

const NOTIFICATIONS: &str = "/v1/providers/google/notifications/mail";
/// The address of the keys of Google's tokens.
const GOOGLE_KEYS: &str = "https://www.googleapis.com/oauth2/v3/certs";
/// The time for which Gmail publishes.
const LIFE_MS: i64 = 7 * 24 * 60 * MINUTE_MS;

/// The topics of the two applications, and the service accounts that their subscriptions authenticate as.
const FIRST_TOPIC: &str = "projects/one/topics/mail";
const FIRST_ACCOUNT: &str = "push@one.iam.gserviceaccount.com";
const SECOND_TOPIC: &str = "projects/two/topics/mail";
const SECOND_ACCOUNT: &str = "push@two.iam.gserviceaccount.com";

/// Alice's mailbox at a service to which Pub/Sub can post.
struct PushedMail {
    account: MailAccount,
    signer: Signer,
    _keys: KeyServer,
    _connectors: TempDir,
}

impl PushedMail {
    /// The mailbox is followed, there is a topic, and the operator has named none.
    async fn start() -> Option<PushedMail> {
        let signer = Signer::es256("1");
        let keys = KeyServer::start(&[&signer]).await;
        let connectors = connectors(&keys.url());
        let folder = connectors.path().to_owned();
        let builder = builder().config(|config| {
            config.push_over_http = true;
            config.connectors_dir = Some(folder);
        });
        let mut account = MailAccount::on(builder, |_| {}).await?;
        account.follow().await;
        assert_eq!(account.world.server.renew().await, 0, "without a topic mail is polled");
        let mail = PushedMail { account, signer, _keys: keys, _connectors: connectors };
        let status = mail.status().await;
        assert_eq!(status["watch"]["status"], "unsupported");
        let error = &status["watchError"];
        let message = text(&error["message"]);
        assert_eq!(error["code"], "provider_not_registered", "{status:#}");
        assert!(message.contains("has no pubsubAccount") && message.contains("provider set"), "{message}");
        mail.add_topic("switchboard", "one", FIRST_TOPIC, FIRST_ACCOUNT);
        Some(mail)
    }

    /// Starts with a topic named by the operator, to which Gmail has published once.
    async fn watched() -> Option<PushedMail> {
        let mut mail = PushedMail::start().await?;
        mail.name_topic(FIRST_TOPIC, FIRST_ACCOUNT).await;
        assert_eq!(mail.account.pull().await, Vec::<String>::new());
        assert_eq!(mail.world().server.renew().await, 1, "Gmail is asked to publish");
        assert_eq!(mail.publish().await, [202], "it tries the topic");
        mail.world().server.pull().await;
        assert_eq!(mail.account.changes().await, Vec::<String>::new());
        Some(mail)
    }

    fn world(&self) -> &World {
        &self.account.world
    }

    /// Makes a topic in the project of an OAuth client, with a subscription that posts to the service.
    fn add_topic(&self, client: &str, project: &str, name: &str, account: &str) {
        let topic = Topic {
            name: name.to_owned(),
            has_publisher: true,
            address: format!("{}{NOTIFICATIONS}", self.world().server.app.config.public_address()),
            account: account.to_owned(),
        };
        self.world().fake.with(|state| {
            state.pubsub.projects.insert(client.to_owned(), project.to_owned());
            state.pubsub.topics.push(topic);
        });
    }

    /// Registers, as the operator does, a topic, and the account that posts its messages.
    async fn name_topic(&self, topic: &str, account: &str) {
        let (server, api) = (&self.world().server, &self.world().api);
        register_client(server, api, "google", |client| set_topic(client, topic, account)).await;
    }

    /// Connects Alice's account for another application, with its own OAuth client and topic; returns the connection.
    async fn connect_second(&mut self) -> String {
        self.add_topic("second", "two", SECOND_TOPIC, SECOND_ACCOUNT);
        let world = &mut self.account.world;
        let api = world.server.key("second", |_| ()).await;
        register(&world.server, &api, REDIRECT).await;
        register_client(&world.server, &api, "google", |client| {
            client.client_id = "second".to_owned();
            set_up(&world.server, client, &world.fake);
            set_topic(client, SECOND_TOPIC, SECOND_ACCOUNT);
        })
        .await;
        let first = mem::replace(&mut world.api, api);
        let connection = text(&world.connect_for(&["email.read"]).await["id"]);
        let start = json!({ "connectionId": connection });
        world.api.post("/v1/email/sync/start", start).send().await.expect(202);
        world.api = first;
        connection
    }

    /// Has the subscriptions post the published messages. Returns the statuses of the answers.
    async fn publish(&self) -> Vec<u16> {
        self.world().fake.publish(|claims| self.signer.token(claims)).await
    }

    /// Publishes with a token that is valid for this account only.
    async fn publish_by(&self, account: &str) -> Vec<u16> {
        let sign = |claims: &Value| match claims["email"] == account {
            true => self.signer.token(claims),
            false => "forged".to_owned(),
        };
        self.world().fake.publish(sign).await
    }

    /// The mailbox's sync status.
    async fn status(&self) -> Value {
        let path = format!("/v1/email/sync/status/{}", self.account.connection);
        self.world().api.get(path).send().await.expect(200)
    }

    /// The mailbox's watch as the API shows it.
    async fn watch(&self) -> Value {
        self.status().await["watch"].clone()
    }

    /// The job of this kind for a mailbox.
    async fn job(&self, kind: &str, connection: &str) -> Job {
        let id = format!("{kind}:{connection}:email:");
        let found = jobs::find(self.world().server.app.db.reader(), &id).await;
        found.expect("a query").expect("it is there")
    }

    /// Whether a mailbox is to be read now.
    async fn is_due(&self, connection: &str) -> bool {
        let due_at = self.job("pull", connection).await.due_at.expect("it is due some time");
        due_at <= self.world().server.app.now()
    }

    /// The requests for watches of mailboxes since `clear_requests`.
    fn watch_trips(&self) -> Vec<String> {
        let mut trips = self.account.trips();
        trips.retain(|trip| trip.ends_with(" watch") || trip.ends_with(" stop"));
        trips
    }
}

/// A folder with the connector to Google, for which Google's keys are at this address.
fn connectors(keys: &str) -> TempDir {
    let from = bundle().join("google");
    let dir = tempfile::tempdir().expect("a folder");
    let to = dir.path().join("google");
    std::fs::create_dir(&to).expect("a folder");
    let manifest =
        std::fs::read_to_string(from.join("connector.toml")).expect("`cargo xtask connectors` was run");
    assert!(manifest.contains(GOOGLE_KEYS), "mail is pushed");
    std::fs::write(to.join("connector.toml"), manifest.replace(GOOGLE_KEYS, keys)).expect("written");
    std::fs::copy(from.join("google.wasm"), to.join("google.wasm")).expect("copied");
    dir
}

fn set_topic(client: &mut OAuthClient, topic: &str, account: &str) {
    client.settings.insert("pubsubTopic".to_owned(), json!(topic));
    client.settings.insert("pubsubAccount".to_owned(), json!(account));
}

/// A message is in the feed as soon as Pub/Sub has posted: the service's clock stands still. Gmail continues to publish, and to another
/// topic once the operator has named it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_is_there_within_a_notification() {
    let Some(mut mail) = PushedMail::watched().await else { return };
    let status = mail.status().await;
    assert_eq!((&status["watch"]["status"], &status["watchError"]), (&json!("active"), &Value::Null));
    mail.account.deliver("Lunch");
    assert_eq!(mail.account.changes().await, Vec::<String>::new(), "nobody knows of it");
    let now = mail.world().server.app.now();
    assert_eq!(mail.publish().await, [202]);
    mail.world().server.pull().await;
    assert_eq!(mail.account.changes().await, ["created Lunch"]);
    assert_eq!(mail.world().server.app.now(), now);
    assert_eq!(mail.publish().await, Vec::<u16>::new(), "nothing has changed since");

    mail.world().fake.clear_requests();
    mail.world().advance(LIFE_MS * 6 / 10);
    assert_eq!(mail.world().server.renew().await, 1, "half of its life is over");
    assert_eq!(mail.watch_trips(), ["POST watch"]);

    let other = "projects/one/topics/other";
    mail.add_topic("switchboard", "one", other, FIRST_ACCOUNT);
    mail.name_topic(other, FIRST_ACCOUNT).await;
    mail.world().fake.clear_requests();
    mail.world().advance(LIFE_MS * 6 / 10);
    assert_eq!(mail.world().server.renew().await, 1);
    assert_eq!(mail.watch_trips(), ["POST watch", "POST stop", "POST watch"], "a project has one topic");
    mail.world().server.pull().await;
    mail.account.deliver("Dinner");
    assert_eq!(mail.publish().await, [202]);
    mail.world().server.pull().await;
    assert_eq!(mail.account.changes().await, ["created Dinner"]);
    assert_eq!(mail.watch().await["status"], "active");
    mail.account.assert_sound().await;
}

/// Both applications follow Alice's mailbox. A post for the one is no proof for the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_applications_two_topics() {
    let Some(mut mail) = PushedMail::watched().await else { return };
    let (first, second) = (mail.account.connection.clone(), mail.connect_second().await);
    mail.world().advance(MINUTE_MS);
    mail.world().server.pull().await;
    assert_eq!(mail.world().server.renew().await, 1, "the second application's");
    assert_eq!(mail.publish().await, [202]);
    mail.world().server.pull().await;
    assert_eq!((mail.is_due(&first).await, mail.is_due(&second).await), (false, false));

    mail.world().advance(MINUTE_MS);
    mail.account.deliver("Lunch");
    assert_eq!(mail.publish_by(FIRST_ACCOUNT).await, [202, 401], "Gmail publishes to both topics");
    assert_eq!((mail.is_due(&first).await, mail.is_due(&second).await), (true, false));
    mail.world().server.pull().await;
    assert_eq!(mail.account.changes().await, ["created Lunch"]);
    mail.account.deliver("Dinner");
    assert_eq!(mail.publish_by(SECOND_ACCOUNT).await, [401, 202]);
    assert_eq!((mail.is_due(&first).await, mail.is_due(&second).await), (false, true));
    mail.world().server.pull().await;
    assert_eq!(mail.account.changes().await, Vec::<String>::new(), "the first one does not know of it");
    mail.account.assert_sound().await;
}

/// Gmail has one watch of a mailbox per project: it continues while another connection of the account needs it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_goes_on_for_another_connection_of_the_account() {
    let Some(mail) = PushedMail::watched().await else { return };
    let (world, first) = (mail.world(), &mail.account.connection);
    let other = text(&world.connect_for(&["email.read"]).await["id"]);
    world.api.post("/v1/email/sync/start", json!({ "connectionId": other })).send().await.expect(202);
    world.advance(MINUTE_MS);
    world.server.pull().await;
    assert_eq!(world.server.renew().await, 1, "the other connection's");
    mail.publish().await;
    world.server.pull().await;

    world.fake.clear_requests();
    world.api.delete(format!("/v1/connections/{other}")).send().await.expect(204);
    assert_eq!(mail.watch_trips(), Vec::<String>::new());
    world.advance(MINUTE_MS);
    mail.account.deliver("Lunch");
    assert_eq!(mail.publish().await, [202]);
    assert!(mail.is_due(first).await);
    world.api.delete(format!("/v1/connections/{first}")).send().await.expect(204);
    assert_eq!(mail.watch_trips(), ["POST stop"]);
}

/// A topic without Gmail as its publisher, one of another project, and one that is not there: mail is polled, the sync status says why, and
/// the account is as it was. Once the topic is right Gmail publishes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_topic_that_gmail_cannot_publish_to_is_no_fault_of_the_account() {
    let Some(mut mail) = PushedMail::start().await else { return };
    let set_publisher = |mail: &PushedMail, has_publisher: bool| {
        mail.world().fake.with(|state| state.pubsub.topics[0].has_publisher = has_publisher);
    };
    set_publisher(&mail, false);
    let wrong = [
        (FIRST_TOPIC, "gmail-api-push@system.gserviceaccount.com"),
        (SECOND_TOPIC, "not a topic of the OAuth client's Google Cloud project"),
        ("projects/one/topics/none", "check that the topic exists"),
    ];
    for (number, (topic, advice)) in wrong.into_iter().enumerate() {
        mail.name_topic(topic, FIRST_ACCOUNT).await;
        mail.account.deliver(&format!("Number {number}"));
        assert_eq!(mail.account.pull().await, [format!("created Number {number}")], "it is polled");
        assert_eq!(mail.world().server.renew().await, 1, "Gmail is asked again");
        assert_eq!(mail.publish().await, Vec::<u16>::new());
        let status = mail.status().await;
        assert_eq!(status["watch"]["status"], "unsupported");
        let (error, job) = (&status["watchError"], mail.job("renew", &mail.account.connection).await);
        let message = text(&error["message"]);
        assert!(message.contains(topic) && message.contains(advice), "{message}");
        assert!(job.last_error.is_some_and(|kept| kept.contains(advice)), "the operator reads it too");
        assert!(text(&error["retryAt"]) > text(&error["at"]), "{status:#}");
        mail.account.assert_sound().await;
    }
    set_publisher(&mail, true);
    mail.name_topic(FIRST_TOPIC, FIRST_ACCOUNT).await;
    mail.account.pull().await;
    assert_eq!(mail.world().server.renew().await, 1);
    assert_eq!((mail.watch().await["status"].clone(), mail.publish().await), (json!("active"), vec![202]));
    mail.account.assert_sound().await;
}

/// The other two forms in which Gmail says that it cannot publish: 403 while the publisher is missing, and 500 where there is no topic.
/// Both are the operator's, mail is polled, and Gmail is asked again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_to_watch_is_told_and_tried_again() {
    let Some(mut mail) = PushedMail::start().await else { return };
    mail.name_topic(FIRST_TOPIC, FIRST_ACCOUNT).await;
    for (trap, advice) in [
        ("watch_not_authorized", "gmail-api-push@system.gserviceaccount.com"),
        ("watch_no_topic", "check that the topic exists"),
    ] {
        mail.world().fake.trap(trap, 1);
        mail.account.deliver(trap);
        assert_eq!(mail.account.pull().await, [format!("created {trap}")], "it is polled");
        assert_eq!(mail.world().server.renew().await, 1);
        let status = mail.status().await;
        let message = text(&status["watchError"]["message"]);
        assert!(message.contains(FIRST_TOPIC) && message.contains(advice), "{message}");
        assert_eq!(status["watch"]["status"], "unsupported");
    }
    mail.account.pull().await;
    assert_eq!(mail.world().server.renew().await, 1, "it is asked again");
    let status = mail.status().await;
    assert_eq!((&status["watch"]["status"], &status["watchError"]), (&json!("active"), &Value::Null));
    mail.account.assert_sound().await;
}
