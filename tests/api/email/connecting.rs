//! Connecting a mailbox by its servers: what is refused says which of them it was, and no credential goes where it should not.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use harness::{Actor, Exchange, TestServer};
use serde_json::{Value, json};

use crate::dav::peer;
use crate::email::mailbox::{merge, port, refused, text};

/// Returns the body that connects t10 of Dovecot, with changes to the two servers.
fn account(imap: Value, smtp: Value) -> Option<Value> {
    let mut servers =
        [("DOVECOT_IMAP_PORT", imap), ("EXIM_PORT", smtp)].into_iter().map(|(variable, change)| {
            let mut server = json!({ "host": "127.0.0.1", "port": port(variable)?, "tls": "none" });
            merge(&mut server, change);
            Some(server)
        });
    let (imap, smtp) = (servers.next()??, servers.next()??);
    Some(json!({ "provider": "imap", "scopes": ["email.read", "email.write", "email.send"],
        "credentials": { "username": "t10@example.test", "password": "secret", "imap": imap, "smtp": smtp } }))
}

async fn service() -> TestServer {
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    TestServer::builder().real_time().config(|c| c.egress_allow = loopback).start().await
}

async fn connect(api: &Actor, body: &Value) -> Exchange {
    api.post("/v1/connections", body.clone()).send().await
}

/// A port on which nobody listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port()
}

/// Refused, in words that name the server, with the code that says whether it is worth another try.
#[track_caller]
fn refused_by(exchange: Exchange, leg: &str, code: &str, words: &str) {
    let shown = format!("{exchange}");
    assert_eq!(exchange.answer["error"]["code"], code, "{shown}");
    let message = text(&exchange.answer["error"]["message"]);
    assert!(message.contains(leg) && message.contains(words), "{shown}");
    assert!(!message.contains("secret"), "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_the_two_servers() {
    let Some(good) = account(json!({}), json!({})) else { return };
    let server = service().await;
    let api = server.client().await;
    let connection = connect(&api, &good).await.expect(201);
    assert_eq!((&connection["email"], &connection["status"]), (&json!("t10@example.test"), &json!("active")));
    assert_eq!((&connection["missingScopes"], &connection["provider"]), (&json!([]), &json!("imap")));
    assert!(!connection.to_string().contains("secret"), "{connection:#}");
    let path = format!("/v1/connections/{}/refresh", text(&connection["id"]));
    api.post(path, json!({})).send().await.expect(200);

    let with = |imap: Value, smtp: Value| account(imap, smtp).expect("it is up");
    let nowhere = || json!({ "host": "nowhere.invalid" });
    let closed = || json!({ "port": closed_port() });
    for (imap, smtp, leg, words) in [
        (nowhere(), json!({}), "IMAP", "nowhere.invalid"),
        (json!({}), nowhere(), "SMTP", "nowhere.invalid"),
        (closed(), json!({}), "IMAP", ""),
        (json!({}), closed(), "SMTP", ""),
        // A server of another protocol.
        (json!({ "port": port("EXIM_PORT") }), json!({}), "IMAP", ""),
        // TLS on a port that has none.
        (json!({ "tls": "implicit" }), json!({}), "IMAP", "TLS"),
    ] {
        let asked = connect(&api, &with(imap, smtp)).await;
        assert!(asked.status == 503 || asked.status == 504, "{asked}");
        let code = text(&asked.answer["error"]["code"]);
        refused_by(asked, leg, &code, words);
    }
    let mut wrong = good.clone();
    wrong["credentials"]["password"] = json!("wr0ng");
    let asked = connect(&api, &wrong).await;
    assert!(!asked.text.contains("wr0ng"), "{asked}");
    assert_eq!((asked.status, &asked.answer["error"]["param"]), (400, &json!("credentials")), "{asked}");
    refused_by(asked, "IMAP", "provider_rejected", "");
    assert_eq!(api.all("/v1/connections").await.len(), 1, "nothing is kept of what was refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_server() {
    let server = service().await;
    let api = server.client().await;
    let with = |imap: Value, smtp: Value| {
        json!({ "provider": "imap", "scopes": ["email.read"],
            "credentials": { "username": "a@x.test", "password": "secret", "imap": imap, "smtp": smtp } })
    };
    let good = || json!({ "host": "mail.x.test", "port": 993, "tls": "implicit" });
    for (imap, field) in [
        (json!("mail.x.test"), "credentials.imap"),
        (json!({ "host": "", "port": 993 }), "credentials.imap.host"),
        (json!({ "host": "imaps://mail.x.test", "port": 993 }), "credentials.imap.host"),
        (json!({ "host": "mail.x.test" }), "credentials.imap.port"),
        (json!({ "host": "mail.x.test", "port": 0 }), "credentials.imap.port"),
        (json!({ "host": "mail.x.test", "port": "993" }), "credentials.imap.port"),
        (json!({ "host": "mail.x.test", "port": 993, "tls": "ssl" }), "credentials.imap.tls"),
    ] {
        refused(connect(&api, &with(imap.clone(), good())).await, 400, "invalid_parameter", field);
        let field = field.replace("imap", "smtp");
        refused(connect(&api, &with(good(), imap)).await, 400, "invalid_parameter", &field);
    }
    refused(connect(&api, &with(Value::Null, good())).await, 400, "missing_field", "credentials.imap");
    refused(connect(&api, &with(good(), Value::Null)).await, 400, "missing_field", "credentials.smtp");
    assert_eq!(api.all("/v1/connections").await.len(), 0);
}

/// Without the operator's leave no private address is reached, by whatever name and with or without TLS; nor is any without TLS.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_that_the_operator_does_not_allow() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    listener.set_nonblocking(true).expect("a socket");
    let server = TestServer::builder().real_time().config(|c| c.sandbox = false).start().await;
    let api = server.client().await;
    for (host, tls) in [
        ("127.0.0.1", "none"),
        ("127.0.0.1", "implicit"),
        ("localhost", "starttls"),
        ("10.1.2.3", "implicit"),
        ("169.254.169.254", "implicit"),
        ("::1", "implicit"),
        ("::ffff:127.0.0.1", "implicit"),
    ] {
        let there = json!({ "host": host, "port": port, "tls": tls });
        let body = json!({ "provider": "imap", "scopes": ["email.read"],
            "credentials": { "username": "a@x.test", "password": "secret", "imap": there, "smtp": there } });
        let asked = connect(&api, &body).await;
        assert_eq!((asked.status, &asked.answer["error"]["param"]), (400, &json!("settings")), "{asked}");
        refused_by(asked, "IMAP", "provider_rejected", "allow");
    }
    assert!(listener.accept().is_err(), "nobody came");
}

/// Starts a server without STARTTLS; its channel has what a client sends until it disconnects.
fn without_starttls() -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("somebody comes");
        let mut reader = BufReader::new(stream);
        let mut said = String::new();
        let say = |reader: &mut BufReader<std::net::TcpStream>, text: String| {
            reader.get_mut().write_all(text.as_bytes())
        };
        say(&mut reader, "* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] ready\r\n".to_owned()).expect("a greeting");
        loop {
            let mut line = Vec::new();
            if !reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                break;
            }
            let line = String::from_utf8_lossy(&line).into_owned();
            said.push_str(&line);
            let tag = line.split(' ').next().unwrap_or("*").to_owned();
            let answer = match line.to_uppercase().contains("CAPABILITY") {
                true => format!("* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n{tag} OK done\r\n"),
                false => format!("{tag} BAD unknown command\r\n"),
            };
            if say(&mut reader, answer).is_err() {
                break;
            }
        }
        // Nobody may be listening any more.
        let _ = tell.send(said);
    });
    (port, told)
}

/// STARTTLS is wanted and not offered: somebody in between may have taken it out. The password stays here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_starttls() {
    let server = service().await;
    let api = server.client().await;
    let (port, told) = without_starttls();
    let there = json!({ "host": "127.0.0.1", "port": port, "tls": "starttls" });
    let body = json!({ "provider": "imap", "scopes": ["email.read"],
        "credentials": { "username": "user@x.test", "password": "secret", "imap": there, "smtp": there } });
    let asked = connect(&api, &body).await;
    assert!(asked.status >= 400, "{asked}");
    let said = told.recv_timeout(std::time::Duration::from_secs(10)).expect("the line ended");
    assert!(!said.contains("user@x.test") && !said.to_uppercase().contains("AUTHENTICATE"), "{said}");
    assert!(!said.to_uppercase().contains("LOGIN"), "{said}");
    let message = text(&asked.answer["error"]["message"]);
    assert!(
        message.contains("IMAP") && message.contains("STARTTLS"),
        "it does not say what is missing: {asked}"
    );
}

/// A certificate of an authority that nobody knows is refused, until the operator names the authority.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_authority_of_ones_own() {
    let (Some(imaps), Some(authority)) = (port("DOVECOT_IMAPS_PORT"), peer("DOVECOT_CA")) else { return };
    for (tls, imap_port) in [("implicit", imaps), ("starttls", port("DOVECOT_IMAP_PORT").expect("it is up"))]
    {
        let imap = json!({ "host": "localhost", "port": imap_port, "tls": tls });
        let smtp = json!({ "host": "localhost", "tls": "starttls" });
        let body = account(imap, smtp).expect("it is up");
        let stranger = service().await;
        let asked = connect(&stranger.client().await, &body).await;
        refused_by(asked, "IMAP", "provider_unavailable", "certificate");
        let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
        let trusting = TestServer::builder().real_time().config(|c| {
            c.egress_allow = loopback;
            c.ca_files = vec![authority.clone().into()];
        });
        let trusting = trusting.start().await;
        let connection = connect(&trusting.client().await, &body).await.expect(201);
        assert_eq!(connection["status"], "active", "{tls}");
        // The certificate is for localhost and 127.0.0.1; another name of the same machine is another server.
        let mut other = body.clone();
        other["credentials"]["imap"]["host"] = json!("127.0.0.2");
        let asked = connect(&trusting.client().await, &other).await;
        assert_ne!(asked.status, 201, "{asked}");
    }
}

/// Walks through the authorization server's pages as a browser does.
struct Browser {
    http: reqwest::Client,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    /// Sends a request; returns the redirect, and the page.
    async fn ask(&mut self, url: &str, form: Option<String>) -> (Option<String>, String) {
        let request = match form {
            None => self.http.get(url),
            Some(form) => {
                self.http.post(url).header("content-type", "application/x-www-form-urlencoded").body(form)
            }
        };
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = request.header("cookie", cookies.join("; ")).send().await.expect("an answer");
        for cookie in answer.headers().get_all("set-cookie") {
            let pair = cookie.to_str().expect("text").split(';').next().unwrap_or_default().to_owned();
            if let Some((name, value)) = pair.split_once('=') {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let next = answer.headers().get("location").map(|next| next.to_str().expect("a URL").to_owned());
        (next, answer.text().await.expect("a page"))
    }
}

impl Default for Browser {
    fn default() -> Self {
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        Browser { http: http.build().expect("an HTTP client"), cookies: BTreeMap::new() }
    }
}

/// The address to which the authorization server sends the browser of a user, who signs in there and grants what is asked for; with a code.
pub async fn authorize(issuer: &str, url: String, user: &str) -> String {
    let (mut browser, mut at) = (Browser::default(), url);
    for _ in 0..12 {
        if at.contains("code=") {
            return at;
        }
        let (next, page) = browser.ask(&at, None).await;
        let next = match next {
            Some(next) => next,
            None => {
                // Two forms: who it is, and what is granted.
                let prompt = if page.contains("name=\"login\"") { "login" } else { "consent" };
                let form = format!("prompt={prompt}&login={user}&password=x");
                browser.ask(&at, Some(form)).await.0.expect("it leads on")
            }
        };
        at = if next.starts_with('/') { format!("{issuer}{next}") } else { next };
    }
    panic!("the authorization server leads nowhere: {at}");
}

/// An access token of the authorization server, for whom it says (RFC 6749 section 4.1, RFC 7636).
async fn token(issuer: &str, user: &str) -> String {
    let redirect = std::env::var("OIDCP_REDIRECT_URI").expect("it is set");
    let verifier = "v".repeat(43);
    // BASE64URL(SHA256(verifier)).
    let challenge = "7w_YNF9DSfIdPf_pRjSq646_kPr-2-o9NAl16JGghdM";
    let url = format!(
        "{issuer}/auth?client_id=conf&response_type=code&scope=openid&redirect_uri={redirect}&code_challenge={challenge}&code_challenge_method=S256"
    );
    let at = authorize(issuer, url, user).await;
    let (_, code) = at.split_once("code=").expect("a code");
    let code = code.split('&').next().unwrap_or_default();
    let form = format!(
        "grant_type=authorization_code&client_id=conf&client_secret=conf-secret&code={code}&redirect_uri={redirect}&code_verifier={verifier}"
    );
    let (_, answer) = Browser::default().ask(&format!("{issuer}/token"), Some(form)).await;
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    text(&answer["access_token"])
}

/// An access token instead of a password, by IMAP; Exim here takes passwords only, and its leg says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn access_tokens() {
    let (Some(issuer), Some(submission)) = (peer("OIDCP_ISSUER"), port("DOVECOT_SUBMISSION_PORT")) else {
        return;
    };
    let smtp = json!({ "port": submission });
    let mut body = account(json!({}), smtp).expect("it is up");
    let server = service().await;
    let api = server.client().await;
    let good = token(&issuer, "t10@example.test").await;
    let imap = body["credentials"]["imap"].clone();
    let smtp = body["credentials"]["smtp"].clone();
    body["credentials"] =
        json!({ "username": "t10@example.test", "accessToken": good, "imap": imap, "smtp": smtp });
    let connection = connect(&api, &body).await.expect(201);
    let list = format!("/v1/email/folders?connection_id={}", text(&connection["id"]));
    assert!(!api.all(&list).await.is_empty());
    body["credentials"]["accessToken"] = json!("nonsense-token");
    let asked = connect(&api, &body).await;
    assert!(!asked.text.contains("nonsense-token"), "{asked}");
    refused_by(asked, "IMAP", "provider_rejected", "");
    body["credentials"]["accessToken"] = json!(token(&issuer, "t09@example.test").await);
    let asked = connect(&api, &body).await;
    assert_eq!(asked.status, 400, "a token of somebody else opens nothing: {asked}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_jmap() {
    let Some(url) = peer("CYRUS_URL") else { return };
    let server = service().await;
    let api = server.client().await;
    let with = |url: &str, password: &str| {
        json!({ "provider": "jmap", "scopes": ["email.read", "email.send"], "settings": { "serverUrl": url },
            "credentials": { "username": "t10@cyrus.test", "password": password } })
    };
    let connection = connect(&api, &with(&url, "secret")).await.expect(201);
    assert_eq!((&connection["email"], &connection["missingScopes"]), (&json!("t10@cyrus.test"), &json!([])));
    let path = format!("/v1/email/capabilities/{}", text(&connection["id"]));
    let can = api.get(path).send().await.expect(200);
    assert_eq!((&can["operations"]["send"], &can["features"]["multiFolder"]), (&json!(true), &json!(true)));
    let missing: Vec<&Value> =
        can["missing"].as_array().expect("a list").iter().map(|m| &m["reason"]).collect();
    assert!(missing.contains(&&json!("scope_not_granted")), "writing was not asked for: {can:#}");
    refused(connect(&api, &with(&url, "wr0ng")).await, 400, "provider_rejected", "credentials");
    let closed = format!("http://127.0.0.1:{}/", closed_port());
    connect(&api, &with(&closed, "secret")).await.refused(503, "provider_unavailable");
    connect(&api, &with("http://nowhere.invalid/", "secret")).await.refused(503, "provider_unavailable");
    refused(connect(&api, &with("http://10.0.0.1/", "secret")).await, 400, "provider_rejected", "settings");
    let strict = TestServer::builder().real_time().config(|c| c.sandbox = false).start().await;
    let asked = connect(&strict.client().await, &with(&url, "secret")).await;
    refused(asked, 400, "provider_rejected", "settings");
}

/// Requested scopes that the account does not support are reported, not refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_mailbox_has_not() {
    let Some(mut body) = account(json!({}), json!({})) else { return };
    body["scopes"] = json!(["email.read", "calendar.read"]);
    let server = service().await;
    let api = server.client().await;
    let connection = api.post("/v1/connections", body).send().await.expect(201);
    assert_eq!(connection["missingScopes"], json!(["calendar.read"]));
    let path = format!("/v1/connections/{}/capabilities", text(&connection["id"]));
    let capabilities = api.get(path).send().await.expect(200);
    assert_eq!(
        (&capabilities["calendar"], &capabilities["operations"]["read"]),
        (&Value::Null, &json!(true))
    );
}
