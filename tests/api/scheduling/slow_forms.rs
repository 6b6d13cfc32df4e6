//! Forms that arrive slowly, or not at all, do not block bookings, moves and cancellations.

use harness::TestServer;
use harness::browser::{Browser, Page, encoded};
use reqwest::{Method, Url};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Desk;
use super::page::{ADA, address, follow, form, leads, send};

/// Forms that were once worked on at one moment, and shut all others out while they came.
const SLOW_FORMS: usize = 64;
/// The answer that asks for a body.
const CONTINUE: &[u8; 25] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A form that has begun, and of whose body nothing comes.
struct SlowForm(TcpStream);

impl SlowForm {
    /// Returns when the service waits for the body.
    async fn begin(server: &TestServer, path: &str, from: &str) -> SlowForm {
        let mut line = TcpStream::connect(server.address).await.expect("a connection");
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nx-forwarded-for: {from}\r\nexpect: 100-continue\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\n",
            server.address
        );
        line.write_all(head.as_bytes()).await.expect("the head goes out");
        let mut said = [0; CONTINUE.len()];
        line.read_exact(&mut said).await.expect("an answer");
        assert_eq!(&said, CONTINUE, "{}", String::from_utf8_lossy(&said));
        SlowForm(line)
    }

    /// The beginning of the answer.
    async fn answer(mut self) -> String {
        let mut said = [0; 12];
        self.0.read_exact(&mut said).await.expect("an answer");
        String::from_utf8_lossy(&said).into_owned()
    }
}

/// The page that a visitor of this address gets for a form: the booking, to which the answer redirects.
async fn send_from(server: &TestServer, page: &Page, from: &str) -> String {
    let form = page.form();
    let hidden = form.hidden.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let fields: Vec<(&str, &str)> = hidden.chain(ADA).collect();
    let ask = server.anonymous().ask(Method::POST, form.action.path().to_owned(), None);
    let ask = ask.header("x-forwarded-for", from).raw("application/x-www-form-urlencoded", encoded(&fields));
    ask.send().await.text
}

/// Sixty-four forms of four addresses that never arrive block no one, not even those addresses, and each is given up after five seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_that_do_not_arrive_keep_nobody_from_booking() {
    let proxies = vec!["127.0.0.1/32".parse().expect("a network")];
    let server = TestServer::builder().config(|config| config.trusted_proxies = proxies).start().await;
    let desk = Desk::of(&server, "alice").await;
    desk.open("intro", json!({ "minNoticeMinutes": 0 })).await;
    let (browser, url) = (Browser::default(), address(&desk.api, "intro").await);
    let path = Url::parse(&url).expect("a URL").path().to_owned();
    let mut slow = Vec::new();
    for n in 0..SLOW_FORMS {
        slow.push(SlowForm::begin(&server, &path, &format!("203.0.113.{}", n % 4)).await);
    }
    let page = form(&server, &browser, &url, "09:00").await;
    let booked = follow(&browser, &send(&browser, &page, &ADA).await).await;
    assert!(booked.text.contains("Your booking is confirmed"), "{booked:#?}");
    let cancel = browser.open(&leads(&booked, "Cancel booking")).await;
    assert_eq!(send(&browser, &cancel, &[]).await.status, 303);
    let page = form(&server, &browser, &url, "10:00").await;
    let booked = send_from(&server, &page, "203.0.113.1").await;
    assert!(booked.contains("Your booking is confirmed"), "{booked}");
    for form in slow {
        assert_eq!(form.answer().await, "HTTP/1.1 408");
    }
}
