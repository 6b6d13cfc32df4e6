//! Words of sign-in by an OpenID provider, in Spanish.

use crate::admin::texts::OidcTexts;

pub static SPANISH_OIDC: OidcTexts = OidcTexts {
    sign_in: "Iniciar sesión con {name}",
    join: "Unirse con {name}",
    confirm: "Confirmar con {name}",
    confirm_text: "Se le pedirá que inicie sesión allí de nuevo.",
    leaving: "Redirigiendo a {name}",
    leaving_text: "Se le redirigirá. Si no ocurre nada, use este enlace:",
    title: "Inicio de sesión con {name}",
    connected: "Puede iniciar sesión con {name}.",
    connected_elsewhere: "Conectado a {name}, que este servidor ya no usa.",
    not_connected: "No conectado. Conecte su cuenta de allí para iniciar sesión con ella.",
    connect: "Conectar",
    disconnect: "Desconectar",
    last_way: "Esta es su única forma de iniciar sesión. Defina una contraseña antes de desconectarla.",
    failed_title: "No ha funcionado",
    unavailable: "{name} no responde correctamente. Inténtelo de nuevo en un minuto o inicie sesión con su contraseña.",
    state: "Este inicio de sesión empezó en otro navegador, duró más de 10 minutos o ya se completó.",
    declined: "Canceló el inicio de sesión en {name}.",
    refused: "{name} rechazó la solicitud. El motivo está en el registro del servidor.",
    bad_token: "La respuesta de {name} no es válida. El motivo está en el registro del servidor.",
    unknown: "Su cuenta de {name} no está conectada con nadie aquí. Pida una invitación a un propietario. Si tiene una contraseña aquí, inicie sesión con ella y conecte {name} en la página de su cuenta.",
    other_address: "{name} no ha verificado que la dirección de correo invitada sea suya. Use la cuenta de {name} con esa dirección o únase con una contraseña.",
    known_address: "Ya existe una cuenta con este correo. Inicie sesión y abra el enlace de nuevo para unirse.",
    taken: "Esta cuenta de {name} está conectada con otra persona aquí, o usted ya ha conectado otra.",
    other_person: "Ha iniciado sesión en {name} con una cuenta distinta de la que está conectada.",
    not_fresh: "{name} no confirmó que acabe de iniciar sesión. Use su contraseña o un código.",
    try_again: "Intentar de nuevo",
};
