//! Times of several processes on one machine: the wall clock that all of them read, and the processor time that each of them has used.

use std::fs;

use anyhow::{Context, Result};
use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};

/// Now, in milliseconds since 1970.
pub fn now_ms() -> f64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec as f64 * 1_000.0 + now.tv_nsec as f64 / 1_000_000.0
}

/// A time as the API writes it (`2026-03-01T08:00:00.123Z`), in milliseconds since 1970.
pub fn timestamp_ms(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut time = time.splitn(3, ':').map(|part| part.parse::<f64>().ok());
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    // Years begin in March, so that the leap day is their last day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100;
    let days = days + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some((days as f64 * 86_400.0 + hour * 3_600.0 + minute * 60.0 + second) * 1_000.0)
}

/// Seconds of processor time that a process has used since its start (`proc_pid_stat(5)`: utime and stime).
pub fn processor_seconds(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("cannot read a process's times")?;
    // The second field, the name, may have spaces; it ends with the last parenthesis.
    let (_, rest) = stat.rsplit_once(") ").context("a process's times are not as they should be")?;
    let mut fields = rest.split(' ').skip(11).map(str::parse::<u64>);
    let mut ticks = 0;
    for _ in 0..2 {
        ticks += fields.next().context("a process's times are missing")??;
    }
    Ok(ticks as f64 / clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_milliseconds_since_1970() {
        assert_eq!(timestamp_ms("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(timestamp_ms("2026-03-01T08:00:00.125Z"), Some(1_772_352_000_125.0));
        assert_eq!(timestamp_ms("2024-02-29T00:00:00Z"), Some(1_709_164_800_000.0));
        assert_eq!((timestamp_ms("soon"), timestamp_ms("2026-03-01Z")), (None, None));
    }

    #[test]
    fn this_process_has_used_some_time() {
        assert!(processor_seconds(std::process::id()).unwrap() >= 0.0);
        assert!(now_ms() > 1_700_000_000_000.0);
    }
}
