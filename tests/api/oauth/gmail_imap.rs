//! Gmail by IMAP: the manifest of `connectors/gmail`, with the Google of the peers (`tests/peers/emulate`) for the user's consent and
//! Dovecot, which asks that Google about tokens, for the mail.

use harness::browser::parameter;
use harness::imap::Imap;
use harness::{TestServer, bundle};
use runtime::Manifest;
use serde_json::{Value, json};

use crate::dav::peer;
use crate::email::mailbox::{port, text, until};
use crate::oauth::{Flow, REDIRECT, STATE, register_client, request};

const AUTHORIZE: &str = "/v1/auth/connectors/gmail/authorize";
/// Google's one scope for IMAP and SMTP.
const MAIL: &str = "https://mail.google.com/";
/// Folders that each account at Dovecot has.
const FOLDERS: [&str; 6] = ["INBOX", "Archive", "Drafts", "Junk", "Sent", "Trash"];

/// The servers that replace Google's.
struct GoogleServers {
    /// With a slash at its end.
    url: String,
    /// The registered address to which it sends users back.
    redirect: String,
    client_id: String,
    client_secret: String,
    /// An account. Not the first one: the emulator takes every token that it does not know for that one's.
    user: String,
    imap: u16,
    smtp: u16,
}

impl GoogleServers {
    /// None when the peers are not up.
    fn find() -> Option<GoogleServers> {
        Some(GoogleServers {
            url: peer("GOOGLE_URL")?,
            redirect: peer("EMULATE_REDIRECT_URI")?,
            client_id: peer("GOOGLE_CLIENT_ID")?,
            client_secret: peer("GOOGLE_CLIENT_SECRET")?,
            user: peer("GOOGLE_USER2")?,
            imap: port("DOVECOT_IMAP_PORT")?,
            smtp: port("DOVECOT_SUBMISSION_PORT")?,
        })
    }

    /// Registers the client with these servers in place of Google's.
    async fn register(&self, flow: &Flow) {
        let url = |path: &str| json!(format!("{}{path}", self.url));
        let server = |port: u16| json!({ "host": "127.0.0.1", "port": port, "tls": "none" });
        let settings = [("imap", server(self.imap)), ("smtp", server(self.smtp))];
        let endpoints = [
            ("authorizeUrl", url("o/oauth2/v2/auth")),
            ("tokenUrl", url("oauth2/token")),
            ("userinfoUrl", url("oauth2/v2/userinfo")),
            ("revokeUrl", url("oauth2/revoke")),
            ("callbackUrl", json!(self.redirect)),
        ];
        register_client(&flow.server, &flow.api, "gmail", |client| {
            let place =
                format!("oauth_clients.client_secret:{}:{}", client.id, client.tenant.organization_id);
            let secret = flow.server.app.keyring.seal(&place, self.client_secret.as_bytes());
            client.client_id.clone_from(&self.client_id);
            client.client_secret = Some(secret.expect("it is sealed"));
            client.settings.extend(settings.map(|(name, value)| (name.to_owned(), value)));
            client.endpoints.extend(endpoints.map(|(name, value)| (name.to_owned(), value)));
        })
        .await;
    }

    /// Signs in at the authorization URL as the account; the query with which Google sends the browser back.
    async fn consent(&self, flow: &Flow, authorization_url: &str) -> String {
        let page = flow.browser.open(authorization_url).await;
        assert!(page.status == 200 && page.text.contains(&self.user), "no consent page: {page:#?}");
        let asked = |name: &str| parameter(authorization_url, name).unwrap_or_default();
        let names = [
            "redirect_uri",
            "scope",
            "state",
            "nonce",
            "client_id",
            "code_challenge",
            "code_challenge_method",
        ];
        let given: Vec<(&str, String)> = names.into_iter().map(|name| (name, asked(name))).collect();
        let mut fields: Vec<(&str, &str)> =
            given.iter().map(|(name, value)| (*name, value.as_str())).collect();
        fields.push(("email", &self.user));
        let answer = flow.browser.submit(&format!("{}o/oauth2/v2/auth/callback", self.url), &fields).await;
        let location = answer.location();
        let (to, query) = location.split_once('?').expect("a query");
        assert_eq!(to, self.redirect);
        query.to_owned()
    }

    /// Connects the account; the connection's id.
    async fn connect(&self, flow: &Flow) -> String {
        let scopes = json!({ "scopes": ["email.read", "email.write", "email.send"] });
        let answer = flow.api.post(AUTHORIZE, request(scopes)).send().await.expect(201);
        let url = text(&answer["authorizationUrl"]);
        for (name, value) in [
            ("access_type", "offline"),
            ("prompt", "consent"),
            ("client_id", self.client_id.as_str()),
            ("code_challenge_method", "S256"),
        ] {
            assert_eq!(parameter(&url, name).as_deref(), Some(value), "{name} in {url}");
        }
        let asked = parameter(&url, "scope").expect("scopes");
        let mut asked: Vec<&str> = asked.split(' ').collect();
        asked.sort_unstable();
        assert_eq!(asked, ["email", MAIL, "openid", "profile"]);
        let query = self.consent(flow, &url).await;
        let callback = format!("http://{}/v1/auth/connectors/gmail/callback?{query}", flow.server.address);
        let page = flow.browser.open(&callback).await;
        let location = page.location();
        assert!(location.starts_with(REDIRECT), "{page:#?}");
        assert_eq!(parameter(&location, "status").as_deref(), Some("active"), "{page:#?}");
        assert_eq!(parameter(&location, "state").as_deref(), Some(STATE));
        parameter(&location, "connection_id").expect("a connection")
    }
}

/// A user consents at Google and gives nothing else: the mailbox is read, and a message is sent, both by the token of that consent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gmail_manifest_on_dovecot() {
    let Some(google) = GoogleServers::find() else { return };
    let mut there = Imap::login(google.imap, &google.user, "secret");
    there.empty(&FOLDERS);
    let raw = format!(
        "From: Ann <ann@elsewhere.test>\r\nTo: {}\r\nSubject: Minutes\r\nMessage-ID: <minutes@elsewhere.test>\r\n\
         Date: Sun, 01 Feb 2026 10:00:00 +0000\r\n\r\nHello!\r\n",
        google.user
    );
    there.append("INBOX", "", None, &raw);

    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    let server = TestServer::builder().from_now().config(|c| c.egress_allow = loopback).start().await;
    let flow = Flow::on(server).await;
    google.register(&flow).await;
    let id = google.connect(&flow).await;
    let connection = flow.connection(&id).await;
    let scopes = json!(["email.read", "email.write", "email.send"]);
    for (field, value) in [
        ("provider", json!("gmail")),
        ("email", json!(google.user)),
        ("grantedScopes", scopes),
        ("missingScopes", json!([])),
    ] {
        assert_eq!(connection[field], value, "{field} of {connection:#}");
    }

    flow.server.clock.advance_ms(1);
    let list = format!("/v1/email/messages?connection_id={id}");
    let listed = flow.api.get(list).header("cache-control", "no-cache").send().await.expect(200);
    let subjects: Vec<&Value> =
        listed["data"].as_array().expect("a list").iter().map(|message| &message["subject"]).collect();
    assert_eq!(subjects, ["Minutes"]);

    let message = json!({ "connectionId": id, "to": [{ "email": "carol@example.test" }],
        "subject": "Thank you", "body": { "text": "Read." } });
    let taken = flow.api.post("/v1/email/send", message).send().await.expect(202);
    flow.server.hand_over().await;
    let path = format!("/v1/email/messages/{}", text(&taken["id"]));
    let sent = flow.api.get(path).send().await.expect(200);
    assert_eq!(sent["delivery"]["state"], "sent", "{sent:#}");
    let message_id = text(&sent["internetMessageId"]);
    let kept = there.find(&message_id);
    assert_eq!(kept.iter().map(|stored| stored.folder.as_str()).collect::<Vec<_>>(), ["Sent"]);
    let mut carol = Imap::login(google.imap, "carol@example.test", "secret");
    let raw = until("the message arrives", async || {
        let found = carol.find(&message_id).into_iter().next()?;
        Some(carol.raw(&found))
    })
    .await;
    assert!(raw.contains(&format!("<{}>", google.user)) && raw.contains("Subject: Thank you"), "{raw}");
}

/// The connector is the code of `imap`, and its manifest leaves nothing for a user to enter.
#[test]
fn gmail_is_the_imap_connector_with_googles_servers() {
    let read = |name: &str| {
        let folder = bundle().join(name);
        let manifest = std::fs::read_to_string(folder.join("connector.toml"));
        let manifest =
            Manifest::parse(&manifest.expect("`cargo xtask connectors` was run")).expect("a manifest");
        (manifest, std::fs::read(folder.join(format!("{name}.wasm"))).expect("a component"))
    };
    let ((gmail, component), (imap, original)) = (read("gmail"), read("imap"));
    assert!(component == original, "another component than that of imap");
    assert_eq!(
        (&gmail.surfaces, gmail.level, gmail.memory, &gmail.idle_server, &gmail.servers_from_settings),
        (&imap.surfaces, imap.level, imap.memory, &imap.idle_server, &imap.servers_from_settings)
    );
    let presets: Vec<(&str, Option<&Value>)> =
        gmail.settings.iter().map(|setting| (setting.name.as_str(), setting.default.as_ref())).collect();
    let server = |host: &str, port: u16| json!({ "host": host, "port": port, "tls": "implicit" });
    let (imap, smtp) = (server("imap.gmail.com", 993), server("smtp.gmail.com", 465));
    assert_eq!(presets, [("imap", Some(&imap)), ("smtp", Some(&smtp))]);
}
