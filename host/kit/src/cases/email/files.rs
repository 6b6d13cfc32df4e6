//! Attachments.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::bench::{Bench, Outcome, ensure, failed};
use crate::cases::email::messages::{MAIL, append, head};

const FROM: &str = "swkit@example.test";
/// Characters in a line of base64 (RFC 2045, section 6.8).
const LINE: usize = 76;

/// The files of the message: name, media type, bytes.
fn files() -> [(&'static str, &'static str, Vec<u8>); 3] {
    let all: Vec<u8> = (0..=u8::MAX).cycle().take(70_001).collect();
    [
        ("every byte.bin", "application/octet-stream", all),
        ("ünïcödé 🗒.txt", "text/plain; charset=iso-8859-1", b"one\r\ntwo\nthree\r\xfc\xdf".to_vec()),
        ("empty lines.csv", "text/csv", b"\r\n\r\na;b\r\n\r\n".to_vec()),
    ]
}

/// A message with a text and these files.
fn message(subject: &str) -> Vec<u8> {
    let mut text = format!(
        "{}Content-Type: multipart/mixed; boundary=swkit-b\r\n\r\n\
         --swkit-b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nText.\r\n",
        head(subject, FROM, FROM)
    );
    for (name, media_type, bytes) in files() {
        let encoded = STANDARD.encode(bytes);
        let lines: Vec<String> =
            encoded.as_bytes().chunks(LINE).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
        text.push_str(&format!(
            "--swkit-b\r\nContent-Type: {media_type}\r\nContent-Transfer-Encoding: base64\r\n\
             Content-Disposition: attachment; filename*=utf-8''{}\r\n\r\n{}\r\n",
            escaped(name),
            lines.join("\r\n")
        ));
    }
    text.push_str("--swkit-b--\r\n");
    text.into_bytes()
}

/// A name in the value of a parameter (RFC 8187).
fn escaped(name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'.' => ".".to_owned(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}

/// `M8`: the bytes of attachments are those that were stored.
pub async fn bytes(bench: &mut Bench) -> Outcome {
    const LISTED: &str =
        "attachments has each file, with its decoded name and the size of its decoded content";
    const BYTES: &str = "attachments.get answers with the decoded bytes of the part, without a change of charset or line ends";
    let folder = bench.collection(&MAIL).await?;
    let label = MAIL.label("M8");
    let args = append(&folder, &label, &message(&label));
    let id = bench.append_message(&args, &MAIL.key("M8")).await?.external_id;
    let read = bench.read_message(&id, false, 0).await?;
    let names: Vec<Option<&str>> = read.attachments.iter().map(|file| file.filename.as_deref()).collect();
    ensure(
        read.has_attachments && names.len() == files().len(),
        || {
            format!(
                "a message with {} files has hasAttachments {}, and the attachments {names:?}",
                files().len(),
                read.has_attachments
            )
        },
        LISTED,
    )?;
    for (name, _, expected) in files() {
        let Some(file) = read.attachments.iter().find(|file| file.filename.as_deref() == Some(name)) else {
            return failed(format!("the file \"{name}\" is not among {names:?}"), LISTED);
        };
        let length = i64::try_from(expected.len()).ok();
        ensure(
            file.size.is_none() || file.size == length,
            || format!("the file \"{name}\" has {} bytes, and size is {:?}", expected.len(), file.size),
            LISTED,
        )?;
        let bytes = bench.attachment(&id, &file.id).await?;
        let differs = bytes.iter().zip(&expected).position(|(one, other)| one != other);
        ensure(
            bytes == expected,
            || {
                format!(
                    "the file \"{name}\" has {} bytes, and is read with {}; the first different one is at {differs:?}",
                    expected.len(),
                    bytes.len()
                )
            },
            BYTES,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_escaped() {
        assert_eq!(escaped("a b\u{e9}.txt"), "a%20b%C3%A9.txt");
        let text = String::from_utf8(message("label")).unwrap();
        assert!(text.contains("filename*=utf-8''every%20byte.bin\r\n\r\nAAECAwQF"), "{text:.600}");
        assert!(text.ends_with("\r\n--swkit-b--\r\n"));
    }
}
