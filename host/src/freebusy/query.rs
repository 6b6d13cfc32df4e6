//! The free/busy query: checks it, asks every target, and answers each for itself.

use std::collections::HashSet;

use base::error::{Code, Result, invalid};
use model::calendar_query::{FreeBusyAnswer, FreeBusyQuery, FreeBusyResult, FreeBusyTarget, TargetStatus};
use scheduling::hours::Zone;
use scheduling::interval::Intervals;
use serde_json::{Map, Value};

use crate::app::App;
use crate::freebusy::gather::{self, Question, Whose};
use crate::freebusy::{DAY_MS, busy, check_calendar_ids, missing, range, require, unexpanded, zone};
use crate::resources::Asker;

/// Longest range.
const MAX_RANGE_MS: i64 = 92 * DAY_MS;
const MAX_TARGETS: usize = 50;
/// RFC 5321 section 4.5.3.1.3.
const MAX_EMAIL: usize = 254;

/// Refuses a body without a field that must be there. Values are checked when they are typed.
pub fn require_fields(body: &Map<String, Value>) -> Result<()> {
    require(body, "", &["start", "end", "targets"])
}

/// Answers a query.
pub async fn answer(app: &App, asker: &Asker, query: FreeBusyQuery) -> Result<FreeBusyAnswer> {
    let range = range(("start", query.start), ("end", query.end))?;
    if range.len_ms() > MAX_RANGE_MS {
        let message = "start and end may be at most 92 days apart; ask for a shorter range";
        return Err(invalid(Code::RangeTooLarge, "end", message));
    }
    let zone = zone("timeZone", query.time_zone.as_deref())?.unwrap_or_else(Zone::utc);
    let targets = checked(&query.targets)?;
    let question = Question {
        ranges: Intervals::from(range),
        zone,
        tentative_as_busy: query.tentative_as_busy,
        details: query.include_details,
        ignored: HashSet::new(),
    };
    let answers = gather::busy_of(app, asker, &question, &targets).await;
    let complete = answers.iter().all(Result::is_ok);
    let warnings = |(i, answer): (usize, &Result<Vec<busy::Busy>, _>)| {
        let found = answer.as_ref().map(Vec::as_slice).unwrap_or_default();
        unexpanded(found, &question.ranges, &format!("targets[{i}]"))
    };
    let warnings = answers.iter().enumerate().flat_map(warnings).collect();
    let result = |(target, answer): (FreeBusyTarget, Result<Vec<busy::Busy>, _>)| match answer {
        Ok(found) => {
            let busy =
                if question.details { busy::detailed(found, range) } else { busy::merged(&found, range) };
            FreeBusyResult { target, status: TargetStatus::Ok, busy, error: None }
        }
        Err(error) => {
            FreeBusyResult { target, status: TargetStatus::Error, busy: Vec::new(), error: Some(error) }
        }
    };
    let data = query.targets.into_iter().zip(answers).map(result).collect();
    Ok(FreeBusyAnswer { data, complete, warnings })
}

fn checked(targets: &[FreeBusyTarget]) -> Result<Vec<Whose>> {
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

fn whose(path: &str, target: &FreeBusyTarget) -> Result<Whose> {
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
            let calendar_ids = target.calendar_ids.clone();
            Ok(Whose::Calendars { connection_id: connection_id.clone(), calendar_ids })
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
            if !is_address(email) {
                let field = format!("{path}.email");
                let message = format!("{field} must be one address, such as ada@example.com");
                return Err(invalid(Code::InvalidParameter, field, message));
            }
            Ok(Whose::Person { email: email.clone(), connection_id: via.clone() })
        }
    }
}

/// Enough to keep it from being something else in a provider's request; whether it exists is the provider's to say.
fn is_address(text: &str) -> bool {
    let has_two_parts =
        text.rsplit_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"<>,;:\"".contains(c);
    has_two_parts && text.len() <= MAX_EMAIL && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::error::Error;

    fn fault(target: FreeBusyTarget) -> (Code, String) {
        let targets =
            [FreeBusyTarget { connection_id: Some("conn_1".into()), ..FreeBusyTarget::default() }, target];
        match checked(&targets) {
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
    fn there_are_one_to_fifty_targets() {
        let target = FreeBusyTarget { connection_id: Some("conn_1".into()), ..FreeBusyTarget::default() };
        assert!(checked(&[]).is_err());
        assert!(checked(&vec![target.clone(); 50]).is_ok());
        assert!(checked(&vec![target; 51]).is_err());
    }
}
