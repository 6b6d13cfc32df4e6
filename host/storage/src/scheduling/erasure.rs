//! Erasure of booking data after its retention, each time at most so many rows. Each function returns how many rows it changed;
//! none when nothing is left.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::Tx;
use crate::dialect::{each_of, one_of};
use crate::json_text;
use crate::scheduling::mail;
use crate::sql::query;

/// Time that was reserved and was over before then.
pub async fn reserved_times(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let sql = "delete from reserved_times where id in (select id from reserved_times where end_at < $1 order by end_at limit $2)";
    let done = query(sql).bind(before).bind(most).execute(tx).await?;
    Ok(i64::try_from(done).unwrap_or(i64::MAX))
}

/// Erases the personal data of bookings that were over before then: names, addresses, telephone numbers, answers and notes. Links
/// of the invitee end.
pub async fn people(tx: &mut Tx, (before, now): (i64, i64), most: i64) -> Result<i64> {
    let sql = "select id, body, version from bookings where erased_at is null and end_at < $1 order by end_at limit $2";
    let found = query(sql)
        .bind(before)
        .bind(most)
        .fetch_all(&mut *tx, |row| {
            Ok((row.get::<String>("id")?, row.get::<String>("body")?, row.get::<i64>("version")?))
        })
        .await?;
    let mut rows = Vec::with_capacity(found.len());
    for (id, body, version) in found {
        let next = version.saturating_add(1);
        let (body, etag) = (without_people(&body)?, format!("\"{next:016x}\""));
        rows.push(json!({ "id": id, "body": body, "etag": etag, "version": version }));
    }
    if rows.is_empty() {
        return Ok(0);
    }
    // Changed by another host in between: the next step finds it again, unless that host has erased it.
    let sql = each_of!(
        tx,
        "update bookings set body = c.body, invitee_email = '', etag = c.etag, version = bookings.version + 1, \
         manage_version = manage_version + 1, erased_at = $2, updated_at = $2 from (select value ->> 'id' as id, \
         value ->> 'body' as body, value ->> 'etag' as etag, cast(value ->> 'version' as bigint) as version",
        "$1",
        ") as c where bookings.id = c.id and bookings.version = c.version and bookings.erased_at is null"
    );
    let erased = query(sql).bind(json_text(&rows)).bind(now).execute(&mut *tx).await?;
    Ok(i64::try_from(erased).unwrap_or(i64::MAX))
}

/// A booking's JSON without personal data.
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

/// Deletes bookings whose personal data was erased and that were over before then, and meetings without bookings.
pub async fn bookings(tx: &mut Tx, before: i64, most: i64) -> Result<i64> {
    let sql = "select id, meeting_id from bookings where erased_at is not null and end_at < $1 order by end_at limit $2";
    let found = query(sql)
        .bind(before)
        .bind(most)
        .fetch_all(&mut *tx, |row| Ok((row.get::<String>("id")?, row.get::<String>("meeting_id")?)))
        .await?;
    if found.is_empty() {
        return Ok(0);
    }
    let (ids, meetings): (Vec<String>, BTreeSet<String>) = found.into_iter().unzip();
    let ids = json_text(&ids);
    let removed =
        query(one_of!(tx, "delete from bookings where id", "$1")).bind(&ids).execute(&mut *tx).await?;
    mail::forget(tx, &ids).await?;
    let sql = one_of!(tx, "select distinct meeting_id from bookings where meeting_id", "$1");
    let of_others = query(sql).bind(json_text(&meetings));
    let kept = of_others.fetch_all(&mut *tx, |row| row.get::<String>("meeting_id")).await?;
    let kept: BTreeSet<String> = kept.into_iter().collect();
    let gone: Vec<&String> = meetings.difference(&kept).collect();
    // A meeting and its dependent rows: a few rows for each of its hosts.
    for sql in [
        one_of!(tx, "delete from meeting_events where meeting_id", "$1"),
        one_of!(tx, "delete from reserved_times where meeting_id", "$1"),
        one_of!(tx, "delete from meetings where id", "$1"),
    ] {
        query(sql).bind(json_text(&gone)).execute(&mut *tx).await?;
    }
    Ok(i64::try_from(removed).unwrap_or(i64::MAX))
}

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
