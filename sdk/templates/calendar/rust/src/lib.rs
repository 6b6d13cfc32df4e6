//! A connector for Paper's calendars. `event` maps events, `paper` calls the service; here are the operations that a host asks for.

mod event;
mod paper;

use connector_sdk::model::wire::calendar::{CalendarFeatures, EventDelete, EventWrite};
use connector_sdk::model::wire::{Account, ChangesRequest, Mutated, Source, SourceRef, Sources};
use connector_sdk::{Answer, Calendar, Context, Failure, Lifecycle, Outcome, export_connector};

use crate::event::{PaperEvent, calendar, fields, refuse_series, unkept};
use crate::paper::Record;

pub struct MyConnector;

impl Lifecycle for MyConnector {
    fn check(context: &Context) -> Outcome<Account> {
        paper::account(context, "calendar")
    }
}

impl Calendar for MyConnector {
    /// The features beside reading and writing: callers do not ask for those that are not claimed, such as series, guests and busy times.
    fn features(_: &Context) -> Outcome<CalendarFeatures> {
        Ok(CalendarFeatures { delta: "syncToken".into(), ..CalendarFeatures::default() })
    }

    fn list_calendars(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        paper::collections(context, &PaperEvent::NAMES, calendar)
    }

    fn get_event(context: &Context, args: SourceRef) -> Outcome<Sources> {
        paper::get::<PaperEvent>(context, &args.collection, &args.source)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        paper::changes::<PaperEvent>(context, &args)
    }

    fn create_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        refuse_series(&args)?;
        let made = paper::create::<PaperEvent>(context, &args.collection, &fields(&args.event, None))?;
        Ok(written(made, &args))
    }

    fn update_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        refuse_series(&args)?;
        let fields = fields(&args.event, Some(&args.changed));
        let (id, if_match) = (args.target.source.as_deref(), args.target.if_match.as_deref());
        let now = paper::update::<PaperEvent>(context, &args.collection, id, if_match, &fields)?;
        Ok(written(now, &args))
    }

    fn delete_event(context: &Context, args: EventDelete) -> Outcome<Mutated> {
        let id = args.target.source.ok_or_else(|| Failure::invalid("source is missing: name the event"))?;
        let gone = paper::delete::<PaperEvent>(context, &args.collection, id, args.target.if_match.as_deref())?;
        Ok(Mutated { sources: vec![gone], ..Mutated::default() })
    }
}

/// The answer of a change.
fn written(source: Source, args: &EventWrite) -> Mutated {
    let item = Some(source.external_id.clone());
    Mutated { sources: vec![source], item, warnings: paper::warnings(unkept(args)), ..Mutated::default() }
}

export_connector!(MyConnector, [calendar, lifecycle]);
