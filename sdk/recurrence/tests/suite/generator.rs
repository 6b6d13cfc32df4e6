//! Random series, the same for the same seed.

use jiff::civil::DateTime;

/// xorshift64*: small, seeded, good enough to choose test cases.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// `from` to `to`, both included.
    pub fn between(&mut self, from: i64, to: i64) -> i64 {
        from + i64::try_from((self.roll() >> 16) % (to - from + 1).unsigned_abs()).expect("a small span")
    }

    pub fn chance(&mut self, percent: i64) -> bool {
        self.between(1, 100) <= percent
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[usize::try_from(self.between(0, list.len() as i64 - 1)).expect("an index")]
    }

    /// One to `most` different numbers of the span, any sign where `signed`.
    fn numbers(&mut self, from: i64, to: i64, most: i64, signed: bool) -> String {
        let count = self.between(1, most);
        let mut list: Vec<i64> = (0..count)
            .map(|_| self.between(from, to) * if signed && self.chance(35) { -1 } else { 1 })
            .collect();
        list.sort_unstable();
        list.dedup();
        list.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
    }
}

/// Zones with every kind of change: none, an hour, half an hour, at midnight, a whole day, permanent moves.
pub const ZONES: [&str; 14] = [
    "Europe/Berlin",
    "America/New_York",
    "Europe/London",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Pacific/Apia",
    "UTC",
    "Africa/Casablanca",
    "America/St_Johns",
    "Asia/Tehran",
    "Pacific/Auckland",
    "Africa/Cairo",
    "America/Santiago",
];

/// Local days near a change of clocks in one of the zones.
const CHANGES: [&str; 12] = [
    "2026-03-28",
    "2026-10-24",
    "2026-03-07",
    "2026-10-31",
    "2018-11-03",
    "2018-02-17",
    "2011-12-28",
    "2026-04-04",
    "2026-10-03",
    "2027-03-27",
    "2026-09-26",
    "2021-04-03",
];

/// A series as text, so that a failing case can be read and repeated.
#[derive(Clone, Debug)]
pub struct Case {
    pub zone: &'static str,
    pub local: DateTime,
    pub all_day: bool,
    pub lines: Vec<String>,
}

pub fn case(dice: &mut Dice) -> Case {
    let zone = *dice.pick(&ZONES);
    let day = if dice.chance(60) {
        (*dice.pick(&CHANGES)).to_owned()
    } else {
        format!("{:04}-{:02}-{:02}", dice.between(2005, 2030), dice.between(1, 12), dice.between(1, 28))
    };
    let all_day = dice.chance(12);
    let time = if all_day {
        "00:00".to_owned()
    } else {
        format!("{:02}:{}", hour(dice), dice.pick(&["00", "30", "15"]))
    };
    let local: DateTime = format!("{day}T{time}:00").parse().expect("a local time");
    let rule = rule(dice, all_day, local);
    Case { zone, local, all_day, lines: vec![rule] }
}

/// Half of all starts lie where clocks change.
fn hour(dice: &mut Dice) -> i64 {
    if dice.chance(50) { dice.between(0, 3) } else { dice.between(4, 23) }
}

fn rule(dice: &mut Dice, all_day: bool, local: DateTime) -> String {
    let freqs: &[&str] = if all_day {
        &["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]
    } else {
        &[
            "DAILY", "DAILY", "WEEKLY", "WEEKLY", "MONTHLY", "MONTHLY", "MONTHLY", "YEARLY", "YEARLY",
            "HOURLY", "MINUTELY",
        ]
    };
    let freq = *dice.pick(freqs);
    let mut rule = format!("RRULE:FREQ={freq}");
    let mut part = |name: &str, value: String| rule.push_str(&format!(";{name}={value}"));
    if dice.chance(45) || freq == "MINUTELY" {
        let most = match freq {
            "MINUTELY" => 240,
            "HOURLY" => 30,
            "YEARLY" => 3,
            _ => 6,
        };
        part("INTERVAL", dice.between(if freq == "MINUTELY" { 20 } else { 1 }, most).to_string());
    }
    let mut by = false;
    if dice.chance(25) {
        part("BYMONTH", dice.numbers(1, 12, 4, false));
        by = true;
    }
    if dice.chance(35) && freq != "WEEKLY" {
        part("BYMONTHDAY", dice.numbers(1, 31, 4, true));
        by = true;
    }
    let weeks = freq == "YEARLY" && dice.chance(20);
    if weeks {
        part("BYWEEKNO", dice.numbers(1, 53, 3, true));
        by = true;
    }
    if dice.chance(12) && matches!(freq, "YEARLY" | "HOURLY") {
        part("BYYEARDAY", dice.numbers(1, 366, 5, true));
        by = true;
    }
    if dice.chance(45) {
        part("BYDAY", weekdays(dice, freq, weeks));
        by = true;
    }
    if !all_day && dice.chance(20) {
        part("BYHOUR", dice.numbers(0, 23, 3, false));
        by = true;
    }
    if !all_day && dice.chance(15) && freq != "MINUTELY" {
        part("BYMINUTE", dice.numbers(0, 59, 3, false));
        by = true;
    }
    if by && dice.chance(30) {
        part("BYSETPOS", dice.numbers(1, 4, 2, true));
    }
    if dice.chance(30) {
        part("WKST", (*dice.pick(&["MO", "SU", "SA", "WE"])).to_owned());
    }
    match dice.between(1, 10) {
        1..=4 => part("COUNT", dice.between(1, 60).to_string()),
        5..=7 => {
            let end = local.date().checked_add(jiff::Span::new().days(dice.between(1, 900))).expect("a date");
            let end = end.strftime("%Y%m%d").to_string();
            part(
                "UNTIL",
                if all_day {
                    end
                } else {
                    format!("{end}T{:02}{}00Z", dice.between(0, 23), dice.pick(&["00", "30"]))
                },
            );
        }
        _ => {}
    }
    rule
}

fn weekdays(dice: &mut Dice, freq: &str, weeks: bool) -> String {
    let mut days: Vec<String> = Vec::new();
    let counts = matches!(freq, "MONTHLY" | "YEARLY") && !weeks;
    // Percent of the entries that have an ordinal; a mixed list is the oracle's best-known fault.
    let ordinals = if counts { *dice.pick(&[0, 0, 0, 100, 100, 100, 100, 50]) } else { 0 };
    for _ in 0..dice.between(1, 4) {
        let day = *dice.pick(&["MO", "TU", "WE", "TH", "FR", "SA", "SU"]);
        let ordinal = dice.chance(ordinals);
        let sign = if dice.chance(40) { "-" } else { "" };
        days.push(if ordinal { format!("{sign}{}{day}", dice.between(1, 5)) } else { day.to_owned() });
    }
    days.sort_unstable();
    days.dedup();
    days.join(",")
}
