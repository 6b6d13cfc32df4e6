//! Waiting on a connection until the server reports a change by itself (IMAP IDLE, RFC 2177). The content of the change is
//! ignored: the connector reads it, in a call like any other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use io_imap::codec::fragmentizer::Fragmentizer;
use io_imap::coroutine::{ImapCoroutine, ImapCoroutineState};
use io_imap::rfc2177::idle::{ImapIdle, ImapIdleEvent, ImapIdleOptions, ImapIdleYield};
use io_imap::rfc3501::examine::{ImapMailboxExamine, ImapMailboxExamineOptions};
use io_imap::types::mailbox::Mailbox;
use io_imap::types::response::Data;
use tokio::time::Instant;

use crate::bindings::tcp::Err;
use crate::outbound::CallEgress;
use crate::outbound::news::{Listener, News, Teller};
use crate::outbound::tcp::line::Line;
use crate::outbound::tcp::meter::Allowance;
use crate::outbound::tcp::opening::{ANSWER, PIECE, imap_run, write_bytes};
use crate::outbound::tcp::refusal::refused;
use crate::outbound::tcp::server::Protocol;

/// Longest response of the server, bytes: they contain counts and flags here.
const LONGEST: u32 = 64 << 10;

impl CallEgress {
    /// Listens to the inbox on a separate connection, until that ends. "unsupported" where the server has no IDLE.
    pub(crate) async fn listen(&self, server: &str, tell: &Listener<'_>) -> Result<(), Err> {
        let server = self.policy.server(server).map_err(|why| refused("no-server", why))?;
        let login = self.login().await?;
        let (mut line, capabilities) = self.connect(&server, Protocol::Imap, &login).await?;
        // IMAP4rev2 includes it without a capability (RFC 9051 section 6.3.13).
        let has_idle = |c: &String| c.eq_ignore_ascii_case("IDLE") || c.eq_ignore_ascii_case("IMAP4rev2");
        if !capabilities.iter().any(has_idle) {
            return Err(refused("unsupported", "the server does not support IDLE"));
        }
        let limits = &self.shared.limits;
        let answer = ANSWER.min(Duration::from_millis(limits.handshake_ms));
        line.allow(Allowance::Once(limits.handshake_bytes));
        let mut fragments = Fragmentizer::new(LONGEST);
        let examine = ImapMailboxExamine::new(Mailbox::Inbox, ImapMailboxExamineOptions::default());
        let examined = tokio::time::timeout(answer, imap_run(&mut line, &mut fragments, examine)).await;
        let examined =
            examined.map_err(|_| refused("timeout", "the server did not open the inbox in time"))??;
        examined.map_err(|_| refused("unavailable", "the server does not open the inbox"))?;
        tell(News::Listening);
        line.allow(Allowance::PerMinute(limits.idle_bytes_per_minute));
        let renew = Duration::from_millis(limits.idle_ms);
        let mut wait = Wait { teller: Teller::new(tell), renew, answer };
        loop {
            wait.idle(&mut line, &mut fragments).await?;
        }
    }
}

/// How a wait is done.
struct Wait<'a> {
    teller: Teller<'a>,
    /// How long one IDLE lasts, and how long its end may take.
    renew: Duration,
    answer: Duration,
}

impl Wait<'_> {
    /// Runs one IDLE from start to end. Its duration is fixed, whatever the server sends during it.
    async fn idle(&mut self, line: &mut Line, fragments: &mut Fragmentizer) -> Result<(), Err> {
        let over = Arc::new(AtomicBool::new(false));
        let mut work = ImapIdle::new(over.clone(), ImapIdleOptions::default());
        let mut read: Option<Vec<u8>> = None;
        let mut until = Instant::now() + self.renew;
        loop {
            match work.resume(fragments, read.take().as_deref()) {
                ImapCoroutineState::Complete(done) => {
                    return done.map_err(|_| refused("closed", "the server ended the wait"));
                }
                ImapCoroutineState::Yielded(ImapIdleYield::WantsWrite(bytes)) => {
                    write_bytes(line, &bytes).await?
                }
                ImapCoroutineState::Yielded(ImapIdleYield::Event(event)) => {
                    if is_change(&event) {
                        self.teller.changed();
                    }
                }
                ImapCoroutineState::Yielded(ImapIdleYield::WantsRead) if Instant::now() >= until => {
                    if over.swap(true, Ordering::SeqCst) {
                        return Err(refused("timeout", "the server did not end the wait in time"));
                    }
                    // IDLE's time is over, which is no failure: it ends in order and is restarted.
                    until = Instant::now() + self.answer;
                }
                ImapCoroutineState::Yielded(ImapIdleYield::WantsRead) => {
                    let next = self.teller.tell_at().map_or(until, |at| at.min(until));
                    match line.read(PIECE, next.saturating_duration_since(Instant::now())).await {
                        Ok(bytes) => read = Some(bytes),
                        Err(silent) if silent.code == "timeout" => {}
                        Err(e) => return Err(e),
                    }
                    self.teller.tell_rest();
                }
            }
        }
    }
}

/// A message arrived, was removed or has other flags. Servers also send a line from time to time to keep the connection open.
fn is_change(event: &ImapIdleEvent) -> bool {
    let changes = |data: &Data<'_>| {
        matches!(data, Data::Exists(_) | Data::Expunge(_) | Data::Fetch { .. } | Data::Vanished { .. })
    };
    event.data.iter().any(changes)
}
