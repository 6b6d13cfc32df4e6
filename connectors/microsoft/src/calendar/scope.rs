//! The event that a call is for.

use connector_sdk::{Context, Failure, Outcome};
use model::wire::calendar::{EventTarget, RecurrenceScope};

use crate::calendar::instance::{InstanceName, find_instance};
use crate::calendar::read::read_members;
use crate::calendar::roots::EVENT_NAMES;

/// The event that a call is for, in Graph's terms.
#[derive(Debug)]
pub struct EventScope<'a> {
    pub calendar: &'a str,
    /// The id of a single event or of a series.
    pub source: &'a str,
    /// The instance; none: the source as a whole.
    pub instance: Option<InstanceName>,
    /// The call is for that instance and all later ones.
    pub is_following: bool,
    pub if_match: Option<&'a str>,
}

impl<'a> EventScope<'a> {
    pub fn new(calendar: &'a str, target: &'a EventTarget) -> Outcome<Self> {
        let source = target.source.as_deref().filter(|source| !source.is_empty());
        let source = source.ok_or_else(|| Failure::invalid("source is missing: name the event"))?;
        let names_instance = target.recurrence_id.is_some() || target.original_start.is_some();
        let is_part = names_instance && target.scope != RecurrenceScope::All;
        let instance = is_part
            .then(|| InstanceName { recurrence_id: target.recurrence_id.clone(), at: target.original_start });
        let is_following = is_part && target.scope == RecurrenceScope::ThisAndFollowing;
        Ok(EventScope { calendar, source, instance, is_following, if_match: target.if_match.as_deref() })
    }

    /// Fails with `conflict` where the caller insists on another version than this one.
    pub fn ensure_version(&self, version: Option<&str>) -> Outcome<()> {
        match self.if_match {
            Some(wanted) if version != Some(wanted) => {
                Err(Failure::conflict("the event was changed meanwhile"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the id of the event to write: that of the instance, which Graph chooses by itself, else that of the source. The version of
    /// an instance is that of its series, which is compared before.
    pub fn written_id(&self, context: &Context) -> Outcome<String> {
        let Some(instance) = &self.instance else { return Ok(self.source.to_owned()) };
        if self.if_match.is_some() {
            let series = read_members(context, self.calendar, self.source, EVENT_NAMES)?;
            self.ensure_version(series.version().as_deref())?;
        }
        find_instance(context, self.calendar, self.source, instance)
    }

    /// The version that a request for the event insists on.
    pub fn precondition(&self) -> Option<&'a str> {
        self.if_match.filter(|_| self.instance.is_none())
    }

    /// Runs a request for the event of this id that insists on a version, and once more where Graph refuses it though the event still has
    /// that version, as it does now and then.
    pub fn insisting<T>(
        &self,
        context: &Context,
        id: &str,
        if_match: Option<&str>,
        run: impl Fn(Option<&str>) -> Outcome<T>,
    ) -> Outcome<T> {
        match run(if_match) {
            Err(failure) if failure.http_status == Some(412) => {
                let now = read_members(context, self.calendar, id, EVENT_NAMES)?;
                match now.version().as_deref() == if_match {
                    true => run(if_match),
                    false => Err(failure),
                }
            }
            done => done,
        }
    }
}
