//! Lengths that other programs write as DURATION, over the change of clocks on 28 March 2027: days are by the clock, hours are exact.

use serde_json::{Value, json};

use crate::dav::{connect, peer, put, server};

const CALENDAR: &str = "text/calendar; charset=utf-8";

/// An object in Berlin with these lines.
fn object(uid: &str, lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Lengths//EN\nBEGIN:VTIMEZONE\nTZID:Europe/Berlin\nBEGIN:DAYLIGHT\n\
         DTSTART:19810329T020000\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nTZNAME:CEST\n\
         END:DAYLIGHT\nBEGIN:STANDARD\nDTSTART:19961027T030000\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nTZOFFSETFROM:+0200\n\
         TZOFFSETTO:+0100\nTZNAME:CET\nEND:STANDARD\nEND:VTIMEZONE\nBEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\n\
         DTSTART;TZID=Europe/Berlin:20270327T180000\nSUMMARY:{uid}\n{lines}\nEND:VEVENT\nEND:VCALENDAR\n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_is_by_the_clock_and_an_hour_is_exact() {
    for (variable, user) in [("RADICALE_URL", "t18"), ("CYRUS_URL", "t18")] {
        let Some(url) = peer(variable) else { continue };
        let server = server().await;
        let api = server.client().await;
        let connection = connect(&api, &url, user).await;
        let body =
            json!({ "connectionId": connection["id"], "name": "Lengths", "timeZone": "Europe/Berlin" });
        let calendar = api.post("/v1/calendars", body).send().await.expect(201);
        let (id, place) = (&calendar["id"], calendar["externalId"].as_str().expect("a place"));
        let events = format!("/v1/calendars/{}/events", id.as_str().expect("an id"));
        for (uid, lines) in [
            ("day", "DURATION:P1D"),
            ("day-and-hours", "DURATION:P1DT2H"),
            // Not 24 hours: Radicale rewrites them as a day.
            ("hours", "DURATION:PT23H"),
            ("days", "DURATION:P1D\nRRULE:FREQ=DAILY;COUNT=3"),
            ("exact", "DTEND;TZID=Europe/Berlin:20270328T180000\nRRULE:FREQ=DAILY;COUNT=3"),
        ] {
            put(&url, user, place, &format!("{uid}.ics"), (CALENDAR, &object(uid, lines))).await;
        }
        let range = format!("{events}?expand=true&start=2027-03-01T00:00:00Z&end=2027-05-01T00:00:00Z");
        let page = api.get(range).header("cache-control", "no-cache").send().await.expect(200);
        let ends = |uid: &str| -> Vec<Value> {
            let own = page["data"].as_array().into_iter().flatten().filter(|event| event["title"] == uid);
            own.map(|event| event["end"].clone()).collect()
        };
        let at = |times: &[&str]| -> Vec<Value> {
            times.iter().map(|time| json!(format!("2027-03-{time}:00:00.000Z"))).collect()
        };
        assert_eq!(ends("day"), at(&["28T16"]));
        assert_eq!(ends("day-and-hours"), at(&["28T18"]));
        assert_eq!(ends("hours"), at(&["28T16"]));
        assert_eq!(ends("days"), at(&["28T16", "29T16", "30T16"]));
        // The first day had 23 hours: with an end, so have all.
        assert_eq!(ends("exact"), at(&["28T16", "29T15", "30T15"]));
        api.delete(format!("/v1/calendars/{}", id.as_str().expect("an id"))).send().await.expect(204);
    }
}
