//! The second factor: one-time codes by time (RFC 6238), as every authenticator app makes them.

use anyhow::{Context, anyhow};
use base::error::Result;
use base::keyring::Keyring;
use qrcode::QrCode;
use qrcode::render::svg;
use totp_rs::{Builder, Totp};
use zeroize::Zeroizing;

/// Bytes of a secret: as many as SHA-1 has.
pub const SECRET_BYTES: usize = 20;
/// Pixels of the picture at least.
const PICTURE_PIXELS: u32 = 220;
/// The name of the service in the app.
const ISSUER: &str = "Switchboard";

/// A second factor that is being set up, as the operator sees it.
pub struct FactorSetup {
    /// The secret in Base32, to be typed.
    pub secret: Zeroizing<String>,
    /// The secret as a picture: an `<svg>` element.
    pub picture: Zeroizing<String>,
    /// The sealed secret, which comes back with the first code.
    pub token: String,
}

/// The place of an operator's sealed secret.
pub fn place(operator_id: &str) -> String {
    format!("operators.totp_secret:{operator_id}")
}

fn codes(secret: &[u8]) -> Result<Totp> {
    Ok(Builder::new().with_secret(secret).build().map_err(|e| anyhow!("a second factor: {e}"))?)
}

/// The time step of a code: the present one, the one before or the one after. None: the code is wrong.
pub fn step_of(secret: &[u8], code: &str, now: i64) -> Result<Option<i64>> {
    let seconds = u64::try_from(now / 1_000).context("the clock shows a time before 1970")?;
    Ok(codes(secret)?.check(code, seconds).and_then(|step| i64::try_from(step).ok()))
}

/// The code of a moment. For tests, which have no authenticator app.
pub fn code_at(secret: &[u8], now: i64) -> Result<String> {
    let seconds = u64::try_from(now / 1_000).context("the clock shows a time before 1970")?;
    Ok(codes(secret)?.generate(seconds).to_string())
}

/// The setup of a secret for an address.
pub fn setup(keyring: &Keyring, operator_id: &str, email: &str, secret: &[u8]) -> Result<FactorSetup> {
    let named =
        Builder::new().with_secret(secret).with_issuer(Some(ISSUER)).with_account_name(account(email));
    let totp = named.build().map_err(|e| anyhow!("a second factor: {e}"))?;
    let url = Zeroizing::new(totp.to_url().map_err(|e| anyhow!("a second factor: {e}"))?);
    Ok(FactorSetup {
        secret: Zeroizing::new(totp.secret().to_base32()),
        picture: picture(&url)?,
        token: keyring.seal(&setup_place(operator_id), secret)?,
    })
}

/// The secret of a setup token. None: it is not one of this operator.
pub fn secret_of(keyring: &Keyring, operator_id: &str, token: &str) -> Option<Zeroizing<Vec<u8>>> {
    keyring.open(&setup_place(operator_id), token).ok().filter(|secret| secret.len() == SECRET_BYTES)
}

fn setup_place(operator_id: &str) -> String {
    format!("operators.totp_setup:{operator_id}")
}

/// The address as the name of an account, which has no colon.
fn account(email: &str) -> String {
    email.replace(':', "_")
}

fn picture(text: &str) -> Result<Zeroizing<String>> {
    let code = QrCode::new(text.as_bytes()).map_err(|e| anyhow!("a picture of a secret: {e}"))?;
    let image = Zeroizing::new(
        code.render::<svg::Color<'_>>().min_dimensions(PICTURE_PIXELS, PICTURE_PIXELS).build(),
    );
    // Without the declaration of an XML document: it stands in a page.
    let (_, element) = image.split_once("?>").unwrap_or(("", image.as_str()));
    Ok(Zeroizing::new(element.to_owned()))
}

#[cfg(test)]
mod tests {
    use base::clock::Entropy;

    use super::*;

    /// The secret of RFC 6238, appendix B.
    const SECRET: &[u8] = b"12345678901234567890";

    #[test]
    fn codes_are_those_of_the_rfc() {
        // Appendix B has eight digits; six are the last six of these.
        for (seconds, code) in [(59, "287082"), (1_111_111_109, "081804"), (2_000_000_000, "279037")] {
            let step = step_of(SECRET, code, seconds * 1_000).unwrap();
            assert_eq!(step, Some(seconds / 30), "{seconds}");
            assert_eq!(code_at(SECRET, seconds * 1_000).unwrap(), code);
        }
    }

    #[test]
    fn a_code_works_one_step_early_and_one_step_late() {
        let step = |seconds: i64| step_of(SECRET, "287082", seconds * 1_000).unwrap();
        assert_eq!([step(0), step(59), step(89)], [Some(1); 3]);
        assert_eq!(step(90), None);
        for wrong in ["", "28708", "2870820", "+28708", "abcdef", "287083"] {
            assert_eq!(step_of(SECRET, wrong, 59_000).unwrap(), None, "{wrong}");
        }
    }

    #[test]
    fn a_setup_is_of_one_operator() {
        let keyring = Keyring::new(&[7; 32], Entropy::seeded(1)).unwrap();
        let setup = setup(&keyring, "opr_1", "ada:x@example.com", SECRET).unwrap();
        assert_eq!(*setup.secret, "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert!(setup.picture.starts_with("<svg ") && setup.picture.ends_with("</svg>"));
        assert_eq!(secret_of(&keyring, "opr_1", &setup.token).unwrap().as_slice(), SECRET);
        assert!(secret_of(&keyring, "opr_2", &setup.token).is_none());
        assert!(secret_of(&keyring, "opr_1", "nonsense").is_none());
    }
}
