//! From a socket to an authenticated session: greeting, STARTTLS, SASL. The protocols' state machines decide on the next step;
//! here are the sockets and the credentials. The connector gets the connection afterwards, and no byte of it before.

use std::fmt::Display;
use std::net::IpAddr;
use std::time::Duration;

use io_imap::codec::fragmentizer::Fragmentizer;
use io_imap::coroutine::{ImapCoroutine, ImapCoroutineState, ImapYield};
use io_imap::rfc3501::login::{ImapLogin, ImapLoginOptions};
use io_imap::rfc7628::auth_oauthbearer::{ImapAuthOauthbearer, ImapAuthOauthbearerOptions};
use io_imap::sasl::auth_plain::{ImapAuthPlain, ImapAuthPlainOptions};
use io_imap::sasl::auth_xoauth2::{ImapAuthXoauth2, ImapAuthXoauth2Options};
use io_imap::session::{ImapSessionOpen, ImapSessionOpenOptions, ImapSessionOpenYield, ImapSessionTransport};
use io_imap::types::response::Capability;
use io_sasl::mechanism::Sasl;
use io_smtp::coroutine::{SmtpCoroutine, SmtpCoroutineState, SmtpYield};
use io_smtp::rfc5321::{SmtpAddressLiteral, SmtpEhloDomain};
use io_smtp::rfc7628::auth_oauthbearer::{SmtpAuthOauthbearer, SmtpAuthOauthbearerOptions};
use io_smtp::sasl::auth_login::{SmtpAuthLogin, SmtpAuthLoginOptions};
use io_smtp::sasl::auth_plain::{SmtpAuthPlain, SmtpAuthPlainOptions};
use io_smtp::sasl::auth_xoauth2::{SmtpAuthXoauth2, SmtpAuthXoauth2Options};
use io_smtp::session::{SmtpSessionOpen, SmtpSessionOpenOptions, SmtpSessionOpenYield, SmtpSessionTransport};
use secrecy::SecretString;

use crate::bindings::tcp::Err;
use crate::log::harmless;
use crate::outbound::redact::Redactor;
use crate::outbound::tcp::line::Line;
use crate::outbound::tcp::meter::Allowance;
use crate::outbound::tcp::refusal::refused;
use crate::outbound::tcp::server::{Server, Tls};
use crate::outbound::{Login, LoginSecret};

/// Longest answer of a server before the session is open, bytes.
const LONGEST: u32 = 64 << 10;
/// Longest wait for one answer.
pub(crate) const ANSWER: Duration = Duration::from_secs(20);
/// Bytes read at a time; more than a server sends at once here.
pub(crate) const PIECE: usize = 64 << 10;

/// The server to connect to, with its addresses and the means of encryption.
pub(crate) struct ServerRoute<'a> {
    pub(crate) server: &'a Server,
    pub(crate) addresses: &'a [std::net::SocketAddr],
    pub(crate) tls: std::sync::Arc<rustls::ClientConfig>,
    pub(crate) connect_within: Duration,
    /// The bytes that the server may send before the login, and again for it.
    pub(crate) allowance: Allowance,
}

impl ServerRoute<'_> {
    async fn connect(&self) -> Result<Line, Err> {
        Line::connect(self.addresses, self.connect_within, self.allowance).await
    }

    async fn encrypt(&self, line: Line) -> Result<Line, Err> {
        line.encrypt(self.server, self.tls.clone(), self.connect_within).await
    }
}

/// The connection of a step; there is one after the first.
fn connected_line(line: &mut Option<Line>) -> Result<&mut Line, Err> {
    line.as_mut().ok_or_else(|| refused("invalid", "the protocol wants to speak before it has a line"))
}

/// An IMAP session (RFC 9051 section 3.2), with the server's capabilities.
pub(crate) async fn imap(way: &ServerRoute<'_>, login: &Login) -> Result<(Line, Vec<String>), Err> {
    let Server { host, port, tls } = way.server.clone();
    let transport = match tls {
        Tls::Implicit => ImapSessionTransport::Tls { host, port },
        Tls::Upgrade | Tls::None => ImapSessionTransport::Tcp { host, port },
    };
    let options = ImapSessionOpenOptions { starttls: tls == Tls::Upgrade, ..Default::default() };
    // The mechanism is chosen when the server has listed its own.
    let mut opening = ImapSessionOpen::new(transport, None::<Sasl>, options);
    let mut fragments = Fragmentizer::new(LONGEST);
    let mut line: Option<Line> = None;
    let mut read: Option<Vec<u8>> = None;
    let mut last = LastLine::default();
    let opened = loop {
        let step = opening.resume(&mut fragments, read.take().as_deref());
        let wanted = match step {
            ImapCoroutineState::Complete(done) => break done.map_err(|e| protocol_error(&e))?,
            ImapCoroutineState::Yielded(wanted) => wanted,
        };
        match wanted {
            ImapSessionOpenYield::WantsTcpConnect { .. } => line = Some(way.connect().await?),
            ImapSessionOpenYield::WantsTlsConnect { .. } => {
                line = Some(way.encrypt(way.connect().await?).await?);
            }
            ImapSessionOpenYield::WantsUnixConnect(_) => return Err(refused("denied", "no local sockets")),
            ImapSessionOpenYield::WantsTlsUpgrade => {
                ensure_starttls(&last.line)?;
                let plain = line.take().ok_or_else(|| refused("invalid", "nothing to encrypt"))?;
                line = Some(way.encrypt(plain).await?);
            }
            ImapSessionOpenYield::WantsRead => {
                let bytes = connected_line(&mut line)?.read(PIECE, ANSWER).await?;
                last.add(&bytes);
                read = Some(bytes);
            }
            ImapSessionOpenYield::WantsWrite(bytes) => {
                last = LastLine::default();
                write_bytes(connected_line(&mut line)?, &bytes).await?;
            }
        }
    };
    let mut line = line.ok_or_else(|| refused("connect", "no connection was made"))?;
    guard(&line, way.server)?;
    if opened.pre_authenticated {
        return Err(refused("unsupported", "the server accepts connections without credentials"));
    }
    line.allow(way.allowance);
    let capabilities = imap_login(&mut line, &mut fragments, way.server, login, &opened.capability).await?;
    Ok((line, capabilities.iter().map(ToString::to_string).collect()))
}

/// The last line of the server since the last command. However it is cut into pieces, each byte is read once.
#[derive(Default)]
struct LastLine {
    line: Vec<u8>,
    is_whole: bool,
}

impl LastLine {
    fn add(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if std::mem::take(&mut self.is_whole) {
                self.line.clear();
            }
            self.line.extend_from_slice(piece);
            self.is_whole = piece.ends_with(b"\n");
        }
    }
}

/// The server has to agree to STARTTLS (RFC 9051 section 6.2.1); the state machine accepts any answer.
fn ensure_starttls(answer: &[u8]) -> Result<(), Err> {
    match answer.trim_ascii().split(|byte| *byte == b' ').nth(1) {
        Some(status) if status.eq_ignore_ascii_case(b"OK") => Ok(()),
        _ => Err(refused("tls", "the server does not offer STARTTLS")),
    }
}

/// No credentials are sent over a connection that should be encrypted and is not, whatever the state machines do.
fn guard(line: &Line, server: &Server) -> Result<(), Err> {
    match server.tls == Tls::None || line.is_encrypted() {
        true => Ok(()),
        false => Err(refused("tls", "the line is not encrypted")),
    }
}

pub(crate) async fn write_bytes(line: &mut Line, bytes: &[u8]) -> Result<(), Err> {
    line.write(bytes, ANSWER).await?;
    line.flush(ANSWER).await
}

/// By the best mechanism that the server and the credentials have in common.
async fn imap_login(
    line: &mut Line,
    fragments: &mut Fragmentizer,
    server: &Server,
    login: &Login,
    can: &[Capability<'static>],
) -> Result<Vec<Capability<'static>>, Err> {
    let has = |name: &str| can.iter().any(|c| c.to_string().eq_ignore_ascii_case(name));
    let (initial_request, ensure_capabilities) = (has("SASL-IR"), true);
    let user = login.username.as_str();
    match &login.secret {
        LoginSecret::Password(password) if has("AUTH=PLAIN") => {
            let options = ImapAuthPlainOptions { initial_request, ensure_capabilities, auto_id: None };
            let auth = ImapAuthPlain::new(None::<&str>, user, password.as_str(), options);
            imap_run(line, fragments, auth).await?.map_err(|e| refusal(&e, login))
        }
        LoginSecret::Password(password) if !has("LOGINDISABLED") => {
            let options = ImapLoginOptions { ensure_capabilities, auto_id: None };
            let auth = ImapLogin::new(user, password.as_str(), options)
                .map_err(|_| refused("auth-expired", "IMAP cannot say this user name or password"))?;
            imap_run(line, fragments, auth).await?.map_err(|e| refusal(&e, login))
        }
        LoginSecret::Token(token) if has("AUTH=OAUTHBEARER") => {
            let options = ImapAuthOauthbearerOptions { initial_request, ensure_capabilities, auto_id: None };
            let auth = ImapAuthOauthbearer::new(user, &server.host, server.port, token.as_str(), options);
            imap_run(line, fragments, auth).await?.map_err(|e| refusal(&e, login))
        }
        LoginSecret::Token(token) if has("AUTH=XOAUTH2") => {
            let options = ImapAuthXoauth2Options { initial_request, ensure_capabilities, auto_id: None };
            let auth = ImapAuthXoauth2::new(user, token.as_str(), options);
            imap_run(line, fragments, auth).await?.map_err(|e| refusal(&e, login))
        }
        secret => Err(no_mechanism(secret)),
    }
}

/// Runs a state machine until it is done.
pub(crate) async fn imap_run<C>(
    line: &mut Line,
    fragments: &mut Fragmentizer,
    mut work: C,
) -> Result<C::Return, Err>
where
    C: ImapCoroutine<Yield = ImapYield>,
{
    let mut read: Option<Vec<u8>> = None;
    loop {
        match work.resume(fragments, read.take().as_deref()) {
            ImapCoroutineState::Complete(done) => return Ok(done),
            ImapCoroutineState::Yielded(ImapYield::WantsRead) => read = Some(line.read(PIECE, ANSWER).await?),
            ImapCoroutineState::Yielded(ImapYield::WantsWrite(bytes)) => write_bytes(line, &bytes).await?,
        }
    }
}

/// An SMTP session (RFC 6409, RFC 4954), with the lines of the last answer to EHLO.
pub(crate) async fn smtp(way: &ServerRoute<'_>, login: &Login) -> Result<(Line, Vec<String>), Err> {
    let Server { host, port, tls } = way.server.clone();
    let transport = match tls {
        Tls::Implicit => SmtpSessionTransport::Tls { host, port },
        Tls::Upgrade | Tls::None => SmtpSessionTransport::Tcp { host, port },
    };
    let options = SmtpSessionOpenOptions { starttls: tls == Tls::Upgrade };
    // Connected first: a client without a host name sends its address (RFC 5321 section 4.1.4).
    let first = way.connect().await?;
    let domain = own_name(&first);
    let mut first = Some(first);
    let mut opening = SmtpSessionOpen::new(transport, domain.clone(), None::<Sasl>, options);
    let mut line: Option<Line> = None;
    let mut read: Option<Vec<u8>> = None;
    let opened = loop {
        let wanted = match opening.resume(read.take().as_deref()) {
            SmtpCoroutineState::Complete(done) => break done.map_err(|e| protocol_error(&e))?,
            SmtpCoroutineState::Yielded(wanted) => wanted,
        };
        match wanted {
            SmtpSessionOpenYield::WantsTcpConnect { .. } => line = first.take(),
            SmtpSessionOpenYield::WantsTlsConnect { .. } => {
                let plain = first.take().ok_or_else(|| refused("invalid", "nothing to encrypt"))?;
                line = Some(way.encrypt(plain).await?);
            }
            SmtpSessionOpenYield::WantsUnixConnect(_) => return Err(refused("denied", "no local sockets")),
            SmtpSessionOpenYield::WantsTlsUpgrade => {
                let plain = line.take().ok_or_else(|| refused("invalid", "nothing to encrypt"))?;
                line = Some(way.encrypt(plain).await?);
            }
            SmtpSessionOpenYield::WantsRead => {
                read = Some(connected_line(&mut line)?.read(PIECE, ANSWER).await?)
            }
            SmtpSessionOpenYield::WantsWrite(bytes) => {
                write_bytes(connected_line(&mut line)?, &bytes).await?
            }
        }
    };
    let mut line = line.ok_or_else(|| refused("connect", "no connection was made"))?;
    guard(&line, way.server)?;
    let capabilities: Vec<String> = opened.capabilities.iter().map(|c| c.clone().into_owned()).collect();
    line.allow(way.allowance);
    smtp_login(&mut line, way.server, login, &capabilities, domain).await?;
    Ok((line, capabilities))
}

fn own_name(line: &Line) -> SmtpEhloDomain<'static> {
    SmtpEhloDomain::SmtpAddressLiteral(match line.local_address().map(|a| a.ip()) {
        Some(IpAddr::V6(v6)) => SmtpAddressLiteral::Ipv6(v6),
        Some(IpAddr::V4(v4)) => SmtpAddressLiteral::Ipv4(v4),
        None => SmtpAddressLiteral::Ipv4(std::net::Ipv4Addr::LOCALHOST),
    })
}

async fn smtp_login(
    line: &mut Line,
    server: &Server,
    login: &Login,
    can: &[String],
    domain: SmtpEhloDomain<'static>,
) -> Result<(), Err> {
    // Old servers write `AUTH=PLAIN`.
    let words = || can.iter().map(|c| c.to_ascii_uppercase().replace('=', " "));
    let offers = words().any(|c| c.split_ascii_whitespace().next() == Some("AUTH"));
    let has = |name: &str| {
        words().any(|c| {
            let mut words = c.split_ascii_whitespace();
            words.next() == Some("AUTH") && words.any(|word| word == name)
        })
    };
    let user = login.username.as_str();
    let secret = |text: &str| SecretString::from(text.to_owned());
    match &login.secret {
        LoginSecret::Password(password) if has("PLAIN") => {
            let options = SmtpAuthPlainOptions::default();
            let auth = SmtpAuthPlain::new(None::<&str>, user, &secret(password), domain, options);
            smtp_run(line, auth).await?.map_err(|e| refusal(&e, login))
        }
        LoginSecret::Password(password) if has("LOGIN") => {
            let options = SmtpAuthLoginOptions::default();
            let auth = SmtpAuthLogin::new(user, &secret(password), domain, options);
            smtp_run(line, auth).await?.map_err(|e| refusal(&e, login))
        }
        LoginSecret::Token(token) if has("OAUTHBEARER") => {
            let options = SmtpAuthOauthbearerOptions::default();
            let (host, port) = (&server.host, server.port);
            let auth = SmtpAuthOauthbearer::new(user, host, port, &secret(token), domain, options);
            smtp_run(line, auth).await?.map_err(|e| refusal(&e, login))
        }
        LoginSecret::Token(token) if has("XOAUTH2") => {
            let options = SmtpAuthXoauth2Options::default();
            let auth = SmtpAuthXoauth2::new(user, &secret(token), domain, options);
            smtp_run(line, auth).await?.map_err(|e| refusal(&e, login))
        }
        // A relay that knows its clients by their address requires no password; whether it takes the mail, it answers then.
        _ if !offers => Ok(()),
        secret => Err(no_mechanism(secret)),
    }
}

async fn smtp_run<C>(line: &mut Line, mut work: C) -> Result<C::Return, Err>
where
    C: SmtpCoroutine<Yield = SmtpYield>,
{
    let mut read: Option<Vec<u8>> = None;
    loop {
        match work.resume(read.take().as_deref()) {
            SmtpCoroutineState::Complete(done) => return Ok(done),
            SmtpCoroutineState::Yielded(SmtpYield::WantsRead) => read = Some(line.read(PIECE, ANSWER).await?),
            SmtpCoroutineState::Yielded(SmtpYield::WantsWrite(bytes)) => write_bytes(line, &bytes).await?,
        }
    }
}

fn no_mechanism(secret: &LoginSecret) -> Err {
    refused(
        "unsupported",
        match secret {
            LoginSecret::Password(_) => "the server takes no password on this line",
            LoginSecret::Token(_) => "the server takes no access token (neither OAUTHBEARER nor XOAUTH2)",
        },
    )
}

/// The server does not speak the protocol, or refused a command before the login.
fn protocol_error(e: &impl Display) -> Err {
    let text = e.to_string();
    let code = if text.contains("STARTTLS") { "tls" } else { "unavailable" };
    refused(code, harmless(&lower(&text), 200))
}

/// Authentication failed: for good, or because the server cannot check it now, or because its answer is malformed.
fn refusal(e: &impl Display, login: &Login) -> Err {
    let text = e.to_string();
    let lowered = text.to_ascii_lowercase();
    // The server's own text follows these words of the state machines: NO and BAD, or a reply with 5.
    let is_answer = ["imap login failed: ", "imap authenticate ", "smtp auth "]
        .iter()
        .any(|s| lowered.starts_with(s))
        && [" failed: no ", " failed: bad ", " failed: rejected 5"].iter().any(|said| lowered.contains(said));
    // 454: temporary authentication failure (RFC 4954 section 4.7.1); IMAP has it as text.
    let is_temporary = ["temporar", "try again", "unavailable"].iter().any(|sign| lowered.contains(sign));
    let (LoginSecret::Password(secret) | LoginSecret::Token(secret)) = &login.secret;
    let mut redactor = Redactor::default();
    redactor.add(&format!("Bearer {}", secret.as_str()));
    let hidden = harmless(&lower(&redactor.redact_text(text.replace(secret.as_str(), "***"))), 160);
    match is_answer && !is_temporary {
        true => refused("auth-expired", format!("the server refused the credentials ({hidden})")),
        false => refused("unavailable", format!("the server did not let us in ({hidden})")),
    }
}

fn lower(text: &str) -> String {
    text.trim().trim_end_matches('.').to_owned()
}
