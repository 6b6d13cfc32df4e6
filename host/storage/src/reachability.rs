//! Whether PostgreSQL can be reached. A separate connection finds out when requests wait for one or have lost theirs: then
//! they need not wait until their time is over, and a busy server is distinguished from an unreachable one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use anyhow::{Result, bail};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection, PgConnection};
use tokio::time::{Instant, sleep, timeout};

use crate::availability::Availability;
use crate::error::{Outage, OutageKind, postgres_outage};

/// How long work waits for a connection before the server is probed with another one.
const SUSPECT_AFTER: Duration = Duration::from_millis(300);
/// The shortest time between two probes of the server.
const PROBE_EVERY: Duration = Duration::from_millis(500);
/// How long a probe may take: a server under load is slow, but reachable.
const PROBE_WITHIN: Duration = Duration::from_secs(4);
/// The SQLSTATE of a server that has reached its connection limit: it is reachable.
const TOO_MANY_CONNECTIONS: &str = "53300";

/// Finds out whether a server can be reached. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Reachability(Arc<Monitor>);

struct Monitor {
    to: PgConnectOptions,
    availability: Availability,
    probe: Mutex<ProbeState>,
}

#[derive(Default)]
struct ProbeState {
    is_running: bool,
    last: Option<Instant>,
}

impl Reachability {
    /// A monitor of the server that these options lead to.
    pub(crate) fn new(to: PgConnectOptions, availability: Availability) -> Reachability {
        Reachability(Arc::new(Monitor { to, availability, probe: Mutex::default() }))
    }

    /// Makes a first connection, and retries for the time `within` unless the server refuses the login. The error names the server.
    /// Returns the server's reason where it is reachable, but takes no more connections.
    pub(crate) async fn ensure(&self, within: Duration) -> Result<Option<String>> {
        let end = Instant::now() + within;
        let server = self.0.availability.database();
        let mut is_first = true;
        loop {
            let failure = match probe(&self.0.to).await {
                Ok(crowded) => return Ok(crowded),
                Err(failure) => failure,
            };
            let cause = failure.outage.cause;
            if failure.is_refusal {
                bail!("{server} refuses the login: {cause}");
            }
            if Instant::now() + PROBE_EVERY >= end {
                bail!("{server} cannot be reached: {cause}");
            }
            if std::mem::take(&mut is_first) {
                tracing::warn!(
                    "{server} cannot be reached: {cause}; trying again for {} s",
                    within.as_secs()
                );
            }
            sleep(PROBE_EVERY).await;
        }
    }

    /// Why the server cannot be reached; none while it can, as far as is known.
    pub(crate) fn outage(&self) -> Option<Outage> {
        self.0.availability.gone().borrow().clone()
    }

    /// Waits until the server can be reached again.
    pub(crate) async fn until_back(&self) {
        // An error would mean that the sender is gone, but this one holds it.
        let _ = self.0.availability.gone().wait_for(Option::is_none).await;
    }

    /// Probes the server until it is known to be unreachable.
    pub(crate) async fn until_gone(&self) {
        let mut gone = self.0.availability.gone();
        if timeout(SUSPECT_AFTER, gone.wait_for(Option::is_some)).await.is_ok() {
            return;
        }
        loop {
            self.suspect();
            if timeout(PROBE_EVERY, gone.wait_for(Option::is_some)).await.is_ok() {
                return;
            }
        }
    }

    /// Starts a task that probes whether the server can be reached, unless it was just probed. While it cannot, the task
    /// goes on until it can.
    pub(crate) fn suspect(&self) {
        let mut probe = self.0.state();
        if probe.is_running || probe.last.is_some_and(|last| last.elapsed() < PROBE_EVERY) {
            return;
        }
        probe.is_running = true;
        tokio::spawn(watch_server(Arc::downgrade(&self.0)));
    }
}

impl Monitor {
    fn state(&self) -> MutexGuard<'_, ProbeState> {
        self.probe.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Probes the server until it gives a connection, or the database is no longer used.
async fn watch_server(monitor: Weak<Monitor>) {
    loop {
        let Some(monitor) = monitor.upgrade() else { return };
        match probe(&monitor.to).await {
            Ok(crowded) => {
                monitor.availability.set_back();
                if let Some(cause) = crowded {
                    monitor.availability.set_crowded(&cause);
                } else {
                    monitor.availability.set_uncrowded();
                    *monitor.state() = ProbeState { is_running: false, last: Some(Instant::now()) };
                    return;
                }
            }
            Err(failure) => {
                monitor.availability.set_uncrowded();
                monitor.availability.set_gone(failure.outage);
            }
        }
        drop(monitor);
        sleep(PROBE_EVERY).await;
    }
}

/// The failure of a probe.
struct ProbeFailure {
    outage: Outage,
    /// The server answers, and refuses this user, password or database: retrying does not help.
    is_refusal: bool,
}

impl From<Outage> for ProbeFailure {
    fn from(outage: Outage) -> ProbeFailure {
        ProbeFailure { outage, is_refusal: false }
    }
}

/// Makes a connection and ends it. Returns the server's reason where it is reachable, but takes no more connections.
async fn probe(to: &PgConnectOptions) -> Result<Option<String>, ProbeFailure> {
    let connected = timeout(PROBE_WITHIN, async { PgConnection::connect_with(to).await?.close().await });
    match connected.await {
        Ok(Ok(())) => Ok(None),
        Ok(Err(e)) => match (crowded_cause(&e), postgres_outage(&e)) {
            (Some(cause), _) => Ok(Some(cause)),
            (None, Some(outage)) => Err(ProbeFailure { outage, is_refusal: is_login_refused(&e) }),
            (None, None) => Err(Outage::new(OutageKind::Unreachable, e.to_string()).into()),
        },
        Err(_) => {
            let cause = format!("no answer within {} s", PROBE_WITHIN.as_secs());
            Err(Outage::new(OutageKind::Unreachable, cause).into())
        }
    }
}

/// Whether the server refuses the user, the password or the database.
fn is_login_refused(e: &sqlx::Error) -> bool {
    let code = e.as_database_error().and_then(|e| e.code());
    // PostgreSQL's SQLSTATEs: class 28 is "invalid authorization specification", 3D000 "invalid catalog name".
    code.is_some_and(|code| code.starts_with("28") || code == "3D000")
}

/// The server's message if its connection limit is reached.
fn crowded_cause(e: &sqlx::Error) -> Option<String> {
    let e = e.as_database_error()?;
    (e.code()? == TOO_MANY_CONNECTIONS).then(|| e.message().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_server_that_refuses_connections_is_named_and_known_to_be_gone() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.unwrap().port();
        let to = PgConnectOptions::new_without_pgpass().host("127.0.0.1").port(port);
        let availability = Availability::new(format!("PostgreSQL at 127.0.0.1:{port}"));
        let reachability = Reachability::new(to, availability);
        let refused = reachability.ensure(Duration::ZERO).await.unwrap_err().to_string();
        assert_eq!(refused, format!("PostgreSQL at 127.0.0.1:{port} cannot be reached: connection refused"));
        assert_eq!(reachability.outage(), None, "no request waits for it yet");
        timeout(Duration::from_secs(30), reachability.until_gone()).await.unwrap();
        assert_eq!(reachability.outage().unwrap().cause, "connection refused");
    }

    /// A server that answers each connection with a refusal of these fields.
    async fn refuse_all(listener: tokio::net::TcpListener, fields: &'static [u8]) {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};

        let length = u32::try_from(fields.len() + 4).unwrap();
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut startup = [0; 1_024];
            assert!(client.read(&mut startup).await.unwrap() > 0);
            let refusal = [b"E".as_slice(), &length.to_be_bytes(), fields].concat();
            client.write_all(&refusal).await.unwrap();
        }
    }

    const CROWDED: &[u8] = b"SFATAL\0VFATAL\0C53300\0Mtoo many connections for role \"sb\"\0\0";
    const WRONG_PASSWORD: &[u8] =
        b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed for user \"sb\"\0\0";
    const NO_DATABASE: &[u8] = b"SFATAL\0VFATAL\0C3D000\0Mdatabase \"nope\" does not exist\0\0";

    #[tokio::test]
    async fn a_refused_login_is_not_retried() {
        for (fields, cause) in [
            (WRONG_PASSWORD, "password authentication failed for user \"sb\""),
            (NO_DATABASE, "database \"nope\" does not exist"),
        ] {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let to = PgConnectOptions::new_without_pgpass()
                .host("127.0.0.1")
                .port(listener.local_addr().unwrap().port())
                .ssl_mode(sqlx::postgres::PgSslMode::Disable);
            let server = tokio::spawn(refuse_all(listener, fields));
            let reachability = Reachability::new(to, Availability::new("PostgreSQL at db:5432"));
            let ensured = reachability.ensure(Duration::from_secs(3_600));
            let ensured = timeout(Duration::from_secs(30), ensured).await.expect("it does not wait");
            let refused = ensured.unwrap_err().to_string();
            assert_eq!(refused, format!("PostgreSQL at db:5432 refuses the login: {cause}"));
            server.abort();
        }
    }

    #[tokio::test]
    async fn a_server_that_takes_no_more_connections_is_there_and_says_why() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = PgConnectOptions::new_without_pgpass()
            .host("127.0.0.1")
            .port(listener.local_addr().unwrap().port())
            .username("sb")
            .ssl_mode(sqlx::postgres::PgSslMode::Disable);
        let server = tokio::spawn(refuse_all(listener, CROWDED));
        let reachability = Reachability::new(to, Availability::new("PostgreSQL at db"));
        let said = reachability.ensure(Duration::ZERO).await.unwrap();
        assert_eq!(said.as_deref(), Some("too many connections for role \"sb\""));
        reachability.suspect();
        let availability = &reachability.0.availability;
        let crowded = async {
            while !availability.is_crowded() {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(30), crowded).await.unwrap();
        assert_eq!(reachability.outage(), None);
        server.abort();
    }
}
