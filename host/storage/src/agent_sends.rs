//! Messages and invitations that assistants send with a key. Table: `api_keys`, `migrations/0101_agent_policy.sql`.

use anyhow::Result;

use crate::Tx;
use crate::sql::{Row, query};

/// Counts one send of an hour (hours since 1970), unless the key has `limit` of them. Returns whether it may be done. An act that was counted
/// before, by the name of it, is not counted again: the names of the latest acts are kept in 2,000 characters. Hosts whose clocks differ count
/// in the latest hour that one of them has reached.
pub async fn take(tx: &mut Tx, key_id: &str, act: &str, hour: i64, limit: i64) -> Result<bool> {
    let (name, pattern) = (format!(" {act}"), format!("% {act}%"));
    let sql = "update api_keys set agent_sends = case when agent_hour < $2 then 1 else agent_sends + 1 end, \
               agent_hour = case when agent_hour < $2 then $2 else agent_hour end, \
               agent_acts = $4 || substr(agent_acts, 1, 2000) \
               where id = $1 and revoked_at is null and $3 > 0 and (agent_hour < $2 or agent_sends < $3) \
               and agent_acts not like $5";
    let counted =
        query(sql).bind(key_id).bind(hour).bind(limit).bind(&name).bind(&pattern).execute(&mut *tx).await?;
    if counted > 0 {
        return Ok(true);
    }
    let sql = "select agent_sends from api_keys where id = $1 and revoked_at is null and agent_acts like $2";
    let read = |row: &Row<'_>| row.get::<i64>("agent_sends");
    Ok(query(sql).bind(key_id).bind(&pattern).fetch_optional(&mut *tx, read).await?.is_some())
}
