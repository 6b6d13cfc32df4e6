//! Properties that are addresses of people.

use std::borrow::Cow;

use ical::param::IcalParam;
use ical::prop::IcalProp;
use ical::value::IcalValue;
use ical::value::cal_address::IcalCalAddress;

use crate::clean;
use crate::invite::{Attendee, Organizer};

/// `ORGANIZER`.
pub fn organizer(organizer: &Organizer) -> IcalProp<'static> {
    let mut params = common_name(organizer.name.as_deref());
    if let Some(email) = &organizer.sent_by {
        params.push(IcalParam::SentBy(Cow::Owned(clean::mailto(email))));
    }
    property("ORGANIZER", params, &organizer.email)
}

/// `ATTENDEE`.
pub fn attendee(attendee: &Attendee) -> IcalProp<'static> {
    let (state, is_asked) = match attendee.has_accepted {
        true => ("ACCEPTED", "FALSE"),
        false => ("NEEDS-ACTION", "TRUE"),
    };
    let mut params = common_name(attendee.name.as_deref());
    params.push(IcalParam::CuType(Cow::Borrowed("INDIVIDUAL")));
    params.push(IcalParam::Role(Cow::Borrowed("REQ-PARTICIPANT")));
    params.push(IcalParam::PartStat(Cow::Borrowed(state)));
    params.push(IcalParam::Rsvp(Cow::Borrowed(is_asked)));
    property("ATTENDEE", params, &attendee.email)
}

fn common_name(name: Option<&str>) -> Vec<IcalParam<'static>> {
    let name = name.and_then(clean::name);
    name.map(|name| IcalParam::Cn(Cow::Owned(name))).into_iter().collect()
}

fn property(name: &'static str, params: Vec<IcalParam<'static>>, email: &str) -> IcalProp<'static> {
    let value = IcalValue::CalAddress(IcalCalAddress(Cow::Owned(clean::mailto(email))));
    IcalProp { name: name.into(), params, value }
}
