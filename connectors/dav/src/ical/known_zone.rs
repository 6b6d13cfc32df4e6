//! Series in an unknown time zone: nothing is written that depends on when their instances are.

use std::rc::Rc;

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::IcalCst;

use crate::ical::series::Editor;
use crate::ical::time::Moment;
use crate::ical::zones::Zone;

/// The failure of a change that depends on the instances of such a series.
pub fn unknown_zone() -> Failure {
    Failure::invalid(
        "timeZone: the definition of the series' time zone at the provider cannot be used, so the times of its instances are unknown; create a new series in an IANA time zone",
    )
}

impl Editor<'_> {
    /// Returns the zone of a component's start; for a day the calendar's zone.
    pub fn start_zone(&self, component: &IcalCst) -> Rc<Zone> {
        let clock = self.reader.clock(self.original);
        match clock.moment(component, "DTSTART") {
            Some(Moment::Time { zone, .. }) => zone,
            _ => clock.home.clone(),
        }
    }

    /// Fails where the times of the series' instances are unknown.
    pub fn ensure_known_zone(&self, calendar: &IcalCst) -> Outcome<()> {
        if self.start_zone(self.main(calendar)?).is_known() { Ok(()) } else { Err(unknown_zone()) }
    }
}
