//! Failures of the database as a whole: it cannot be reached, takes no changes, or has no room. Whatever a statement wanted, it then fails
//! with the same refusal, and the request can be repeated.

use std::fmt;
use std::io::{self, ErrorKind};

use anyhow::Error;
use base::error::{Code, Refusal};
use rusqlite::ErrorCode;
use rusqlite::ffi;

/// Retry-After of a database that could not be reached, in seconds: a restart takes a few.
const UNREACHABLE_RETRY_S: u64 = 1;
/// Retry-After of a full disk, in seconds: an operator has to free space first.
const FULL_RETRY_S: u64 = 10;

/// The beginning of an error of the system's resolver.
const LOOKUP_FAILED: &str = "failed to lookup address information";

/// The ways in which a database as a whole fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageKind {
    /// It cannot be reached or opened, or has ended the connection.
    Unreachable,
    /// It answers, and takes no changes: a standby that is not promoted yet.
    ReadOnly,
    /// It cannot write, because its disk is full.
    Full,
}

/// The failure of a database as a whole. As an error it is a context of the `Refusal` that requests get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    pub kind: OutageKind,
    /// The message of the system or of the database. For operators: it may name hosts and files.
    pub cause: String,
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl Outage {
    pub(crate) fn new(kind: OutageKind, cause: impl Into<String>) -> Outage {
        Outage { kind, cause: cause.into() }
    }

    /// The outage that an error comes from.
    pub fn from_error(e: &Error) -> Option<&Outage> {
        e.downcast_ref::<Outage>()
    }

    /// The error of a statement, a transaction or a connection that the outage stopped.
    pub(crate) fn into_error(self) -> Error {
        let (code, retry_after_s) = match self.kind {
            OutageKind::Unreachable | OutageKind::ReadOnly => {
                (Code::DatabaseUnavailable, UNREACHABLE_RETRY_S)
            }
            OutageKind::Full => (Code::StorageFull, FULL_RETRY_S),
        };
        let refusal = Refusal::new(code, self.summary()).retry_after_s(retry_after_s);
        Error::new(refusal).context(self)
    }

    /// One sentence for clients and probes, which names neither hosts nor files.
    pub fn summary(&self) -> &'static str {
        match self.kind {
            OutageKind::Unreachable => "the database cannot be reached; try again",
            OutageKind::ReadOnly => "the database takes no changes at the moment; try again",
            OutageKind::Full => {
                "the disk of the database is full, and nothing can be stored; try again later"
            }
        }
    }
}

/// The outage behind an error of PostgreSQL or of the connection to it; none where the statement itself failed.
pub(crate) fn postgres_outage(e: &sqlx::Error) -> Option<Outage> {
    let unreachable = |cause: String| Some(Outage::new(OutageKind::Unreachable, cause));
    match e {
        sqlx::Error::Io(e) => unreachable(io_cause(e)),
        sqlx::Error::Tls(e) => unreachable(format!("TLS failed: {e}")),
        sqlx::Error::PoolClosed => unreachable("this host has closed its connections".to_owned()),
        sqlx::Error::WorkerCrashed => unreachable(e.to_string()),
        sqlx::Error::Database(e) => {
            let kind = sqlstate_kind(&e.code()?)?;
            Some(Outage::new(kind, e.message()))
        }
        _ => None,
    }
}

/// The kind of outage that an SQLSTATE of PostgreSQL stands for.
fn sqlstate_kind(code: &str) -> Option<OutageKind> {
    match code {
        // disk_full
        "53100" => Some(OutageKind::Full),
        // read_only_sql_transaction
        "25006" => Some(OutageKind::ReadOnly),
        // transaction_timeout, too_many_connections, the shutdowns and the start of the server (57P01 to 57P03), idle_session_timeout,
        // io_error; and a database that does not exist while it is being restored.
        "25P04" | "53300" | "57P01" | "57P02" | "57P03" | "57P05" | "58030" | "3D000" => {
            Some(OutageKind::Unreachable)
        }
        // Connection exceptions, and logins that are refused.
        code if code.starts_with("08") || code.starts_with("28") => Some(OutageKind::Unreachable),
        _ => None,
    }
}

/// An error of the network in a few words: `connection refused`.
fn io_cause(e: &io::Error) -> String {
    match e.kind() {
        ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::TimedOut
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable => e.kind().to_string(),
        ErrorKind::UnexpectedEof => "the server ended the connection".to_owned(),
        ErrorKind::NotFound => "there is no socket".to_owned(),
        _ => match e.to_string() {
            // The text of Rust's library for each failure of getaddrinfo, before that of the system.
            cause if cause.starts_with(LOOKUP_FAILED) => "the host name cannot be resolved".to_owned(),
            cause => cause,
        },
    }
}

/// Writes that the system refused. SQLite calls only ENOSPC a full disk; a quota, for one, is an error of writing.
const WRITE_FAILURES: [i32; 5] = [
    ffi::SQLITE_IOERR_WRITE,
    ffi::SQLITE_IOERR_FSYNC,
    ffi::SQLITE_IOERR_DIR_FSYNC,
    ffi::SQLITE_IOERR_TRUNCATE,
    ffi::SQLITE_IOERR_SHMSIZE,
];

/// The outage behind an error of SQLite; none where the statement itself failed.
pub(crate) fn sqlite_outage(e: &rusqlite::Error) -> Option<Outage> {
    let failure = e.sqlite_error()?;
    let kind = match failure.code {
        ErrorCode::DiskFull => OutageKind::Full,
        ErrorCode::SystemIoFailure if WRITE_FAILURES.contains(&failure.extended_code) => OutageKind::Full,
        ErrorCode::SystemIoFailure | ErrorCode::CannotOpen => OutageKind::Unreachable,
        _ => return None,
    };
    Some(Outage::new(kind, e.to_string()))
}

/// Whether an error of SQLite says that another process has locked the file for too long.
pub(crate) fn is_sqlite_busy(e: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, FileLockingProtocolFailed};
    matches!(e.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_a_refusal_wherever_it_is_met() {
        for (kind, code, retry_after_s) in [
            (OutageKind::Unreachable, Code::DatabaseUnavailable, 1),
            (OutageKind::ReadOnly, Code::DatabaseUnavailable, 1),
            (OutageKind::Full, Code::StorageFull, 10),
        ] {
            let error = Outage::new(kind, "10.0.0.7: no").into_error().context("cannot begin a transaction");
            assert_eq!(Outage::from_error(&error).map(|outage| outage.kind), Some(kind));
            let refused = base::error::Error::from(error);
            let base::error::Error::Refused(refusal) = refused else { panic!("it is a refusal") };
            assert_eq!((refusal.code, refusal.retry_after_s), (code, Some(retry_after_s)));
            assert!(!refusal.message.contains("10.0.0.7"), "{}", refusal.message);
        }
    }

    #[test]
    fn states_of_the_server_are_told_from_faults_of_a_statement() {
        use OutageKind::{Full, ReadOnly, Unreachable};
        for (code, kind) in [
            ("53100", Some(Full)),
            ("25006", Some(ReadOnly)),
            ("57P01", Some(Unreachable)),
            ("57P03", Some(Unreachable)),
            ("08006", Some(Unreachable)),
            ("28P01", Some(Unreachable)),
            ("23505", None),
            ("42601", None),
            ("57014", None),
        ] {
            assert_eq!(sqlstate_kind(code), kind, "{code}");
        }
    }

    #[test]
    fn an_error_of_the_network_is_an_outage_in_few_words() {
        let cause = |kind: ErrorKind| postgres_outage(&sqlx::Error::Io(kind.into())).unwrap().cause;
        assert_eq!(cause(ErrorKind::ConnectionRefused), "connection refused");
        assert_eq!(cause(ErrorKind::UnexpectedEof), "the server ended the connection");
        assert_eq!(postgres_outage(&sqlx::Error::PoolTimedOut), None, "a pool can also be busy");
        // No resolver is asked for a name with an empty label.
        let unknown = std::net::ToSocketAddrs::to_socket_addrs(&("a..b", 5_432_u16)).unwrap_err();
        let outage = postgres_outage(&sqlx::Error::Io(unknown)).unwrap();
        assert_eq!(outage.cause, "the host name cannot be resolved");
    }

    #[test]
    fn sqlite_tells_a_full_disk_from_a_file_that_cannot_be_read() {
        let outage = |code: i32| sqlite_outage(&rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        let kind = |code: i32| outage(code).map(|outage| outage.kind);
        assert_eq!(kind(ffi::SQLITE_FULL), Some(OutageKind::Full));
        assert_eq!(kind(ffi::SQLITE_IOERR_WRITE), Some(OutageKind::Full));
        assert_eq!(kind(ffi::SQLITE_IOERR_READ), Some(OutageKind::Unreachable));
        assert_eq!(kind(ffi::SQLITE_CANTOPEN), Some(OutageKind::Unreachable));
        assert_eq!(kind(ffi::SQLITE_CONSTRAINT), None);
        assert_eq!(kind(ffi::SQLITE_INTERRUPT), None);
    }
}
