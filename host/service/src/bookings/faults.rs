//! Collects the errors of one input, to report them together. Pure.

use base::error::{Detail, Error, Refusal, Result};

/// Most errors that one answer names.
const MAX_NAMED: usize = 20;

/// The errors found so far.
#[derive(Debug, Default)]
pub struct Faults(Vec<Refusal>);

impl Faults {
    /// Returns the value, or records the error and continues. An internal error ends the check.
    pub fn check<T>(&mut self, checked: Result<T>) -> Result<Option<T>> {
        match checked {
            Ok(value) => Ok(Some(value)),
            Err(Error::Refused(refusal)) => {
                self.0.push(*refusal);
                Ok(None)
            }
            Err(internal) => Err(internal),
        }
    }

    /// Fails if there are errors: with the first one, and all of them in the details.
    pub fn into_result(self) -> Result<()> {
        let details: Vec<Detail> = self.0.iter().take(MAX_NAMED).map(detail).collect();
        match self.0.into_iter().next() {
            Some(first) => Err(Refusal { details, ..first }.into()),
            None => Ok(()),
        }
    }
}

fn detail(refusal: &Refusal) -> Detail {
    Detail {
        field: refusal.param.clone().unwrap_or_default(),
        code: refusal.code,
        message: refusal.message.clone(),
    }
}
