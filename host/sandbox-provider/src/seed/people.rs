//! The seeded contacts as a table: people from everywhere, and some of them twice with a typo, as address books have them.

use crate::contacts::types::CardOrigin;

/// One person of the table.
pub struct KnownPerson {
    pub id: &'static str,
    pub first: &'static str,
    pub last: &'static str,
    pub company: &'static str,
    pub role: &'static str,
    /// Empty: none.
    pub mail: &'static str,
    pub phone: &'static str,
    pub city: &'static str,
    /// ISO 3166-1 alpha-2.
    pub country: &'static str,
}

const fn known_person(
    (id, first, last): (&'static str, &'static str, &'static str),
    (company, role): (&'static str, &'static str),
    (mail, phone): (&'static str, &'static str),
    (city, country): (&'static str, &'static str),
) -> KnownPerson {
    KnownPerson { id, first, last, company, role, mail, phone, city, country }
}

/// The people in each main book.
#[rustfmt::skip]
pub const KNOWN: &[KnownPerson] = &[
    known_person(("dana-petrov", "Dana", "Petrov"), ("Customer Example", "Head of Operations"), ("dana@customer.example", "+359 2 555 0101"), ("Sofia", "BG")),
    known_person(("juergen-mueller", "Jürgen", "Müller"), ("Müller & Söhne", "Geschäftsführer"), ("juergen.mueller@mueller.example", "+49 30 5550102"), ("Berlin", "DE")),
    known_person(("juergen-mueller-2", "Juergen", "Mueller"), ("Mueller und Soehne", ""), ("Juergen.Mueller@mueller.example", ""), ("Berlin", "DE")),
    known_person(("francoise-lefevre", "Françoise", "Lefèvre"), ("Atelier Lefèvre", "Architecte"), ("francoise@lefevre.example", "+33 1 55 50 01 03"), ("Lyon", "FR")),
    known_person(("joao-goncalves", "João", "Gonçalves"), ("Porto Logística", "Gerente"), ("joao.goncalves@porto.example", "+351 22 555 0104"), ("Porto", "PT")),
    known_person(("bjork-olafsdottir", "Björk", "Ólafsdóttir"), ("Reykjavík Data", "Researcher"), ("bjork@rdata.example", "+354 555 0105"), ("Reykjavík", "IS")),
    known_person(("lukasz-wisniewski", "Łukasz", "Wiśniewski"), ("Wisła Software", "Developer"), ("lukasz@wisla.example", "+48 22 555 01 06"), ("Kraków", "PL")),
    known_person(("katarzyna-nowak", "Katarzyna", "Nowak"), ("Wisła Software", "Product Owner"), ("katarzyna.nowak@wisla.example", "+48 22 555 01 07"), ("Kraków", "PL")),
    known_person(("katarzyna-nowak-2", "Katarzyna", "Nowack"), ("", ""), ("kasia@home.example", "+48 22 555 0107"), ("", "PL")),
    known_person(("soren-kjaer", "Søren", "Kjær"), ("Øresund Design", "Designer"), ("soren@oresund.example", "+45 55 55 01 08"), ("København", "DK")),
    known_person(("asa-lindstrom", "Åsa", "Lindström"), ("Norrsken", "CFO"), ("asa.lindstrom@norrsken.example", "+46 8 555 01 09"), ("Stockholm", "SE")),
    known_person(("zoltan-szabo", "Zoltán", "Szabó"), ("Duna Kft.", "Mérnök"), ("zoltan@duna.example", "+36 1 555 0110"), ("Budapest", "HU")),
    known_person(("nikos-papadopoulos", "Νίκος", "Παπαδόπουλος"), ("Αιγαίο Α.Ε.", "Διευθυντής"), ("nikos@aegean.example", "+30 210 5550111"), ("Αθήνα", "GR")),
    known_person(("olena-kovalenko", "Олена", "Коваленко"), ("Дніпро ІТ", "Розробниця"), ("olena@dnipro.example", "+380 44 555 0112"), ("Київ", "UA")),
    known_person(("dmitri-sokolov", "Дмитрий", "Соколов"), ("", ""), ("dmitri@post.example", "+7 495 555 01 13"), ("", "")),
    known_person(("wang-xiaoming", "小明", "王"), ("北京科技", "工程师"), ("xiaoming.wang@bjtech.example", "+86 10 5550 0114"), ("北京", "CN")),
    known_person(("li-na", "娜", "李"), ("上海贸易", "经理"), ("lina@shtrade.example", "+86 21 5550 0115"), ("上海", "CN")),
    known_person(("sato-hanako", "花子", "佐藤"), ("東京デザイン", "デザイナー"), ("hanako.sato@tdesign.example", "+81 3 5550 0116"), ("東京", "JP")),
    known_person(("tanaka-kenji", "健二", "田中"), ("大阪工業", "部長"), ("kenji@osaka.example", "+81 6 5550 0117"), ("大阪", "JP")),
    known_person(("kim-minjun", "민준", "김"), ("서울소프트", "개발자"), ("minjun.kim@seoulsoft.example", "+82 2 555 0118"), ("서울", "KR")),
    known_person(("nguyen-thi-lan", "Thị Lan", "Nguyễn"), ("Sông Hồng", "Kế toán"), ("lan.nguyen@songhong.example", "+84 24 5550 119"), ("Hà Nội", "VN")),
    known_person(("priya-raghunathan", "Priya", "Raghunathan"), ("Kaveri Labs", "CTO"), ("priya@kaveri.example", "+91 80 5550 0120"), ("Bengaluru", "IN")),
    known_person(("amir-hosseini", "امیر", "حسینی"), ("", ""), ("amir@tehran.example", "+98 21 5550 0121"), ("تهران", "IR")),
    known_person(("layla-haddad", "ليلى", "حداد"), ("بيروت ميديا", "محررة"), ("layla@beirutmedia.example", "+961 1 555 122"), ("بيروت", "LB")),
    known_person(("noa-cohen", "נועה", "כהן"), ("תל טק", "מהנדסת"), ("noa@teltech.example", "+972 3 555 0123"), ("תל אביב", "IL")),
    known_person(("ayse-yilmaz", "Ayşe", "Yılmaz"), ("Boğaziçi Yazılım", "Müdür"), ("ayse@bogazici.example", "+90 212 555 01 24"), ("İstanbul", "TR")),
    known_person(("chidi-okonkwo", "Chidi", "Okonkwo"), ("Lagos Freight", "Dispatcher"), ("chidi@lagosfreight.example", "+234 1 555 0125"), ("Lagos", "NG")),
    known_person(("thandiwe-nkosi", "Thandiwe", "Nkosi"), ("Ubuntu Legal", "Attorney"), ("thandiwe@ubuntulegal.example", "+27 11 555 0126"), ("Johannesburg", "ZA")),
    known_person(("maria-jose-garcia", "María José", "García Márquez"), ("Editorial Sol", "Editora"), ("mj.garcia@sol.example", "+57 1 555 0127"), ("Bogotá", "CO")),
    known_person(("inaki-etxeberria", "Iñaki", "Etxeberria"), ("Bilbao Nautika", ""), ("inaki@nautika.example", "+34 944 55 01 28"), ("Bilbao", "ES")),
    known_person(("sean-obrien", "Seán", "O'Brien"), ("Liffey Books", "Bookseller"), ("sean@liffey.example", "+353 1 555 0129"), ("Dublin", "IE")),
    known_person(("sean-obrien-2", "Sean", "OBrien"), ("Liffey Books", ""), ("", ""), ("", "")),
    known_person(("mary-ann-vanderberg", "Mary-Ann", "van der Berg"), ("Polder BV", "Planner"), ("maryann@polder.example", "+31 20 555 0130"), ("Amsterdam", "NL")),
    known_person(("robert-smith", "Robert", "Smith"), ("Acme Corp", "Sales"), ("rsmith@acme.example", "+1 212 555 0131"), ("New York", "US")),
    known_person(("bob-smith", "Bob", "Smith"), ("Acme Corporation", "Sales"), ("bob.smith@home.example", "(212) 555-0131"), ("New York", "US")),
    known_person(("emily-johnson", "Emily", "Johnson"), ("Acme Corp", "Support"), ("emily@acme.example", "+1 212 555 0132"), ("New York", "US")),
    known_person(("emily-jonson", "Emily", "Jonson"), ("Acme Corp", "Support"), ("emily@acme.example", ""), ("", "US")),
    known_person(("liam-macdonald", "Liam", "MacDonald"), ("Maple Dental", "Dentist"), ("office@mapledental.example", "+1 416 555 0133"), ("Toronto", "CA")),
    known_person(("grace-tauiliili", "Grace", "Tauiliʻili"), ("Pacific Air", "Pilot"), ("grace@pacificair.example", "+64 9 555 0134"), ("Auckland", "NZ")),
    known_person(("harbour-cafe", "", ""), ("Harbour Café", ""), ("hello@harbourcafe.example", "+44 20 5550 0135"), ("London", "GB")),
];

/// The people in the team's directory besides those with an account: id, name, role.
pub const COLLEAGUES: &[(&str, &str, &str, &str)] = &[
    ("erik", "Erik", "Holm", "Legal"),
    ("fatima", "Fatima", "Zahra", "Data"),
    ("giulia", "Giulia", "Rossi", "Marketing"),
    ("hugo", "Hugo", "Peña", "Support"),
    ("ines", "Inês", "Sousa", "Finance"),
    ("jonas", "Jonas", "Weiß", "Facilities"),
    ("kaori", "Kaori", "Yamamoto", "Research"),
];

/// Circles of the main book: id, label, members.
pub const CIRCLES: &[(&str, &str, &[&str])] = &[
    ("customers", "Customers", &["dana-petrov", "juergen-mueller", "robert-smith", "emily-johnson", "li-na"]),
    ("friends", "Friends", &["bjork-olafsdottir", "sean-obrien", "katarzyna-nowak", "sato-hanako"]),
];

/// The origin of a card, for those that were not entered manually.
pub fn origin(id: &str) -> CardOrigin {
    match id {
        "katarzyna-nowak-2" | "dmitri-sokolov" | "bob-smith" => CardOrigin::Noticed,
        _ => CardOrigin::Entered,
    }
}
