//! Contact books as a kind of `Collection`.

use base::error::Result;
use base::input::validate;
use model::bounds::MAX_LINE;
use model::contacts::ContactBook;

use crate::app::resource_kind::ResourceKind;
use crate::resources::collections::Collection;

impl Collection for ContactBook {
    const KIND: ResourceKind = ResourceKind::ContactBook;

    fn name(&self) -> &str {
        &self.name
    }

    fn valid(&self) -> Result<()> {
        validate::text("description", self.description.as_deref(), MAX_LINE)
    }
}
