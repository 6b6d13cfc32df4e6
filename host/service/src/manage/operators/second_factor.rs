//! Proof by the second factor: a code of the authenticator app, or a recovery code. A code works once, also on two hosts at the same moment:
//! the database compares.

use base::error::Result;
use storage::Tx;
use storage::operators::{self, Operator};

use crate::app::App;
use crate::manage::operators::{recovery, totp};

/// Digits of an app's code.
const CODE_DIGITS: usize = 6;
/// Bytes of a code that are looked at.
const MAX_CODE_BYTES: usize = 64;

/// A right code that is still to be used up.
#[derive(Clone, Debug)]
pub enum FactorProof {
    /// The time step of an app's code.
    Step(i64),
    /// The stored recovery codes, and those that are left after this one.
    Recovery { from: Vec<String>, to: Vec<String> },
}

impl FactorProof {
    /// The proof as sessions and the audit log name it.
    pub fn method(&self) -> &'static str {
        match self {
            FactorProof::Step(_) => "code",
            FactorProof::Recovery { .. } => "recovery",
        }
    }

    /// Uses the code up. Returns false when it was used meanwhile.
    pub async fn spend(&self, tx: &mut Tx, operator_id: &str) -> anyhow::Result<bool> {
        match self {
            FactorProof::Step(step) => operators::use_step(tx, operator_id, *step).await,
            FactorProof::Recovery { from, to } => operators::use_recovery(tx, operator_id, from, to).await,
        }
    }
}

/// Whether a text is a code of an app by its form, with or without spaces.
pub fn is_code(text: &str) -> bool {
    digits(text).is_some()
}

/// The digits of a code of an app, without spaces. None: it is none by its form.
pub fn digits(text: &str) -> Option<String> {
    let plain: String = text.chars().take(MAX_CODE_BYTES).filter(|c| !c.is_whitespace()).collect();
    let fits = text.len() <= MAX_CODE_BYTES
        && plain.len() == CODE_DIGITS
        && plain.bytes().all(|byte| byte.is_ascii_digit());
    fits.then_some(plain)
}

/// The proof that a code is. None: it is wrong, it was used, or the operator has no second factor.
pub fn prove(app: &App, operator: &Operator, code: &str) -> Result<Option<FactorProof>> {
    let Some(sealed) = operator.totp_secret.as_deref() else { return Ok(None) };
    if let Some(code) = digits(code) {
        let secret = app.keyring.open(&totp::place(&operator.id), sealed)?;
        let step = totp::step_of(&secret, &code, app.now())?.filter(|step| *step > operator.totp_step);
        return Ok(step.map(FactorProof::Step));
    }
    let Some(tag) = recovery::tag(&app.keyring, &operator.id, code) else { return Ok(None) };
    let to: Vec<String> = operator.recovery.iter().filter(|known| **known != tag).cloned().collect();
    let is_known = to.len() < operator.recovery.len();
    Ok(is_known.then(|| FactorProof::Recovery { from: operator.recovery.clone(), to }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_six_digits_with_or_without_spaces() {
        for text in ["123456", " 123 456 ", "1 2 3 4 5 6"] {
            assert_eq!(digits(text).as_deref(), Some("123456"), "{text}");
        }
        let long = format!("{}123456", " ".repeat(100));
        for text in ["", "12345", "1234567", "12345a", "１２３４５６", "correct horse battery", long.as_str()]
        {
            assert!(!is_code(text), "{text}");
        }
    }
}
