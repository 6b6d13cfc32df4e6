//! The search for slots, ours beside the other side's. Both answers are compared before the measurement.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::bench::load::{Load, LoadMeasurement, abba, measure};
use crate::bench::rig::Rig;
use crate::bench::scheduling::peer::Peer;
use crate::bench::scheduling::service::{EventType, SchedulingData, Service};
use crate::bench::table::{FigureTarget, Row};
use crate::http::Client;

/// Simultaneous clients of the rows with several.
const CLIENTS: usize = 16;
/// The minimum number of requests for a p99.
const REQUESTS: u64 = 2_000;
/// The minimum ratio of our requests to the other side's.
const AT_LEAST: f64 = 20.0;

/// Both sides.
pub struct Sides<'a> {
    pub service: &'a Service,
    pub peer: &'a Peer,
    pub plan: &'a SchedulingData,
}

impl Sides<'_> {
    /// Three rows: the p99 of one client, with a maximum in milliseconds, and the rates of one and of several clients beside the other
    /// side's.
    pub fn compared(
        &self,
        rig: &Rig,
        what: &str,
        of: &EventType,
        (days, most_ms): (usize, f64),
    ) -> Result<Vec<Row>> {
        let query = self.plan.query(of, days);
        let (count, bytes) = self.check(&query)?;
        let what = format!("search for slots, {what}, {days} days, {} events each", self.plan.events());
        let mut rows = Vec::new();
        for clients in [1, CLIENTS] {
            let ours = self.service.load(&query, clients);
            let theirs = Load { address: self.peer.address, headers: Vec::new(), ..ours.clone() };
            let (mut a, b) = abba(&ours, &theirs, rig.seconds)?;
            if clients == 1 {
                up_to(&mut a, &ours, rig.seconds)?;
                rows.push(Row {
                    what: format!("{what}: 99 of 100 ({count} slots, {bytes} B, 1 client)"),
                    ours: a.render(),
                    baseline: "–".to_owned(),
                    figure: ms(&a, 0.99),
                    unit: " ms".to_owned(),
                    target: FigureTarget::AtMost(most_ms),
                });
            }
            rows.push(Row {
                what: format!("{what} (clients: {clients})"),
                ours: a.render(),
                baseline: format!("Node with luxon, the same answer: {}", b.render()),
                figure: a.rate() / b.rate(),
                unit: "×".to_owned(),
                target: FigureTarget::AtLeast(AT_LEAST),
            });
        }
        Ok(rows)
    }

    /// Returns the median of one client, ms, and the number of slots in its answer.
    pub fn median(&self, rig: &Rig, of: &EventType, days: usize) -> Result<(f64, usize)> {
        let query = self.plan.query(of, days);
        let (count, _) = self.check(&query)?;
        let measured = measure(&self.service.load(&query, 1), rig.seconds)?;
        Ok((ms(&measured, 0.5), count))
    }

    /// Fails unless both sides have the same slots, all of them. Returns their number, and the bytes of our answer.
    fn check(&self, query: &Value) -> Result<(usize, usize)> {
        let ours = self.service.ask(query)?;
        let peer = Client::new(&format!("http://{}", self.peer.address), "");
        let theirs = peer.send("POST", "/", &[], Some(query))?.expect(&[200])?;
        ensure!(ours["next_cursor"].is_null(), "the slots are more than a page");
        ensure!(ours["complete"] == true, "a calendar was not read: {}", ours["unavailable_hosts"]);
        ensure!(ours["time_zone"] == theirs["time_zone"], "the zones differ");
        let (mine, other) = (slots(&ours)?, slots(&theirs)?);
        let differs = mine.iter().zip(&other).find(|(mine, other)| mine != other);
        if let Some((mine, other)) = differs {
            bail!("the answers differ: {mine} and {other}");
        }
        ensure!(mine.len() == other.len(), "{} slots and {}", mine.len(), other.len());
        ensure!(!mine.is_empty(), "nothing is free");
        Ok((mine.len(), ours.to_string().len()))
    }
}

/// Returns the slots of an answer without their tokens, which are opaque.
fn slots(answer: &Value) -> Result<Vec<Value>> {
    let mut slots = answer["data"].as_array().context("there are no slots")?.clone();
    for slot in &mut slots {
        let token = slot.as_object_mut().and_then(|slot| slot.remove("slotToken"));
        ensure!(token.is_some_and(|token| token.is_string()), "a slot has no token");
    }
    Ok(slots)
}

/// Adds runs until there are enough requests.
fn up_to(measured: &mut LoadMeasurement, load: &Load, seconds: u64) -> Result<()> {
    while measured.requests < REQUESTS {
        measured.add(measure(load, seconds)?);
    }
    Ok(())
}

/// Returns the milliseconds below which this share of requests stays.
fn ms(measured: &LoadMeasurement, share: f64) -> f64 {
    f64::from(measured.quantile(share)) / 1_000.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn slots_are_compared_without_their_tokens() {
        let answer = |token: &str| json!({ "data": [{ "start": "x", "hostCount": 1, "slotToken": token }] });
        assert_eq!(slots(&answer("a")).unwrap(), slots(&answer("b")).unwrap());
        assert!(slots(&json!({ "data": [{ "start": "x" }] })).is_err());
        assert!(slots(&json!({})).is_err());
    }
}
