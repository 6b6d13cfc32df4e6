//! A labelled set of contacts, made from a seed: people with one or more records each, as address books have them.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use model::contacts::Contact;
use model::contacts::ContactEmail;
use model::contacts::ContactPhone;
use model::contacts::ContactUrl;
use model::contacts::ImAddress;
use model::contacts::Organization;
use model::contacts::PartialDate;

/// A record, and the number of its person.
pub struct Labelled {
    pub id: String,
    pub person: usize,
    pub contact: Contact,
}

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers everywhere, and no dependency.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Picks the first items more often, as names are distributed (Zipf).
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let u = (self.below(1 << 20) as f64 + 1.0) / f64::from(1 << 20);
        let at = ((from.len() as f64 + 1.0).powf(u) - 1.0) as usize;
        &from[at.min(from.len() - 1)]
    }

    fn even<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Lists are parted by commas.
struct Culture {
    given: &'static str,
    family: &'static str,
    /// Whether addresses are made of the names.
    latin: bool,
    prefix: &'static str,
    family_first: bool,
}

const CULTURES: &[Culture] = &[
    Culture {
        given: "James,Mary,Robert,Patricia,John,Jennifer,Michael,Linda,David,Elizabeth,William,Barbara,Richard,Susan,Joseph,\
            Jessica,Thomas,Karen,Christopher,Sarah,Charles,Lisa,Daniel,Nancy,Matthew,Sandra,Anthony,Betty,Mark,Ashley,\
            Donald,Emily,Steven,Kimberly,Andrew,Margaret,Paul,Donna,Joshua,Michelle,Kenneth,Carol,Kevin,Amanda,Brian,\
            Melissa,Timothy,Deborah,Ronald,Stephanie,Jason,Rebecca,George,Sharon,Edward,Laura,Jeffrey,Cynthia,Ryan,\
            Dorothy,Jacob,Amy,Nicholas,Kathleen,Gary,Angela,Eric,Shirley,Jonathan,Emma,Stephen,Brenda,Larry,Pamela,\
            Justin,Nicole,Scott,Anna,Brandon,Samantha,Benjamin,Katherine,Samuel,Christine,Gregory,Debra,Alexander,\
            Rachel,Patrick,Carolyn,Frank,Janet,Raymond,Maria,Jack,Olivia,Dennis,Heather,Jerry,Helen",
        family: "Smith,Johnson,Williams,Brown,Jones,Garcia,Miller,Davis,Rodriguez,Martinez,Hernandez,Lopez,Gonzalez,Wilson,\
            Anderson,Thomas,Taylor,Moore,Jackson,Martin,Lee,Perez,Thompson,White,Harris,Sanchez,Clark,Ramirez,Lewis,\
            Robinson,Walker,Young,Allen,King,Wright,Scott,Torres,Nguyen,Hill,Flores,Green,Adams,Nelson,Baker,Hall,\
            Rivera,Campbell,Mitchell,Carter,Roberts,Whitfield,Pemberton,Ashcroft,Hollingsworth,Abernathy,Fairbanks,\
            O'Brien,McDonald,Kowalczyk,Van Dyke,Blackwood,Winslow,Thackeray,Featherstone,Lockhart,Cavanaugh,Delacroix,\
            Eastwood,Galloway,Huxley",
        latin: true,
        prefix: "+1",
        family_first: false,
    },
    Culture {
        given: "Peter,Michael,Thomas,Andreas,Wolfgang,Klaus,Jürgen,Günther,Stefan,Christian,Uwe,Werner,Horst,Frank,Dieter,\
            Manfred,Gerhard,Hans,Bernd,Thorsten,Jörg,Björn,Maria,Ursula,Monika,Petra,Sabine,Renate,Helga,Karin,Brigitte,\
            Ingrid,Erika,Andrea,Gisela,Claudia,Susanne,Gabriele,Käthe,Bärbel,Anja,Nicole,Daniela,Daniel,Julia,Lena,\
            Hannah,Lukas,Leon,Finn,Jonas,Felix,Anna-Lena,Karl-Heinz,Hans-Peter",
        family: "Müller,Schmidt,Schneider,Fischer,Weber,Meyer,Wagner,Becker,Schulz,Hoffmann,Schäfer,Koch,Bauer,Richter,Klein,\
            Wolf,Schröder,Neumann,Schwarz,Zimmermann,Braun,Krüger,Hofmann,Hartmann,Lange,Schmitt,Werner,Krause,Meier,\
            Lehmann,Köhler,Herrmann,König,Walter,Mayer,Huber,Kaiser,Fuchs,Weiß,Jäger,Größmann,von der Heide,Freiherr,\
            Grünewald,Brückner,Löwenstein,Strauß,Niedermayer,Oberhuber,Leutheusser",
        latin: true,
        prefix: "+49",
        family_first: false,
    },
    Culture {
        given: "José,María,Antonio,Carmen,Manuel,Ana,Francisco,Isabel,Juan,Dolores,David,Pilar,Javier,Teresa,Daniel,Rosa,\
            Carlos,Cristina,Jesús,Ángela,Miguel,Lucía,Rafael,Elena,Pedro,Raquel,Ángel,Begoña,Íñigo,Núria",
        family: "García Fernández,González,Rodríguez Pérez,López,Martínez,Sánchez Romero,Pérez,Gómez Ruiz,Martín,Jiménez,\
            Hernández,Díaz Moreno,Álvarez,Muñoz,Alonso,Gutiérrez Navarro,Núñez,Ibáñez,Peñalver,Echeverría",
        latin: true,
        prefix: "+34",
        family_first: false,
    },
    Culture {
        given: "Søren,Lars,Åsa,Jørgen,Björn,Ingrid,Håkon,Øyvind,Kåre,Mette,Anne,Niels,Freja,Mikkel,Signe,Ragnhild,Erik,\
            Astrid",
        family: "Nielsen,Jensen,Hansen,Jørgensen,Sørensen,Ågård,Lindström,Håkansson,Østergaard,Bjørnson,Kjærgaard,Åkesson,\
            Nygård,Lund,Rønning,Strømme",
        latin: true,
        prefix: "+45",
        family_first: false,
    },
    Culture {
        given: "Łukasz,Agnieszka,Krzysztof,Małgorzata,Paweł,Katarzyna,Michał,Żaneta,Grzegorz,Elżbieta,Wojciech,Zofia,\
            Stanisław,Jadwiga,İbrahim,Işıl,Çağla,Şükrü,Ömer,Gülşen",
        family: "Nowak,Kowalski,Wiśniewski,Wójcik,Kowalczyk,Kamiński,Lewandowski,Zieliński,Szymański,Woźniak,Dąbrowski,\
            Kozłowski,Yılmaz,Şahin,Öztürk,Aydın,Kılıç,Çelik,Doğan,Arslanoğlu",
        latin: true,
        prefix: "+48",
        family_first: false,
    },
    Culture {
        given: "太郎,花子,健一,美咲,翔太,陽子,大輔,さくら,拓也,直美,伟,芳,秀英,娜,静,强,建国,丽",
        family: "佐藤,鈴木,高橋,田中,伊藤,渡辺,山本,中村,小林,加藤,王,李,张,刘,陈,杨,欧阳,司马",
        latin: false,
        prefix: "+81",
        family_first: true,
    },
    Culture {
        given: "민준,서연,예준,서윤,도윤,지우,시우,서현,주원,민서,하준,은영,영수,정숙",
        family: "김,이,박,최,정,강,조,윤,장,임,남궁,선우",
        latin: false,
        prefix: "+82",
        family_first: true,
    },
    Culture {
        given: "Александр,Мария,Дмитрий,Анна,Сергей,Елена,Андрей,Ольга,Алексей,Наталья,Артём,Екатерина,Иван,Татьяна,Михаил,\
            Алёна",
        family: "Иванов,Смирнов,Кузнецов,Попов,Васильев,Петров,Соколов,Михайлов,Новиков,Фёдоров,Морозов,Волков,Королёв,\
            Шевчук,Бондаренко,Черных",
        latin: false,
        prefix: "+7",
        family_first: false,
    },
    Culture {
        given: "أحمد,محمد,فاطمة,علي,عائشة,يوسف,مريم,خالد,زينب,عمر,حسن,ليلى,سلمى,طارق,نور,هدى",
        family: "الحسن,العلي,إبراهيم,منصور,الخطيب,حداد,النجار,القاسم,الشريف,المصري,السيد,الحلبي,العباسي,الدوري",
        latin: false,
        prefix: "+971",
        family_first: false,
    },
    Culture {
        given: "ליאור,נועה,יוסף,שרה,דוד,משה,רחל,אבי,תמר,יעל,איתן,מיכל,גיל,רון",
        family: "כהן,לוי,מזרחי,פרץ,ביטון,דהן,אברהם,פרידמן,אזולאי,שפירא,גולדברג,רוזן",
        latin: false,
        prefix: "+972",
        family_first: false,
    },
];

const FIRMS: &[&str] = &[
    "Acme",
    "Globex",
    "Initech",
    "Umbrella",
    "Hooli",
    "Vandelay",
    "Stark",
    "Wayne",
    "Wonka",
    "Tyrell",
    "Cyberdyne",
    "Soylent",
    "Aperture",
    "Massive Dynamic",
    "Pied Piper",
    "Dunder Mifflin",
    "Sterling Cooper",
    "Oscorp",
    "Gringotts",
    "Nakatomi",
];
const FORMS: &[&str] = &["", " Inc.", " GmbH", " Ltd", ", LLC", " AG", " S.A."];
const MAIL_HOSTS: &[&str] =
    &["gmail.com", "outlook.com", "yahoo.com", "icloud.com", "web.de", "mail.ru", "qq.com"];
const ROLES: &[&str] = &["info", "sales", "support", "office", "contact", "noreply", "billing"];
const NICKNAMES: &[(&str, &str)] = &[
    ("Robert", "Bob"),
    ("William", "Bill"),
    ("Elizabeth", "Liz"),
    ("Michael", "Mike"),
    ("James", "Jim"),
    ("Thomas", "Tom"),
    ("Katherine", "Kate"),
    ("Richard", "Rick"),
    ("Daniel", "Dan"),
    ("Joseph", "Joe"),
    ("Christopher", "Chris"),
    ("Margaret", "Maggie"),
    ("Susanne", "Susi"),
    ("Александр", "Саша"),
    ("Мария", "Маша"),
];

/// The true data of a person; each record has parts of it.
#[derive(Clone)]
struct Person {
    culture: usize,
    given: String,
    middle: Option<char>,
    family: String,
    emails: Vec<String>,
    phones: Vec<String>,
    firm: Option<usize>,
    profile: Option<String>,
    handle: Option<String>,
    birthday: Option<PartialDate>,
    suffix: Option<&'static str>,
}

/// About `size` records.
pub fn labelled(seed: u64, size: usize) -> Vec<Labelled> {
    let mut r = Random::new(seed);
    let mut people: Vec<Person> = Vec::new();
    let mut records: Vec<Labelled> = Vec::new();
    while records.len() < size {
        let before = people.len();
        match r.below(100) {
            0..=7 => household(&mut r, &mut people),
            8..=10 => office(&mut r, &mut people),
            11 => father_and_son(&mut r, &mut people),
            12 => namesakes(&mut r, &mut people),
            _ => {
                let number = people.len();
                people.push(person(&mut r, number));
            }
        }
        for (number, person) in people.iter().enumerate().skip(before) {
            let copies = match r.below(100) {
                0..=59 => 1,
                60..=89 => 2,
                90..=97 => 3,
                _ => 4,
            };
            for copy in 0..copies {
                let contact = record(&mut r, person, copy);
                records.push(Labelled { id: String::new(), person: number, contact });
            }
        }
    }
    for (index, record) in records.iter_mut().enumerate() {
        record.id = format!("con_{:016x}", Random::new(seed ^ ((index as u64) << 20)).next());
    }
    records
}

fn list(text: &'static str) -> Vec<&'static str> {
    text.split(',').collect()
}

fn ascii(name: &str) -> String {
    let lower = name.to_lowercase();
    let known = lower.chars().map(|c| match c {
        'ä' | 'á' | 'å' | 'ą' | 'æ' => 'a',
        'ö' | 'ó' | 'ø' => 'o',
        'ü' | 'ú' => 'u',
        'é' | 'ę' => 'e',
        'í' | 'ı' => 'i',
        'ñ' | 'ń' => 'n',
        'ł' => 'l',
        'ś' | 'ş' | 'ß' => 's',
        'ż' | 'ź' => 'z',
        'ç' | 'ć' => 'c',
        'ğ' => 'g',
        c => c,
    });
    known.filter(char::is_ascii_alphanumeric).collect()
}

fn person(r: &mut Random, number: usize) -> Person {
    let culture = *r.pick(&[0, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let c = &CULTURES[culture];
    let given = (*r.pick(&list(c.given))).to_owned();
    let mut family = (*r.even(&list(c.family))).to_owned();
    // Most family names of an address book occur once: make names of syllables beside the common ones.
    if c.latin && r.chance(75) {
        family = made_name(r);
    }
    let firm = r.chance(50).then(|| r.below(FIRMS.len() * 40));
    let mut person = Person {
        culture,
        given,
        family,
        firm,
        middle: r.chance(15).then(|| char::from(b'A' + r.below(26) as u8)),
        emails: Vec::new(),
        phones: Vec::new(),
        profile: None,
        handle: None,
        birthday: None,
        suffix: None,
    };
    let local = if c.latin {
        format!("{}.{}", ascii(&person.given), ascii(&person.family))
    } else {
        format!("user{number}")
    };
    if r.chance(80) {
        let host = *r.pick(MAIL_HOSTS);
        person.emails.push(format!("{local}{number}@{host}"));
    }
    if let Some(firm) = firm.filter(|_| r.chance(80)) {
        person.emails.push(format!("{local}.{number}@{}", domain(firm)));
    }
    for _ in 0..1 + usize::from(r.chance(30)) {
        let number = mobile(r, c.prefix);
        person.phones.push(number);
    }
    person.profile = r.chance(20).then(|| format!("{local}-{number}"));
    person.handle = r.chance(10).then(|| format!("{local}_{number}"));
    person.birthday = r.chance(30).then(|| birthday(r));
    person
}

fn made_name(r: &mut Random) -> String {
    let heads = [
        "Bran", "Kel", "Mor", "Tav", "Lin", "Gar", "Hol", "Pen", "Ros", "Vel", "Dun", "Fer", "Stan", "Wes",
        "Zim", "Cor", "Bel", "Har", "Nor", "Sal", "Tur", "Quin", "Ash", "Eld", "Ow", "Ing", "Ul", "Yor",
    ];
    let middles = ["", "a", "e", "i", "o", "ing", "er", "el", "an", "or", "en", "is"];
    let tails = [
        "ton", "man", "berg", "ley", "well", "ford", "by", "ski", "sen", "dal", "mark", "wick", "feld",
        "stein", "stad", "rup", "vik", "gate", "holm", "combe", "worth", "burn", "low", "more",
    ];
    format!("{}{}{}", r.even(&heads), r.even(&middles), r.even(&tails))
}

fn domain(firm: usize) -> String {
    format!("{}{}.example", ascii(FIRMS[firm % FIRMS.len()]), firm / FIRMS.len())
}

fn mobile(r: &mut Random, prefix: &str) -> String {
    let n = r.below(100_000_000);
    match prefix {
        "+1" => format!("+1{}{:07}", r.even(&["212", "415", "312", "617", "206"]), 2_000_000 + n % 7_000_000),
        "+49" => format!("+49151{n:08}"),
        "+34" => format!("+346{n:08}"),
        "+45" => format!("+45{:08}", 20_000_000 + n % 70_000_000),
        "+48" => format!("+48601{:06}", n % 1_000_000),
        "+81" => format!("+8190{n:08}"),
        "+82" => format!("+8210{n:08}"),
        "+7" => format!("+7916{:07}", n % 10_000_000),
        _ => format!("+97150{:07}", n % 10_000_000),
    }
}

fn birthday(r: &mut Random) -> PartialDate {
    let year = r.chance(70).then(|| 1940 + r.below(65) as i64);
    PartialDate { year, month: 1 + r.below(12) as i64, day: 1 + r.below(28) as i64 }
}

/// Two to four people of one family with a land line, and at times a mailbox.
fn household(r: &mut Random, people: &mut Vec<Person>) {
    let first = person(r, people.len());
    let line = mobile(r, CULTURES[first.culture].prefix);
    let mailbox =
        r.chance(30).then(|| format!("family{}@{}", people.len(), MAIL_HOSTS[r.below(MAIL_HOSTS.len())]));
    let count = 2 + r.below(3);
    let mut names = Vec::new();
    for _ in 0..count {
        let mut member = person(r, people.len());
        if member.culture != first.culture {
            member = Person {
                culture: first.culture,
                given: (*r.even(&list(CULTURES[first.culture].given))).to_owned(),
                ..member
            };
        }
        while names.contains(&member.given) {
            member.given = (*r.even(&list(CULTURES[first.culture].given))).to_owned();
        }
        names.push(member.given.clone());
        member.family.clone_from(&first.family);
        member.phones.push(line.clone());
        member.emails.extend(mailbox.clone());
        people.push(member);
    }
}

/// People of one firm with a switchboard, and at times a role address.
fn office(r: &mut Random, people: &mut Vec<Person>) {
    let firm = r.below(FIRMS.len() * 40);
    let line = mobile(r, "+49");
    let role = r.chance(50).then(|| format!("{}@{}", ROLES[r.below(ROLES.len())], domain(firm)));
    for _ in 0..2 + r.below(7) {
        let mut member = person(r, people.len());
        member.firm = Some(firm);
        member.phones.push(line.clone());
        member.emails.extend(role.clone());
        people.push(member);
    }
}

fn father_and_son(r: &mut Random, people: &mut Vec<Person>) {
    let mut father = person(r, people.len());
    let line = mobile(r, CULTURES[father.culture].prefix);
    father.phones.push(line.clone());
    father.suffix = Some("Sr.");
    let mut son = person(r, people.len() + 1);
    son.culture = father.culture;
    son.given.clone_from(&father.given);
    son.family.clone_from(&father.family);
    son.phones.push(line);
    son.suffix = Some("Jr.");
    people.push(father);
    people.push(son);
}

/// Different people of one common name.
fn namesakes(r: &mut Random, people: &mut Vec<Person>) {
    let culture = r.below(CULTURES.len());
    let (given, family) =
        (list(CULTURES[culture].given)[r.below(5)], list(CULTURES[culture].family)[r.below(5)]);
    for _ in 0..2 {
        let mut one = person(r, people.len());
        one.culture = culture;
        given.clone_into(&mut one.given);
        family.clone_into(&mut one.family);
        people.push(one);
    }
}

/// Returns the record of a person in one address book. The first is the fullest.
fn record(r: &mut Random, person: &Person, copy: usize) -> Contact {
    let mut contact = Contact::default();
    let mut moved = person.clone();
    if copy > 0 && r.chance(10) {
        // Another job: another address, firm and, for some, number.
        moved.firm = Some(r.below(FIRMS.len() * 40));
        moved.emails.retain(|e| !e.ends_with(".example"));
    }
    name(r, &moved, &mut contact, copy);
    let keeps = |r: &mut Random| copy == 0 || r.chance(70);
    for (at, email) in moved.emails.iter().enumerate() {
        if keeps(r) {
            let value = email_variant(r, email);
            contact.emails.push(ContactEmail { value, primary: at == 0, ..ContactEmail::default() });
        }
    }
    for phone in &moved.phones {
        if keeps(r) {
            contact.phones.push(phone_variant(r, phone));
        }
    }
    if let Some(firm) = moved.firm.filter(|_| r.chance(70)) {
        let name = format!("{} {}{}", FIRMS[firm % FIRMS.len()], firm / FIRMS.len(), r.even(FORMS));
        contact.organizations.push(Organization {
            name: Some(name),
            current: true,
            ..Organization::default()
        });
    }
    if let Some(profile) = moved.profile.as_ref().filter(|_| r.chance(70)) {
        let value = match r.below(3) {
            0 => format!("https://www.linkedin.com/in/{profile}/"),
            1 => format!("http://de.linkedin.com/in/{}?trk=a", profile.to_uppercase()),
            _ => format!("linkedin.com/in/{profile}"),
        };
        contact.urls.push(ContactUrl { value, ..ContactUrl::default() });
    }
    if let Some(handle) = moved.handle.as_ref().filter(|_| r.chance(70)) {
        contact
            .im_addresses
            .push(ImAddress { protocol: Some("matrix".into()), handle: format!("@{handle}:example.org") });
    }
    contact.birthday = moved.birthday.filter(|_| r.chance(70));
    contact
}

fn name(r: &mut Random, person: &Person, contact: &mut Contact, copy: usize) {
    let c = &CULTURES[person.culture];
    let (mut given, mut family) = (person.given.clone(), person.family.clone());
    let suffix = person.suffix;
    if copy > 0 {
        match r.below(100) {
            0..=7 if c.latin => {
                if r.chance(50) {
                    family = typo(r, &family)
                } else {
                    given = typo(r, &given)
                }
            }
            8..=13 => {
                if let Some((_, short)) = NICKNAMES.iter().find(|(long, _)| *long == given) {
                    given = (*short).to_owned();
                }
            }
            14..=17 if c.latin => given = format!("{}.", given.chars().next().unwrap_or('X')),
            18..=23 if c.latin => (given, family) = (unaccented(&given), unaccented(&family)),
            24..=26 => std::mem::swap(&mut given, &mut family),
            27..=29 => (given, family) = (given.to_uppercase(), family.to_uppercase()),
            _ => {}
        }
    }
    let spaced = if c.family_first { format!("{family} {given}") } else { format!("{given} {family}") };
    match r.below(10) {
        0..=5 => {
            contact.given_name = Some(given);
            contact.family_name = Some(family);
            contact.middle_name = person.middle.filter(|_| r.chance(60)).map(|m| format!("{m}."));
            contact.display_name = Some(spaced);
            contact.suffix = suffix.map(str::to_owned);
            contact.prefix = r.chance(5).then(|| "Dr.".to_owned());
        }
        6 if c.latin => {
            let tail = suffix.map_or(String::new(), |s| format!(" {s}"));
            contact.display_name = Some(format!("{family}, {given}{tail}"));
        }
        6 | 7 if c.family_first => contact.display_name = Some(format!("{family}{given}")),
        // A contact with the email address only, as a mail program collects them.
        8 if copy > 0 && r.chance(40) => contact.display_name = person.emails.first().cloned(),
        9 if copy > 0 && r.chance(30) => contact.display_name = Some(given),
        _ => {
            let tail = suffix.map_or(String::new(), |s| format!(", {s}"));
            contact.display_name = Some(format!("{spaced}{tail}"));
        }
    }
}

fn unaccented(name: &str) -> String {
    let digraphs = name
        .replace('ä', "ae")
        .replace('ö', "oe")
        .replace('ü', "ue")
        .replace('ß', "ss")
        .replace('ø', "oe")
        .replace('å', "aa");
    digraphs
        .replace('é', "e")
        .replace('á', "a")
        .replace('í', "i")
        .replace('ó', "o")
        .replace('ú', "u")
        .replace('ñ', "n")
        .replace('ł', "l")
}

fn typo(r: &mut Random, name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    if letters.len() < 5 {
        return name.to_owned();
    }
    let at = 1 + r.below(letters.len() - 2);
    match r.below(4) {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        2 => letters.insert(at, letters[at]),
        _ => letters[at] = char::from(b'a' + r.below(26) as u8),
    }
    letters.into_iter().collect()
}

fn email_variant(r: &mut Random, email: &str) -> String {
    let (local, host) = email.split_once('@').unwrap_or((email, ""));
    match (host, r.below(6)) {
        ("gmail.com", 0) => format!("{}@gmail.com", local.replace('.', "")),
        ("gmail.com", 1) => format!("{local}+list@gmail.com"),
        ("gmail.com", 2) => format!("{local}@googlemail.com"),
        (_, 3) => email.to_uppercase(),
        (_, 4) => format!("{}{}@{host}", local[..1].to_uppercase(), &local[1..]),
        _ => email.to_owned(),
    }
}

/// Most numbers have E.164 from the host; some are left as written.
fn phone_variant(r: &mut Random, e164: &str) -> ContactPhone {
    let digits = &e164[1..];
    let (a, b) = digits.split_at(digits.len() / 2);
    let value = match r.below(5) {
        0 => format!("+{a} {b}"),
        1 => format!("00{digits}"),
        2 => format!("+{a}-{}-{}", &b[..2], &b[2..]),
        3 => format!("+{a}.{b}"),
        _ => e164.to_owned(),
    };
    ContactPhone { value, e164: r.chance(70).then(|| e164.to_owned()), ..ContactPhone::default() }
}
