//! The accounts of the scenario: how each is connected, and what other programs do with it at its provider.

use fakes::google::{GoogleService, State};
use fakes::graph::{GraphService, GraphState};
use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::dav::{connect, peer, put};
use crate::email::mailbox::{Letter, Mailbox, Provider, text};
use crate::fake_provider::convergence::records::{RecordKind, RecordProvider};
use crate::fake_provider::{FakeProvider, World};
use crate::google::event;

/// The scopes of an account that has everything.
const SCOPES: [&str; 9] = [
    "email.read",
    "email.write",
    "email.send",
    "calendar.read",
    "calendar.write",
    "contacts.read",
    "contacts.write",
    "tasks.read",
    "tasks.write",
];
/// The user of the calendar servers; no other test has this one.
const DAV_USER: &str = "t04";
/// Start and end of the event to which the account is invited.
const INVITED_FROM: &str = "2027-03-05T09:00:00Z";
const INVITED_TO: &str = "2027-03-05T10:00:00Z";

/// An account of a person, connected: by one connection, or by one for mail and one for everything else.
pub trait ConnectedAccount {
    /// Other programs put things into the default calendar, book and list that every account of the provider has. Where it is false, the
    /// scenario makes collections for that.
    const HAS_DEFAULTS: bool;

    fn server(&self) -> &TestServer;
    fn api(&self) -> &Actor;
    /// The id of the connection of the mailbox.
    fn mail(&self) -> &str;
    /// The id of the connection of calendars, contacts and tasks.
    fn desk(&self) -> &str;
    /// Returns the address of another account at the same provider.
    fn colleague(&self) -> String;
    /// Lets time pass, here and at the provider.
    fn advance(&self, ms: i64) {
        self.server().clock.advance_ms(ms);
    }

    /// Delivers a message from elsewhere.
    async fn deliver(&self, letter: &Letter);
    /// Returns whether the provider has the star of a message.
    async fn is_starred(&self, message: &Value) -> bool;
    /// Makes a label, at a provider that has labels.
    async fn add_label(&self, name: &str);
    /// Returns a message of the account's as the colleague got it; none where the provider is not set up to deliver mail.
    async fn received(&self, message: &Value) -> Option<String>;
    /// Invites the account to an event, which is in this calendar then.
    async fn invite(&self, calendar: &Value, title: &str);
    async fn put_contact(&self, book: &Value, name: &str);
    async fn put_task(&self, list: &Value, title: &str);

    /// Ends the scenario with a check of the provider's complaints.
    fn assert_sound(&self) {}
}

/// Returns whether a mailbox has the star of a message, at its provider.
async fn is_starred_there(mailbox: &Mailbox, message: &Value) -> bool {
    let contents = mailbox.there.contents().await;
    let mut places = contents.get(&text(&message["internetMessageId"])).into_iter().flatten();
    places.any(|(_, flags)| flags.iter().any(|flag| flag == "starred"))
}

/// Returns a message that the mailbox sent, as it arrived.
async fn arrived(mailbox: &Mailbox, message: &Value) -> Option<String> {
    if !mailbox.delivers() {
        return None;
    }
    Some(mailbox.other.arrived(&text(&message["internetMessageId"])).await)
}

/// An account of the sandbox provider, with one connection for everything.
pub struct SandboxAccount {
    mailbox: Mailbox,
}

impl SandboxAccount {
    pub async fn connect() -> SandboxAccount {
        let mut mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
        let mail_alone = format!("/v1/connections/{}", mailbox.connection);
        mailbox.api.delete(mail_alone).send().await.expect(204);
        let account = json!({
            "provider": "sandbox", "credentials": { "username": mailbox.address, "password": "sandbox" },
            "scopes": SCOPES,
        });
        let connection = mailbox.api.connect(account).await;
        assert_eq!(connection["missingScopes"], json!([]), "{connection:#}");
        mailbox.connection = text(&connection["id"]);
        SandboxAccount { mailbox }
    }

    /// The provider's own API for the account.
    fn there(&self) -> &Actor {
        self.mailbox.there.sandbox().expect("it is the sandbox")
    }
}

impl ConnectedAccount for SandboxAccount {
    const HAS_DEFAULTS: bool = true;

    fn server(&self) -> &TestServer {
        &self.mailbox.server
    }

    fn api(&self) -> &Actor {
        &self.mailbox.api
    }

    fn mail(&self) -> &str {
        &self.mailbox.connection
    }

    fn desk(&self) -> &str {
        &self.mailbox.connection
    }

    fn colleague(&self) -> String {
        self.mailbox.other.address.clone()
    }

    async fn deliver(&self, letter: &Letter) {
        self.mailbox.there.deliver(letter).await;
    }

    async fn is_starred(&self, message: &Value) -> bool {
        is_starred_there(&self.mailbox, message).await
    }

    async fn add_label(&self, name: &str) {
        let label = json!({ "id": name.to_lowercase(), "name": name, "color": { "background": "#ff0000" } });
        self.there().post("/sandbox/v1/mail/labels", label).send().await.expect(201);
    }

    async fn received(&self, message: &Value) -> Option<String> {
        arrived(&self.mailbox, message).await
    }

    async fn invite(&self, _: &Value, title: &str) {
        let host = self.mailbox.other.sandbox().expect("it is the sandbox");
        let team = json!({ "name": "Team", "timeZone": "UTC" });
        let team = host.post("/sandbox/v1/calendars", team).send().await.expect(201);
        let at = |time: &str| json!(time);
        let event = json!({
            "title": title, "start": at(INVITED_FROM), "end": at(INVITED_TO), "timeZone": "UTC",
            "attendees": [{ "email": self.mailbox.address }],
        });
        let path = format!("/sandbox/v1/calendars/{}/events", text(&team["id"]));
        host.post(path, event).send().await.expect(201);
    }

    async fn put_contact(&self, book: &Value, name: &str) {
        let path = format!("/sandbox/v1/books/{}/cards", text(&book["externalId"]));
        self.there().post(path, json!({ "displayName": name })).send().await.expect(201);
    }

    async fn put_task(&self, list: &Value, title: &str) {
        let path = format!("/sandbox/v1/lists/{}/todos", text(&list["externalId"]));
        self.there().post(path, json!({ "title": title })).send().await.expect(201);
    }
}

/// A fake that the scenario lives through.
pub trait ScenarioProvider: RecordProvider {
    fn is_starred(state: &mut Self::State, id: &str) -> bool;
    fn add_label(state: &mut Self::State, name: &str);
    /// Returns the message with this subject that Bob got.
    fn received(state: &mut Self::State, subject: &str) -> Option<Vec<u8>>;
    /// Invites Alice to an event of Bob's.
    fn invite(state: &mut Self::State, title: &str);
}

impl ScenarioProvider for GoogleService {
    fn is_starred(state: &mut State, id: &str) -> bool {
        let found = state.mailbox(Self::ALICE).messages.get(id);
        found.is_some_and(|message| message.labels.contains("STARRED"))
    }

    fn add_label(state: &mut State, name: &str) {
        state.mailbox(Self::ALICE).add_label(name);
    }

    fn received(state: &mut State, subject: &str) -> Option<Vec<u8>> {
        state.mailbox(Self::BOB).titled(subject).map(|found| found.raw.clone())
    }

    fn invite(state: &mut State, title: &str) {
        let (alice, bob) = (Self::ALICE, Self::BOB);
        let people = json!({
            "organizer": { "email": bob }, "creator": { "email": bob },
            "attendees": [
                { "email": bob, "responseStatus": "accepted", "organizer": true },
                { "email": alice, "self": true, "responseStatus": "needsAction" },
            ],
        });
        state.put_event(alice, event("invited", title, INVITED_FROM, people));
    }
}

impl ScenarioProvider for GraphService {
    fn is_starred(state: &mut GraphState, id: &str) -> bool {
        state.mail_item(Self::ALICE, id).flag == "flagged"
    }

    fn add_label(state: &mut GraphState, name: &str) {
        state.add_category(Self::ALICE, name, "preset0");
    }

    fn received(state: &mut GraphState, subject: &str) -> Option<Vec<u8>> {
        state.mailbox(Self::BOB).titled(subject).map(|found| found.raw.clone())
    }

    fn invite(state: &mut GraphState, title: &str) {
        let at = |time: &str| json!({ "dateTime": time.trim_end_matches('Z'), "timeZone": "UTC" });
        let event = json!({ "subject": title, "start": at(INVITED_FROM), "end": at(INVITED_TO) });
        state.invite(Self::ALICE, Self::BOB, event);
    }
}

/// Alice's account at a fake, with one connection for everything.
pub struct FakeAccount<P: ScenarioProvider> {
    world: World<P>,
    connection: String,
}

pub type GoogleAccount = FakeAccount<GoogleService>;
pub type MicrosoftAccount = FakeAccount<GraphService>;

impl<P: ScenarioProvider> FakeAccount<P> {
    /// None where the provider's document is not installed.
    pub async fn connect() -> Option<FakeAccount<P>> {
        let world = World::<P>::start().await?;
        world.fake.with(|state| P::add_user(state, P::BOB, "Bob Example"));
        let connection = text(&world.connect_for(&SCOPES).await["id"]);
        Some(FakeAccount { world, connection })
    }
}

impl<P: ScenarioProvider> ConnectedAccount for FakeAccount<P> {
    const HAS_DEFAULTS: bool = true;

    fn server(&self) -> &TestServer {
        &self.world.server
    }

    fn api(&self) -> &Actor {
        &self.world.api
    }

    fn mail(&self) -> &str {
        &self.connection
    }

    fn desk(&self) -> &str {
        &self.connection
    }

    fn colleague(&self) -> String {
        P::BOB.to_owned()
    }

    fn advance(&self, ms: i64) {
        self.world.advance(ms);
    }

    async fn deliver(&self, letter: &Letter) {
        self.world.fake.with(|state| P::make_there(state, RecordKind::Mail, "", letter.raw.as_bytes()));
    }

    async fn is_starred(&self, message: &Value) -> bool {
        let id = text(&message["externalId"]);
        self.world.fake.with(|state| P::is_starred(state, &id))
    }

    async fn add_label(&self, name: &str) {
        self.world.fake.with(|state| P::add_label(state, name));
    }

    async fn received(&self, message: &Value) -> Option<String> {
        let subject = text(&message["subject"]);
        let found = self.world.fake.with(|state| P::received(state, &subject));
        let found = found.unwrap_or_else(|| panic!("Bob has no message {subject}"));
        Some(String::from_utf8_lossy(&found).into_owned())
    }

    async fn invite(&self, _: &Value, title: &str) {
        self.world.fake.with(|state| P::invite(state, title));
    }

    async fn put_contact(&self, _: &Value, name: &str) {
        self.world.fake.with(|state| P::make_there(state, RecordKind::Contact, name, b""));
    }

    async fn put_task(&self, _: &Value, title: &str) {
        self.world.fake.with(|state| P::make_there(state, RecordKind::Task, title, b""));
    }

    fn assert_sound(&self) {
        self.world.assert_allowed();
    }
}

/// A mailbox with one connection, and calendars, contacts and tasks of a CalDAV and CardDAV server with another one.
pub struct DavAccount {
    mailbox: Mailbox,
    desk: String,
    url: String,
    /// The account among the attendees of an event.
    calendar_user: String,
}

impl DavAccount {
    /// A mailbox on Dovecot, everything else on Radicale; none where they are not up.
    pub async fn with_imap() -> Option<DavAccount> {
        DavAccount::connect(Provider::Dovecot, "RADICALE_URL", format!("/{DAV_USER}/")).await
    }

    /// Everything on Cyrus; none where it is not up.
    pub async fn with_jmap() -> Option<DavAccount> {
        DavAccount::connect(Provider::Jmap, "CYRUS_URL", format!("mailto:{DAV_USER}@cyrus.test")).await
    }

    async fn connect(mail: Provider, variable: &str, calendar_user: String) -> Option<DavAccount> {
        let url = peer(variable)?;
        let mailbox = Mailbox::open(mail).await?;
        let desk = text(&connect(&mailbox.api, &url, DAV_USER).await["id"]);
        Some(DavAccount { mailbox, desk, url, calendar_user })
    }

    /// Puts a resource into a collection; `object` is the text between begin and end, without UID.
    async fn put(&self, collection: &Value, name: &str, media_type: &str, object: [&str; 3]) {
        // A server wants UIDs that no other collection of the user has.
        let uid = format!("UID:{name}-{}\n", self.desk.to_lowercase());
        let [begin, lines, end] = object;
        let text_there = format!("{begin}{uid}{lines}{end}");
        let href = text(&collection["externalId"]);
        put(&self.url, DAV_USER, &href, name, (media_type, text_there.as_str())).await;
    }
}

impl ConnectedAccount for DavAccount {
    const HAS_DEFAULTS: bool = false;

    fn server(&self) -> &TestServer {
        &self.mailbox.server
    }

    fn api(&self) -> &Actor {
        &self.mailbox.api
    }

    fn mail(&self) -> &str {
        &self.mailbox.connection
    }

    fn desk(&self) -> &str {
        &self.desk
    }

    fn colleague(&self) -> String {
        self.mailbox.other.address.clone()
    }

    async fn deliver(&self, letter: &Letter) {
        self.mailbox.there.deliver(letter).await;
    }

    async fn is_starred(&self, message: &Value) -> bool {
        is_starred_there(&self.mailbox, message).await
    }

    async fn add_label(&self, name: &str) {
        panic!("a label {name}, though the provider has no labels");
    }

    async fn received(&self, message: &Value) -> Option<String> {
        arrived(&self.mailbox, message).await
    }

    async fn invite(&self, calendar: &Value, title: &str) {
        let stamp = |time: &str| time.replace(['-', ':'], "");
        let lines = format!(
            "DTSTAMP:20260101T000000Z\nDTSTART:{}\nDTEND:{}\nSUMMARY:{title}\nORGANIZER:mailto:boss@guests.example\n\
             ATTENDEE;PARTSTAT=ACCEPTED:mailto:boss@guests.example\n\
             ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:{}\n",
            stamp(INVITED_FROM),
            stamp(INVITED_TO),
            self.calendar_user,
        );
        let begin = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Elsewhere//Calendar//EN\nBEGIN:VEVENT\n";
        let object = [begin, lines.as_str(), "END:VEVENT\nEND:VCALENDAR\n"];
        self.put(calendar, "invited.ics", "text/calendar; charset=utf-8", object).await;
    }

    async fn put_contact(&self, book: &Value, name: &str) {
        let lines = format!("N:;{name};;;\nFN:{name}\n");
        let object = ["BEGIN:VCARD\nVERSION:3.0\n", lines.as_str(), "END:VCARD\n"];
        self.put(book, "theirs.vcf", "text/vcard; charset=utf-8", object).await;
    }

    async fn put_task(&self, list: &Value, title: &str) {
        let lines = format!("DTSTAMP:20260101T000000Z\nSUMMARY:{title}\n");
        let begin = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Elsewhere//Tasks//EN\nBEGIN:VTODO\n";
        let object = [begin, lines.as_str(), "END:VTODO\nEND:VCALENDAR\n"];
        self.put(list, "theirs.ics", "text/calendar; charset=utf-8", object).await;
    }
}
