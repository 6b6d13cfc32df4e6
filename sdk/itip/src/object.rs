//! Properties of an event, each from one value.

use std::borrow::Cow;

use ical::prop::IcalProp;
use ical::value::IcalValue;
use ical::value::datetime::IcalDateTime;
use ical::value::integer::IcalInteger;
use ical::value::text::IcalText;
use model::Instant;

use crate::clean;

/// A text property. The writer escapes the value.
pub fn text(name: &'static str, value: &str) -> IcalProp<'static> {
    plain(name, IcalValue::Text(IcalText(Cow::Owned(clean::lines(value)))))
}

/// A property that is a time in UTC, to the second.
pub fn date_time(name: &'static str, at: Instant) -> IcalProp<'static> {
    let written = at.timestamp().strftime("%Y%m%dT%H%M%SZ").to_string();
    plain(name, IcalValue::DateTime(IcalDateTime(Cow::Owned(written))))
}

/// A property that is a number.
pub fn integer(name: &'static str, value: i64) -> IcalProp<'static> {
    plain(name, IcalValue::Integer(IcalInteger(Cow::Owned(value.to_string()))))
}

fn plain(name: &'static str, value: IcalValue<'static>) -> IcalProp<'static> {
    IcalProp { name: name.into(), params: Vec::new(), value }
}
