//! Waiting on a line until the server says by itself that something changed (IMAP IDLE, RFC 2177). What changed is not looked at:
//! the connector reads that, in a call like any other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use io_imap::codec::fragmentizer::Fragmentizer;
use io_imap::coroutine::{ImapCoroutine, ImapCoroutineState};
use io_imap::rfc2177::idle::{ImapIdle, ImapIdleEvent, ImapIdleOptions, ImapIdleYield};
use io_imap::rfc3501::examine::{ImapMailboxExamine, ImapMailboxExamineOptions};
use io_imap::types::mailbox::Mailbox;
use io_imap::types::response::Data;

use crate::runtime::bindings::tcp::Err;
use crate::runtime::outbound::CallEgress;
use crate::runtime::outbound::tcp::line::Line;
use crate::runtime::outbound::tcp::opening::{ANSWER, PIECE, imap_run, said};
use crate::runtime::outbound::tcp::refused;
use crate::runtime::outbound::tcp::server::Protocol;

/// How long one IDLE lasts. A server may end it after half an hour (RFC 2177 section 3); routers forget silent lines sooner.
const RENEW: Duration = Duration::from_secs(9 * 60);
/// Longest response of the server, bytes: what it says here are counts and flags.
const LONGEST: u32 = 64 << 10;

/// What a listener is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// From now on nothing is missed; what came before has to be read.
    Listening,
    /// Something is other than it was.
    Changed,
}

/// Takes the news. Must return at once.
pub type Listener<'a> = dyn Fn(News) + Send + Sync + 'a;

impl CallEgress {
    /// Listens at the inbox on a line of its own, until that ends. "unsupported" where the server has no IDLE.
    pub(crate) async fn listen(&self, server: &str, tell: &Listener<'_>) -> Result<(), Err> {
        let server = self.policy.server(server).map_err(|why| refused("no-server", why))?;
        let login = self.login().await?;
        let (mut line, capabilities) = self.connect(&server, Protocol::Imap, &login).await?;
        // IMAP4rev2 has it without saying so (RFC 9051 section 6.3.13).
        let has_idle = |c: &String| c.eq_ignore_ascii_case("IDLE") || c.eq_ignore_ascii_case("IMAP4rev2");
        if !capabilities.iter().any(has_idle) {
            return Err(refused("unsupported", "the server does not tell of changes by itself"));
        }
        let mut fragments = Fragmentizer::new(LONGEST);
        let examine = ImapMailboxExamine::new(Mailbox::Inbox, ImapMailboxExamineOptions::default());
        let examined = imap_run(&mut line, &mut fragments, examine).await?;
        examined.map_err(|_| refused("unavailable", "the server does not open the inbox"))?;
        tell(News::Listening);
        loop {
            idle(&mut line, &mut fragments, tell).await?;
        }
    }
}

/// One IDLE, from its begin to its end.
async fn idle(line: &mut Line, fragments: &mut Fragmentizer, tell: &Listener<'_>) -> Result<(), Err> {
    let over = Arc::new(AtomicBool::new(false));
    let mut work = ImapIdle::new(over.clone(), ImapIdleOptions::default());
    let mut read: Option<Vec<u8>> = None;
    loop {
        match work.resume(fragments, read.take().as_deref()) {
            ImapCoroutineState::Complete(done) => {
                return done.map_err(|_| refused("closed", "the server ended the wait"));
            }
            ImapCoroutineState::Yielded(ImapIdleYield::WantsWrite(bytes)) => said(line, &bytes).await?,
            ImapCoroutineState::Yielded(ImapIdleYield::Event(event)) => {
                if is_change(&event) {
                    tell(News::Changed);
                }
            }
            ImapCoroutineState::Yielded(ImapIdleYield::WantsRead) if over.load(Ordering::SeqCst) => {
                read = Some(line.read(PIECE, ANSWER).await?);
            }
            ImapCoroutineState::Yielded(ImapIdleYield::WantsRead) => match line.read(PIECE, RENEW).await {
                Ok(bytes) => read = Some(bytes),
                // Silence is no failure here: the wait ends in order and begins anew.
                Err(silent) if silent.code == "timeout" => over.store(true, Ordering::SeqCst),
                Err(e) => return Err(e),
            },
        }
    }
}

/// A message came, went or has other flags. Servers also send a line now and then to keep the line open.
fn is_change(event: &ImapIdleEvent) -> bool {
    let changes = |data: &Data<'_>| {
        matches!(data, Data::Exists(_) | Data::Expunge(_) | Data::Fetch { .. } | Data::Vanished { .. })
    };
    event.data.iter().any(changes)
}
