//! Well-formed keys: the checksum of an API key is no secret, so that scanners can recognize keys (`base::keyring`).

use std::sync::atomic::{AtomicU64, Ordering};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns a key that was never issued, another one each time. Every fourth has a wrong checksum.
pub fn key() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let text = format!("{number:032}");
    let crc = crc32(text.as_bytes()) ^ u32::from(number.is_multiple_of(4));
    format!("uc_live_{text}{}", base62(crc))
}

/// Six digits.
fn base62(mut number: u32) -> String {
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(number % 62) as usize];
        number /= 62;
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

/// CRC-32 (IEEE 802.3).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { (c >> 1) ^ 0xEDB8_8320 } else { c >> 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_keys() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(
            (base62(0).as_str(), base62(61).as_str(), base62(62).as_str()),
            ("000000", "00000z", "000010")
        );
        let (one, other) = (key(), key());
        assert_eq!((one.len(), other.len()), (46, 46));
        assert_ne!(one, other);
    }
}
