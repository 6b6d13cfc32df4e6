//! What is particular to task lists as collections.

use base::error::Result;
use model::tasks::TaskList;

use crate::app::resource_kind::Kind;
use crate::resources::collections::{Collection, color};

impl Collection for TaskList {
    const KIND: Kind = Kind::TaskList;

    fn name(&self) -> &str {
        &self.name
    }

    fn valid(&self) -> Result<()> {
        color(self.color.as_deref())
    }
}
