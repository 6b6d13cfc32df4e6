//! What is particular to calendars as collections.

use model::calendar::Calendar;

use crate::error::Result;
use crate::resources::collections::{Collection, color};
use crate::resources::{Kind, check};

impl Collection for Calendar {
    const KIND: Kind = Kind::Calendar;

    fn name(&self) -> &str {
        &self.name
    }

    fn valid(&self) -> Result<()> {
        if let Some(zone) = &self.time_zone {
            check::zone("timeZone", zone)?;
        }
        color(self.color.as_deref())
    }
}
