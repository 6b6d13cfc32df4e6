//! Task lists as a kind of `Collection`.

use base::error::Result;
use model::tasks::TaskList;

use crate::app::resource_kind::ResourceKind;
use crate::resources::collections::{Collection, color};

impl Collection for TaskList {
    const KIND: ResourceKind = ResourceKind::TaskList;

    fn name(&self) -> &str {
        &self.name
    }

    fn valid(&self) -> Result<()> {
        color(self.color.as_deref())
    }
}
