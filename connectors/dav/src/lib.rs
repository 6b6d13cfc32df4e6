//! CalDAV.

use connector_sdk::{Calendar, Lifecycle, export_connector};

/// CalDAV.
pub struct Dav;

impl Calendar for Dav {}
impl Lifecycle for Dav {}

export_connector!(Dav, [calendar, lifecycle]);
