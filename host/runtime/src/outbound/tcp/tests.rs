//! Servers that misbehave at each step of the host's own dialogue with them: each test ends in a clear error, in bounded time and
//! after a bounded number of bytes, and never in refused credentials.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use zeroize::Zeroizing;

use crate::bindings::tcp::Err;
use crate::blobs::Blobs;
use crate::limits::Limits;
use crate::manifest::Manifest;
use crate::outbound::tcp::{Protocol, Server};
use crate::outbound::{
    CallEgress, Credentials, CredentialsError, Egress, HttpSettings, Login, LoginSecret, Meter, News,
    PaceRules, Policy, Rules, Secret,
};

const SECRET: &str = "secret-0123456789";
/// More than a host may read of one step, with all that the socket buffers on both sides contain.
const FAR_TOO_MUCH: usize = 64 << 20;

/// A server's fault in place of its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Lines of the protocol without end.
    Flood,
    /// One line without end.
    EndlessLine,
    /// A byte at a time.
    Drip,
    Close,
    Garbage,
}

const FAULTS: [Fault; 5] = [Fault::Flood, Fault::EndlessLine, Fault::Drip, Fault::Close, Fault::Garbage];

/// The lines of a good server: first its greeting, then one after each line of the client. `{tag}` is the tag of the last
/// command. At "TLS" it would begin to encrypt.
struct Script {
    protocol: Protocol,
    tls: &'static str,
    is_token: bool,
    says: &'static [&'static str],
    /// A line that may arrive at any time, or continues the answer.
    line: &'static str,
}

const fn imap(is_token: bool, says: &'static [&'static str]) -> Script {
    Script { protocol: Protocol::Imap, tls: "none", is_token, says, line: "* OK still here\r\n" }
}

const fn smtp(is_token: bool, says: &'static [&'static str]) -> Script {
    Script { protocol: Protocol::Smtp, tls: "none", is_token, says, line: "250-STILL\r\n" }
}

const GREETING: &str = "* OK hello\r\n";
const CAPABILITY: &str = "* CAPABILITY IMAP4rev1 IDLE\r\n{tag} OK done\r\n";
const OK: &str = "{tag} OK done\r\n";

const SCRIPTS: [Script; 12] = [
    // LOGIN, and the capabilities after it.
    imap(false, &[GREETING, CAPABILITY, OK, CAPABILITY]),
    imap(
        false,
        &[GREETING, "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n{tag} OK done\r\n", "+ \r\n", OK, CAPABILITY],
    ),
    imap(
        true,
        &[GREETING, "* CAPABILITY IMAP4rev1 AUTH=OAUTHBEARER\r\n{tag} OK done\r\n", "+ \r\n", OK, CAPABILITY],
    ),
    imap(
        true,
        &[GREETING, "* CAPABILITY IMAP4rev1 AUTH=XOAUTH2\r\n{tag} OK done\r\n", "+ \r\n", OK, CAPABILITY],
    ),
    Script { tls: "starttls", ..imap(false, &[GREETING, OK, "TLS"]) },
    Script { tls: "implicit", ..imap(false, &["TLS"]) },
    smtp(false, &["220 hello\r\n", "250-hello\r\n250 AUTH PLAIN\r\n", "235 welcome\r\n"]),
    smtp(
        false,
        &[
            "220 hello\r\n",
            "250-hello\r\n250 AUTH LOGIN\r\n",
            "334 VXNlcm5hbWU6\r\n",
            "334 UGFzc3dvcmQ6\r\n",
            "235 welcome\r\n",
        ],
    ),
    smtp(true, &["220 hello\r\n", "250-hello\r\n250 AUTH OAUTHBEARER\r\n", "235 welcome\r\n"]),
    smtp(true, &["220 hello\r\n", "250-hello\r\n250 AUTH XOAUTH2\r\n", "235 welcome\r\n"]),
    Script {
        tls: "starttls",
        ..smtp(false, &["220 hello\r\n", "250-hello\r\n250 STARTTLS\r\n", "220 go on\r\n", "TLS"])
    },
    Script { tls: "implicit", ..smtp(false, &["TLS"]) },
];

struct Account {
    is_token: bool,
}

#[async_trait::async_trait]
impl Credentials for Account {
    async fn authorization(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(None)
    }

    async fn refreshed(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(None)
    }

    async fn login(&self) -> Result<Option<Login>, CredentialsError> {
        let text = Zeroizing::new(SECRET.to_owned());
        let secret = if self.is_token { LoginSecret::Token(text) } else { LoginSecret::Password(text) };
        Ok(Some(Login { username: "ann".to_owned(), secret }))
    }
}

/// Limits that a drip reaches soon, and that a good server on a busy machine does not.
fn limits(handshake_ms: u64) -> Limits {
    Limits { handshake_ms, idle_ms: 100, ..Limits::default() }
}

fn egress(port: u16, tls: &str, is_token: bool, limits: Limits) -> CallEgress {
    let manifest = Manifest::parse(
        r#"
        name = "x"
        version = "1.0.0"
        title = "X"
        surfaces = ["email"]
        servers_from_settings = ["server"]
        idle_server = "server"
        settings = [{ name = "server", description = "." }]
        "#,
    );
    let settings = serde_json::json!({ "server": { "host": "127.0.0.1", "port": port, "tls": tls } });
    let policy = Policy::new(Arc::new(manifest.unwrap()), settings.as_object().unwrap(), &[]);
    let allow = vec!["127.0.0.0/8".parse().unwrap()];
    CallEgress {
        shared: Arc::new(Egress::new(HttpSettings::default(), Rules::of_tests(allow), &limits).unwrap()),
        policy,
        pacing: PaceRules::unlimited(Arc::new(|| 0)),
        credentials: Arc::new(Account { is_token }),
        tenant: "t".to_owned(),
        connection: "c".to_owned(),
        connector: "x".into(),
        blobs: Blobs::new(0),
        deadline: Instant::now() + Duration::from_secs(60),
        meter: Meter::default(),
        redactor: Default::default(),
        turns: tokio::sync::Semaphore::new(1),
    }
}

/// Plays the script up to the faulty step. Returns the bytes that it wrote there.
async fn play(listener: TcpListener, script: &Script, step: usize, fault: Fault) -> usize {
    let (socket, _) = listener.accept().await.unwrap();
    let mut socket = BufReader::new(socket);
    let mut tag = String::new();
    for (n, answer) in script.says.iter().enumerate() {
        if n > 0 && *answer != "TLS" {
            let mut line = String::new();
            if socket.read_line(&mut line).await.unwrap_or(0) == 0 {
                return 0;
            }
            // A line of base64 alone continues the command before.
            if let Some((first, _)) = line.split_once(' ') {
                tag = first.to_owned();
            }
        }
        if n == step {
            return misbehave(socket.into_inner(), script.line, fault).await;
        }
        socket.get_mut().write_all(answer.replace("{tag}", &tag).as_bytes()).await.unwrap();
    }
    // Held open until the client closes it.
    socket.read_to_end(&mut Vec::new()).await.unwrap_or(0);
    0
}

async fn misbehave(mut socket: TcpStream, line: &str, fault: Fault) -> usize {
    let piece: &[u8] = match fault {
        Fault::Flood => &line.repeat(200).into_bytes(),
        Fault::EndlessLine => &[b'a'; 4096],
        Fault::Drip => b"a",
        Fault::Close => return 0,
        Fault::Garbage => {
            b"\x00\xff\r\n{99999999999}\r\n\r\n250\r\n* \r\n+\r\n999 x\r\n\x15\x03\x03 tag OK\r\n"
        }
    };
    let mut written = 0;
    while written < FAR_TOO_MUCH && socket.write_all(piece).await.is_ok() {
        written += piece.len();
        match fault {
            Fault::Drip => tokio::time::sleep(Duration::from_millis(5)).await,
            Fault::Garbage => break,
            _ => {}
        }
    }
    // Not closed by itself: the end of the connection is another fault.
    socket.shutdown().await.ok();
    written
}

/// Connects a client to a server that plays the script. Returns the client's result, and the bytes that the server wrote.
async fn meet(script: &Script, step: usize, fault: Fault) -> (Result<(), Err>, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    // A drip lasts to the end of the time; all others are over long before.
    let handshake_ms = if fault == Fault::Drip { 400 } else { 30_000 };
    let egress = egress(port, script.tls, script.is_token, limits(handshake_ms));
    let server: Server = egress.policy.server("server").unwrap();
    let client = async {
        let login = egress.login().await?;
        egress.connect(&server, script.protocol, &login).await.map(drop)
    };
    tokio::join!(client, play(listener, script, step, fault))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_of_a_handshake_is_bounded() {
    let mut cases = Vec::new();
    for script in &SCRIPTS {
        // A good server accepts the login: the script is valid.
        let whole = script.says.len();
        if script.tls == "none" {
            let (good, _) = meet(script, whole, Fault::Close).await;
            assert!(good.is_ok(), "{:?}: {good:?}", script.says);
        }
        for step in 0..whole {
            for fault in FAULTS {
                cases.push(async move { (script, step, fault, meet(script, step, fault).await) });
            }
        }
    }
    for (script, step, fault, (outcome, written)) in join_all(cases).await {
        let case = format!("{:?} step {step} of {:?}: {fault:?}", script.protocol, script.says);
        let error = outcome.expect_err(&case);
        let codes: &[&str] = match (fault, script.says[step] == "TLS") {
            (_, true) => &["tls", "timeout", "closed", "too-large"],
            (Fault::Flood, _) => &["too-large", "unavailable", "tls"],
            (Fault::EndlessLine, _) => &["too-large"],
            (Fault::Drip, _) => &["timeout"],
            (Fault::Close | Fault::Garbage, _) => &["closed", "unavailable", "tls", "unsupported"],
        };
        assert!(codes.contains(&error.code.as_str()), "{case}: {error:?}");
        assert!(!error.message.contains(SECRET) && error.message.len() < 300, "{case}: {error:?}");
        assert!(written < FAR_TOO_MUCH, "{case}: {written} bytes");
    }
}

/// Steps of a wait for news, after a login: EXAMINE, the begin of IDLE, and the time after it.
const WAIT: Script = imap(
    false,
    &[
        GREETING,
        CAPABILITY,
        OK,
        "* CAPABILITY IMAP4rev1 IDLE\r\n{tag} OK done\r\n",
        "* 3 EXISTS\r\n{tag} OK done\r\n",
        "+ idling\r\n",
        "",
    ],
);

/// Listens until that ends. Returns the result, the bytes that the server wrote, and the number of reports of news.
async fn wait_for(
    says: &'static [&'static str],
    step: usize,
    fault: Fault,
    idle_ms: u64,
) -> (Result<(), Err>, usize, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let handshake_ms = if fault == Fault::Drip { 400 } else { 30_000 };
    let limits = Limits { idle_ms, ..limits(handshake_ms) };
    let egress = egress(port, "none", false, limits);
    let told = AtomicUsize::new(0);
    let tell = |news: News| {
        told.fetch_add(usize::from(news == News::Changed), Ordering::Relaxed);
    };
    let script = Script { says, line: "* 4 EXISTS\r\n", ..WAIT };
    // The last step begins without a line of the client.
    let (outcome, written) =
        tokio::join!(egress.listen("server", &tell), play_wait(listener, &script, step, fault));
    (outcome, written, told.into_inner())
}

async fn play_wait(listener: TcpListener, script: &Script, step: usize, fault: Fault) -> usize {
    if step + 1 < script.says.len() {
        return play(listener, script, step, fault).await;
    }
    let (socket, _) = listener.accept().await.unwrap();
    let mut socket = BufReader::new(socket);
    for (n, answer) in script.says[..step].iter().enumerate() {
        let mut line = String::new();
        // On a busy machine the time of a drip can end before the tested step: then the client closes the connection.
        if n > 0 && socket.read_line(&mut line).await.is_err() {
            break;
        }
        let tag = line.split(' ').next().unwrap_or_default();
        if socket.get_mut().write_all(answer.replace("{tag}", tag).as_bytes()).await.is_err() {
            break;
        }
    }
    misbehave(socket.into_inner(), script.line, fault).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_of_a_wait_is_bounded() {
    let mut cases = Vec::new();
    for step in 4..WAIT.says.len() {
        for fault in FAULTS {
            // An IDLE whose end is not awaited, but for drips: these end it by its time alone.
            let idle_ms = if fault == Fault::Drip { 100 } else { 60_000 };
            cases.push(async move { (step, fault, wait_for(WAIT.says, step, fault, idle_ms).await) });
        }
    }
    for (step, fault, (outcome, written, told)) in join_all(cases).await {
        let case = format!("step {step}: {fault:?}");
        let error = outcome.expect_err(&case);
        let codes: &[&str] = match fault {
            Fault::Flood | Fault::EndlessLine => &["too-large"],
            Fault::Drip => &["timeout"],
            Fault::Close | Fault::Garbage => &["closed", "unavailable"],
        };
        assert!(codes.contains(&error.code.as_str()), "{case}: {error:?}");
        assert!(written < FAR_TOO_MUCH, "{case}: {written} bytes");
        // However many lines arrived, the mailbox is read at intervals only.
        assert!(told < 100, "{case}: told {told} times");
    }
}
