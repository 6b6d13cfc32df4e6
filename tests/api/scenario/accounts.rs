//! The accounts of the scenario: how each is connected, and what other programs do with it at its provider.

use fakes::graph::AccountKind;
use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::dav::{connect, peer, put};
use crate::email::mailbox::{Letter, Mailbox, Provider, text};
use crate::google::{World, event};
use crate::microsoft;

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
/// The account of the fake, and a colleague's, who has one too.
const ALICE: &str = "alice@example.com";
const BOB: &str = "bob@example.com";
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
        let label = json!({ "id": name.to_lowercase(), "title": name, "colour": "#ff0000" });
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

/// Alice's account at the fake of Google, with one connection for everything.
pub struct GoogleAccount {
    world: World,
    connection: String,
}

impl GoogleAccount {
    /// None where Google's documents are not installed.
    pub async fn connect() -> Option<GoogleAccount> {
        let world = World::start().await?;
        world.google.with(|state| state.add_user(BOB, "Bob Example", "Europe/Berlin"));
        let connection = text(&world.connect_for(&SCOPES).await["id"]);
        Some(GoogleAccount { world, connection })
    }
}

impl ConnectedAccount for GoogleAccount {
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
        BOB.to_owned()
    }

    fn advance(&self, ms: i64) {
        self.world.advance(ms);
    }

    async fn deliver(&self, letter: &Letter) {
        self.world.google.with(|state| state.deliver(ALICE, letter.raw.as_bytes()));
    }

    async fn is_starred(&self, message: &Value) -> bool {
        let id = text(&message["externalId"]);
        self.world.google.with(|state| {
            let found = state.mailbox(ALICE).messages.get(&id);
            found.is_some_and(|message| message.labels.contains("STARRED"))
        })
    }

    async fn add_label(&self, name: &str) {
        self.world.google.with(|state| state.mailbox(ALICE).add_label(name));
    }

    async fn received(&self, message: &Value) -> Option<String> {
        let subject = text(&message["subject"]);
        self.world.google.with(|state| {
            let found = state.mailbox(BOB).titled(&subject);
            let found = found.unwrap_or_else(|| panic!("{BOB} has no message {subject}"));
            Some(String::from_utf8_lossy(&found.raw).into_owned())
        })
    }

    async fn invite(&self, _: &Value, title: &str) {
        let people = json!({
            "organizer": { "email": BOB }, "creator": { "email": BOB },
            "attendees": [
                { "email": BOB, "responseStatus": "accepted", "organizer": true },
                { "email": ALICE, "self": true, "responseStatus": "needsAction" },
            ],
        });
        self.world.put(event("invited", title, INVITED_FROM, people));
    }

    async fn put_contact(&self, _: &Value, name: &str) {
        let person = json!({ "names": [{ "givenName": name }] });
        self.world.google.with(|state| state.put_contact(ALICE, person));
    }

    async fn put_task(&self, _: &Value, title: &str) {
        self.world.google.with(|state| state.put_task(ALICE, json!({ "title": title })));
    }

    fn assert_sound(&self) {
        self.world.assert_allowed();
    }
}

/// Alice's account at the fake of Microsoft Graph, with one connection for everything.
pub struct MicrosoftAccount {
    world: microsoft::World,
    connection: String,
}

impl MicrosoftAccount {
    /// None where the extract of Microsoft's SDK is not installed.
    pub async fn connect() -> Option<MicrosoftAccount> {
        let world = microsoft::World::start().await?;
        world.graph.with(|state| {
            state.add_account(microsoft::BOB, "Bob Example", microsoft::ZONE, AccountKind::Work);
        });
        let connection = text(&world.connect_for(&SCOPES).await["id"]);
        Some(MicrosoftAccount { world, connection })
    }
}

impl ConnectedAccount for MicrosoftAccount {
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
        microsoft::BOB.to_owned()
    }

    fn advance(&self, ms: i64) {
        self.world.advance(ms);
    }

    async fn deliver(&self, letter: &Letter) {
        self.world.graph.with(|state| state.deliver(microsoft::ALICE, letter.raw.as_bytes()));
    }

    async fn is_starred(&self, message: &Value) -> bool {
        let id = text(&message["externalId"]);
        self.world.graph.with(|state| state.mail_item(microsoft::ALICE, &id).flag == "flagged")
    }

    async fn add_label(&self, name: &str) {
        self.world.graph.with(|state| state.add_category(microsoft::ALICE, name, "preset0"));
    }

    async fn received(&self, message: &Value) -> Option<String> {
        let subject = text(&message["subject"]);
        self.world.graph.with(|state| {
            let found = state.mailbox(microsoft::BOB).titled(&subject);
            let found = found.unwrap_or_else(|| panic!("Bob has no message {subject}"));
            Some(String::from_utf8_lossy(&found.raw).into_owned())
        })
    }

    async fn invite(&self, _: &Value, title: &str) {
        let at = |time: &str| json!({ "dateTime": time.trim_end_matches('Z'), "timeZone": "UTC" });
        let event = json!({ "subject": title, "start": at(INVITED_FROM), "end": at(INVITED_TO) });
        self.world.graph.with(|state| state.invite(microsoft::ALICE, microsoft::BOB, event));
    }

    async fn put_contact(&self, _: &Value, name: &str) {
        let contact = json!({ "givenName": name });
        self.world.graph.with(|state| state.put_contact(microsoft::ALICE, "", contact));
    }

    async fn put_task(&self, _: &Value, title: &str) {
        let task = json!({ "title": title });
        self.world.graph.with(|state| state.put_task(microsoft::ALICE, "", task));
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
