//! Connections to servers that do not speak HTTP: plain types over the imported `tcp`, and the trait that a native test replaces.

use std::fmt;

/// A piece of the bytes to write.
#[derive(Clone, Debug, PartialEq)]
pub enum TcpSegment {
    /// Literal bytes.
    Bytes(Vec<u8>),
    /// The bytes of a blob that the host holds, as they are.
    Blob(String),
    /// The same with every dot that begins a line doubled (RFC 5321 section 4.5.2).
    BlobDotStuffed(String),
}

/// Id and size of bytes that were stored in a blob.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TcpBlob {
    /// Valid within this call.
    pub id: String,
    /// Decoded bytes.
    pub size: u64,
}

/// The reason why a connection failed or was closed; codes as in `wit/tcp.wit`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TcpError {
    /// A code of `wit/tcp.wit`.
    pub code: String,
    /// A sentence about the cause.
    pub message: String,
}

impl TcpError {
    /// Returns an error with this code and message.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        TcpError { code: code.into(), message: message.into() }
    }
}

impl fmt::Display for TcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// An authenticated connection to a server. It is closed when dropped, unless it was kept.
pub trait Line {
    /// Returns the capabilities that the server last announced: of IMAP, or the lines of the answer to EHLO, without codes.
    fn capabilities(&self) -> Vec<String>;

    /// Returns the note that the connector left when it kept the connection; none on a new one.
    fn note(&self) -> Option<String>;

    /// Reads at least 1 and at most `max` bytes.
    fn read(&mut self, max: u32) -> Result<Vec<u8>, TcpError>;

    /// Writes the segments, one after the other.
    fn write(&mut self, segments: Vec<TcpSegment>) -> Result<(), TcpError>;

    /// Puts `head`, which was read already, and the next `len` bytes into a blob. `decode` as in `wit/tcp.wit`.
    fn read_to_blob(&mut self, head: &[u8], len: u64, decode: &str) -> Result<TcpBlob, TcpError> {
        let _ = (head, len, decode);
        Err(TcpError::new("unavailable", "there is no blob store here"))
    }

    /// Keeps the connection for a later call. Not to be called with an answer still under way.
    fn keep(&mut self, note: &str) {
        let _ = note;
    }
}
