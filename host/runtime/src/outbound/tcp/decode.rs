//! Codecs between a mail connection and a blob: transfer encodings are decoded, dots doubled. Streaming, whatever the size.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use mail::read::{quoted_printable, uuencode};

/// Base64 with unchecked padding and trailing bits: mail in the wild has both wrong.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Longest line of quoted-printable that is waited for; RFC 2045 allows 76 characters.
const LONGEST_LINE: usize = 64 << 10;

/// A decoder of a transfer encoding (RFC 2045 section 6).
pub(crate) enum Decoder {
    Raw,
    /// Characters of an unfinished group of four.
    Base64(Vec<u8>),
    /// An unfinished line.
    QuotedPrintable(Vec<u8>),
    /// Uuencode: no standard, but found in old mail.
    Uuencode(uuencode::Decoder),
}

impl Decoder {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "raw" => Some(Decoder::Raw),
            "base64" => Some(Decoder::Base64(Vec::new())),
            "quoted-printable" => Some(Decoder::QuotedPrintable(Vec::new())),
            "uuencode" => Some(Decoder::Uuencode(uuencode::Decoder::default())),
            _ => None,
        }
    }

    /// Decodes these bytes, which follow those before. Returns as much as is complete.
    pub(crate) fn decode(&mut self, piece: Vec<u8>) -> Vec<u8> {
        match self {
            Decoder::Raw => piece,
            Decoder::Base64(open) => {
                open.extend(
                    piece.into_iter().filter(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/')),
                );
                let whole = open.len() / 4 * 4;
                let rest = open.split_off(whole);
                let group = std::mem::replace(open, rest);
                LENIENT.decode(group).unwrap_or_default()
            }
            Decoder::QuotedPrintable(open) => {
                // The rest of the piece before has no line end: however small the pieces are, each byte is read once.
                let before = open.len();
                let last = piece.iter().rposition(|b| *b == b'\n');
                open.extend(piece);
                let end = match last {
                    Some(at) => before + at + 1,
                    None if open.len() > LONGEST_LINE => open.len(),
                    None => return Vec::new(),
                };
                let rest = open.split_off(end);
                quoted_printable::decode(&std::mem::replace(open, rest))
            }
            Decoder::Uuencode(decoder) => decoder.decode(&piece),
        }
    }

    /// Decodes the rest at the end.
    pub(crate) fn finish(self) -> Vec<u8> {
        match self {
            Decoder::Raw => Vec::new(),
            // A single character does not make a byte.
            Decoder::Base64(open) if open.len() == 1 => Vec::new(),
            Decoder::Base64(open) => LENIENT.decode(open).unwrap_or_default(),
            Decoder::QuotedPrintable(open) => quoted_printable::decode(&open),
            Decoder::Uuencode(decoder) => decoder.finish(),
        }
    }
}

/// Doubles dots at the beginnings of lines (RFC 5321 section 4.5.2).
pub(crate) struct DotStuffing {
    at_line_start: bool,
}

impl DotStuffing {
    pub(crate) fn new() -> Self {
        DotStuffing { at_line_start: true }
    }

    pub(crate) fn stuff(&mut self, piece: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(piece.len() + 16);
        for &byte in piece {
            if self.at_line_start && byte == b'.' {
                out.push(b'.');
            }
            out.push(byte);
            self.at_line_start = byte == b'\n';
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(name: &str, text: &[u8], size: usize) -> Vec<u8> {
        let mut decoder = Decoder::parse(name).unwrap();
        let mut out: Vec<u8> = text.chunks(size).flat_map(|piece| decoder.decode(piece.to_vec())).collect();
        out.extend(decoder.finish());
        out
    }

    #[test]
    fn pieces_of_any_size_are_the_same() {
        let content: Vec<u8> = (0..=255).cycle().take(5_000).collect();
        let text = base64::prelude::BASE64_STANDARD.encode(&content);
        let lines: Vec<&str> =
            text.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let mail = lines.join("\r\n");
        for size in [1, 2, 3, 7, 76, 78, 1000, 100_000] {
            assert_eq!(decoded("base64", mail.as_bytes(), size), content, "{size}");
            let quoted = b"Gr=C3=BC=C3=9Fe =3D soft=\r\nline\r\nend=20";
            assert_eq!(decoded("quoted-printable", quoted, size), "Grüße = softline\r\nend ".as_bytes());
            assert_eq!(decoded("raw", b"as it is", size), b"as it is");
            let mut dots = DotStuffing::new();
            let stuffed: Vec<u8> =
                b".a\r\n..b\r\n.\r\nc.".chunks(size).flat_map(|piece| dots.stuff(piece)).collect();
            assert_eq!(stuffed, b"..a\r\n...b\r\n..\r\nc.");
        }
    }

    #[test]
    fn what_is_cut_off_gives_what_is_there() {
        assert_eq!(decoded("base64", b"aGVsbG8gd29ybG", 5), b"hello worl");
        assert_eq!(decoded("base64", b"!!aG\x00Vs#bG8", 3), b"hello");
        assert_eq!(decoded("quoted-printable", b"=ZZ ok == =4", 4), b"=ZZ ok == ");
        assert_eq!(decoded("uuencode", b"begin 644 a\r\n#0V%T\r\n`\r\nend\r\n", 3), b"Cat");
    }
}
