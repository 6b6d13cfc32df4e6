//! Bulk import of contacts through the API, against a native client that puts the same cards into the same server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Request;

use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::http::Client;
use crate::peers::Peers;

/// Cards of each side, in two runs.
const CARDS: usize = 10_000;
const CLIENTS: usize = 8;
/// Cards of one book: some servers read every card of a book for each new one.
const BOOK: usize = 250;

/// A real server, and its settings.
struct ImportServer {
    shown: &'static str,
    name: &'static str,
    options: &'static [(&'static str, &'static str)],
}

/// In the tests Cyrus runs without flushes of the disk, for speed: its PUTs are then compared with commits that are on disk. A server in
/// production flushes its data, as Radicale does and we do, so that is measured too. The target is the same for all.
const PEERS: [ImportServer; 3] = [
    ImportServer { shown: "Radicale", name: "radicale", options: &[] },
    ImportServer { shown: "Cyrus, which flushes nothing to disk", name: "cyrus", options: &[] },
    ImportServer {
        shown: "Cyrus, which flushes to disk",
        name: "cyrus",
        options: &[("CYRUS_FLUSHES", "on")],
    },
];

/// Measures each peer, a row for each.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    PEERS.iter().map(|peer| compare(rig, peer)).collect()
}

struct Login {
    url: String,
    user: String,
    password: String,
}

fn compare(rig: &Rig, peer: &ImportServer) -> Result<Row> {
    let peers = Peers::start_only(&[peer.name], peer.options)?;
    let get = |field: &str| peers.get(&format!("{}_{field}", peer.name.to_uppercase()));
    let login = Login { url: get("URL")?, user: get("USER")?, password: get("PASSWORD")? };
    let folder = rig.folder(&format!("import-{}", peer.name))?;
    let server = rig.server_that_reaches(&folder, &["127.0.0.1/32"], &[])?;
    let scopes = "connections.write,contacts.read,contacts.write";
    let (_, key) = server.create_key(scopes, &["--rate-limit-per-minute", "100000000"])?;
    let key = key["key"].as_str().context("`keys create --json` printed no key")?.to_owned();
    let client = Client::new(&server.url, &key);
    let account = json!({
        "provider": "dav", "settings": { "serverUrl": login.url },
        "credentials": { "username": login.user, "password": login.password },
        "scopes": ["contacts.read", "contacts.write"],
    });
    let connection = client.send("POST", "/v1/connections", &[], Some(&account))?.expect(&[201])?;
    let (mut ours, mut native) = (Duration::ZERO, Duration::ZERO);
    for (turn, is_ours) in [true, false, false, true].into_iter().enumerate() {
        let mut books = Vec::new();
        for number in 0..(CARDS / 2).div_ceil(BOOK) {
            let book = json!({ "connectionId": connection["id"], "name": format!("Import {turn}.{number}") });
            books.push(client.send("POST", "/v1/contact-books", &[], Some(&book))?.expect(&[201])?);
        }
        match is_ours {
            true => ours += through_the_api(&server.url, &key, (turn, &books))?,
            false => native += by_a_native_client(&login, &books)?,
        }
    }
    server.stop()?;
    let rate =
        |took: Duration| format!("{:.1} s, {:.0}/s", took.as_secs_f64(), CARDS as f64 / took.as_secs_f64());
    Ok(Row {
        what: format!("import of {CARDS} contacts into {}, {BOOK} in a book ({CLIENTS} clients)", peer.shown),
        ours: rate(ours),
        baseline: format!("a native client's PUTs: {}", rate(native)),
        figure: ours.as_secs_f64() / native.as_secs_f64(),
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(1.3),
    })
}

fn through_the_api(url: &str, key: &str, (turn, books): (usize, &[Value])) -> Result<Duration> {
    together(|number| {
        let client = Client::new(url, key);
        move |card| {
            let key = format!("{turn}-{number}-{card}");
            let body = json!({
                "bookId": books[card / BOOK]["id"], "givenName": format!("Given {card}"), "familyName": format!("Family {number}"),
                "emails": [{ "value": format!("card{card}@example.org"), "type": "work" }],
                "phones": [{ "value": format!("+49 30 {:07}", card % 10_000_000), "type": "mobile" }],
                "organizations": [{ "name": "Example AG", "title": "Engineer" }],
            });
            let headers = [("idempotency-key", key.as_str())];
            client.send("POST", "/v1/contacts", &headers, Some(&body))?.expect(&[201]).map(|_| ())
        }
    })
}

/// Writes the same contacts as the connector with a native client, and returns its time.
fn by_a_native_client(login: &Login, books: &[Value]) -> Result<Duration> {
    let origin = login.url.trim_end_matches('/');
    let folders = books.iter().map(|book| Ok(format!("{origin}{}", text(&book["externalId"])?)));
    let folders = folders.collect::<Result<Vec<String>>>()?;
    let credentials = format!("{}:{}", login.user, login.password);
    let authorization = format!("Basic {}", BASE64_STANDARD.encode(credentials));
    together(|number| {
        let agent: Agent = Agent::config_builder().http_status_as_error(false).proxy(None).build().into();
        let (folders, authorization) = (&folders, &authorization);
        move |card| {
            let uid = format!("bench-{number}-{card}");
            let text = format!(
                "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{uid}\r\nFN:Given {card} Family {number}\r\n\
                 N:Family {number};Given {card};;;\r\nEMAIL;TYPE=WORK:card{card}@example.org\r\n\
                 TEL;TYPE=CELL:+49 30 {:07}\r\nORG:Example AG\r\nTITLE:Engineer\r\nEND:VCARD\r\n",
                card % 10_000_000
            );
            let request = Request::builder()
                .method("PUT")
                .uri(format!("{}{uid}.vcf", folders[card / BOOK]))
                .header("authorization", authorization)
                .header("content-type", "text/vcard; charset=utf-8")
                .header("if-none-match", "*");
            let mut response = agent.run(request.body(text)?)?;
            ensure!(response.status().is_success(), "PUT: {}", response.status());
            response.body_mut().read_to_string()?;
            Ok(())
        }
    })
}

/// Writes half of the cards with several parallel clients; each with its own `put`.
fn together<P>(client: impl Fn(usize) -> P + Sync) -> Result<Duration>
where
    P: Fn(usize) -> Result<()>,
{
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let work = |number: usize| {
            let (client, next) = (&client, &next);
            move || -> Result<()> {
                let put = client(number);
                loop {
                    let card = next.fetch_add(1, Ordering::Relaxed);
                    if card >= CARDS / 2 {
                        return Ok(());
                    }
                    put(card)?;
                }
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(work(number))).collect();
        clients.into_iter().try_for_each(|c| c.join().map_err(|_| anyhow!("a client panicked"))?)
    })?;
    Ok(start.elapsed())
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().context("a text is missing in the answer")
}
