//! Scopes in words in Spanish: a sentence for each.

use crate::admin::texts::ScopeTexts;

pub static SPANISH: ScopeTexts = ScopeTexts {
    surfaces: &[
        (
            "Correo",
            &[
                ("email.read", "Leer mensajes, conversaciones, carpetas, borradores y archivos adjuntos."),
                (
                    "email.write",
                    "Cambiar, mover y eliminar mensajes; crear borradores y carpetas. Incluye la lectura.",
                ),
                ("email.send", "Enviar mensajes. No incluye la lectura."),
                ("email.track", "Seguir las aperturas y los clics de los mensajes enviados."),
            ],
        ),
        (
            "Calendarios",
            &[
                ("calendar.read", "Leer calendarios y eventos. Incluye las horas ocupadas."),
                ("calendar.write", "Crear, cambiar y eliminar eventos. Incluye la lectura."),
                ("calendar.freebusy", "Ver cuándo están ocupadas las personas, sin ningún detalle."),
            ],
        ),
        (
            "Contactos",
            &[
                ("contacts.read", "Leer contactos, grupos y fotos."),
                ("contacts.write", "Crear, cambiar y eliminar contactos. Incluye la lectura."),
            ],
        ),
        (
            "Tareas",
            &[
                ("tasks.read", "Leer listas de tareas y tareas."),
                ("tasks.write", "Crear, cambiar y eliminar tareas. Incluye la lectura."),
            ],
        ),
        (
            "Reservas",
            &[
                ("scheduling.read", "Leer tipos de evento, horarios y reservas."),
                (
                    "scheduling.write",
                    "Crear y cambiar tipos de evento y horarios, decidir sobre las reservas. Incluye leer y reservar.",
                ),
                (
                    "scheduling.book",
                    "Ver las horas libres y reservarlas. Apto para una clave en una página web.",
                ),
            ],
        ),
        (
            "Cuentas",
            &[
                ("connections.read", "Ver las cuentas conectadas y su estado."),
                ("connections.write", "Conectar, renovar y desconectar cuentas."),
            ],
        ),
        (
            "Eventos y webhooks",
            &[
                ("webhooks.read", "Ver webhooks y entregas."),
                ("webhooks.write", "Crear, cambiar y eliminar webhooks; reenviar eventos."),
                ("events.read", "Leer el registro de eventos y su transmisión en directo."),
            ],
        ),
        (
            "Administración",
            &[
                ("api_keys.write", "Crear y revocar claves que no puedan hacer más que esta."),
                ("usage.read", "Leer los datos de uso."),
            ],
        ),
    ],
    everything: "Lee y escribe todo",
    reads_everything: "Lee todo",
    reads: "Lee {names}",
    writes: "Lee y escribe {names}",
    list_more: "{a}, {b}",
    list_last: "{a} y {b}",
    acts_more: "{a} · {b}",
    names: &[
        ("email", "correo"),
        ("calendar", "calendarios"),
        ("contacts", "contactos"),
        ("tasks", "tareas"),
        ("scheduling", "reservas"),
        ("connections", "cuentas"),
        ("webhooks", "webhooks"),
        ("events", "eventos"),
        ("api_keys", "claves"),
        ("usage", "datos de uso"),
        ("admin", "datos de la instalación"),
    ],
    sends: "Envía correo",
    books: "Reserva horas",
    sees_busy: "Ve las horas ocupadas",
    tracks: "Sigue el correo enviado",
    runs_operators: "Gestiona operadores",
    installs_connectors: "Instala conectores",
    nothing: "Nada",
};
