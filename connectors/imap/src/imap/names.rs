//! Mailbox names on the wire: modified UTF-7 (RFC 3501 section 5.1.3), which servers that say nothing else still speak. The crates have
//! none that serves: io-imap's is private and replaces what it cannot decode, and utf7-imap panics on `&!!-`.

use base64::Engine as _;
use base64::alphabet::IMAP_MUTF7;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use io_imap::types::mailbox::Mailbox;

/// Base64 with a comma in place of the slash; not padded, and padding of others is ignored.
const BASE64: GeneralPurpose = GeneralPurpose::new(&IMAP_MUTF7, CONFIG);
const CONFIG: GeneralPurposeConfig = general_purpose::NO_PAD
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// The name as it goes over the wire.
pub fn encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut shifted: Vec<u8> = Vec::new();
    let flush = |shifted: &mut Vec<u8>, out: &mut String| {
        if !shifted.is_empty() {
            out.push('&');
            BASE64.encode_string(&*shifted, out);
            out.push('-');
            shifted.clear();
        }
    };
    for c in name.chars() {
        match c {
            ' '..='~' => {
                flush(&mut shifted, &mut out);
                out.push(c);
                if c == '&' {
                    out.push('-');
                }
            }
            _ => shifted.extend(c.encode_utf16(&mut [0; 2]).iter().flat_map(|unit| unit.to_be_bytes())),
        }
    }
    flush(&mut shifted, &mut out);
    out
}

/// The name of a mailbox as the crate has it.
pub fn mailbox_name(mailbox: &Mailbox<'_>) -> String {
    match mailbox {
        Mailbox::Inbox => "INBOX".to_owned(),
        Mailbox::Other(name) => decode(name.as_ref()),
    }
}

/// The name as people see it. A name that is no modified UTF-7 stays as it is: some servers send UTF-8, or a bare `&`.
pub fn decode(wire: &[u8]) -> String {
    let text = String::from_utf8_lossy(wire);
    decode_utf7(&text).filter(|name| encode(name) == *text).unwrap_or_else(|| text.into_owned())
}

fn decode_utf7(wire: &str) -> Option<String> {
    let mut parts = wire.split('&');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (shifted, rest) = part.split_once('-')?;
        if shifted.is_empty() {
            out.push('&');
        } else {
            let bytes = BASE64.decode(shifted).ok()?;
            let units: Vec<u16> =
                bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            out.push_str(&String::from_utf16(&units).ok()?);
        }
        out.push_str(rest);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn names_go_over_the_wire_and_back() {
        let cases = [
            ("INBOX", "INBOX"),
            ("Entwürfe", "Entw&APw-rfe"),
            ("R&D", "R&-D"),
            ("台北", "&U,BTFw-"),
            ("日本語/x", "&ZeVnLIqe-/x"),
            ("😀", "&2D3eAA-"),
            ("tab\there", "tab&AAk-here"),
        ];
        for (name, wire) in cases {
            assert_eq!(encode(name), wire);
            assert_eq!(decode(wire.as_bytes()), name);
        }
    }

    #[test]
    fn what_is_no_modified_utf7_stays_as_it_is() {
        for name in ["a & b", "&", "&AGE-", "&2D0-", "&!!-", "&U-", "Entwürfe", "&APw"] {
            assert_eq!(decode(name.as_bytes()), name, "kept, so that it can be named to the server again");
        }
    }
}
