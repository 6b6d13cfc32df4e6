//! Scopes in French words.

use crate::admin::texts::ScopeTexts;

pub static FRENCH: ScopeTexts = ScopeTexts {
    surfaces: &[
        (
            "E-mails",
            &[
                ("email.read", "Lire les messages, fils, dossiers, brouillons et pièces jointes."),
                (
                    "email.write",
                    "Modifier, déplacer et supprimer des messages, créer des brouillons et des dossiers. Inclut la lecture.",
                ),
                ("email.send", "Envoyer des messages. N’inclut pas la lecture."),
                ("email.track", "Suivre les ouvertures et les clics des messages envoyés."),
            ],
        ),
        (
            "Calendriers",
            &[
                ("calendar.read", "Lire les calendriers et les événements. Inclut les disponibilités."),
                ("calendar.write", "Créer, modifier et supprimer des événements. Inclut la lecture."),
                ("calendar.freebusy", "Voir quand les personnes sont occupées, sans aucun détail."),
            ],
        ),
        (
            "Contacts",
            &[
                ("contacts.read", "Lire les contacts, les groupes et les photos."),
                ("contacts.write", "Créer, modifier et supprimer des contacts. Inclut la lecture."),
            ],
        ),
        (
            "Tâches",
            &[
                ("tasks.read", "Lire les listes de tâches et les tâches."),
                ("tasks.write", "Créer, modifier et supprimer des tâches. Inclut la lecture."),
            ],
        ),
        (
            "Planification",
            &[
                ("scheduling.read", "Lire les types d’événement, les plages horaires et les réservations."),
                (
                    "scheduling.write",
                    "Créer et modifier les types d’événement et les plages horaires, accepter ou refuser des réservations. Inclut la lecture et la réservation.",
                ),
                (
                    "scheduling.book",
                    "Voir les horaires libres et les réserver. Convient à une clé dans une page web.",
                ),
            ],
        ),
        (
            "Comptes",
            &[
                ("connections.read", "Lister les comptes connectés et leur état."),
                ("connections.write", "Connecter, actualiser et déconnecter des comptes."),
            ],
        ),
        (
            "Événements et webhooks",
            &[
                ("webhooks.read", "Lister les webhooks et les livraisons."),
                ("webhooks.write", "Créer, modifier et supprimer des webhooks, renvoyer des événements."),
                ("events.read", "Lire le journal des événements et son flux en direct."),
            ],
        ),
        (
            "Administration",
            &[
                (
                    "api_keys.write",
                    "Créer et révoquer des clés qui ne peuvent rien faire de plus que celle-ci.",
                ),
                ("usage.read", "Lire les statistiques d’utilisation."),
            ],
        ),
    ],
    everything: "Lit et modifie tout",
    reads_everything: "Lit tout",
    reads: "Lit {names}",
    writes: "Lit et modifie {names}",
    list_more: "{a}, {b}",
    list_last: "{a} et {b}",
    acts_more: "{a}\u{a0}; {b}",
    names: &[
        ("email", "les e-mails"),
        ("calendar", "les calendriers"),
        ("contacts", "les contacts"),
        ("tasks", "les tâches"),
        ("scheduling", "la planification"),
        ("connections", "les comptes"),
        ("webhooks", "les webhooks"),
        ("events", "les événements"),
        ("api_keys", "les clés"),
        ("usage", "l’utilisation"),
        ("admin", "l’installation"),
    ],
    sends: "Envoie des e-mails",
    books: "Réserve des horaires",
    sees_busy: "Voit les disponibilités",
    tracks: "Suit les e-mails",
    runs_operators: "Gère les opérateurs",
    installs_connectors: "Installe des connecteurs",
    nothing: "Rien",
};
