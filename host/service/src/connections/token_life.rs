//! The lifetime of an access token, and the time of its renewal before it expires.

use model::Instant;

use crate::connections::credentials::GivenCredentials;

/// Margin before the expiry within which an access token is not used any more, ms: a request takes time, and clocks differ. For a token
/// with a short life: a tenth of it.
const MARGIN_MS: i64 = 60_000;
/// Age that a token must have before it is renewed in the background, ms.
const FLOOR_MS: i64 = 60_000;
/// Assumed life of a token whose life is unknown, ms.
const USUAL_MS: i64 = 3_600_000;

/// The period in which an access token is valid, ms since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenLife {
    issued_at: i64,
    expires_at: i64,
}

impl TokenLife {
    /// Returns the life of these tokens. None if the expiry is unknown.
    pub fn from_credentials(given: &GivenCredentials) -> Option<TokenLife> {
        let expires_at = given.expires_at?.as_millis();
        let issued_at = given.issued_at.map_or(expires_at.saturating_sub(USUAL_MS), Instant::as_millis);
        Some(TokenLife { issued_at, expires_at })
    }

    fn length(self) -> i64 {
        self.expires_at.saturating_sub(self.issued_at).max(0)
    }

    /// Returns the time since it was issued, ms.
    pub fn age(self, now: i64) -> i64 {
        now.saturating_sub(self.issued_at)
    }

    /// Whether the token can be used at `now` without a renewal.
    pub fn is_fresh(self, now: i64) -> bool {
        now < self.expires_at - MARGIN_MS.min(self.length() / 10)
    }

    /// Whether the token is still valid at `now`: it is used while no other one is available.
    pub fn is_good(self, now: i64) -> bool {
        now < self.expires_at
    }

    /// Returns the earliest time of the background renewal, ms since 1970.
    pub fn earliest_renewal(self) -> i64 {
        self.renewal(u8::MAX)
    }

    /// Returns the time of the background renewal: after four fifths of its life, or up to a tenth of it earlier, so that tokens that were
    /// issued together are not renewed together. `random` chooses.
    pub fn renewal(self, random: u8) -> i64 {
        let length = self.length();
        let earlier = length / 10 * i64::from(random) / i64::from(u8::MAX);
        self.issued_at.saturating_add((length / 5 * 4 - earlier).max(FLOOR_MS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(issued_at: Option<i64>, expires_at: i64) -> TokenLife {
        let given = GivenCredentials {
            issued_at: issued_at.map(Instant::from_millis),
            expires_at: Some(Instant::from_millis(expires_at)),
            ..GivenCredentials::default()
        };
        TokenLife::from_credentials(&given).unwrap()
    }

    #[test]
    fn a_token_is_used_until_shortly_before_its_end() {
        for (token, end) in [(life(Some(0), 3_600_000), 3_540_000), (life(Some(0), 5_000), 4_500)] {
            assert!(token.is_fresh(end - 1) && !token.is_fresh(end) && token.is_good(end), "{token:?}");
        }
        assert!(!life(Some(0), 5_000).is_good(5_000));
        assert!(TokenLife::from_credentials(&GivenCredentials::default()).is_none());
    }

    #[test]
    fn a_token_is_renewed_before_its_end_and_not_too_often() {
        let hour = life(Some(0), 3_600_000);
        assert_eq!((hour.renewal(0), hour.renewal(u8::MAX)), (2_880_000, 2_520_000));
        assert_eq!(hour.earliest_renewal(), 2_520_000);
        assert_eq!(life(None, 7_200_000).renewal(0), 3_600_000 + 2_880_000);
        // A token that lives five seconds is not renewed over and over while it is unused.
        assert_eq!(life(Some(10), 5_010).renewal(0), 60_010);
    }
}
