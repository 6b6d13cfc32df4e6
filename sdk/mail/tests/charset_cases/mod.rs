//! Messages with a text of every charset in every place, whole and damaged.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use encoding_rs::Encoding as Charset;

/// The place of the text in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Body,
    Subject,
    Name,
    Filename,
}

impl Place {
    pub fn name(self) -> &'static str {
        match self {
            Place::Body => "body",
            Place::Subject => "subject",
            Place::Name => "name",
            Place::Filename => "filename",
        }
    }
}

/// How its bytes are written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    Plain,
    Base64,
    QuotedPrintable,
    Uuencode,
    WordB,
    WordQ,
    /// RFC 2231: `filename*=`.
    Extended,
    /// `filename*0*=`, three bytes to a piece.
    Pieces,
}

/// The damage of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    Nothing,
    /// A byte that is none of ASCII comes in between.
    BadByte,
    /// The first byte of a character that is not ASCII is gone.
    LostByte,
    /// The last byte is gone.
    CutEnd,
    /// The text is in several words, cut anywhere between two bytes.
    CutWords,
    /// It says to be UTF-8.
    NamedUtf8,
    /// It says to be windows-1251.
    NamedOther,
    /// It says to be ASCII.
    NamedAscii,
    /// The label names an unknown charset.
    NamedUnknown,
    /// No label names the charset.
    Unnamed,
    /// Bytes that should be escaped are not.
    RawBytes,
    /// The charset comes with a language (RFC 2231 5).
    Language,
    /// Base64 without its padding.
    NoPadding,
}

const DAMAGES: [Damage; 13] = [
    Damage::Nothing,
    Damage::BadByte,
    Damage::LostByte,
    Damage::CutEnd,
    Damage::CutWords,
    Damage::NamedUtf8,
    Damage::NamedOther,
    Damage::NamedAscii,
    Damage::NamedUnknown,
    Damage::Unnamed,
    Damage::RawBytes,
    Damage::Language,
    Damage::NoPadding,
];

/// A message, and its text.
pub struct Case {
    pub place: Place,
    pub carrier: Carrier,
    pub damage: Damage,
    /// The charset that the text has.
    pub label: &'static str,
    /// The text before it was damaged.
    pub text: String,
    /// The bytes that the message has in that place, damaged as they are.
    pub bytes: Vec<u8>,
    /// Python's codec for the charset that the message names; none where it names none, or none that there is.
    pub codec: Option<&'static str>,
    pub raw: Vec<u8>,
    /// The same message with the name of Python's codec for all that the charset is taken to be (see `CHARSETS`).
    pub wide: Vec<u8>,
}

/// A charset's name, and the codec of Python that is the WHATWG's charset of this name. Where Python has a codec of the same name, that
/// one is often the standard alone: without what Microsoft's programs, which wrote most of the mail, put into the gaps.
const CHARSETS: [(&str, &str); 46] = [
    ("utf-8", "utf-8"),
    ("utf-16le", "utf-16le"),
    ("utf-16be", "utf-16be"),
    ("utf-16", "utf-16"),
    ("utf-7", "utf-7"),
    ("iso-8859-1", "cp1252"),
    ("iso-8859-2", "iso-8859-2"),
    ("iso-8859-3", "iso-8859-3"),
    ("iso-8859-4", "iso-8859-4"),
    ("iso-8859-5", "iso-8859-5"),
    ("iso-8859-6", "iso-8859-6"),
    ("iso-8859-7", "iso-8859-7"),
    ("iso-8859-8", "iso-8859-8"),
    ("iso-8859-9", "cp1254"),
    ("iso-8859-10", "iso-8859-10"),
    ("iso-8859-11", "cp874"),
    ("iso-8859-13", "iso-8859-13"),
    ("iso-8859-14", "iso-8859-14"),
    ("iso-8859-15", "iso-8859-15"),
    ("iso-8859-16", "iso-8859-16"),
    ("windows-1250", "cp1250"),
    ("windows-1251", "cp1251"),
    ("windows-1252", "cp1252"),
    ("windows-1253", "cp1253"),
    ("windows-1254", "cp1254"),
    ("windows-1255", "cp1255"),
    ("windows-1256", "cp1256"),
    ("windows-1257", "cp1257"),
    ("windows-1258", "cp1258"),
    ("windows-874", "cp874"),
    ("tis-620", "cp874"),
    ("koi8-r", "koi8-r"),
    ("koi8-u", "koi8-u"),
    ("ibm866", "ibm866"),
    ("ibm850", "cp850"),
    ("macintosh", "mac-roman"),
    ("x-mac-cyrillic", "mac-cyrillic"),
    ("gb2312", "gbk"),
    ("gbk", "gbk"),
    ("gb18030", "gb18030"),
    ("big5", "big5hkscs"),
    ("euc-jp", "euc-jp"),
    ("iso-2022-jp", "iso-2022-jp"),
    ("shift_jis", "cp932"),
    ("euc-kr", "cp949"),
    ("iso-2022-kr", "iso-2022-kr"),
];

/// Words of many scripts; of each charset those are taken that it has.
const WORDS: &str = "Grüße naïve façade Ærø señor žluťoučký kůň łódź gyűjtő ştiinţă şişli şair šķēle ąžuolas \
    Ελλάδα αβγδ Привет мир Київ ћирилица שלום עולם مرحبا سلام ภาษาไทย ทดสอบ 日本語 テスト かな 漢字 中文 简体 测试 \
    繁體 測試 한국어 시험 “quoted” – €5";

pub fn cases() -> Vec<Case> {
    let mut dice = Dice(20_260_302);
    let mut cases = Vec::new();
    // Twice, with other words and other places for the damage.
    for (label, codec) in CHARSETS.iter().chain(&CHARSETS) {
        for damage in DAMAGES {
            for (place, carriers) in PLACES {
                for carrier in *carriers {
                    cases.extend(case(&mut dice, label, codec, damage, *place, *carrier));
                }
            }
        }
    }
    cases
}

const PLACES: &[(Place, &[Carrier])] = &[
    (Place::Body, &[Carrier::Plain, Carrier::Base64, Carrier::QuotedPrintable, Carrier::Uuencode]),
    (Place::Subject, &[Carrier::WordB, Carrier::WordQ, Carrier::Plain]),
    (Place::Name, &[Carrier::WordB, Carrier::WordQ, Carrier::Plain]),
    (Place::Filename, &[Carrier::WordB, Carrier::WordQ, Carrier::Extended, Carrier::Pieces]),
];

/// None where the damage cannot be done there.
fn case(
    dice: &mut Dice,
    label: &'static str,
    codec: &'static str,
    damage: Damage,
    place: Place,
    carrier: Carrier,
) -> Option<Case> {
    use Carrier::{Base64, Extended, Pieces, Plain, QuotedPrintable, Uuencode, WordB, WordQ};
    let is_word = matches!(carrier, WordB | WordQ);
    let can = match damage {
        Damage::CutWords => is_word,
        // In a header a charset is named with the word or not at all.
        Damage::Unnamed => matches!(carrier, Plain | Base64 | QuotedPrintable | Uuencode | Extended | Pieces),
        Damage::RawBytes => matches!(carrier, WordQ | QuotedPrintable | Extended | Pieces),
        Damage::Language => is_word || matches!(carrier, Extended | Pieces),
        Damage::NoPadding => matches!(carrier, WordB | Base64),
        _ => carrier != Plain || place == Place::Body,
    };
    let is_wide = label.starts_with("utf-16");
    if !can || is_wide && (carrier == Plain || damage == Damage::RawBytes) {
        return None;
    }
    let text = sample(dice, label);
    let mut bytes = encoded(label, &text);
    if (damage == Damage::RawBytes || damage == Damage::Unnamed && carrier == Plain) && bytes.is_ascii() {
        return None;
    }
    spoil(dice, damage, &mut bytes)?;
    let named = match damage {
        Damage::NamedUtf8 => "utf-8",
        Damage::NamedOther => "windows-1251",
        Damage::NamedAscii => "us-ascii",
        Damage::NamedUnknown => "x-nobodys",
        Damage::Unnamed => "",
        _ => label,
    };
    let seed = dice.next();
    let write = |named: &str| message(&mut Dice(seed), place, carrier, damage, named, &bytes);
    let raw = write(named);
    let wide = write(if named == label { codec } else { named });
    let codec = match damage {
        Damage::NamedUtf8 => Some("utf-8"),
        Damage::NamedOther => Some("cp1251"),
        Damage::NamedAscii | Damage::NamedUnknown | Damage::Unnamed => None,
        _ => Some(codec),
    };
    Some(Case { place, carrier, damage, label, text, bytes, codec, raw, wide })
}

/// Damages the bytes themselves.
fn spoil(dice: &mut Dice, damage: Damage, bytes: &mut Vec<u8>) -> Option<()> {
    match damage {
        Damage::BadByte => {
            let at = dice.below(bytes.len());
            bytes.insert(at, u8::try_from(0x80 + dice.below(0x80)).ok()?);
        }
        Damage::LostByte => {
            let at = bytes.iter().position(|byte| !byte.is_ascii())?;
            bytes.remove(at);
        }
        Damage::CutEnd => drop(bytes.pop()),
        _ => {}
    }
    Some(())
}

/// Some words that the charset has. Windows and Mac charsets that lack a script have its punctuation.
fn sample(dice: &mut Dice, label: &str) -> String {
    let fits = |word: &&str| !word.is_ascii() && can_encode(label, word);
    let words: Vec<&str> = WORDS.split_whitespace().filter(fits).collect();
    let mut text = String::from("A");
    for _ in 0..2 + dice.below(3) {
        text.push(' ');
        text.push_str(words.get(dice.below(words.len())).expect("each charset has a word"));
    }
    text
}

fn can_encode(label: &str, word: &str) -> bool {
    if label.starts_with("utf") {
        return true;
    }
    let (bytes, _, has_gaps) = charset(label).encode(word);
    let bare = !has_gaps && (label != "ibm850" || word.chars().all(|c| ibm_850(c).is_some()));
    // GB 2312 and Big5 as the standards have them: Python's narrow codecs are to know the undamaged texts.
    bare && (label != "gb2312" || bytes.iter().filter(|byte| !byte.is_ascii()).all(|byte| *byte >= 0xa1))
}

fn charset(label: &str) -> &'static Charset {
    let label = match label {
        "ibm850" => "windows-1252",
        "iso-2022-kr" => "euc-kr",
        label => label,
    };
    Charset::for_label(label.as_bytes()).expect("a charset of the WHATWG")
}

fn ibm_850(c: char) -> Option<u8> {
    match c {
        'ü' => Some(0x81),
        'ß' => Some(0xe1),
        'ï' => Some(0x8b),
        'ç' => Some(0x87),
        'Æ' => Some(0x92),
        'ø' => Some(0x9b),
        'ñ' => Some(0xa4),
        c => u8::try_from(u32::from(c)).ok().filter(u8::is_ascii),
    }
}

fn encoded(label: &str, text: &str) -> Vec<u8> {
    match label {
        "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        "utf-16" => "\u{feff}"
            .chars()
            .chain(text.chars())
            .collect::<String>()
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect(),
        "utf-7" => utf_7(text),
        "ibm850" => text.chars().filter_map(ibm_850).collect(),
        "iso-2022-kr" => iso_2022_kr(text),
        label => charset(label).encode(text).0.into_owned(),
    }
}

fn utf_7(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.find(|c: char| !c.is_ascii()).unwrap_or(rest.len());
        let (ascii, shifted) = rest.split_at(plain);
        bytes.extend(ascii.bytes());
        let len = shifted.find(|c: char| c.is_ascii()).unwrap_or(shifted.len());
        let (shifted, after) = shifted.split_at(len);
        if !shifted.is_empty() {
            let units: Vec<u8> = shifted.encode_utf16().flat_map(u16::to_be_bytes).collect();
            bytes.push(b'+');
            bytes.extend(STANDARD.encode(units).trim_end_matches('=').bytes());
            // What is no base64 ends a shift as well.
            let ends = |next: char| !next.is_ascii_alphanumeric() && !matches!(next, '+' | '/' | '-');
            if !after.chars().next().is_none_or(ends) {
                bytes.push(b'-');
            }
        }
        rest = after;
    }
    bytes
}

fn iso_2022_kr(text: &str) -> Vec<u8> {
    let mut bytes = b"\x1b$)C".to_vec();
    let mut is_shifted = false;
    for byte in charset("euc-kr").encode(text).0.iter() {
        if byte.is_ascii() == is_shifted {
            bytes.push(if is_shifted { 0x0f } else { 0x0e });
            is_shifted = !is_shifted;
        }
        bytes.push(byte & 0x7f);
    }
    bytes.extend(is_shifted.then_some(0x0f));
    bytes
}

/// The whole message.
fn message(
    dice: &mut Dice,
    place: Place,
    carrier: Carrier,
    damage: Damage,
    named: &str,
    bytes: &[u8],
) -> Vec<u8> {
    let mut raw = b"Date: Tue, 3 Mar 2026 09:30:00 +0100\r\nMIME-Version: 1.0\r\n".to_vec();
    let mut add = |text: &[u8]| raw.extend_from_slice(text);
    match place {
        Place::Body => {
            let charset = if named.is_empty() { String::new() } else { format!("; charset={named}") };
            add(format!("Content-Type: text/plain{charset}\r\n").as_bytes());
            let (encoding, body) = transferred(carrier, damage, bytes);
            add(format!("Content-Transfer-Encoding: {encoding}\r\n\r\n").as_bytes());
            add(&body);
        }
        Place::Subject => {
            add(b"Subject: ");
            add(&words(dice, carrier, damage, named, bytes));
            add(b"\r\n\r\nbody\r\n");
        }
        Place::Name => {
            add(b"From: ");
            add(&words(dice, carrier, damage, named, bytes));
            add(b" <a@b.example>\r\n\r\nbody\r\n");
        }
        Place::Filename => {
            add(b"Content-Type: application/octet-stream\r\nContent-Disposition: attachment;\r\n filename");
            if matches!(carrier, Carrier::WordB | Carrier::WordQ) {
                add(b"=\"");
                add(&words(dice, carrier, damage, named, bytes));
                add(b"\"");
            } else {
                add(&extended(carrier, damage, named, bytes));
            }
            add(b"\r\n\r\nbody\r\n");
        }
    }
    raw
}

fn transferred(carrier: Carrier, damage: Damage, bytes: &[u8]) -> (&'static str, Vec<u8>) {
    match carrier {
        Carrier::Base64 if damage == Damage::NoPadding => ("base64", unpadded(bytes)),
        Carrier::Base64 => ("base64", STANDARD.encode(bytes).into_bytes()),
        Carrier::QuotedPrintable => ("quoted-printable", escaped(b'=', damage == Damage::RawBytes, bytes)),
        Carrier::Uuencode => ("x-uuencode", uuencoded(bytes)),
        _ => ("8bit", bytes.to_vec()),
    }
}

fn unpadded(bytes: &[u8]) -> Vec<u8> {
    STANDARD.encode(bytes).trim_end_matches('=').as_bytes().to_vec()
}

/// Escapes with two digits; a space as `_` in words.
fn escaped(with: u8, is_raw: bool, bytes: &[u8]) -> Vec<u8> {
    let escape = |byte: &u8| match byte {
        b' ' if with == b'=' => b" ".to_vec(),
        byte if byte.is_ascii_alphanumeric() || is_raw && !byte.is_ascii() => vec![*byte],
        byte => format!("{}{byte:02X}", char::from(with)).into_bytes(),
    };
    bytes.iter().flat_map(escape).collect()
}

fn uuencoded(bytes: &[u8]) -> Vec<u8> {
    let mut text = b"begin 644 a\r\n".to_vec();
    let character = |six: u8| if six == 0 { b'`' } else { six + b' ' };
    for line in bytes.chunks(45) {
        text.push(character(u8::try_from(line.len()).expect("at most 45")));
        for group in line.chunks(3) {
            let of = |at: usize| group.get(at).copied().unwrap_or(0);
            let sextets = [of(0) >> 2, of(0) << 4 | of(1) >> 4, of(1) << 2 | of(2) >> 6, of(2)];
            text.extend(sextets.map(|sextet| character(sextet & 0x3f)));
        }
        text.extend(b"\r\n");
    }
    text.extend(b"`\r\nend\r\n");
    text
}

/// Encoded words, or the bytes as they are.
fn words(dice: &mut Dice, carrier: Carrier, damage: Damage, named: &str, bytes: &[u8]) -> Vec<u8> {
    if carrier == Carrier::Plain {
        return bytes.to_vec();
    }
    let language = if damage == Damage::Language { "*de" } else { "" };
    let mut text = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let most = if damage == Damage::CutWords { 1 + dice.below(8) } else { rest.len() };
        let (piece, after) = rest.split_at(most.min(rest.len()));
        rest = after;
        let (encoding, content) = match carrier {
            Carrier::WordB if damage == Damage::NoPadding => ("B", unpadded(piece)),
            Carrier::WordB => ("b", STANDARD.encode(piece).into_bytes()),
            _ => ("q", underscored(&escaped(b'=', damage == Damage::RawBytes, piece))),
        };
        if !text.is_empty() {
            text.extend(b"\r\n ");
        }
        text.extend(format!("=?{named}{language}?{encoding}?").bytes());
        text.extend(content);
        text.extend(b"?=");
    }
    text
}

fn underscored(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if *byte == b' ' { b'_' } else { *byte }).collect()
}

/// `*=…` or `*0*=…`, what follows `filename`.
fn extended(carrier: Carrier, damage: Damage, named: &str, bytes: &[u8]) -> Vec<u8> {
    let language = if damage == Damage::Language { "de" } else { "" };
    let first = format!("{named}'{language}'").into_bytes();
    let escape = |bytes: &[u8]| escaped(b'%', damage == Damage::RawBytes, bytes);
    if carrier == Carrier::Extended {
        return [b"*=".to_vec(), first, escape(bytes)].concat();
    }
    let mut text = Vec::new();
    for (number, piece) in bytes.chunks(3).enumerate() {
        if number > 0 {
            text.extend(b";\r\n filename");
        }
        text.extend(format!("*{number}*=").bytes());
        text.extend(if number == 0 { first.as_slice() } else { b"" });
        text.extend(escape(piece));
    }
    text
}

/// Numbers that are the same each time (Knuth's constants for a linear congruence).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next()).unwrap_or_default() % end.max(1)
    }
}
