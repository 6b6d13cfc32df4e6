//! Texts of the pages on which a host confirms or declines a booking.

use service::locale::Language;

/// The texts of one language.
#[derive(Clone, Copy, Debug)]
pub struct DecisionTexts {
    /// Heading of the page, and its button.
    pub confirm: [&'static str; 2],
    pub decline: [&'static str; 2],
    /// `{invitee}` is the invitee's name, or the email address.
    pub asks: &'static str,
    pub is_confirmed: &'static str,
    /// `{when}` is the time at which the reader, or another person, decided.
    pub you_confirmed: &'static str,
    pub was_confirmed: &'static str,
    pub you_declined: &'static str,
    pub was_declined: &'static str,
    /// The host's calendar has another event at the time.
    pub busy: &'static str,
    pub moved_meanwhile: &'static str,
}

/// The texts of a language.
pub fn decision(language: Language) -> DecisionTexts {
    match language {
        Language::English | Language::AmericanEnglish => ENGLISH,
        Language::German => GERMAN,
        Language::Spanish => SPANISH,
        Language::French => FRENCH,
        Language::Japanese => JAPANESE,
        Language::Arabic => ARABIC,
    }
}

const ENGLISH: DecisionTexts = DecisionTexts {
    confirm: ["Confirm booking", "Confirm"],
    decline: ["Decline booking", "Decline"],
    asks: "{invitee} would like to book this time",
    is_confirmed: "Booking confirmed",
    you_confirmed: "You confirmed this booking on {when}.",
    was_confirmed: "This booking was confirmed on {when}.",
    you_declined: "You declined this booking on {when}.",
    was_declined: "This booking was declined on {when}.",
    busy: "You have something else at this time.",
    moved_meanwhile: "This booking has a new time. Check it before you decide.",
};

const GERMAN: DecisionTexts = DecisionTexts {
    confirm: ["Buchung bestätigen", "Bestätigen"],
    decline: ["Buchung ablehnen", "Ablehnen"],
    asks: "{invitee} möchte diese Zeit buchen",
    is_confirmed: "Buchung bestätigt",
    you_confirmed: "Sie haben diese Buchung am {when} bestätigt.",
    was_confirmed: "Diese Buchung wurde am {when} bestätigt.",
    you_declined: "Sie haben diese Buchung am {when} abgelehnt.",
    was_declined: "Diese Buchung wurde am {when} abgelehnt.",
    busy: "In Ihrem Kalender steht zu dieser Zeit schon etwas anderes.",
    moved_meanwhile: "Diese Buchung hat eine neue Zeit. Prüfen Sie sie, bevor Sie entscheiden.",
};

const SPANISH: DecisionTexts = DecisionTexts {
    confirm: ["Confirmar la reserva", "Confirmar"],
    decline: ["Rechazar la reserva", "Rechazar"],
    asks: "{invitee} quiere reservar esta hora",
    is_confirmed: "Reserva confirmada",
    you_confirmed: "Ha confirmado esta reserva el {when}.",
    was_confirmed: "Esta reserva se confirmó el {when}.",
    you_declined: "Ha rechazado esta reserva el {when}.",
    was_declined: "Esta reserva se rechazó el {when}.",
    busy: "Tiene otro compromiso a esta hora.",
    moved_meanwhile: "Esta reserva tiene una hora nueva. Compruébela antes de decidir.",
};

const FRENCH: DecisionTexts = DecisionTexts {
    confirm: ["Confirmer la réservation", "Confirmer"],
    decline: ["Refuser la réservation", "Refuser"],
    asks: "{invitee} souhaite réserver cet horaire",
    is_confirmed: "Réservation confirmée",
    you_confirmed: "Vous avez confirmé cette réservation le {when}.",
    was_confirmed: "Cette réservation a été confirmée le {when}.",
    you_declined: "Vous avez refusé cette réservation le {when}.",
    was_declined: "Cette réservation a été refusée le {when}.",
    busy: "Vous avez déjà un autre engagement à cet horaire.",
    moved_meanwhile: "Cette réservation a un nouvel horaire. Vérifiez-le avant de décider.",
};

const JAPANESE: DecisionTexts = DecisionTexts {
    confirm: ["予約を確定する", "確定する"],
    decline: ["予約を辞退する", "辞退する"],
    asks: "{invitee}様がこの時間の予約を希望しています",
    is_confirmed: "予約は確定しました",
    you_confirmed: "この予約を確定しました：{when}",
    was_confirmed: "この予約は確定されました：{when}",
    you_declined: "この予約を辞退しました：{when}",
    was_declined: "この予約は辞退されました：{when}",
    busy: "この時間には別の予定があります。",
    moved_meanwhile: "この予約の日時が変更されました。内容を確認してから、確定または辞退してください。",
};

const ARABIC: DecisionTexts = DecisionTexts {
    confirm: ["تأكيد الحجز", "تأكيد"],
    decline: ["رفض الحجز", "رفض"],
    asks: "يرغب {invitee} في حجز هذا الوقت",
    is_confirmed: "تم تأكيد الحجز",
    you_confirmed: "أكدت هذا الحجز يوم {when}.",
    was_confirmed: "تم تأكيد هذا الحجز يوم {when}.",
    you_declined: "رفضت هذا الحجز يوم {when}.",
    was_declined: "رُفض هذا الحجز يوم {when}.",
    busy: "لديك موعد آخر في هذا الوقت.",
    moved_meanwhile: "تغيّر وقت هذا الحجز. راجعه قبل أن تقرر.",
};
