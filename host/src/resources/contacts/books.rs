//! What is particular to contact books as collections.

use model::contacts::ContactBook;

use crate::error::Result;
use crate::resources::Kind;
use crate::resources::check::{self, MAX_LINE};
use crate::resources::collections::Collection;

impl Collection for ContactBook {
    const KIND: Kind = Kind::ContactBook;

    fn name(&self) -> &str {
        &self.name
    }

    fn valid(&self) -> Result<()> {
        check::text("description", self.description.as_deref(), MAX_LINE)
    }
}
