//! Words of sign-in by an OpenID provider in German.

use crate::admin::texts::OidcTexts;

pub static GERMAN_OIDC: OidcTexts = OidcTexts {
    sign_in: "Mit {name} anmelden",
    join: "Mit {name} beitreten",
    confirm: "Mit {name} bestätigen",
    confirm_text: "Sie werden dort noch einmal zur Anmeldung aufgefordert.",
    leaving: "Weiter zu {name}",
    leaving_text: "Sie werden weitergeleitet. Falls nichts geschieht, folgen Sie diesem Link:",
    title: "Anmeldung mit {name}",
    connected: "Sie können sich mit {name} anmelden.",
    connected_elsewhere: "Verbunden mit {name}, das dieser Server nicht mehr verwendet.",
    not_connected: "Nicht verbunden. Verbinden Sie Ihr dortiges Konto, um sich damit anzumelden.",
    connect: "Verbinden",
    disconnect: "Trennen",
    last_way: "Das ist Ihre einzige Möglichkeit, sich anzumelden. Legen Sie ein Passwort fest, bevor Sie sie trennen.",
    failed_title: "Das hat nicht funktioniert",
    unavailable: "{name} antwortet nicht richtig. Versuchen Sie es in einer Minute noch einmal, oder melden Sie sich mit Ihrem Passwort an.",
    state: "Diese Anmeldung wurde in einem anderen Browser begonnen, hat länger als 10 Minuten gedauert oder ist schon abgeschlossen.",
    declined: "Sie haben bei {name} abgebrochen.",
    refused: "{name} hat die Anfrage abgelehnt. Der Grund steht im Log des Servers.",
    bad_token: "Die Antwort von {name} ist ungültig. Der Grund steht im Log des Servers.",
    unknown: "Ihr Konto bei {name} ist hier mit niemandem verbunden. Bitten Sie einen Inhaber um eine Einladung. Wenn Sie hier ein Passwort haben, melden Sie sich damit an, und verbinden Sie {name} auf Ihrer Kontoseite.",
    other_address: "{name} hat nicht bestätigt, dass die eingeladene E-Mail-Adresse Ihnen gehört. Verwenden Sie das Konto bei {name} mit dieser Adresse, oder treten Sie mit einem Passwort bei.",
    known_address: "Es gibt schon ein Konto mit dieser E-Mail-Adresse. Melden Sie sich an, und öffnen Sie dann den Link noch einmal, um beizutreten.",
    taken: "Dieses Konto bei {name} ist hier mit einer anderen Person verbunden, oder Sie haben schon ein anderes verbunden.",
    other_person: "Sie haben sich bei {name} mit einem anderen als dem verbundenen Konto angemeldet.",
    not_fresh: "{name} hat nicht bestätigt, dass Sie sich gerade angemeldet haben. Verwenden Sie stattdessen Ihr Passwort oder einen Code.",
    try_again: "Noch einmal versuchen",
};
