//! Recovery codes: ten that are shown once, each good for one sign-in without the second factor. Only their HMACs are stored.

use base::clock::Entropy;
use base::keyring::Keyring;
use zeroize::Zeroizing;

/// Codes that an operator is given.
pub const CODES: usize = 10;
/// Letters and digits of a code: 50 random bits.
const CODE_CHARS: usize = 10;
/// Letters and digits that are not mistaken for each other (Crockford's Base32).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// New codes in the form `abcde-fghjk`.
pub fn new_codes(entropy: &Entropy) -> Vec<Zeroizing<String>> {
    let code = |_| {
        let random = Zeroizing::new(entropy.bytes::<CODE_CHARS>());
        let mut code = Zeroizing::new(String::with_capacity(CODE_CHARS + 1));
        for (at, byte) in random.iter().enumerate() {
            if at == CODE_CHARS / 2 {
                code.push('-');
            }
            code.push(char::from(ALPHABET[usize::from(byte % 32)]));
        }
        code
    };
    (0..CODES).map(code).collect()
}

/// The stored form of an operator's code. None: this is no recovery code by its form.
pub fn tag(keyring: &Keyring, operator_id: &str, code: &str) -> Option<String> {
    let plain: Zeroizing<String> = Zeroizing::new(
        code.chars().filter(char::is_ascii_alphanumeric).map(|c| alike(c.to_ascii_lowercase())).collect(),
    );
    let is_plausible = code.len() <= 2 * CODE_CHARS && plain.len() == CODE_CHARS;
    let text = Zeroizing::new(format!("{operator_id}/{}", *plain));
    is_plausible.then(|| keyring.purpose("operator-recovery").tag(text.as_bytes()))
}

/// A letter that the alphabet leaves out, as the one that it is mistaken for.
fn alike(c: char) -> char {
    match c {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_differ_and_are_known_however_they_are_typed() {
        let keyring = Keyring::new(&[7; 32], Entropy::seeded(1)).unwrap();
        let codes = new_codes(&Entropy::seeded(2));
        let tags: std::collections::BTreeSet<_> =
            codes.iter().map(|code| tag(&keyring, "opr_1", code).unwrap()).collect();
        assert_eq!((codes.len(), tags.len()), (CODES, CODES));
        let typed = |text: &str| tag(&keyring, "opr_1", text);
        assert_eq!(typed("0123a-bcdef"), typed(" O l23A BCDEF "));
        assert_ne!(typed("0123a-bcdef"), tag(&keyring, "opr_2", "0123a-bcdef"));
        for wrong in ["", "123456", "0123a-bcde", "0123a-bcdefg", "correct horse battery"] {
            assert_eq!(typed(wrong), None, "{wrong}");
        }
    }
}
