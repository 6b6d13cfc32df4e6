//! Days of a contact. Exchange has times for them, at noon in Greenwich, so that the day is the same almost everywhere. Pure.

use jiff::civil::Date;
use model::contacts::PartialDate;

/// The property of Exchange with the wedding day (MS-OXPROPS, PidTagWeddingAnniversary).
pub const ANNIVERSARY: &str = "SystemTime 0x3A41";
/// The year of days whose year is not known (MS-OXOCNTC).
const NO_YEAR: i16 = 1604;
/// The year from which on a day stands for none.
const NO_DAY_FROM: i16 = 4500;
/// The day that stands for none.
const NO_DAY: &str = "4501-01-01T00:00:00Z";

/// Returns the day of a time; none for one that stands for none, or that cannot be read.
pub fn date_from(theirs: Option<&str>) -> Option<PartialDate> {
    let date: Date = theirs?.get(..10)?.parse().ok()?;
    if date.year() <= 1 || date.year() >= NO_DAY_FROM {
        return None;
    }
    let year = (date.year() != NO_YEAR).then(|| i64::from(date.year()));
    Some(PartialDate { year, month: i64::from(date.month()), day: i64::from(date.day()) })
}

/// Returns Graph's time of a day.
pub fn date_to(ours: &PartialDate) -> String {
    let year = ours.year.unwrap_or(i64::from(NO_YEAR));
    format!("{year:04}-{:02}-{:02}T11:59:00Z", ours.month, ours.day)
}

/// Returns the value of the property with the wedding day: one that stands for none where there is none, because Graph removes no property.
pub fn property_to(ours: Option<&PartialDate>) -> String {
    ours.map_or_else(|| NO_DAY.to_owned(), date_to)
}

#[cfg(test)]
mod tests {
    use model::contacts::PartialDate;

    use super::{NO_DAY, date_from, date_to, property_to};

    #[test]
    fn a_day_without_a_year_is_of_1604() {
        let day = PartialDate { year: None, month: 2, day: 29 };
        assert_eq!(date_to(&day), "1604-02-29T11:59:00Z");
        for text in ["1604-02-29T11:59:00Z", "1604-02-29T00:00:00Z", "1604-02-29"] {
            assert_eq!(date_from(Some(text)), Some(day), "{text}");
        }
        let whole = PartialDate { year: Some(1974), month: 7, day: 22 };
        assert_eq!(date_from(Some("1974-07-22T11:59:00Z")), Some(whole));
        assert_eq!(property_to(Some(&whole)), "1974-07-22T11:59:00Z");
    }

    #[test]
    fn some_days_stand_for_none() {
        for text in [NO_DAY, "0001-01-01T00:00:00Z", "", "soon", "2026-13-01"] {
            assert_eq!(date_from(Some(text)), None, "{text}");
        }
        assert_eq!((date_from(None), property_to(None).as_str()), (None, NO_DAY));
    }
}
