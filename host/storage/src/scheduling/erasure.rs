//! What is forgotten of bookings after their time, each time at most so many rows. Each function returns how many rows it changed; none when
//! nothing is left.

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::Tx;
use crate::scheduling::mail;
use crate::sql::query;

/// Time that was reserved and was over before then.
pub async fn reserved_times(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let sql = "delete from reserved_times where id in (select id from reserved_times where end_at < $1 order by end_at limit $2)";
    let done = query(sql).bind(before).bind(most).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Who had a booking that was over before then: names, addresses, telephone numbers, answers and notes. Links of the invitee end.
pub async fn people(tx: &mut Tx, (before, now): (i64, i64), most: i64) -> Result<i64> {
    let sql = "select id, body, version from bookings where erased_at is null and end_at < $1 order by end_at limit $2";
    let found = query(sql)
        .bind(before)
        .bind(most)
        .fetch_all(&mut *tx, |row| {
            Ok((row.get::<String>("id")?, row.get::<String>("body")?, row.get::<i64>("version")?))
        })
        .await?;
    let mut erased = 0;
    for (id, body, version) in found {
        // Changed meanwhile by another host: the next step finds it again, unless that one has erased it.
        let sql = "update bookings set body = $2, invitee_email = '', etag = $3, version = $4, manage_version = manage_version + 1, \
                   erased_at = $5, updated_at = $5 where id = $1 and version = $6 and erased_at is null";
        let changed = query(sql)
            .bind(&id)
            .bind(without_people(&body)?)
            .bind(format!("\"{:016x}\"", version.saturating_add(1)))
            .bind(version.saturating_add(1))
            .bind(now)
            .bind(version)
            .execute(&mut *tx)
            .await?;
        erased += i64::try_from(changed).unwrap_or(i64::MAX);
    }
    Ok(erased)
}

/// A booking's JSON without what tells of people.
fn without_people(body: &str) -> Result<String> {
    let mut body: Map<String, Value> = serde_json::from_str(body)?;
    let zone = body.get("invitee").map_or(Value::Null, |invitee| invitee["timeZone"].clone());
    let none = [
        ("title", json!("")),
        ("invitee", json!({ "email": "", "timeZone": zone })),
        ("guests", json!([])),
        ("answers", json!({})),
        ("notes", Value::Null),
        ("location", Value::Null),
        ("cancellationReason", Value::Null),
        ("rejectionReason", Value::Null),
    ];
    for (field, value) in none {
        body.insert(field.to_owned(), value);
    }
    if let Some(no_show) = body.get_mut("noShow").and_then(Value::as_object_mut) {
        no_show.insert("inviteeEmails".to_owned(), json!([]));
    }
    Ok(Value::Object(body).to_string())
}

/// Bookings whose people were erased and that were over before then, and meetings of which no booking is left.
pub async fn bookings(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let sql = "select id, meeting_id from bookings where erased_at is not null and end_at < $1 order by end_at limit $2";
    let found = query(sql)
        .bind(before)
        .bind(most)
        .fetch_all(&mut *tx, |row| Ok((row.get::<String>("id")?, row.get::<String>("meeting_id")?)))
        .await?;
    let mut removed = 0;
    for (id, meeting_id) in found {
        let done = query("delete from bookings where id = $1").bind(&id).execute(&mut *tx).await?;
        removed += i64::try_from(done).unwrap_or(i64::MAX);
        mail::forget(tx, &id).await?;
        let left: i64 = query("select count(*) as n from bookings where meeting_id = $1")
            .bind(&meeting_id)
            .fetch_one(&mut *tx, |row| row.get("n"))
            .await?;
        if left == 0 {
            for sql in OF_MEETING {
                query(sql).bind(&meeting_id).execute(&mut *tx).await?;
            }
        }
    }
    Ok(removed)
}

/// A meeting and what hangs on it: a few rows for each of its hosts.
const OF_MEETING: [&str; 3] = [
    "delete from meeting_events where meeting_id = $1",
    "delete from reserved_times where meeting_id = $1",
    "delete from meetings where id = $1",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_people_is_left() {
        let body = json!({
            "title": "Intro with Ada", "status": "completed", "timeZone": "Europe/Berlin",
            "invitee": { "name": "Ada", "email": "ada@example.org", "timeZone": "Europe/Berlin" },
            "guests": [{ "email": "ada2@example.org" }], "answers": { "q": "Ada" }, "notes": "Ada",
            "cancellationReason": "Ada", "noShow": { "host": true, "inviteeEmails": ["ada@example.org"] },
        });
        let left = without_people(&body.to_string()).unwrap();
        assert!(!left.contains("Ada") && !left.contains("ada"), "{left}");
        let left: Value = serde_json::from_str(&left).unwrap();
        assert_eq!((&left["status"], &left["noShow"]["host"]), (&json!("completed"), &json!(true)));
        assert_eq!(left["invitee"]["timeZone"], "Europe/Berlin");
    }
}
