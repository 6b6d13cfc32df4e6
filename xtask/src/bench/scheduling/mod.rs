//! Scheduling: the search for slots beside a search in Node with luxon that has the same result, the growth of its cost, the booking
//! page, the cost of a booking beside one commit, and the waiting time of clients that lose a race for a slot.

mod booking;
mod growth;
mod losers;
mod page;
mod peer;
mod service;
mod slots;

use std::fs;

use anyhow::{Context, Result};

use crate::bench::rig::Rig;
use crate::bench::scheduling::peer::SearchProgram;
use crate::bench::scheduling::service::{EventType, SchedulingData, Service};
use crate::bench::table::Row;
use crate::project;

/// The environment that lets requests come from many addresses: the page has a budget for each.
const BEHIND_A_PROXY: [(&str, &str); 1] = [("SWITCHBOARD_TRUSTED_PROXY", "127.0.0.1")];
/// Hosts of the largest pool, and of the smaller ones.
const HOSTS: usize = 50;
const POOLS: [usize; 3] = [5, 10, 25];
/// Days with events in the calendars, and those of a search. No search has more slots than a page.
const DAYS: usize = 42;
const RANGE: usize = 30;
const RANGES: [usize; 4] = [7, 14, 30, DAYS];
/// Existing meetings of an event type.
const MEETINGS: usize = 40;

/// All rows.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let program = SearchProgram::install()?;
    let plan = SchedulingData::from_value(program.data(HOSTS, DAYS)?)?;
    project::step(&format!("{HOSTS} calendars with {} events each", plan.events()));
    let service = Service::start(rig, "scheduling", &BEHIND_A_PROXY)?.with_hosts(&plan)?;
    let mut one = service.event_type("one", &plan, 1)?;
    let mut pool = service.event_type("pool", &plan, HOSTS)?;
    for of in [&mut one, &mut pool] {
        service.fill(of, &plan, (RANGE, MEETINGS))?;
    }
    service.settle(&[&one, &pool])?;
    let mut pools = POOLS
        .iter()
        .map(|hosts| service.event_type(&format!("pool-{hosts}"), &plan, *hosts))
        .collect::<Result<Vec<EventType>>>()?;
    let folder = rig.folder("scheduling-peer")?;
    let input = folder.join("input.json");
    let all: Vec<&EventType> = [&one, &pool].into_iter().chain(&pools).collect();
    fs::write(&input, service.input(&plan, &all).to_string()).context("cannot write the peer's input")?;
    let peer = program.serve(&input, &folder)?;
    let sides = slots::Sides { service: &service, peer: &peer, plan: &plan };
    let mut rows = sides.compared(rig, "1 host", &one, (RANGE, 5.0))?;
    rows.extend(sides.compared(rig, &format!("pool of {HOSTS}"), &pool, (RANGE, 20.0))?);
    pools.push(pool);
    rows.extend(growth::run(rig, &sides, &pools, (&RANGES, RANGE))?);
    drop(peer);
    rows.extend(page::run(&service, &one, &plan)?);
    service.server.stop()?;
    rows.extend(booking::run(rig, &program)?);
    rows.extend(losers::run(rig)?);
    Ok(rows)
}
