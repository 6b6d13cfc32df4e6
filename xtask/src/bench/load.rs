//! Closed-loop load over kept connections: each client sends its next request as soon as it has the last answer. HTTP/1.1 is implemented
//! here, because a general client costs more than the measured servers.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// A request to send repeatedly, and the response that is expected.
#[derive(Clone)]
pub struct Load {
    pub address: SocketAddr,
    pub method: &'static str,
    /// The path. `{instant}` in it becomes an instant of the year 2000 that no other request of the run has, `{one}` one of `choices`,
    /// evenly distributed.
    pub path: String,
    pub choices: Arc<[String]>,
    /// Whole header lines without line ends.
    pub headers: Vec<String>,
    /// The body; `{n}` in it and in the headers becomes a number that no other request of the run has.
    pub body: String,
    pub status: u16,
    pub clients: usize,
}

impl Load {
    /// Returns the path of one of its requests.
    pub fn sample(&self) -> String {
        let one = self.choices.first().map_or("", String::as_str);
        self.path.replace("{instant}", &instant(0)).replace("{one}", one)
    }
}

/// The measurements of one run of load.
#[derive(Default)]
pub struct LoadMeasurement {
    pub requests: u64,
    pub seconds: f64,
    /// Microseconds of every request, sorted.
    pub micros: Vec<u32>,
}

impl LoadMeasurement {
    /// Requests per second.
    pub fn rate(&self) -> f64 {
        self.requests as f64 / self.seconds
    }

    /// Returns the latency in microseconds below which this share (0 to 1) of requests stays.
    pub fn quantile(&self, share: f64) -> u32 {
        let last = self.micros.len().saturating_sub(1);
        self.micros.get((last as f64 * share) as usize).copied().unwrap_or_default()
    }

    /// `1234/s, p50 0.8 ms, p99 2.1 ms`.
    pub fn render(&self) -> String {
        let ms = |share| f64::from(self.quantile(share)) / 1000.0;
        format!("{:.0}/s, p50 {:.2} ms, p99 {:.2} ms", self.rate(), ms(0.5), ms(0.99))
    }

    /// Adds the figures of another run.
    pub fn add(&mut self, other: LoadMeasurement) {
        self.requests += other.requests;
        self.seconds += other.seconds;
        self.micros.extend(other.micros);
        self.micros.sort_unstable();
    }
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Measures one run, after a short warm-up.
pub fn measure(load: &Load, seconds: u64) -> Result<LoadMeasurement> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(turn(load, Duration::from_millis(500)))?;
    runtime.block_on(turn(load, Duration::from_secs(seconds)))
}

/// Measures `a` against `b` in the order A B B A, each run after a short warm-up.
pub fn abba(a: &Load, b: &Load, seconds: u64) -> Result<(LoadMeasurement, LoadMeasurement)> {
    let (mut of_a, mut of_b) = (LoadMeasurement::default(), LoadMeasurement::default());
    for (load, is_a) in [(a, true), (b, false), (b, false), (a, true)] {
        let measured = measure(load, seconds)?;
        if is_a { of_a.add(measured) } else { of_b.add(measured) }
    }
    Ok((of_a, of_b))
}

async fn turn(load: &Load, length: Duration) -> Result<LoadMeasurement> {
    let streams = connect(load.address, load.clients).await?;
    let stop = Arc::new(AtomicBool::new(false));
    let start = Instant::now();
    let mut clients = JoinSet::new();
    for stream in streams {
        clients.spawn(client(stream, load.clone(), stop.clone()));
    }
    tokio::time::sleep(length).await;
    stop.store(true, Ordering::Relaxed);
    let mut measured = LoadMeasurement::default();
    while let Some(micros) = clients.join_next().await {
        let micros = micros??;
        measured.requests += micros.len() as u64;
        measured.micros.extend(micros);
    }
    measured.seconds = start.elapsed().as_secs_f64();
    ensure!(measured.requests > 0, "{} {} was not answered once", load.method, load.path);
    measured.micros.sort_unstable();
    Ok(measured)
}

async fn client(mut stream: TcpStream, load: Load, stop: Arc<AtomicBool>) -> Result<Vec<u32>> {
    let mut micros = Vec::new();
    let mut buffer = Vec::with_capacity(64 * 1024);
    while !stop.load(Ordering::Relaxed) {
        let request = request(&load);
        let start = Instant::now();
        stream.write_all(request.as_bytes()).await?;
        answer(&mut stream, &mut buffer, load.status)
            .await
            .with_context(|| format!("{} {}", load.method, load.path))?;
        micros.push(u32::try_from(start.elapsed().as_micros()).unwrap_or(u32::MAX));
    }
    Ok(micros)
}

/// Clients that each send one request, all at the same time, over connections that are kept for the next race.
pub struct Race {
    // Declared first, so that they are closed before their runtime ends.
    streams: Vec<TcpStream>,
    runtime: Runtime,
}

impl Race {
    /// Opens this number of connections.
    pub fn connect(address: SocketAddr, clients: usize) -> Result<Race> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let streams = runtime.block_on(connect(address, clients))?;
        Ok(Race { streams, runtime })
    }

    /// Sends the request of each client; returns the status and the microseconds of each answer. `status` and `clients` of the load are
    /// ignored.
    pub fn run(&mut self, load: &Load) -> Result<Vec<(u16, u32)>> {
        let streams = std::mem::take(&mut self.streams);
        let (streams, answers) = self.runtime.block_on(once(streams, load))?;
        self.streams = streams;
        Ok(answers)
    }
}

async fn once(streams: Vec<TcpStream>, load: &Load) -> Result<(Vec<TcpStream>, Vec<(u16, u32)>)> {
    let mut clients = JoinSet::new();
    for mut stream in streams {
        let request = request(load);
        clients.spawn(async move {
            let mut buffer = Vec::new();
            let start = Instant::now();
            stream.write_all(request.as_bytes()).await?;
            let (status, _) = read_answer(&mut stream, &mut buffer).await?;
            let micros = u32::try_from(start.elapsed().as_micros()).unwrap_or(u32::MAX);
            Ok::<_, anyhow::Error>((stream, (status, micros)))
        });
    }
    let (mut streams, mut answers) = (Vec::new(), Vec::new());
    while let Some(done) = clients.join_next().await {
        let (stream, answer) = done?.with_context(|| format!("{} {}", load.method, load.path))?;
        streams.push(stream);
        answers.push(answer);
    }
    Ok((streams, answers))
}

/// Opens this number of connections.
pub async fn connect(address: SocketAddr, clients: usize) -> Result<Vec<TcpStream>> {
    let mut streams = Vec::with_capacity(clients);
    for _ in 0..clients {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    Ok(streams)
}

/// Returns an index below `length`: the upper bits of the number times the golden ratio visit all indices in scattered order.
fn scatter(number: u64, length: usize) -> usize {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    (mixed as usize * length) >> 32
}

/// This many milliseconds into the year 2000, at most a day.
fn instant(ms: u64) -> String {
    let (s, ms) = (ms / 1000 % 86_400, ms % 1000);
    format!("2000-01-01T{:02}:{:02}:{:02}.{ms:03}Z", s / 3600, s / 60 % 60, s % 60)
}

fn request(load: &Load) -> String {
    let count = NUMBER.fetch_add(1, Ordering::Relaxed);
    let number = count.to_string();
    let mut path = Cow::Borrowed(load.path.as_str());
    if path.contains("{instant}") {
        path = path.replace("{instant}", &instant(count)).into();
    }
    if !load.choices.is_empty() {
        path = path.replace("{one}", &load.choices[scatter(count, load.choices.len())]).into();
    }
    let mut text = format!("{} {path} HTTP/1.1\r\nhost: {}\r\n", load.method, load.address);
    for line in &load.headers {
        text += &line.replace("{n}", &number);
        text += "\r\n";
    }
    let body = load.body.replace("{n}", &number);
    if !body.is_empty() {
        text += &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    }
    text + "\r\n" + &body
}

/// Reads one whole answer; fails if its status is not `wanted`.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>, wanted: u16) -> Result<()> {
    let (status, head_end) = read_answer(stream, buffer).await?;
    if status != wanted {
        bail!("status {status} instead of {wanted}: {}", String::from_utf8_lossy(&buffer[head_end..]));
    }
    Ok(())
}

/// Reads one whole answer with a Content-Length into the buffer; returns its status, and the position of its body.
pub async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<(u16, usize)> {
    buffer.clear();
    let head_end = loop {
        ensure!(stream.read_buf(buffer).await? > 0, "the server closed the connection");
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.context("the answer has no content-length")?.trim().parse()?;
    while buffer.len() < head_end + length {
        ensure!(stream.read_buf(buffer).await? > 0, "the server closed the connection");
    }
    let status: u16 = head.get(9..12).unwrap_or_default().parse().context("no status line")?;
    Ok((status, head_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_come_from_the_sorted_times() {
        let measured = LoadMeasurement { requests: 4, seconds: 2.0, micros: vec![10, 20, 30, 40] };
        assert_eq!(measured.rate(), 2.0);
        assert_eq!((measured.quantile(0.0), measured.quantile(0.5), measured.quantile(1.0)), (10, 20, 40));
    }

    #[test]
    fn every_request_has_its_own_number() {
        let load = Load {
            address: SocketAddr::from(([127, 0, 0, 1], 1)),
            method: "POST",
            path: "/".to_owned(),
            choices: Arc::default(),
            headers: vec!["idempotency-key: {n}".to_owned()],
            body: "{}".to_owned(),
            status: 200,
            clients: 1,
        };
        assert_ne!(request(&load), request(&load));
        assert!(request(&load).ends_with("content-length: 2\r\n\r\n{}"));
    }

    #[test]
    fn every_choice_has_its_turn() {
        let mut seen = [0; 20];
        for number in 0..2_000 {
            seen[scatter(number, seen.len())] += 1;
        }
        assert!(seen.iter().all(|times| (80..120).contains(times)), "{seen:?}");
    }
}
