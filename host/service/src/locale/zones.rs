//! Names of time zones as people know them, such as `Eastern Time, New York`. The wording is that of CLDR.

use crate::locale::Language;

/// A name that several zones share, in English, German, Spanish, French, Japanese and Arabic, with the IANA names of these zones.
struct SharedName {
    names: [&'static str; 6],
    zones: &'static [&'static str],
}

static SHARED_NAMES: [SharedName; 10] = [
    SharedName {
        names: [
            "Eastern Time",
            "Nordamerikanische Ostküstenzeit",
            "hora oriental",
            "heure de l’Est nord-américain",
            "アメリカ東部時間",
            "التوقيت الشرقي لأمريكا الشمالية",
        ],
        zones: &["America/New_York", "America/Detroit", "America/Toronto"],
    },
    SharedName {
        names: [
            "Central Time",
            "Nordamerikanische Zentralzeit",
            "hora central",
            "heure du centre nord-américain",
            "アメリカ中部時間",
            "التوقيت المركزي لأمريكا الشمالية",
        ],
        zones: &["America/Chicago", "America/Winnipeg"],
    },
    SharedName {
        names: [
            "Mountain Time",
            "Rocky-Mountain-Zeit",
            "hora de las Montañas Rocosas",
            "heure des Rocheuses",
            "アメリカ山地時間",
            "التوقيت الجبلي لأمريكا الشمالية",
        ],
        zones: &["America/Denver", "America/Boise", "America/Edmonton"],
    },
    SharedName {
        names: [
            "Pacific Time",
            "Nordamerikanische Westküstenzeit",
            "hora del Pacífico",
            "heure du Pacifique nord-américain",
            "アメリカ太平洋時間",
            "توقيت المحيط الهادي",
        ],
        zones: &["America/Los_Angeles"],
    },
    SharedName {
        names: [
            "Alaska Time",
            "Alaska-Zeit",
            "hora de Alaska",
            "heure de l’Alaska",
            "アラスカ時間",
            "توقيت ألاسكا",
        ],
        zones: &["America/Anchorage"],
    },
    SharedName {
        names: [
            "Atlantic Time",
            "Atlantik-Zeit",
            "hora del Atlántico",
            "heure de l’Atlantique",
            "大西洋時間",
            "توقيت الأطلسي",
        ],
        zones: &["America/Halifax"],
    },
    SharedName {
        names: [
            "UK Time",
            "Britische Zeit",
            "hora del Reino Unido",
            "heure du Royaume-Uni",
            "英国時間",
            "توقيت المملكة المتحدة",
        ],
        zones: &["Europe/London"],
    },
    SharedName {
        names: [
            "Central European Time",
            "Mitteleuropäische Zeit",
            "hora de Europa central",
            "heure d’Europe centrale",
            "中央ヨーロッパ時間",
            "توقيت وسط أوروبا",
        ],
        zones: &[
            "Europe/Amsterdam",
            "Europe/Berlin",
            "Europe/Brussels",
            "Europe/Budapest",
            "Europe/Copenhagen",
            "Europe/Madrid",
            "Europe/Oslo",
            "Europe/Paris",
            "Europe/Prague",
            "Europe/Rome",
            "Europe/Stockholm",
            "Europe/Vienna",
            "Europe/Warsaw",
            "Europe/Zurich",
        ],
    },
    SharedName {
        names: [
            "Eastern European Time",
            "Osteuropäische Zeit",
            "hora de Europa oriental",
            "heure d’Europe de l’Est",
            "東ヨーロッパ時間",
            "توقيت شرق أوروبا",
        ],
        zones: &["Europe/Athens", "Europe/Bucharest", "Europe/Helsinki", "Europe/Sofia"],
    },
    SharedName {
        names: [
            "India Time",
            "Indische Zeit",
            "hora de India",
            "heure de l’Inde",
            "インド時間",
            "توقيت الهند",
        ],
        zones: &["Asia/Kolkata"],
    },
];

/// Returns the name of a zone with its city, or its IANA name if no shared name is known here.
pub fn zone_name(iana_name: &str, language: Language) -> String {
    let Some(shared) = SHARED_NAMES.iter().find(|shared| shared.zones.contains(&iana_name)) else {
        return iana_name.to_owned();
    };
    let [english, german, spanish, french, japanese, arabic] = shared.names;
    let city = iana_name.rsplit('/').next().unwrap_or(iana_name).replace('_', " ");
    match language {
        Language::English | Language::AmericanEnglish => format!("{english}, {city}"),
        Language::German => format!("{german}, {city}"),
        Language::Spanish => format!("{spanish}, {city}"),
        Language::French => format!("{french}, {city}"),
        Language::Japanese => format!("{japanese}、{city}"),
        Language::Arabic => format!("{arabic}، {city}"),
    }
}

#[cfg(test)]
mod tests {
    use scheduling::hours::Zone;

    use super::*;

    #[test]
    fn a_zone_has_its_name_and_its_city() {
        for (zone, language, name) in [
            ("America/New_York", Language::AmericanEnglish, "Eastern Time, New York"),
            ("Europe/Berlin", Language::German, "Mitteleuropäische Zeit, Berlin"),
            ("America/Phoenix", Language::English, "America/Phoenix"),
            ("UTC", Language::Japanese, "UTC"),
        ] {
            assert_eq!(zone_name(zone, language), name);
        }
    }

    #[test]
    fn every_zone_is_one_of_the_database() {
        for zone in SHARED_NAMES.iter().flat_map(|shared| shared.zones) {
            assert_eq!(Zone::named(zone).map(|found| found.name).as_deref(), Some(*zone));
        }
    }
}
