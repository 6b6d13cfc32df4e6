//! Calendars as a kind of `Collection`.

use base::error::Result;
use base::input::validate;
use model::calendar::Calendar;

use crate::app::resource_kind::ResourceKind;
use crate::resources::collections::{Collection, color};

impl Collection for Calendar {
    const KIND: ResourceKind = ResourceKind::Calendar;

    fn name(&self) -> &str {
        &self.name
    }

    fn valid(&self) -> Result<()> {
        if let Some(zone) = &self.time_zone {
            validate::zone("timeZone", zone)?;
        }
        color(self.color.as_deref())
    }
}
