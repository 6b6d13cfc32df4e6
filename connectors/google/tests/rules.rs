//! Recurrence lines of Google's series.

use connector_google::{google_lines, lines};

fn owned(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

#[test]
fn lines_have_iana_zones_and_nothing_but_recurrence() {
    let theirs = [
        "RRULE:FREQ=WEEKLY;UNTIL=20260630T160000Z;BYDAY=MO",
        "exrule:FREQ=MONTHLY;BYDAY=1MO",
        "EXDATE;TZID=W. Europe Standard Time:20260309T090000,20260316T090000",
        "EXDATE;VALUE=DATE:20260401",
        "RDATE;TZID=\"Europe/Berlin\":20260310T090000",
        "RDATE;TZID=\"a:b\":20260310T090000",
        " ",
        "DTSTART:20260302T090000Z",
        "no colon",
    ];
    assert_eq!(
        lines(&owned(&theirs)),
        [
            "RRULE:FREQ=WEEKLY;UNTIL=20260630T160000Z;BYDAY=MO",
            "EXRULE:FREQ=MONTHLY;BYDAY=1MO",
            "EXDATE;TZID=Europe/Berlin:20260309T090000,20260316T090000",
            "EXDATE;VALUE=DATE:20260401",
            "RDATE;TZID=Europe/Berlin:20260310T090000",
            "RDATE;TZID=\"a:b\":20260310T090000",
        ]
    );
}

#[test]
fn written_dates_say_what_they_are() {
    let ours = ["RRULE:FREQ=DAILY", "EXDATE:20260309T090000", "EXDATE:20260310T080000Z"];
    assert_eq!(
        google_lines(&owned(&ours), "Europe/Berlin", false),
        ["RRULE:FREQ=DAILY", "EXDATE;TZID=Europe/Berlin:20260309T090000", "EXDATE:20260310T080000Z"]
    );
    let days = ["EXDATE:20260309", "RDATE;VALUE=DATE:20260310"];
    assert_eq!(
        google_lines(&owned(&days), "Europe/Berlin", true),
        ["EXDATE;VALUE=DATE:20260309", "RDATE;VALUE=DATE:20260310"]
    );
    for text in ["EXDATE;TZID=America/New_York:20260309T090000", "RDATE;VALUE=PERIOD:20260309T090000Z/PT1H"] {
        assert_eq!(google_lines(&owned(&[text]), "Europe/Berlin", false), [text]);
    }
}
