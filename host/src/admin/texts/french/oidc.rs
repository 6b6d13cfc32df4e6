//! Words of sign-in by an OpenID provider in French.

use crate::admin::texts::OidcTexts;

pub static FRENCH_OIDC: OidcTexts = OidcTexts {
    sign_in: "Se connecter avec {name}",
    join: "Rejoindre avec {name}",
    confirm: "Confirmer avec {name}",
    confirm_text: "Vous devrez vous y connecter de nouveau.",
    leaving: "Redirection vers {name}",
    leaving_text: "Redirection en cours. Si rien ne se passe, utilisez ce lien\u{a0}:",
    title: "Connexion avec {name}",
    connected: "Vous pouvez vous connecter avec {name}.",
    connected_elsewhere: "Relié à {name}, que ce serveur n’utilise plus.",
    not_connected: "Non relié. Reliez votre compte chez ce fournisseur pour vous connecter avec lui.",
    connect: "Relier",
    disconnect: "Dissocier",
    last_way: "C’est votre seul moyen de vous connecter. Définissez un mot de passe avant de dissocier ce compte.",
    failed_title: "La connexion a échoué",
    unavailable: "{name} ne répond pas correctement. Réessayez dans une minute, ou connectez-vous avec votre mot de passe.",
    state: "Cette connexion a été commencée dans un autre navigateur, a pris plus de 10 minutes, ou est déjà terminée.",
    declined: "Vous avez annulé chez {name}.",
    refused: "{name} a refusé la requête. Le motif est dans le journal du serveur.",
    bad_token: "La réponse de {name} n’est pas valide. Le motif est dans le journal du serveur.",
    unknown: "Votre compte {name} n’est relié à personne ici. Demandez une invitation à un propriétaire. Si vous avez un mot de passe ici, utilisez-le pour vous connecter, puis reliez {name} sur la page de votre compte.",
    other_address: "{name} n’a pas vérifié que l’adresse e-mail invitée est la vôtre. Utilisez le compte {name} qui a cette adresse, ou acceptez l’invitation avec un mot de passe.",
    known_address: "Il existe déjà un compte avec cette adresse e-mail. Connectez-vous, puis rouvrez le lien pour accepter l’invitation.",
    taken: "Ce compte {name} est relié à une autre personne ici, ou vous en avez déjà relié un autre.",
    other_person: "Vous avez utilisé chez {name} un autre compte que celui qui est relié.",
    not_fresh: "{name} n’a pas confirmé que vous venez de vous connecter. Utilisez plutôt votre mot de passe ou un code.",
    try_again: "Réessayer",
};
