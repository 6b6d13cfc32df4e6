//! Contact groups as a kind of `CollectionItem`.

use base::error::{Code, Result, invalid};
use base::input::validate;
use model::Instant;
use model::bounds::MAX_LABEL;
use model::contacts::ContactGroup;
use model::wire::ItemWrite;

use crate::app::resource_kind::ResourceKind;
use crate::connections::write_context::WriteContext;
use crate::local_copy::contact::MAX_INLINE_MEMBERS;
use crate::resources::collection_items::{self, CollectionItem};
use crate::writes::open_collection::OpenCollection;

impl CollectionItem for ContactGroup {
    const KIND: ResourceKind = ResourceKind::ContactGroup;
    type Args = ItemWrite<Self>;

    fn complete(
        &mut self,
        before: Option<&Self>,
        changed: &mut Vec<String>,
        _: Instant,
        _: &str,
    ) -> Result<()> {
        let is_new = |field: &str| changed.iter().any(|f| f == field);
        if (before.is_none() || is_new("name")) && self.name.trim().is_empty() {
            return Err(invalid(Code::MissingField, "name", "name is required"));
        }
        if is_new("name") {
            validate::text("name", Some(&self.name), MAX_LABEL)?;
        }
        if is_new("contactIds") {
            let members = self.contact_ids.get_or_insert_default();
            validate::length("contactIds", members.len(), MAX_INLINE_MEMBERS)?;
            if let Some(twin) = (1..members.len()).find(|i| members[..*i].contains(&members[*i])) {
                return Err(validate::fault(&format!("contactIds[{twin}]"), "is there twice"));
            }
        }
        Ok(())
    }

    async fn args(
        cx: &WriteContext,
        opened: &OpenCollection,
        mut write: ItemWrite<Self>,
        _: Option<&Self>,
    ) -> Result<ItemWrite<Self>> {
        // Unchanged members are not checked: they are the provider's data.
        let members =
            write.body.contact_ids.take().filter(|_| write.changed.iter().any(|f| f == "contactIds"));
        if let Some(members) = members {
            let field = |i: usize| format!("contactIds[{i}]");
            let found =
                collection_items::resolve_ids(cx, opened, ResourceKind::Contact, &members, field).await?;
            write.body.contact_ids = Some(found.iter().map(collection_items::uid).collect());
        }
        Ok(write)
    }
}
