//! Several items at once, by their ids.

use anyhow::Result;
use base::tenant::Tenant;

use crate::dialect::one_of;
use crate::items::{Item, item};
use crate::json_text;
use crate::sql::{Reader, query};

/// The live items of the tenant among these ids, of any kind and in no order.
pub async fn find_all(reader: &Reader, tenant: &Tenant, ids: &[&str]) -> Result<Vec<Item>> {
    let sql = one_of!(
        reader,
        select!(concat!(
            "where organization_id = $1 and application_id = $2 and deleted_at is null and ",
            connected!(),
            "and id"
        )),
        "$3"
    );
    query(sql)
        .bind(&tenant.organization_id)
        .bind(&tenant.application_id)
        .bind(json_text(ids))
        .fetch_all(reader, item)
        .await
}
