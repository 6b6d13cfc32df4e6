//! Mail about bookings at a change of clocks, and about those that are moved over one.

use serde_json::json;

use super::lifecycle::path;
use super::mail::{body, book, deliver, host, mailbox, received};

/// Berlin's clocks go from 02:00 to 03:00 on 29 March 2026.
#[tokio::test]
async fn mail_about_a_booking_over_a_change_of_clocks_names_both_offsets() {
    let mailbox = mailbox().await;
    let desk = host(&mailbox.server).await;
    let all_day = json!([{ "days": [1, 2, 3, 4, 5, 6, 7], "start": "00:00", "end": "24:00" }]);
    let open = json!({
        "durationMinutes": 60, "slotIntervalMinutes": 30,
        "schedule": { "timeZone": "Europe/Berlin", "weekly": all_day },
    });
    let id = desk.open("night", open).await;
    let first = json!({ "start": "2026-03-27T08:00:00Z", "inviteeTimeZone": "europe/berlin" });
    let booked = book(&desk, &mailbox, &id, first).await;
    deliver(&mailbox.server).await;
    let said = body(&received(&mailbox, "Confirmed: Intro call with Alice").await);
    let when = "When: Friday, 27 March 2026\n      09:00–10:00, Central European Time, Berlin\n";
    assert!(said.replace("\r\n", "\n").contains(when), "{said}");

    let moved = json!({ "start": "2026-03-29T00:30:00Z" });
    desk.api.post(path(&booked, "/reschedule"), moved).send().await.expect(200);
    deliver(&mailbox.server).await;
    let said = body(&received(&mailbox, "New time: Intro call with Alice").await);
    for line in [
        "When: Sunday, 29 March 2026\n      01:30 (UTC+01:00)–03:30 (UTC+02:00), Central European Time, Berlin\n",
        "Before: Friday, 27 March 2026, 09:00\n",
    ] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
}
