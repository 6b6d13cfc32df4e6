//! The address books that an account begins with.

use std::sync::Arc;

use crate::contacts::types::{
    Book, Card, CardKind, CardOrigin, Chat, Day, Job, Line, Mail, Name, Page, Phone, Picture, Postal,
    Relative, SpecialDay, Use,
};
use crate::seed::colleagues::PEOPLE;
use crate::seed::people::{CIRCLES, COLLEAGUES, KNOWN, KnownPerson, origin};
use crate::state::State;
use crate::times::instant;

const MAIN: &str = "contacts";
const TEAM: &str = "directory";

/// The books, empty: the main one, and for the three the team's directory, too.
pub fn begin(state: &mut State, mail: &str, now_ms: i64) {
    let now = instant(now_ms);
    let main = Book {
        id: MAIN.to_owned(),
        title: "Contacts".to_owned(),
        main: true,
        created_at: now.clone(),
        updated_at: now,
        ..Book::default()
    };
    let team = Book {
        id: TEAM.to_owned(),
        title: "Team directory".to_owned(),
        notes: Some("Everybody here, kept by the office".to_owned()),
        main: false,
        locked: true,
        ..main.clone()
    };
    state.put_head::<Card>(mail, main);
    if PEOPLE.iter().any(|person| person.mail == mail) {
        state.put_head::<Card>(mail, team);
    }
}

/// Fills the address books of the three.
pub fn fill(state: &mut State, mail: &str, now_ms: i64) {
    if !PEOPLE.iter().any(|person| person.mail == mail) {
        return;
    }
    let mut put = |book: &str, card: Card| {
        let now = instant(now_ms);
        let card = Card { created_at: now.clone(), updated_at: now, ..card };
        state.put(mail, book, now_ms, Arc::new(card));
    };
    for (number, known) in KNOWN.iter().enumerate() {
        put(MAIN, person(known, number));
    }
    for (id, label, members) in CIRCLES {
        put(MAIN, circle(id, label, members.iter().map(|id| (*id).to_owned()).collect()));
    }
    let team: Vec<Card> = team().collect();
    let everyone = team.iter().map(|card| card.id.clone()).collect();
    for card in team {
        put(TEAM, card);
    }
    put(TEAM, Card { built_in: true, ..circle("everyone", "Everyone", everyone) });
}

fn circle(id: &str, label: &str, members: Vec<String>) -> Card {
    let (id, label) = (id.to_owned(), label.to_owned());
    Card { id, kind: CardKind::Circle, label, members, ..Card::default() }
}

fn non_empty(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn person(known: &KnownPerson, number: usize) -> Card {
    // In these countries the family name comes first.
    let is_family_first = ["CN", "JP", "KR", "VN"].contains(&known.country);
    let gap = if ["CN", "JP", "KR"].contains(&known.country) { "" } else { " " };
    let whole = match is_family_first {
        true => format!("{}{gap}{}", known.last, known.first),
        false => format!("{} {}", known.first, known.last),
    };
    let label = non_empty(whole.trim()).unwrap_or_else(|| known.company.to_owned());
    let mail = |address: &str| Mail {
        address: address.to_owned(),
        used_for: Use::Office,
        main: true,
        ..Mail::default()
    };
    let digits = |phone: &str| phone.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect::<String>();
    let phone = |number: &str| Phone {
        number: number.to_owned(),
        international: non_empty(&digits(number)).filter(|number| number.starts_with('+')),
        line: Line::Office,
        main: true,
        ..Phone::default()
    };
    let job = Job { company: non_empty(known.company), role: non_empty(known.role), unit: None, now: true };
    let home = Postal {
        used_for: Use::Office,
        city: non_empty(known.city),
        country_code: non_empty(known.country),
        ..Postal::default()
    };
    let mut card = Card {
        id: known.id.to_owned(),
        label,
        name: Name { first: non_empty(known.first), last: non_empty(known.last), ..Name::default() },
        mails: non_empty(known.mail).iter().map(|address| mail(address)).collect(),
        phones: non_empty(known.phone).iter().map(|number| phone(number)).collect(),
        postal: if known.city.is_empty() { Vec::new() } else { vec![home] },
        jobs: if job.company.is_some() { vec![job] } else { Vec::new() },
        starred: number.is_multiple_of(9),
        origin: origin(known.id),
        ..Card::default()
    };
    adorn(&mut card, number);
    card
}

/// Adds the details that only some people have.
fn adorn(card: &mut Card, number: usize) {
    let count = i64::try_from(number).unwrap_or_default();
    if number.is_multiple_of(3) {
        let year = number.is_multiple_of(2).then_some(1960 + count);
        card.birthday = Some(Day { year, month: count % 12 + 1, day: count % 28 + 1 });
    }
    match card.id.as_str() {
        "sato-hanako" => {
            card.name.first_sound = non_empty("はなこ");
            card.name.last_sound = non_empty("さとう");
        }
        "wang-xiaoming" => card.name.first_sound = non_empty("Xiǎomíng"),
        "bjork-olafsdottir" => {
            card.name.nick = non_empty("Bee");
            card.relatives =
                vec![Relative { label: "Ragnar Jónsson".to_owned(), relation: non_empty("spouse") }];
            let on = Day { year: Some(2015), month: 8, day: 22 };
            card.days = vec![SpecialDay { occasion: non_empty("wedding"), on }];
            card.picture = Some(Picture {
                url: non_empty("https://pictures.sandbox.test/bjork.png"),
                fingerprint: non_empty("4f1c2ab7d90e"),
                ..Picture::default()
            });
        }
        "lukasz-wisniewski" => {
            card.chats =
                vec![Chat { network: non_empty("matrix"), handle: "@lukasz:wisla.example".to_owned() }];
            card.pages =
                vec![Page { url: "https://lukasz.wisla.example".to_owned(), used_for: Use::Private }];
            card.notes = non_empty("Met at the conference in Gdańsk");
        }
        "priya-raghunathan" => card.name.before = non_empty("Dr."),
        "liam-macdonald" => card.name.after = non_empty("DDS"),
        _ => {}
    }
}

fn team() -> impl Iterator<Item = Card> {
    let accounts = PEOPLE.iter().map(|person| {
        let (first, last) = person.name.split_once(' ').unwrap_or((person.name, ""));
        (person.mail.split('@').next().unwrap_or_default(), first, last, "Product")
    });
    accounts.chain(COLLEAGUES.iter().copied()).map(|(name, first, last, unit)| Card {
        id: format!("team-{name}"),
        label: format!("{first} {last}"),
        name: Name { first: non_empty(first), last: non_empty(last), ..Name::default() },
        mails: vec![Mail {
            address: format!("{name}@sandbox.test"),
            used_for: Use::Office,
            main: true,
            ..Mail::default()
        }],
        jobs: vec![Job { company: non_empty("Sandbox"), unit: non_empty(unit), now: true, ..Job::default() }],
        origin: CardOrigin::Directory,
        ..Card::default()
    })
}
