//! Messages about bookings in French.

use crate::bookings::notify::texts::fields::{Changes, Texts};

pub static FRENCH: Texts = Texts {
    subjects: Changes {
        pending: "En attente de confirmation",
        confirmed: "Confirmé",
        rescheduled: "Nouvel horaire",
        rescheduled_pending: "Nouvel horaire, en attente de confirmation",
        cancelled: "Annulé",
        rejected: "Refusé",
        expired: "Non confirmé",
        reminder: "Rappel",
    },
    sentences: Changes {
        pending: "Votre demande a bien été reçue. L’hôte doit la confirmer ; vous recevrez alors un autre message.",
        confirmed: "Votre rendez-vous est confirmé.",
        rescheduled: "Votre rendez-vous a été déplacé à un autre horaire.",
        rescheduled_pending: "Votre rendez-vous a été déplacé à un autre horaire, que l’hôte doit confirmer.",
        cancelled: "Votre rendez-vous a été annulé et n’aura pas lieu.",
        rejected: "L’hôte a refusé ce rendez-vous. Il n’aura pas lieu.",
        expired: "L’hôte n’a pas confirmé ce rendez-vous à temps. Il n’aura pas lieu.",
        reminder: "Votre rendez-vous commence bientôt.",
    },
    invited: "Vous êtes invité à ce rendez-vous.",
    replaced: "Cette invitation est remplacée par une autre, qui arrive dans un message à part.",
    what: "Quoi",
    when: "Quand",
    before: "Auparavant",
    place: "Lieu",
    host: "Avec",
    invitee: "Invité",
    email: "E-mail",
    phone: "Numéro de téléphone",
    guests: "Autres invités",
    details: "Remarques et réponses",
    reason: "Motif",
    in_person: "Sur place",
    by_phone: "Par téléphone",
    online: "En ligne",
    change: "Déplacer ou annuler ce rendez-vous",
    book_again: "Réserver un autre horaire",
};
