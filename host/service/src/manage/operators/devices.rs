//! Devices that somebody has signed in with. Their tries to sign in are counted apart from everybody else's, so that whoever guesses passwords
//! of an account does not shut its owner out.

use base::keyring::Keyring;

use crate::app::App;

/// Time for which a device is known after a sign-in, ms.
pub const MAX_AGE_MS: i64 = 90 * 24 * 3_600_000;
/// Longest value of the cookie in bytes.
const MAX_BYTES: usize = 256;

/// A device of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDevice {
    pub operator_id: String,
    /// Random.
    pub id: String,
}

/// A new value for the cookie of a device.
pub fn new_cookie(app: &App, operator_id: &str) -> String {
    sign_device(&app.keyring, operator_id, &hex::encode(app.entropy.bytes::<12>()), app.now() + MAX_AGE_MS)
}

fn sign_device(keyring: &Keyring, operator_id: &str, id: &str, until: i64) -> String {
    let text = format!("{operator_id}.{id}.{until}");
    let tag = keyring.purpose("operator-device").tag(text.as_bytes());
    format!("{text}.{tag}")
}

/// The device of a cookie. None: it is not one of ours, or too old.
pub fn read(keyring: &Keyring, cookie: &str, now: i64) -> Option<KnownDevice> {
    let (text, tag) = cookie.rsplit_once('.').filter(|_| cookie.len() <= MAX_BYTES)?;
    if !keyring.purpose("operator-device").is_tag(text.as_bytes(), tag) {
        return None;
    }
    let mut parts = text.split('.');
    let (operator_id, id, until) = (parts.next()?, parts.next()?, parts.next()?.parse::<i64>().ok()?);
    (until > now).then(|| KnownDevice { operator_id: operator_id.to_owned(), id: id.to_owned() })
}

#[cfg(test)]
mod tests {
    use base::clock::Entropy;

    use super::*;

    #[test]
    fn a_device_is_known_until_its_time_is_over_and_not_when_it_was_changed() {
        let keyring = Keyring::new(&[7; 32], Entropy::seeded(1)).unwrap();
        let cookie = sign_device(&keyring, "opr_1", "ab12", 1_000);
        let device = KnownDevice { operator_id: "opr_1".into(), id: "ab12".into() };
        assert_eq!(read(&keyring, &cookie, 999), Some(device));
        assert_eq!(read(&keyring, &cookie, 1_000), None);
        for changed in [cookie.replace("opr_1", "opr_2"), cookie.replace("1000", "9000"), String::new()] {
            assert_eq!(read(&keyring, &changed, 0), None, "{changed}");
        }
        let other = Keyring::new(&[8; 32], Entropy::seeded(1)).unwrap();
        assert_eq!(read(&other, &cookie, 0), None);
    }
}
