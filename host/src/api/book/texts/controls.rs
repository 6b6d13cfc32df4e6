//! Texts around the list of times: the skip link, the hosts, the next free day, the parts of the day, the clock, the zone, and texts of the
//! page's script.

use service::locale::Language;

/// The texts of one language.
#[derive(Clone, Copy, Debug)]
pub struct Controls {
    /// The link that skips everything before the times.
    pub skip_to_times: &'static str,
    /// Alternative text of a host's image if the name is not shown.
    pub picture_of_host: &'static str,
    /// Separates names, and a day from its month.
    pub comma: &'static str,
    /// Precede and follow the number of hosts who are not named.
    pub other_hosts: [&'static str; 2],
    /// Unfolds the rest of a description.
    pub read_more: &'static str,
    /// The switch between the clocks, and the two of them.
    pub clock: &'static str,
    pub twelve_hours: &'static str,
    pub twenty_four_hours: &'static str,
    /// `{time}` is the current time in the zone.
    pub now: &'static str,
    /// Unfolds the field for another zone: a word of `change_zone`.
    pub change: &'static str,
    /// Precedes a number.
    pub zones_found: &'static str,
    pub no_zone_found: &'static str,
    /// Until noon, until five in the afternoon, and later: headings of the times.
    pub parts_of_day: [&'static str; 3],
    /// Precedes the number of free seats of a time.
    pub seats_left: &'static str,
    /// `{day}` has its weekday and its year.
    pub next_day: &'static str,
    /// `{day}` is the day and its month.
    pub show_day: &'static str,
    /// The booking keeps its time while another one is chosen.
    pub keeps_time: &'static str,
    /// Another month or day is being loaded.
    pub loading: &'static str,
}

/// The texts of a language.
pub fn controls(language: Language) -> &'static Controls {
    match language {
        Language::English | Language::AmericanEnglish => &ENGLISH,
        Language::German => &GERMAN,
        Language::Spanish => &SPANISH,
        Language::French => &FRENCH,
        Language::Japanese => &JAPANESE,
        Language::Arabic => &ARABIC,
    }
}

static ENGLISH: Controls = Controls {
    skip_to_times: "Skip to the times",
    picture_of_host: "Picture of the host",
    comma: ", ",
    other_hosts: [" and ", " others"],
    read_more: "Read more",
    clock: "Clock",
    twelve_hours: "12h",
    twenty_four_hours: "24h",
    now: "now {time}",
    change: "Change",
    zones_found: "Time zones found",
    no_zone_found: "No time zone found",
    parts_of_day: ["Morning", "Afternoon", "Evening"],
    seats_left: "Seats left",
    next_day: "The next free day is {day}.",
    show_day: "Show {day}",
    keeps_time: "You keep this time until you confirm a new one.",
    loading: "Loading times",
};

static GERMAN: Controls = Controls {
    skip_to_times: "Direkt zu den Zeiten",
    picture_of_host: "Bild des Gastgebers",
    comma: ", ",
    other_hosts: [" und ", " weitere"],
    read_more: "Mehr lesen",
    clock: "Uhr",
    twelve_hours: "12h",
    twenty_four_hours: "24h",
    now: "jetzt {time}",
    change: "Ändern",
    zones_found: "Gefundene Zeitzonen",
    no_zone_found: "Keine Zeitzone gefunden",
    parts_of_day: ["Vormittag", "Nachmittag", "Abend"],
    seats_left: "Freie Plätze",
    next_day: "Der nächste freie Tag ist {day}.",
    show_day: "{day} anzeigen",
    keeps_time: "Ihre Zeit bleibt gebucht, bis Sie eine neue bestätigen.",
    loading: "Zeiten werden geladen",
};

static SPANISH: Controls = Controls {
    skip_to_times: "Ir directamente a las horas",
    picture_of_host: "Imagen del anfitrión",
    comma: ", ",
    other_hosts: [" y ", " más"],
    read_more: "Leer más",
    clock: "Reloj",
    twelve_hours: "12h",
    twenty_four_hours: "24h",
    now: "ahora {time}",
    change: "Cambiar",
    zones_found: "Zonas horarias encontradas",
    no_zone_found: "No se ha encontrado ninguna zona horaria",
    parts_of_day: ["Mañana", "Tarde", "Última hora de la tarde y noche"],
    seats_left: "Plazas libres",
    next_day: "El próximo día libre es el {day}.",
    show_day: "Ver el {day}",
    keeps_time: "Conserva esta hora hasta que confirme otra.",
    loading: "Cargando horas",
};

static FRENCH: Controls = Controls {
    skip_to_times: "Aller directement aux horaires",
    picture_of_host: "Photo de l’hôte",
    comma: ", ",
    other_hosts: [" et ", " autres"],
    read_more: "Lire la suite",
    clock: "Format de l’heure",
    twelve_hours: "12h",
    twenty_four_hours: "24h",
    now: "actuellement {time}",
    change: "Changer",
    zones_found: "Fuseaux horaires trouvés",
    no_zone_found: "Aucun fuseau horaire trouvé",
    parts_of_day: ["Matin", "Après-midi", "Fin d’après-midi et soir"],
    seats_left: "Places restantes",
    next_day: "Prochain jour libre\u{a0}: {day}.",
    show_day: "Voir le {day}",
    keeps_time: "Vous gardez cet horaire jusqu’à ce que vous en confirmiez un nouveau.",
    loading: "Chargement des horaires",
};

static JAPANESE: Controls = Controls {
    skip_to_times: "時間の一覧へ移動",
    picture_of_host: "担当者の画像",
    comma: "、",
    other_hosts: ["、ほか", "名"],
    read_more: "続きを読む",
    clock: "時刻の表示",
    twelve_hours: "12時間",
    twenty_four_hours: "24時間",
    now: "現在 {time}",
    change: "変更",
    zones_found: "見つかったタイムゾーン",
    no_zone_found: "タイムゾーンが見つかりません",
    parts_of_day: ["午前", "午後", "夕方以降"],
    seats_left: "残席",
    next_day: "次に空きがある日は{day}です。",
    show_day: "{day}を表示",
    keeps_time: "新しい日時を確定するまで、現在の日時のままです。",
    loading: "読み込んでいます",
};

static ARABIC: Controls = Controls {
    skip_to_times: "الانتقال مباشرة إلى الأوقات",
    picture_of_host: "صورة المضيف",
    comma: "، ",
    other_hosts: [" وآخرون (", ")"],
    read_more: "قراءة المزيد",
    clock: "نظام الساعة",
    twelve_hours: "12 ساعة",
    twenty_four_hours: "24 ساعة",
    now: "الآن {time}",
    change: "تغيير",
    zones_found: "المناطق الزمنية المطابقة",
    no_zone_found: "لا توجد منطقة زمنية مطابقة",
    parts_of_day: ["صباحًا", "بعد الظهر", "مساءً"],
    seats_left: "المقاعد المتبقية",
    next_day: "أقرب يوم متاح هو {day}.",
    show_day: "عرض {day}",
    keeps_time: "يبقى هذا الموعد محجوزًا لك حتى تؤكد موعدًا جديدًا.",
    loading: "جارٍ تحميل الأوقات",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::book::texts::texts;

    const LANGUAGES: [Language; 6] = [
        Language::English,
        Language::German,
        Language::Spanish,
        Language::French,
        Language::Japanese,
        Language::Arabic,
    ];

    #[test]
    fn the_word_that_is_seen_is_in_the_name_that_is_heard() {
        for language in LANGUAGES {
            let (seen, heard) =
                (controls(language).change.to_lowercase(), texts(language).change_zone.to_lowercase());
            assert!(heard.contains(&seen), "{language:?}: {heard}");
        }
    }

    #[test]
    fn places_are_held_for_what_is_put_in() {
        for language in LANGUAGES {
            let (controls, texts) = (controls(language), texts(language));
            assert!(controls.now.contains("{time}"), "{language:?}");
            assert!(
                controls.next_day.contains("{day}") && controls.show_day.contains("{day}"),
                "{language:?}"
            );
            assert!(texts.none_in_month.contains("{month}"), "{language:?}");
        }
    }
}
