//! The form for a replay: which events a webhook is sent again.

use std::collections::BTreeSet;

use base::error::{Code, Refusal};
use model::Instant;
use model::webhook::NewWebhookReplay;
use scheduling::hours::Zone;
use serde_json::{Value, json};
use service::locale::html::Html;
use service::manage::webhooks::broken_since;
use storage::webhooks::Webhook;

use crate::admin::parts::field::{FormFaults, InputField, LinesField, hidden, radios};
use crate::admin::texts::fill;
use crate::admin::visit::Visit;

const WHICH: &str = "which";
const FROM: &str = "from";
const TO: &str = "to";
const EVENT_IDS: &str = "event_ids";
/// The time since when the webhook is broken, as the page said it: a form that is sent again asks for the same.
const SINCE_AT: &str = "since_at";
/// The choices.
const SINCE: &str = "since";
const GIVEN_UP: &str = "failed";
const RANGE: &str = "range";
const SINGLE: &str = "ids";
/// Most events that are named.
const MAX_IDS: usize = 1_000;
/// Unknown ids that a fault names.
const MAX_NAMED: usize = 3;
/// Events of this age are kept in any case, ms: an hour less than the time for which all are.
const KEPT_MS: i64 = (30 * 24 - 1) * 3_600_000;

/// The replay that the form asks for, or what is wrong with the form.
pub fn read(visit: &Visit) -> Result<NewWebhookReplay, FormFaults> {
    let t = visit.texts.replays;
    let oldest = visit.app.now() - KEPT_MS;
    let nothing = NewWebhookReplay::default();
    match visit.fields.first(WHICH) {
        SINCE => {
            let at: i64 =
                visit.fields.first(SINCE_AT).parse().map_err(|_| FormFaults::of(WHICH, t.no_choice))?;
            Ok(NewWebhookReplay { from: Some(Instant::from_millis(at.max(oldest))), ..nothing })
        }
        GIVEN_UP => {
            Ok(NewWebhookReplay { from: Some(Instant::from_millis(oldest)), only_failed: true, ..nothing })
        }
        RANGE => {
            let Some(from) = visit.fields.filled(FROM) else { return Err(FormFaults::of(FROM, t.no_from)) };
            let bad = |field| FormFaults::of(field, t.bad_time);
            let zone = &visit.time.zone;
            let from = Some(local_time(zone, &from).ok_or_else(|| bad(FROM))?);
            let to = match visit.fields.filled(TO) {
                Some(to) => Some(local_time(zone, &to).ok_or_else(|| bad(TO))?),
                None => None,
            };
            Ok(NewWebhookReplay { from, to, ..nothing })
        }
        SINGLE => {
            let event_ids = listed(visit.fields.first(EVENT_IDS));
            match event_ids.len() {
                0 => Err(FormFaults::of(EVENT_IDS, t.no_ids)),
                1..=MAX_IDS => Ok(NewWebhookReplay { event_ids, ..nothing }),
                _ => Err(FormFaults::of(EVENT_IDS, t.many_ids)),
            }
        }
        _ => Err(FormFaults::of(WHICH, t.no_choice)),
    }
}

/// The ids of a text, each once; one more than a replay may name at most.
fn listed(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let ids = text.split(|c: char| c.is_whitespace() || c == ',').filter(|id| !id.is_empty());
    ids.filter(|id| seen.insert(*id)).take(MAX_IDS + 1).map(str::to_owned).collect()
}

/// The instant of a local time such as `2026-03-01T09:00` or `2026-03-01 09:00`.
fn local_time(zone: &Zone, text: &str) -> Option<Instant> {
    let (date, time) = text.trim().split_once(['T', ' '])?;
    let (hours, rest) = time.trim().split_once(':')?;
    // Browsers may add seconds.
    let minutes = rest.split(':').next().unwrap_or_default();
    let (hours, minutes): (i16, i16) = (hours.parse().ok()?, minutes.parse().ok()?);
    let is_time = (0..24).contains(&hours) && (0..60).contains(&minutes);
    let at = zone.instant_ms(date.parse().ok().filter(|_| is_time)?, hours * 60 + minutes)?;
    Some(Instant::from_millis(at))
}

/// The replay as the audit log has it.
pub fn details(asked: &NewWebhookReplay) -> Value {
    match asked.event_ids.len() {
        0 => json!({ "from": asked.from, "to": asked.to, "onlyFailed": asked.only_failed }),
        events => json!({ "events": events }),
    }
}

/// The fault of the form that a refusal is about; none of a refusal that is about something else.
pub fn fault(visit: &Visit, asked: &NewWebhookReplay, refusal: &Refusal) -> Option<FormFaults> {
    let t = visit.texts.replays;
    let param = refusal.param.as_deref().unwrap_or_default();
    match refusal.code {
        Code::InvalidTimeRange => {
            let field = if param == TO { TO } else { FROM };
            Some(FormFaults::of(field, fill(t.bad_range, &[("why", &refusal.message)])))
        }
        Code::InvalidParameter if param.starts_with("eventIds") => {
            let named =
                refusal.details.iter().filter_map(|detail| asked.event_ids.get(place(&detail.field)?));
            let ids: Vec<&str> = named.take(MAX_NAMED).map(String::as_str).collect();
            Some(FormFaults::of(EVENT_IDS, fill(t.bad_ids, &[("ids", &ids.join(", "))])))
        }
        _ => None,
    }
}

/// The place of an id in the request, by the name of its field.
fn place(field: &str) -> Option<usize> {
    field.strip_prefix("eventIds[")?.strip_suffix(']')?.parse().ok()
}

/// Adds the form, whose faults are in their places. `path` is where it is sent to, below `/admin/`.
pub fn add_to(visit: &Visit, webhook: &Webhook, path: &str, faults: &FormFaults, html: &mut Html) {
    let (t, frame) = (visit.texts.replays, visit.texts.frame);
    let since = broken_since(webhook).map(|at| at.max(visit.app.now() - KEPT_MS));
    let since_text = since.map(|at| fill(t.since_text, &[("at", &visit.time.exact(at))]));
    let mut options = Vec::new();
    if let Some(text) = &since_text {
        options.push((SINCE, t.since, text.as_str()));
    }
    options.push((GIVEN_UP, t.given_up, t.given_up_text));
    options.push((RANGE, t.range, t.range_text));
    options.push((SINGLE, t.ids, t.ids_text));
    let first = options.first().map_or(GIVEN_UP, |option| option.0);
    let chosen = visit.fields.filled(WHICH).unwrap_or_else(|| first.to_owned());
    html.element("p", t.intro);
    faults.summary(html, frame);
    visit.open_form(html, path);
    radios(html, WHICH, t.which, &options, &chosen, faults);
    if let Some(at) = since {
        hidden(html, SINCE_AT, &at.to_string());
    }
    let zone = [("zone", visit.time.zone.name.as_str())];
    let (from_hint, to_hint) = (fill(t.zone_hint, &zone), fill(t.to_hint, &zone));
    for (id, label, hint) in [(FROM, t.from, &from_hint), (TO, t.to, &to_hint)] {
        let field = InputField::text(id, label, visit.fields.first(id)).with_hint(hint).optional().ltr();
        InputField { kind: "datetime-local", ..field }.add_to(html, frame, faults);
    }
    let value = visit.fields.first(EVENT_IDS);
    let ids = LinesField { id: EVENT_IDS, label: t.event_ids, value, hint: t.event_ids_hint };
    ids.add_to(html, frame, faults);
    html.raw("<button>").text(t.send).raw("</button></form>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_time_is_read_in_the_zone() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        let read = |text| local_time(&berlin, text).map(|at| at.to_string());
        for text in ["2026-03-01T09:00", "2026-03-01 09:00", " 2026-03-01T09:00:30 "] {
            assert_eq!(read(text).as_deref(), Some("2026-03-01T08:00:00.000Z"), "{text}");
        }
        for text in [
            "",
            "2026-03-01",
            "2026-03-01T",
            "2026-03-01T24:00",
            "2026-03-01T-1:00",
            "2026-13-01T09:00",
            "x y",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn ids_stand_apart_somehow_and_count_once() {
        assert_eq!(listed(" ev_1\n\nev_2,ev_1  ev_3,"), ["ev_1", "ev_2", "ev_3"]);
        assert!(listed(" ,\n").is_empty());
        let many: String = (0..2_000).map(|n| format!("ev_{n}\n")).collect();
        assert_eq!(listed(&many).len(), MAX_IDS + 1);
    }
}
