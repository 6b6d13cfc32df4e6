//! Ids that a connector gives to new items, so that a repeated create finds the item of the first attempt.

use sha2::{Digest, Sha256};

use crate::context::Context;

/// The characters of an id, and how many it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdForm {
    /// `0` to `9` and `a` to `v` (RFC 4648 section 7, in lower case); at most 51.
    Base32Hex(usize),
    /// `0` to `9` and `a` to `f`; at most 64.
    Hex(usize),
}

/// Returns an id that follows from the call's idempotency key and `salt`, and a random one where the call has no key. The salt tells
/// apart items that one call creates, and collections whose ids are one space at the provider.
pub fn stable_id(context: &Context, form: IdForm, salt: &str) -> String {
    let bytes = match &context.idempotency_key {
        Some(key) => {
            let mut hash = Sha256::new();
            // The length keeps a key and a salt apart: "a" and "bc" are not "ab" and "c".
            hash.update((key.len() as u64).to_le_bytes());
            hash.update(key.as_bytes());
            hash.update(salt.as_bytes());
            hash.finalize().to_vec()
        }
        None => context.random_bytes(32),
    };
    match form {
        IdForm::Base32Hex(length) => digits(&bytes, 5, length),
        IdForm::Hex(length) => digits(&bytes, 4, length),
    }
}

/// The first `length` digits of this many bits each; fewer where the bytes do not hold as many.
fn digits(bytes: &[u8], bits: u32, length: usize) -> String {
    let mut text = String::with_capacity(length);
    let (mut buffer, mut held) = (0_u32, 0_u32);
    for byte in bytes {
        buffer = (buffer << 8) | u32::from(*byte);
        held += 8;
        while held >= bits && text.len() < length {
            held -= bits;
            let digit = (buffer >> held) & ((1 << bits) - 1);
            text.extend(char::from_digit(digit, 32));
        }
        buffer &= (1 << held) - 1;
        if text.len() == length {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use model::wire::Connection;

    use super::{IdForm, digits, stable_id};
    use crate::context::Context;
    use crate::testing::Recorded;

    #[test]
    fn digits_are_those_of_rfc_4648() {
        // Section 10: BASE32-HEX("foobar") = "CPNMUOJ1E8", without padding.
        assert_eq!(digits(b"foobar", 5, 9), "cpnmuoj1e");
        assert_eq!(digits(b"foobar", 4, 99), "666f6f626172");
        assert_eq!(digits(b"", 5, 4), "");
    }

    #[test]
    fn an_id_follows_from_the_key_and_the_salt() {
        let host = Recorded::new();
        let id = |key: &str, salt: &str| {
            let context = Context::new(&host, Connection::default()).keyed(key);
            stable_id(&context, IdForm::Base32Hex(32), salt)
        };
        assert_eq!(id("key", "work"), id("key", "work"));
        assert_eq!(id("key", "work").len(), 32);
        for (key, salt) in [("key", "home"), ("yek", "work"), ("keyw", "ork")] {
            assert_ne!(id("key", "work"), id(key, salt), "{key} {salt}");
        }
        assert!(id("key", "work").bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'v').contains(&b)));
        let random = Context::new(&host, Connection::default());
        let next = || stable_id(&random, IdForm::Hex(20), "work");
        assert_ne!(next(), next());
    }
}
