//! A message of 35 MB, whose file goes to Graph in slices: the memory and the processor time that the connector takes for it.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use crate::bench::memory;
use crate::bench::microsoft::MICROSOFT;
use crate::bench::providers::AWAY;
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{HostOptions, ProviderHost, Quota};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::http::Client;
use crate::server::free_address;

/// Bytes of the attached file, the most that the API takes.
const FILE_BYTES: usize = 25 << 20;
/// Megabytes of the message: 57 bytes of the file are a line of 78.
const MESSAGE_MB: f64 = FILE_BYTES as f64 * 78.0 / 57.0 / 1_000_000.0;
const SCOPES: [&str; 3] = ["email.read", "email.write", "email.send"];
/// A message that takes longer was not sent.
const SEND_LIMIT: Duration = Duration::from_secs(60);
/// The interval at which the state of the message is read.
const STATE_EVERY: Duration = Duration::from_millis(50);
/// The memory of the manifest's class `standard`, and the maximum processor time of the call.
const MAX_MEMORY_MIB: f64 = 64.0;
const MAX_CPU_S: f64 = 1.0;

/// Two rows: the largest memory of a call of the connector, and the time that it computes for the message.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let graph = ProviderFake::start(&MICROSOFT)?;
    let address = free_address(SocketAddr::from(([127, 0, 0, 1], 0)))?.to_string();
    let options =
        HostOptions { scopes: &SCOPES, environment: &[("SWITCHBOARD_METRICS_LISTEN", address.as_str())] };
    let host = ProviderHost::start_with(rig, &graph, "microsoft-send", Quota::Off, &options)?;
    let metrics = Client::new(&format!("http://{address}"), "");
    graph.move_away(AWAY)?;

    let message = json!({
        "connectionId": host.connection,
        "to": [{ "email": "ben@example.net" }],
        "subject": "Large",
        "body": { "text": "See there." },
        "attachments": [{
            "filename": "large.bin",
            "contentType": "application/octet-stream",
            "contentBase64": BASE64_STANDARD.encode(vec![7_u8; FILE_BYTES]),
        }],
    });
    let pid = host.server.pid();
    let cpu_before = read_metric(&metrics, "switchboard_connector_call_cpu_seconds_total")?;
    let resident_before = memory::resident_mib(pid)?;
    memory::forget_peak(pid)?;
    let start = Instant::now();
    let sent = host.client.send("POST", "/v1/email/send", &[], Some(&message))?.expect(&[202])?;
    drop(message);
    await_sent(&host, sent["id"].as_str().context("the message has no id")?)?;
    let took = start.elapsed().as_secs_f64();
    let growth = memory::peak_mib(pid)? - resident_before;
    let cpu_s = read_metric(&metrics, "switchboard_connector_call_cpu_seconds_total")? - cpu_before;
    let memory_mib = read_metric(&metrics, "switchboard_connector_peak_memory_bytes")? / f64::from(1 << 20);
    graph.ensure_allowed()?;
    host.server.stop()?;

    let what = format!("send of a message of {MESSAGE_MB:.1} MB to Microsoft, {} ms away", AWAY.as_millis());
    let memory_row = Row {
        what: format!("{what}: memory of the connector"),
        ours: format!("{memory_mib:.1} MiB; the server's resident memory grows by {growth:.1} MiB"),
        baseline: "–".to_owned(),
        figure: memory_mib,
        unit: " MiB".to_owned(),
        target: FigureTarget::AtMost(MAX_MEMORY_MIB),
    };
    let cpu_row = Row {
        what: format!("{what}: processor time of the connector"),
        ours: format!("{cpu_s:.2} s; sent after {took:.1} s"),
        baseline: "–".to_owned(),
        figure: cpu_s,
        unit: " s".to_owned(),
        target: FigureTarget::AtMost(MAX_CPU_S),
    };
    Ok(vec![memory_row, cpu_row])
}

/// Waits until the message with this id has been sent.
fn await_sent(host: &ProviderHost, id: &str) -> Result<()> {
    let path = format!("/v1/email/messages/{id}");
    let start = Instant::now();
    loop {
        let message = host.client.get(&path)?;
        let delivery = &message["delivery"];
        if delivery["state"] == "sent" {
            return Ok(());
        }
        ensure!(delivery["state"] != "failed", "the message was not sent: {delivery}");
        ensure!(start.elapsed() < SEND_LIMIT, "not sent in {} s: {delivery}", SEND_LIMIT.as_secs());
        sleep(STATE_EVERY);
    }
}

/// Reads a figure of the connector from the page of metrics.
fn read_metric(metrics: &Client, name: &str) -> Result<f64> {
    let page = metrics.get("/metrics")?;
    let page = page.as_str().context("the page of metrics is no text")?;
    let label = format!("{name}{{connector=\"{}\"}}", MICROSOFT.connector);
    let value = page.lines().find_map(|line| line.strip_prefix(label.as_str()));
    let value = value.with_context(|| format!("there is no metric {name} of the connector"))?;
    value.trim().parse().with_context(|| format!("the metric {name} is no number"))
}
