//! Blobs of a host without a sandbox, and what a host does with them.

use std::cell::RefCell;
use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use connector_sdk::tcp::{TcpBlob, TcpSegment};

/// Blobs of a call.
#[derive(Default)]
pub struct Blobs(RefCell<HashMap<String, Vec<u8>>>);

impl Blobs {
    pub fn create(&self, content: &[u8]) -> String {
        let mut blobs = self.0.borrow_mut();
        let id = format!("blob{}", blobs.len());
        blobs.insert(id.clone(), content.to_vec());
        id
    }

    pub fn content(&self, id: &str) -> Option<Vec<u8>> {
        self.0.borrow().get(id).cloned()
    }

    pub fn read(&self, id: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        let content = self.content(id)?;
        let from = usize::try_from(offset).unwrap().min(content.len());
        let to = (from + len as usize).min(content.len());
        Some(content[from..to].to_vec())
    }

    /// Returns the bytes that the host would write.
    pub fn bytes(&self, segments: &[TcpSegment]) -> Vec<u8> {
        let bytes = |segment: &TcpSegment| match segment {
            TcpSegment::Bytes(bytes) => bytes.clone(),
            TcpSegment::Blob(id) => self.content(id).expect("the blob exists"),
            TcpSegment::BlobDotStuffed(id) => stuffed(&self.content(id).expect("the blob exists")),
        };
        segments.iter().flat_map(bytes).collect()
    }

    /// Returns the blob that the host would make of a literal.
    pub fn decoded(&self, bytes: &[u8], decode: &str) -> TcpBlob {
        let content = match decode {
            "base64" => {
                let text: Vec<u8> = bytes.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
                STANDARD.decode(text).unwrap()
            }
            "quoted-printable" => {
                let header =
                    b"Content-Type: application/x\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n";
                mail::read::part(header, bytes).bytes
            }
            _ => bytes.to_vec(),
        };
        TcpBlob { size: content.len() as u64, id: self.create(&content) }
    }
}

fn stuffed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b".") {
            out.push(b'.');
        }
        out.extend_from_slice(line);
    }
    out
}
