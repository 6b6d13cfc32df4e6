//! The free/busy query: validates it, reads every target, and answers each separately.

use std::collections::HashSet;

use base::error::{Code, Result, invalid};
use base::input::validate;
use model::Instant;
use model::bounds::free_busy::{MAX_DAYS, MAX_TARGETS};
use model::calendar_query::{FreeBusyQuery, FreeBusyResult, FreeBusyTarget, TargetError, TargetStatus};
use scheduling::hours::Zone;
use scheduling::interval::{Interval, Intervals};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::app::stored_response::StoredResponse;
use crate::app::{App, page_cache};
use crate::connections::request_context::RequestContext;
use crate::freebusy::gather::{self, BusyOwner};
use crate::freebusy::question::BusyQuery;
use crate::freebusy::{DAY_MS, busy, check_calendar_ids, missing, range, require, unexpanded, zone};

/// Most busy times of one target in an answer: three months of appointments with a break every quarter of an hour have less than half of
/// it.
const MAX_TIMES: usize = 20_000;
/// Approximate size of a busy time in an answer, without its event.
const TIME_BYTES: usize = 88;

/// Fails if a required field is missing. Values are checked when they are parsed.
pub fn require_fields(body: &Map<String, Value>) -> Result<()> {
    require(body, "", &["start", "end", "targets"])
}

/// The rendered answer: `FreeBusyAnswer` with the warnings of the query before its own.
#[derive(Serialize)]
struct RenderedAnswer {
    data: Vec<FreeBusyResult>,
    complete: bool,
    warnings: Vec<Value>,
}

/// Answers a query. `warnings` are those about its body.
pub async fn answer(
    app: &App,
    asker: &RequestContext,
    query: FreeBusyQuery,
    mut warnings: Vec<Value>,
) -> Result<StoredResponse> {
    let range = range(["start", "end"], query.start, query.end)?;
    if range.len_ms() > MAX_DAYS * DAY_MS {
        let message = format!("start and end may be at most {MAX_DAYS} days apart; ask for a shorter range");
        return Err(invalid(Code::RangeTooLarge, "end", message));
    }
    let zone = zone("timeZone", query.time_zone.as_deref())?.unwrap_or_else(Zone::utc);
    let distinct = Distinct::from_targets(validate_targets(&query.targets)?);
    let question = BusyQuery {
        ranges: Intervals::from(range),
        zone,
        tentative_as_busy: query.tentative_as_busy,
        details: query.include_details,
        ignored: HashSet::new(),
    };
    let answers = gather::busy_of(app, asker, &question, &distinct.whose).await;
    warnings.extend(distinct.warnings);
    let bytes = answers.iter().flatten().map(|found| bytes_of(found)).fold(0, usize::saturating_add);
    let answers = distinct.numbers.into_iter().zip(answers).collect();
    let render = || render(&query.targets, answers, &question, range, warnings);
    let text = app.compute.run(&asker.tenant.application_id, bytes, render).await?;
    Ok(StoredResponse::ok(text))
}

/// The targets of a query without duplicates.
// Contract silent: what is answered for a target that is named twice. It is answered once, where it stands first, with a warning at each of
// the others: an answer is not longer than what there is to tell.
#[derive(Debug, Default)]
struct Distinct {
    /// For each target of the query, the index of its first occurrence.
    numbers: Vec<usize>,
    whose: Vec<BusyOwner>,
    warnings: Vec<Value>,
}

impl Distinct {
    fn from_targets(targets: Vec<BusyOwner>) -> Distinct {
        let mut out = Distinct::default();
        for (number, whose) in targets.into_iter().enumerate() {
            let known = out.whose.iter().position(|known| *known == whose);
            match known.and_then(|known| out.numbers.get(known).copied()) {
                None => {
                    out.numbers.push(number);
                    out.whose.push(whose);
                }
                Some(first) => {
                    let target = format!("targets[{number}]");
                    let message = format!("{target} is the same as targets[{first}], and is answered there");
                    let code = "duplicate_target";
                    out.warnings.push(json!({ "code": code, "message": message, "target": target }));
                }
            }
        }
        out
    }
}

/// Approximate size of busy times in an answer.
fn bytes_of(found: &[busy::BusyStretch]) -> usize {
    let one = |b: &busy::BusyStretch| {
        let title = b.title.as_ref().map_or(0, |title| title.len());
        TIME_BYTES + b.event_id.as_ref().map_or(0, String::len) + title
    };
    found.iter().map(one).fold(0, usize::saturating_add)
}

/// Renders an answer from the distinct targets by their indices.
fn render(
    targets: &[FreeBusyTarget],
    answers: Vec<(usize, Result<Vec<busy::BusyStretch>, TargetError>)>,
    question: &BusyQuery,
    range: Interval,
    mut warnings: Vec<Value>,
) -> Result<String> {
    let complete = answers.iter().all(|(_, answer)| answer.is_ok());
    let mut data = Vec::with_capacity(answers.len());
    let mut bytes = 0_usize;
    for (number, answer) in answers {
        let target = targets.get(number).cloned().unwrap_or_default();
        let name = format!("targets[{number}]");
        let mut found = match answer {
            Ok(found) => found,
            Err(error) => {
                let (status, busy, error) = (TargetStatus::Error, Vec::new(), Some(error));
                data.push(FreeBusyResult { target, status, busy, error });
                continue;
            }
        };
        // More was read than was asked for: a day on each side.
        found.retain(|busy| !busy.at.clip(range).is_empty());
        for warning in unexpanded(&found, &question.ranges, &name) {
            warnings.push(serde_json::to_value(warning)?);
        }
        let times = match question.details {
            // In the answer each event has its own title, while the events of a series share one in memory: the size is checked before it
            // is written.
            true => {
                bytes = room_for(bytes, bytes_of(&found))?;
                busy::detailed(found, range)
            }
            false => busy::merged(&found, range),
        };
        let (busy, from) = busy::limited(times, MAX_TIMES);
        if !question.details {
            bytes = room_for(bytes, busy.len().saturating_mul(TIME_BYTES))?;
        }
        warnings.extend(from.map(|from| joined_warning(from, &name)));
        data.push(FreeBusyResult { target, status: TargetStatus::Ok, busy, error: None });
    }
    Ok(serde_json::to_string(&RenderedAnswer { data, complete, warnings })?)
}

fn joined_warning(from: Instant, target: &str) -> Value {
    let message =
        format!("there are more than {MAX_TIMES} busy times; from {from} on they are joined into one");
    json!({ "code": "busy_times_joined", "message": message, "target": target })
}

/// The size of an answer with `more` bytes. Fails beyond the limit of an answer.
fn room_for(bytes: usize, more: usize) -> Result<usize> {
    let bytes = bytes.saturating_add(more);
    if bytes <= page_cache::MAX_BYTES {
        return Ok(bytes);
    }
    let message = "too many busy times for one answer; ask for a shorter range, or for fewer targets";
    Err(invalid(Code::RangeTooLarge, "end", message))
}

fn validate_targets(targets: &[FreeBusyTarget]) -> Result<Vec<BusyOwner>> {
    if targets.is_empty() || targets.len() > MAX_TARGETS {
        let code = if targets.is_empty() { Code::MissingField } else { Code::InvalidParameter };
        return Err(invalid(
            code,
            "targets",
            format!("targets names 1 to {MAX_TARGETS} calendars or people"),
        ));
    }
    targets.iter().enumerate().map(|(i, target)| whose(&format!("targets[{i}]"), target)).collect()
}

fn whose(path: &str, target: &FreeBusyTarget) -> Result<BusyOwner> {
    let conflict = |field: &str, message: &str| {
        let field = format!("{path}.{field}");
        invalid(Code::ConflictingFields, field.clone(), format!("{field}: {message}"))
    };
    match (&target.connection_id, &target.email) {
        (Some(_), Some(_)) => {
            Err(conflict("email", "send either connectionId, or email with viaConnectionId"))
        }
        (None, None) => {
            let field = format!("{path}.connectionId");
            let message = format!("{field} is required, or email with viaConnectionId");
            Err(invalid(Code::MissingField, field, message))
        }
        (Some(connection_id), None) => {
            if target.via_connection_id.is_some() {
                return Err(conflict(
                    "viaConnectionId",
                    "it belongs to email; connectionId needs no other connection",
                ));
            }
            check_calendar_ids(&format!("{path}.calendarIds"), target.calendar_ids.as_deref())?;
            let mut calendar_ids = target.calendar_ids.clone();
            if let Some(ids) = &mut calendar_ids {
                // The order is irrelevant: lists of the same calendars are equal.
                ids.sort_unstable();
                ids.dedup();
            }
            Ok(BusyOwner::Calendars { connection_id: connection_id.clone(), calendar_ids })
        }
        (None, Some(email)) => {
            if target.calendar_ids.is_some() {
                return Err(conflict(
                    "calendarIds",
                    "it belongs to connectionId; calendars of others are not known",
                ));
            }
            let Some(via) = &target.via_connection_id else {
                return Err(missing(format!("{path}.viaConnectionId")));
            };
            validate::address(&format!("{path}.email"), email)?;
            Ok(BusyOwner::Person { email: email.clone(), connection_id: via.clone() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::error::Error;

    fn fault(target: FreeBusyTarget) -> (Code, String) {
        let targets =
            [FreeBusyTarget { connection_id: Some("conn_1".into()), ..FreeBusyTarget::default() }, target];
        match validate_targets(&targets) {
            Err(Error::Refused(r)) => (r.code, r.param.unwrap_or_default()),
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn a_target_is_a_connection_or_an_address() {
        let some = |text: &str| Some(text.to_owned());
        let of = |email: &str| FreeBusyTarget {
            email: some(email),
            via_connection_id: some("conn_1"),
            ..FreeBusyTarget::default()
        };
        assert!(whose("targets[0]", &of("ada@example.com")).is_ok());
        for wrong in [
            "ada",
            "@example.com",
            "ada@",
            "a b@example.com",
            "<ada@example.com>",
            "a@b.c,d@e.f",
            "a@b@c.org",
            "a@b\r\n.c",
        ] {
            assert_eq!(fault(of(wrong)), (Code::InvalidParameter, "targets[1].email".into()), "{wrong:?}");
        }
        let nobody = FreeBusyTarget::default();
        assert_eq!(fault(nobody), (Code::MissingField, "targets[1].connectionId".into()));
        let no_way = FreeBusyTarget { via_connection_id: None, ..of("ada@example.com") };
        assert_eq!(fault(no_way), (Code::MissingField, "targets[1].viaConnectionId".into()));
        let both = FreeBusyTarget { connection_id: some("conn_1"), ..of("ada@example.com") };
        assert_eq!(fault(both), (Code::ConflictingFields, "targets[1].email".into()));
        let calendars = FreeBusyTarget { calendar_ids: Some(vec!["cal_1".into()]), ..of("ada@example.com") };
        assert_eq!(fault(calendars), (Code::ConflictingFields, "targets[1].calendarIds".into()));
        let none = FreeBusyTarget {
            connection_id: some("conn_1"),
            calendar_ids: Some(vec![]),
            ..FreeBusyTarget::default()
        };
        assert_eq!(fault(none), (Code::InvalidParameter, "targets[1].calendarIds".into()));
    }

    #[test]
    fn what_is_named_twice_is_asked_once() {
        let of = |calendars: &[&str]| FreeBusyTarget {
            connection_id: Some("conn_1".into()),
            calendar_ids: Some(calendars.iter().map(ToString::to_string).collect()),
            ..FreeBusyTarget::default()
        };
        let all = FreeBusyTarget { connection_id: Some("conn_1".into()), ..FreeBusyTarget::default() };
        let targets = [of(&["a", "b"]), all.clone(), of(&["b", "a", "b"]), of(&["a"]), all];
        let distinct = Distinct::from_targets(validate_targets(&targets).unwrap());
        assert_eq!((distinct.numbers, distinct.whose.len()), (vec![0, 1, 3], 3));
        let warned: Vec<&str> = distinct.warnings.iter().filter_map(|w| w["target"].as_str()).collect();
        assert_eq!(warned, ["targets[2]", "targets[4]"]);
        assert!(distinct.warnings[1]["message"].as_str().unwrap().contains("targets[1]"));
    }

    #[test]
    fn an_answer_with_details_is_measured_before_they_are_written_out() {
        let title: std::sync::Arc<str> = "x".repeat(500_000).into();
        let busy = |hour: i64| busy::BusyStretch {
            at: Interval::new(hour * 3_600_000, (hour + 1) * 3_600_000),
            show_as: model::calendar::ShowAs::Busy,
            event_id: Some(format!("evt_1_{hour}")),
            title: Some(title.clone()),
            unexpanded: None,
        };
        let question = |details| BusyQuery {
            ranges: Intervals::default(),
            zone: Zone::utc(),
            tentative_as_busy: true,
            details,
            ignored: HashSet::new(),
        };
        let range = Interval::new(0, 100 * 3_600_000);
        let rendered = |hours: i64, details| {
            let answers = vec![(0, Ok((0..hours).map(busy).collect()))];
            render(&[FreeBusyTarget::default()], answers, &question(details), range, Vec::new())
        };
        assert!(rendered(8, true).unwrap().len() > 4_000_000);
        assert!(matches!(rendered(9, true), Err(Error::Refused(r)) if r.code == Code::RangeTooLarge));
        assert!(rendered(9, false).unwrap().len() < 1_000);
        // Busy times outside the range cost nothing.
        let answers = vec![(0, Ok((0..20).map(busy).collect()))];
        let first = Interval::new(0, 2 * 3_600_000);
        let text = render(&[FreeBusyTarget::default()], answers, &question(true), first, Vec::new()).unwrap();
        assert!((1_000_000..1_100_000).contains(&text.len()), "{}", text.len());
    }

    #[test]
    fn there_are_one_to_fifty_targets() {
        let target = FreeBusyTarget { connection_id: Some("conn_1".into()), ..FreeBusyTarget::default() };
        assert!(validate_targets(&[]).is_err());
        assert!(validate_targets(&vec![target.clone(); 50]).is_ok());
        assert!(validate_targets(&vec![target; 51]).is_err());
    }
}
