//! The booking page of a month, as HTML.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use ureq::Agent;
use ureq::http::Request;

use crate::bench::load::LoadMeasurement;
use crate::bench::scheduling::service::{EventType, SchedulingData, Service, text};
use crate::bench::table::{FigureTarget, Row};
use crate::http::Client;

const REQUESTS: u64 = 2_000;
/// Requests from one address: fewer than its limit per minute.
const OF_AN_ADDRESS: u64 = 250;
const MOST_MS: f64 = 15.0;
const MOST_BYTES: f64 = 6.0 * 1_024.0;
/// The time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Two rows: the time, and the bytes on the wire.
pub fn run(service: &Service, of: &EventType, plan: &SchedulingData) -> Result<Vec<Row>> {
    let link = service.client.get(&format!("/v1/scheduling/booking-links/{}", of.slug))?;
    let url = text(&link, "url")?;
    let (_, address) = url.split_once("/book/").context("the link leads to no booking page")?;
    let path = format!("/book/{address}?month={}", plan.month());
    let client = Client::new(&service.server.url, "");
    let mut measured = LoadMeasurement::default();
    let start = Instant::now();
    for number in 0..REQUESTS {
        let from = format!("10.39.0.{}", 1 + number / OF_AN_ADDRESS);
        let answer = client.send("GET", &path, &[("x-forwarded-for", &from)], None)?;
        measured.micros.push(u32::try_from(answer.took.as_micros()).unwrap_or(u32::MAX));
        let page = answer.expect(&[200])?;
        let is_month = page.as_str().is_some_and(|page| page.contains("at=20"));
        ensure!(is_month, "the page of {} shows no time", plan.month());
    }
    measured.requests = REQUESTS;
    measured.seconds = start.elapsed().as_secs_f64();
    measured.micros.sort_unstable();
    let bytes = compressed_bytes(&format!("{}{path}", service.server.url))?;
    let row = |what: &str, ours: String, figure: f64, unit: &str, most: f64| Row {
        what: what.to_owned(),
        ours,
        baseline: "–".to_owned(),
        figure,
        unit: unit.to_owned(),
        target: FigureTarget::AtMost(most),
    };
    let ms = f64::from(measured.quantile(0.99)) / 1_000.0;
    Ok(vec![
        row("booking page of a month, 1 host: 99 of 100 (1 client)", measured.render(), ms, " ms", MOST_MS),
        row("the same: HTML, compressed", format!("{bytes} B"), bytes as f64, " B", MOST_BYTES),
    ])
}

/// The bytes of a page as it is sent to a browser.
fn compressed_bytes(url: &str) -> Result<usize> {
    let agent = Agent::config_builder().proxy(None).timeout_global(Some(TIMEOUT)).build();
    let request = Request::get(url).header("accept-encoding", "gzip").body(())?;
    let mut response = Agent::new_with_config(agent).run(request)?;
    let is_compressed = response.headers().get("content-encoding").is_some_and(|name| name == "gzip");
    ensure!(is_compressed, "the page is not compressed");
    Ok(response.body_mut().read_to_vec()?.len())
}
