//! Hostile components. Each gets one defined error within its limit, frees its resources, and does not affect its neighbor's calls; the
//! process survives. The table of the errors is printed (`--nocapture`).

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use runtime::{Blame, Code, Config, Error, Limits, Lookup, OwnProvider, PoolStatus, Runtime};

use crate::world::{Fixed, SELF_HOSTED, World, call, guest, manifest, probe, provider, tight};

/// The guest, and the expected code.
const CASES: [(&str, Code); 20] = [
    ("loop_call", Code::CpuLimit),
    ("loop_start_later", Code::CpuLimit),
    ("memory_bomb", Code::MemoryLimit),
    ("table_bomb", Code::MemoryLimit),
    ("recursion", Code::StackOverflow),
    ("claim_1gib", Code::BadOutput),
    ("claim_16mib", Code::BadOutput),
    ("log_flood", Code::HostCallLimit),
    ("log_long", Code::HostCallLimit),
    ("host_call_flood", Code::HostCallLimit),
    ("blob_flood", Code::HostCallLimit),
    ("random_too_much", Code::BadOutput),
    ("invalid_utf8", Code::BadOutput),
    ("not_json", Code::BadOutput),
    ("deep_json", Code::BadOutput),
    ("bad_discriminant", Code::BadOutput),
    ("bad_result_pointer", Code::BadOutput),
    ("out_of_bounds", Code::Trap),
    ("panic", Code::Panic),
    ("http_flood", Code::HostCallLimit),
];

/// Calls `noop` in a loop for another tenant; every call must succeed.
struct Neighbour {
    stop: Arc<AtomicBool>,
    slowest_us: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<u64>,
}

impl Neighbour {
    fn start(runtime: &Runtime) -> Self {
        let (stop, slowest_us) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (runtime, stopped, slowest) = (runtime.clone(), stop.clone(), slowest_us.clone());
        let task = tokio::spawn(async move {
            let mut calls = 0;
            while !stopped.load(Ordering::Relaxed) {
                let mut call = call("noop");
                call.context.tenant = "neighbour".to_owned();
                let started = Instant::now();
                let answer = runtime.call(call).await.expect("a neighbour's call succeeds");
                slowest.fetch_max(started.elapsed().as_micros() as u64, Ordering::Relaxed);
                assert_eq!(answer.body, "{}");
                calls += 1;
                tokio::time::sleep(Duration::from_micros(200)).await;
            }
            calls
        });
        Neighbour { stop, slowest_us, task }
    }

    fn slowest_ms(&self) -> u64 {
        self.slowest_us.swap(0, Ordering::Relaxed) / 1_000
    }

    async fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.expect("the neighbour's calls succeed")
    }
}

fn row(name: &str, error: &Error, took: Duration, neighbour_ms: u64) {
    println!(
        "{name:<20} {:<16} {:>6} ms {:>5} ms cpu {:>4} MiB  neighbour ≤ {neighbour_ms:>3} ms  {}",
        error.code.as_str(),
        took.as_millis(),
        error.stats.cpu_us / 1_000,
        error.stats.peak_memory >> 20,
        error.author.detail.chars().take(90).collect::<String>(),
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_hostile_component_gets_one_defined_error() {
    // Enough processor time for the others to reach their own limit first, even on a slow and busy machine.
    let world =
        World::start(Limits { host_calls: 5_000, cpu_ms: 3_000, wall_ms: 15_000, ..tight() }, &[]).await;
    world.install("noop", "").await;
    for (guest, _) in CASES {
        world.install(guest, "").await;
    }
    // Guests that behave while they are probed do so until now.
    world.clock_ms.store(4_102_444_900_000, Ordering::SeqCst);
    let neighbour = Neighbour::start(&world.runtime);
    for (guest, expected) in CASES {
        let started = Instant::now();
        let error = world.runtime.call(call(&guest.replace('_', "-"))).await.unwrap_err();
        let took = started.elapsed();
        row(guest, &error, took, neighbour.slowest_ms());
        assert_eq!(error.code, expected, "{guest}: {:?}", error.author);
        assert_eq!(error.blame, Blame::Connector, "{guest}");
        assert!(took < Duration::from_secs(15), "{guest} took {took:?}");
        assert!(!error.message.contains("forged") && !error.message.contains("src/calendar.rs"), "{guest}");
    }
    assert!(neighbour.stop().await > 0);
    assert_eq!(world.settled().await, PoolStatus::default(), "every slot is free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_hostile_calls_at_once_leave_the_neighbour_alone() {
    let world = World::start(tight(), &[]).await;
    world.install("noop", "").await;
    world.install("loop_call", "").await;
    world.install("memory_bomb", "").await;
    let neighbour = Neighbour::start(&world.runtime);
    let mut attack = tokio::task::JoinSet::new();
    for n in 0..16 {
        let runtime = world.runtime.clone();
        attack.spawn(async move { runtime.call(call(["loop-call", "memory-bomb"][n % 2])).await });
    }
    for (n, result) in attack.join_all().await.into_iter().enumerate() {
        let code = result.unwrap_err().code;
        let defined = [Code::CpuLimit, Code::MemoryLimit, Code::Busy].contains(&code);
        assert!(defined, "{n}: {code}");
    }
    let slowest = neighbour.slowest_ms();
    let calls = neighbour.stop().await;
    println!("neighbour: {calls} calls, the slowest {slowest} ms, beside 16 hostile ones");
    assert_eq!(world.settled().await, PoolStatus::default());
}

#[tokio::test]
async fn a_panic_is_told_to_the_author_and_not_to_the_user() {
    let world = World::start(tight(), &[]).await;
    world.install("panic", "").await;
    let error = world.runtime.call(call("panic")).await.unwrap_err();
    assert_eq!(error.message, "the connector stopped with an internal error");
    assert_eq!(error.author.log[0].message, "panicked at src/calendar.rs:7");
    assert!(error.author.frames[0].function.contains("map_event"), "{:?}", error.author.frames);

    world.install("unknown_code", "").await;
    let error = world.runtime.call(call("unknown-code")).await.unwrap_err();
    assert_eq!((error.code, error.blame), (Code::ConnectorFailure, Blame::Connector));
    assert!(!error.message.contains("stack trace"));
    assert!(error.author.detail.contains("on-fire"));

    world.install("log_flood", "").await;
    let error = world.runtime.call(call("log-flood")).await.unwrap_err();
    assert_eq!(error.author.log.len(), 50);
    assert!(error.author.dropped_lines > 10_000);
    assert!(!error.author.log[0].message.contains('\n') && !error.author.log[0].message.contains('\u{1b}'));
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_stopped() {
    let world = World::start(tight(), &[]).await;
    world.install("loop_call", "").await;
    let given_up =
        tokio::time::timeout(Duration::from_millis(30), world.runtime.call(call("loop-call"))).await;
    assert!(given_up.is_err());
    let started = Instant::now();
    assert_eq!(world.settled().await, PoolStatus::default());
    assert!(started.elapsed() < Duration::from_millis(250), "long before its CPU budget is spent");
}

/// A blob costs the host more than its content: empty blobs are limited too.
#[tokio::test]
async fn the_smallest_blobs_are_counted() {
    let world = World::start(Limits { host_calls: 2_000_000, cpu_ms: 20_000, ..tight() }, &[]).await;
    world.install("blob_tiny", "").await;
    let mut call = call("blob-tiny");
    call.context.timeout_ms = None;
    let answer = world.runtime.call(call).await.unwrap();
    let (count, bytes) = (answer.blobs.count(), answer.blobs.in_memory());
    println!("{count} blobs, {bytes} bytes");
    assert!((1_000..=4_096).contains(&count), "{count} blobs");
    assert!(bytes >= 256 * count as u64, "what each takes beside its content is counted: {bytes} bytes");
}

/// Method, URL, one header, and the error's code as the connector sees it.
type Attempt<'a> = (&'a str, &'a str, Option<(&'a str, &'a str)>, &'a str);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_leaves_the_policy() {
    let world = World::start(tight(), &["127.0.0.0/8"]).await;
    world.install("http_probe", SELF_HOSTED).await;
    let origin = provider().await;
    let here = format!("{origin}/echo");
    let to_metadata = format!("{origin}/redirect?http://169.254.169.254/latest/meta-data/");
    let to_other = format!("{origin}/redirect?https://example.com/");
    let other_port = here.replace(origin.rsplit(':').next().unwrap(), "1");
    let cases: [Attempt; 23] = [
        ("GET", "https://example.com/", None, "denied"),
        ("GET", "http://127.0.0.1/", None, "denied"),
        ("GET", &other_port, None, "denied"),
        ("GET", "http://169.254.169.254/latest/meta-data/", None, "denied"),
        ("GET", "http://[::ffff:10.0.0.1]/", None, "denied"),
        ("GET", "http://[::ffff:a9fe:a9fe]/", None, "denied"),
        ("GET", "http://2852039166/", None, "denied"),
        ("GET", &to_metadata, None, "denied"),
        ("GET", &to_other, None, "denied"),
        ("CONNECT", &here, None, "denied"),
        ("TRACE", &here, None, "denied"),
        ("get", &here, None, "invalid"),
        ("GET", "http://alice@127.0.0.1/", None, "invalid"),
        ("GET", "file:///etc/passwd", None, "invalid"),
        ("GET /x HTTP/1.1\r\nX: y", &here, None, "invalid"),
        ("GET", &here, Some(("Authorization", "Bearer mine")), "invalid"),
        ("GET", &here, Some(("Host", "evil.example")), "invalid"),
        ("GET", &here, Some(("Transfer-Encoding", "chunked")), "invalid"),
        ("GET", &here, Some(("Content-Length", "5")), "invalid"),
        ("GET", &here, Some(("Cookie", "a=b")), "invalid"),
        ("GET", &here, Some(("X-Forwarded-For", "1.2.3.4")), "invalid"),
        ("GET", &here, Some(("depth", "1\r\nAuthorization: Bearer mine")), "invalid"),
        ("GET", &here, Some(("depth\r\nx", "1")), "invalid"),
    ];
    for (method, url, header, expected) in cases {
        let error = world
            .runtime
            .call(probe(method, url, header, &origin, Arc::new(Fixed("Bearer t-0123456789", None))))
            .await;
        let error = error.unwrap_err();
        println!("{expected:<8} {:<70} {method:?} {url} {header:?}", error.author.detail);
        // The probe fails with the host's code, which is not in the contract: it is kept for the author.
        assert!(
            error.author.detail.starts_with(&format!("{expected}: ")) || error.code.as_str() == expected,
            "{method} {url} {header:?}: {error:?}"
        );
    }
    assert_eq!(world.settled().await, PoolStatus::default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_settings_cannot_open_private_networks() {
    let world = World::start(tight(), &[]).await;
    world.install("http_probe", SELF_HOSTED).await;
    let origin = provider().await;
    let by_name = origin.replace("127.0.0.1", "localhost");
    for server in [
        &*origin,
        &by_name,
        "http://169.254.169.254",
        "http://[::ffff:10.0.0.1]",
        "http://[::1]:1",
        "http://10.0.0.1",
    ] {
        let error = world
            .runtime
            .call(probe(
                "GET",
                &format!("{server}/"),
                None,
                server,
                Arc::new(Fixed("Bearer t-0123456789", None)),
            ))
            .await;
        let detail = error.unwrap_err().author.detail;
        println!("{server:<30} {detail}");
        assert!(detail.starts_with("denied: "), "{server}: {detail}");
    }
}

/// A resolver with the test's own names.
struct Table;

impl Lookup for Table {
    fn addresses(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(match host {
            "public.test" => vec![IpAddr::from([1, 1, 1, 1])],
            "own.test" => vec![IpAddr::from([127, 0, 0, 1])],
            // One of its addresses is allowed: that one gets the request.
            "both.test" => vec![IpAddr::from([1, 1, 1, 1]), IpAddr::from([127, 0, 0, 1])],
            _ => Vec::new(),
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_go_over_plain_http_to_the_operators_networks_alone() {
    let origin = provider().await;
    let port: u16 = origin.rsplit(':').next().unwrap().parse().unwrap();
    let names = |config: &mut Config| config.lookup = Arc::new(Table);
    let world = World::with(tight(), &["127.0.0.0/8"], names).await;
    world.install("http_probe", SELF_HOSTED).await;
    let send = async |host: &str| {
        let server = format!("http://{host}:{port}");
        let credentials = Arc::new(Fixed("Bearer t-0123456789", None));
        world.runtime.call(probe("GET", &format!("{server}/echo"), None, &server, credentials)).await
    };
    for host in ["own.test", "both.test"] {
        assert!(send(host).await.unwrap().body.contains("\"length\":19"), "{host}");
    }
    let detail = send("public.test").await.unwrap_err().author.detail;
    assert!(detail.starts_with("denied: ") && detail.contains("use https"), "{detail}");
    let exposed = async |url: &str| world.runtime.is_exposed("t1", &url.parse().unwrap()).await;
    assert!(exposed("http://public.test/").await && exposed("http://1.1.1.1/").await);
    for url in ["https://public.test/", "http://own.test/", "http://both.test/", "http://none.test/", &origin]
    {
        assert!(!exposed(url).await, "{url}");
    }
}

/// A provider that the host serves itself is reachable for one connector only, at one address and port.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hosts_own_provider_is_for_its_connector_alone() {
    let (origin, neighbour) = (provider().await, provider().await);
    let address = origin.trim_start_matches("http://").parse().unwrap();
    let own = |config: &mut Config| {
        config.own_provider = Some(OwnProvider { connector: "http-probe".to_owned(), address });
    };
    let world = World::with(tight(), &[], own).await;
    world.install("http_probe", SELF_HOSTED).await;
    let other = world.write("other", &manifest("other", "1.0.0", SELF_HOSTED), "other", &guest("http_probe"));
    world.runtime.install(&other).await.unwrap();
    let send = async |connector: &str, server: &str| {
        let credentials = Arc::new(Fixed("Bearer t-0123456789", None));
        let mut call = probe("GET", &format!("{server}/echo"), None, server, credentials);
        call.connector = connector.to_owned();
        world.runtime.call(call).await
    };
    assert!(send("http-probe", &origin).await.unwrap().body.contains("\"length\":19"));
    for (connector, server) in [
        ("other", &*origin),
        ("http-probe", &*neighbour),
        ("http-probe", &origin.replace("127.0.0.1", "127.0.0.2")),
        ("http-probe", &origin.replace("127.0.0.1", "localhost")),
    ] {
        let detail = send(connector, server).await.unwrap_err().author.detail;
        assert!(detail.starts_with("denied: "), "{connector} {server}: {detail}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_cannot_be_read_back() {
    let world = World::start(tight(), &["127.0.0.0/8"]).await;
    world.install("http_probe", SELF_HOSTED).await;
    let origin = provider().await;
    let url = format!("{origin}/echo");
    for secret in ["Bearer ya29.token-0123456789/abc", "Basic YWxpY2U6Y29ycmVjdCBob3JzZQ=="] {
        let answer = world
            .runtime
            .call(probe("GET", &url, None, &origin, Arc::new(Fixed(secret, None))))
            .await
            .unwrap();
        println!("{}", answer.body);
        let token = secret.split_once(' ').unwrap().1;
        let body: serde_json::Value = answer.parse().unwrap();
        assert_eq!(body["length"], secret.len(), "the provider got it");
        for field in ["raw", "base64", "base64Shifted", "base64url"] {
            let text = body[field].as_str().unwrap();
            assert!(text.contains("********") && !answer.body.contains(token), "{field}: {text}");
        }
        assert_eq!(answer.stats.http_requests, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_credentials_are_refreshed_once() {
    let world = World::start(tight(), &["127.0.0.0/8"]).await;
    world.install("http_probe", SELF_HOSTED).await;
    let origin = provider().await;
    let url = format!("{origin}/only-fresh");
    let send = async |second| {
        let credentials = Arc::new(Fixed("Bearer stale-token-0123456789", second));
        world.runtime.call(probe("POST", &url, None, &origin, credentials)).await.unwrap()
    };
    let answer = send(Some("Bearer fresh-token-0123456789")).await;
    assert_eq!((&*answer.body, answer.stats.http_requests), ("{\"fresh\":true}", 2));
    let answer = send(Some("Bearer wrong-token-0123456789")).await;
    assert_eq!((&*answer.body, answer.stats.http_requests), ("{\"fresh\":false}", 2), "never a third time");
    let answer = send(None).await;
    assert_eq!((&*answer.body, answer.stats.http_requests), ("{\"fresh\":false}", 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_or_endless_provider_is_the_providers_fault() {
    let world = World::start(tight(), &["127.0.0.0/8"]).await;
    world.install("http_probe", SELF_HOSTED).await;
    let origin = provider().await;
    let mut call =
        probe("GET", &format!("{origin}/slow"), None, &origin, Arc::new(Fixed("Bearer t-0123456789", None)));
    call.context.timeout_ms = Some(500);
    let started = Instant::now();
    let error = world.runtime.call(call).await.unwrap_err();
    println!("slow provider: {error} {:?}", error.author.detail);
    assert!(
        [Code::Deadline, Code::Timeout].contains(&error.code) && error.blame == Blame::Provider,
        "{error:?}"
    );
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(error.stats.cpu_us < 100_000, "waiting costs no CPU: {} µs", error.stats.cpu_us);

    // 20 MiB arrive, 8 MiB are passed on, and 8 MiB exceed the limit of an answer.
    let big = format!("{origin}/big");
    let error = world
        .runtime
        .call(probe("GET", &big, None, &origin, Arc::new(Fixed("Bearer t-0123456789", None))))
        .await;
    let error = error.unwrap_err();
    println!("big answer: {error} {:?}", error.author.detail);
    assert_eq!(error.code, Code::BadOutput);
    assert_eq!(world.settled().await, PoolStatus::default());
}
