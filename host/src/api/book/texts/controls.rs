//! Texts of what helps with the list of times: the way to it, the pictures of hosts, the parts of the day, the clock that is chosen, and
//! the search for a time zone that the page's script adds.

use crate::locale::Language;

/// The texts of one language.
#[derive(Clone, Copy, Debug)]
pub struct Controls {
    /// The link over everything that stands before the times.
    pub skip_to_times: &'static str,
    /// Stands for the picture of a host whose name is not told.
    pub picture_of_host: &'static str,
    /// The two clocks of the page: its own, and a link to the other one.
    pub twelve_hours: &'static str,
    pub twenty_four_hours: &'static str,
    /// Stands before a number.
    pub zones_found: &'static str,
    pub no_zone_found: &'static str,
    /// Until noon, until five in the afternoon, and later: headings of the times then.
    pub parts_of_day: [&'static str; 3],
}

/// The texts of a language.
pub fn controls(language: Language) -> Controls {
    let [twelve_hours, twenty_four_hours, zones_found, no_zone_found] = match language {
        Language::English | Language::AmericanEnglish => {
            ["12h", "24h", "Time zones found", "No time zone found"]
        }
        Language::German => ["12h", "24h", "Gefundene Zeitzonen", "Keine Zeitzone gefunden"],
        Language::Spanish => {
            ["12h", "24h", "Zonas horarias encontradas", "No se ha encontrado ninguna zona horaria"]
        }
        Language::French => ["12h", "24h", "Fuseaux horaires trouvés", "Aucun fuseau horaire trouvé"],
        Language::Japanese => ["12時間", "24時間", "見つかったタイムゾーン", "タイムゾーンが見つかりません"],
        Language::Arabic => ["12 ساعة", "24 ساعة", "المناطق الزمنية المطابقة", "لا توجد منطقة زمنية مطابقة"],
    };
    let parts_of_day = match language {
        Language::English | Language::AmericanEnglish => ["Morning", "Afternoon", "Evening"],
        Language::German => ["Vormittag", "Nachmittag", "Abend"],
        Language::Spanish => ["Mañana", "Tarde", "Última hora de la tarde y noche"],
        Language::French => ["Matin", "Après-midi", "Fin d’après-midi et soir"],
        Language::Japanese => ["午前", "午後", "夕方以降"],
        Language::Arabic => ["صباحًا", "بعد الظهر", "مساءً"],
    };
    let skip_to_times = match language {
        Language::English | Language::AmericanEnglish => "Skip to the times",
        Language::German => "Direkt zu den Zeiten",
        Language::Spanish => "Ir directamente a las horas",
        Language::French => "Aller directement aux horaires",
        Language::Japanese => "時間の一覧へ移動",
        Language::Arabic => "الانتقال مباشرة إلى الأوقات",
    };
    let picture_of_host = match language {
        Language::English | Language::AmericanEnglish => "Picture of the host",
        Language::German => "Bild des Gastgebers",
        Language::Spanish => "Imagen del anfitrión",
        Language::French => "Photo de l’hôte",
        Language::Japanese => "担当者の画像",
        Language::Arabic => "صورة المضيف",
    };
    Controls {
        skip_to_times,
        picture_of_host,
        twelve_hours,
        twenty_four_hours,
        zones_found,
        no_zone_found,
        parts_of_day,
    }
}
