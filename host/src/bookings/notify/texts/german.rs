//! Messages about bookings in German.

use crate::bookings::notify::texts::fields::{Changes, Texts};

pub static GERMAN: Texts = Texts {
    subjects: Changes {
        pending: "Wartet auf Bestätigung",
        confirmed: "Bestätigt",
        rescheduled: "Neue Zeit",
        rescheduled_pending: "Neue Zeit, wartet auf Bestätigung",
        cancelled: "Abgesagt",
        rejected: "Abgelehnt",
        expired: "Nicht bestätigt",
        reminder: "Erinnerung",
    },
    sentences: Changes {
        pending: "Ihre Anfrage ist eingegangen. Der Gastgeber muss sie bestätigen; Sie bekommen dann eine weitere Nachricht.",
        confirmed: "Ihr Termin ist bestätigt.",
        rescheduled: "Ihr Termin wurde auf eine andere Zeit verschoben.",
        rescheduled_pending: "Ihr Termin wurde auf eine andere Zeit verschoben, die der Gastgeber bestätigen muss.",
        cancelled: "Ihr Termin wurde abgesagt und findet nicht statt.",
        rejected: "Der Gastgeber hat diesen Termin abgelehnt. Er findet nicht statt.",
        expired: "Der Gastgeber hat diesen Termin nicht rechtzeitig bestätigt. Er findet nicht statt.",
        reminder: "Ihr Termin beginnt bald.",
    },
    invited: "Sie sind zu diesem Termin eingeladen.",
    replaced: "Diese Einladung wird durch eine andere ersetzt, die mit einer eigenen Nachricht kommt.",
    what: "Was",
    when: "Wann",
    before: "Bisher",
    place: "Ort",
    host: "Mit",
    invitee: "Gast",
    email: "E-Mail",
    phone: "Telefonnummer",
    guests: "Weitere Gäste",
    details: "Anmerkungen und Antworten",
    reason: "Grund",
    in_person: "Vor Ort",
    by_phone: "Telefonisch",
    online: "Online",
    change: "Diesen Termin verschieben oder absagen",
    book_again: "Eine andere Zeit buchen",
};
