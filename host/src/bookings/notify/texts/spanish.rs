//! Messages about bookings in Spanish.

use crate::bookings::notify::texts::fields::{Changes, Texts};

pub static SPANISH: Texts = Texts {
    subjects: Changes {
        pending: "Pendiente de confirmación",
        confirmed: "Confirmada",
        rescheduled: "Nueva hora",
        rescheduled_pending: "Nueva hora, pendiente de confirmación",
        cancelled: "Cancelada",
        rejected: "Rechazada",
        expired: "No confirmada",
        reminder: "Recordatorio",
    },
    sentences: Changes {
        pending: "Hemos recibido su solicitud. El anfitrión debe confirmarla; entonces recibirá otro mensaje.",
        confirmed: "Su cita está confirmada.",
        rescheduled: "Su cita se ha cambiado a otra hora.",
        rescheduled_pending: "Su cita se ha cambiado a otra hora, que el anfitrión debe confirmar.",
        cancelled: "Su cita se ha cancelado y no tendrá lugar.",
        rejected: "El anfitrión ha rechazado esta cita. No tendrá lugar.",
        expired: "El anfitrión no confirmó esta cita a tiempo. No tendrá lugar.",
        reminder: "Su cita empieza pronto.",
    },
    invited: "Le han invitado a esta cita.",
    replaced: "Esta invitación se sustituye por otra, que llegará en un mensaje aparte.",
    what: "Qué",
    when: "Cuándo",
    before: "Antes",
    place: "Lugar",
    host: "Con",
    invitee: "Invitado",
    email: "Correo electrónico",
    phone: "Número de teléfono",
    guests: "Otros invitados",
    details: "Notas y respuestas",
    reason: "Motivo",
    in_person: "En persona",
    by_phone: "Por teléfono",
    online: "En línea",
    change: "Cambiar o cancelar esta cita",
    book_again: "Reservar otra hora",
};
