//! DURATION (RFC 5545 §3.3.6): days are nominal, hours exact.

use ical::value::duration::IcalDuration;

use crate::date::DAY;

/// A DURATION's whole days, weeks as seven of them, and the rest in seconds. Added to a time in this order: so many days later the
/// clock shows the same time, also across a change of the clocks; the seconds are of real time. None where it cannot be read.
pub fn days_and_seconds(duration: &str) -> Option<(i64, i64)> {
    let all = IcalDuration(duration.into()).seconds()?;
    let (days, _) = duration.split_once(['T', 't']).unwrap_or((duration, ""));
    let days = IcalDuration(days.into()).seconds()? / DAY;
    Some((days, all.checked_sub(days.checked_mul(DAY)?)?))
}

#[cfg(test)]
mod tests {
    use super::days_and_seconds;

    #[test]
    fn a_duration_has_days_and_seconds() {
        for (text, parts) in [
            ("P1D", Some((1, 0))),
            ("P2W", Some((14, 0))),
            ("P1DT2H", Some((1, 7_200))),
            ("PT36H", Some((0, 129_600))),
            ("-P1DT2H30M", Some((-1, -9_000))),
            ("+P0DT0S", Some((0, 0))),
            ("p1dt1s", Some((1, 1))),
            ("1D", None),
            ("", None),
            ("P99999999999999999999D", None),
            ("P106751991167301D", None),
        ] {
            assert_eq!(days_and_seconds(text), parts, "{text}");
        }
    }
}
