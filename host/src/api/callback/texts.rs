//! Texts of the page that ends an authorization at a provider without returning to an application, in English, German, Spanish, French,
//! Japanese and Arabic.

use service::connections::authorization::PageReason;
use service::locale::Language;

/// The texts of the page: title, what happened, and what the reader can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackTexts {
    pub title: &'static str,
    pub what_happened: &'static str,
    pub what_to_do: &'static str,
    /// The label before the request id.
    pub request_id: &'static str,
}

/// Returns the texts for a reason in a language.
pub fn texts(reason: PageReason, language: Language) -> CallbackTexts {
    let [title, what_happened, what_to_do] = match language {
        Language::English | Language::AmericanEnglish => english(reason),
        Language::German => german(reason),
        Language::Spanish => spanish(reason),
        Language::French => french(reason),
        Language::Japanese => japanese(reason),
        Language::Arabic => arabic(reason),
    };
    let request_id = match language {
        Language::English | Language::AmericanEnglish => "Request id",
        Language::German => "Kennung der Anfrage",
        Language::Spanish => "Identificador de la solicitud",
        Language::French => "Identifiant de la requête",
        Language::Japanese => "リクエスト ID",
        Language::Arabic => "معرّف الطلب",
    };
    CallbackTexts { title, what_happened, what_to_do, request_id }
}

fn english(reason: PageReason) -> [&'static str; 3] {
    match reason {
        PageReason::UnknownLink => [
            "This link is not valid",
            "The address does not belong to a sign-in that was started here.",
            "Go back to the application that sent you here and connect your account again.",
        ],
        PageReason::AlreadyUsed => [
            "This link was already used",
            "The sign-in that this link belongs to is already finished.",
            "Go back to the application: your account may be connected already. If it is not, connect it again.",
        ],
        PageReason::Malformed => [
            "This link is damaged",
            "The address is incomplete, too long, or has a parameter twice.",
            "Go back to the application that sent you here and connect your account again.",
        ],
        PageReason::WrongProvider => [
            "This link belongs to another provider",
            "You came back from a different provider than the one you started with.",
            "Go back to the application that sent you here and connect your account again.",
        ],
        PageReason::Unavailable => [
            "Your account cannot be connected at the moment",
            "Something went wrong on our side.",
            "Wait a few minutes, go back to the application and connect your account again.",
        ],
        PageReason::AdminApproved => [
            "The application is approved",
            "An administrator has approved the application for the organization.",
            "You can close this page. Users of the organization can connect their accounts now.",
        ],
        PageReason::AdminRefused => [
            "The application was not approved",
            "The provider sent you back with an error, and nothing was changed here.",
            "Ask an administrator of the organization to open the address for the approval and to agree. If you wanted to connect your account, start again in the application.",
        ],
    }
}

fn german(reason: PageReason) -> [&'static str; 3] {
    match reason {
        PageReason::UnknownLink => [
            "Dieser Link ist nicht gültig",
            "Die Adresse gehört zu keiner Anmeldung, die hier begonnen wurde.",
            "Gehen Sie zurück zu der Anwendung, von der Sie kommen, und verbinden Sie Ihr Konto noch einmal.",
        ],
        PageReason::AlreadyUsed => [
            "Dieser Link wurde schon benutzt",
            "Die Anmeldung, zu der dieser Link gehört, ist bereits beendet.",
            "Gehen Sie zurück zu der Anwendung: Vielleicht ist Ihr Konto schon verbunden. Wenn nicht, verbinden Sie es noch einmal.",
        ],
        PageReason::Malformed => [
            "Dieser Link ist beschädigt",
            "Die Adresse ist unvollständig, zu lang, oder sie enthält etwas doppelt.",
            "Gehen Sie zurück zu der Anwendung, von der Sie kommen, und verbinden Sie Ihr Konto noch einmal.",
        ],
        PageReason::WrongProvider => [
            "Dieser Link gehört zu einem anderen Anbieter",
            "Sie kommen von einem anderen Anbieter zurück als dem, mit dem die Anmeldung begonnen wurde.",
            "Gehen Sie zurück zu der Anwendung, von der Sie kommen, und verbinden Sie Ihr Konto noch einmal.",
        ],
        PageReason::Unavailable => [
            "Ihr Konto kann gerade nicht verbunden werden",
            "Auf unserer Seite ist etwas fehlgeschlagen.",
            "Warten Sie einige Minuten, gehen Sie zurück zu der Anwendung und verbinden Sie Ihr Konto noch einmal.",
        ],
        PageReason::AdminApproved => [
            "Die Anwendung ist freigegeben",
            "Die Anwendung wurde für die Organisation freigegeben.",
            "Sie können diese Seite schließen. Nutzer der Organisation können ihre Konten jetzt verbinden.",
        ],
        PageReason::AdminRefused => [
            "Die Anwendung wurde nicht freigegeben",
            "Der Anbieter hat Sie mit einem Fehler zurückgeschickt; hier hat sich nichts geändert.",
            "Bitten Sie einen Administrator der Organisation, die Adresse für die Freigabe zu öffnen und zuzustimmen. Wenn Sie Ihr Konto verbinden wollten, beginnen Sie in der Anwendung noch einmal.",
        ],
    }
}

fn spanish(reason: PageReason) -> [&'static str; 3] {
    match reason {
        PageReason::UnknownLink => [
            "Este enlace no es válido",
            "La dirección no pertenece a ningún inicio de sesión comenzado aquí.",
            "Vuelva a la aplicación que lo envió aquí y conecte su cuenta de nuevo.",
        ],
        PageReason::AlreadyUsed => [
            "Este enlace ya se utilizó",
            "El inicio de sesión al que pertenece este enlace ya ha terminado.",
            "Vuelva a la aplicación: es posible que su cuenta ya esté conectada. Si no lo está, conéctela de nuevo.",
        ],
        PageReason::Malformed => [
            "Este enlace está dañado",
            "La dirección está incompleta, es demasiado larga o contiene algo dos veces.",
            "Vuelva a la aplicación que lo envió aquí y conecte su cuenta de nuevo.",
        ],
        PageReason::WrongProvider => [
            "Este enlace pertenece a otro proveedor",
            "Ha vuelto de un proveedor distinto de aquel con el que comenzó el inicio de sesión.",
            "Vuelva a la aplicación que lo envió aquí y conecte su cuenta de nuevo.",
        ],
        PageReason::Unavailable => [
            "Su cuenta no se puede conectar en este momento",
            "Algo ha fallado por nuestra parte.",
            "Espere unos minutos, vuelva a la aplicación y conecte su cuenta de nuevo.",
        ],
        PageReason::AdminApproved => [
            "La aplicación está aprobada",
            "Un administrador ha aprobado la aplicación para la organización.",
            "Puede cerrar esta página. Los usuarios de la organización ya pueden conectar sus cuentas.",
        ],
        PageReason::AdminRefused => [
            "La aplicación no se ha aprobado",
            "El proveedor lo ha devuelto con un error y aquí no ha cambiado nada.",
            "Pida a un administrador de la organización que abra la dirección de aprobación y acepte. Si quería conectar su cuenta, empiece de nuevo en la aplicación.",
        ],
    }
}

fn french(reason: PageReason) -> [&'static str; 3] {
    match reason {
        PageReason::UnknownLink => [
            "Ce lien n’est pas valide",
            "L’adresse n’appartient à aucune connexion commencée ici.",
            "Retournez dans l’application qui vous a envoyé ici et connectez à nouveau votre compte.",
        ],
        PageReason::AlreadyUsed => [
            "Ce lien a déjà été utilisé",
            "La connexion à laquelle appartient ce lien est déjà terminée.",
            "Retournez dans l’application\u{a0}: votre compte est peut-être déjà connecté. Sinon, connectez-le à nouveau.",
        ],
        PageReason::Malformed => [
            "Ce lien est endommagé",
            "L’adresse est incomplète, trop longue, ou contient deux fois la même chose.",
            "Retournez dans l’application qui vous a envoyé ici et connectez à nouveau votre compte.",
        ],
        PageReason::WrongProvider => [
            "Ce lien appartient à un autre fournisseur",
            "Vous revenez d’un autre fournisseur que celui avec lequel la connexion a commencé.",
            "Retournez dans l’application qui vous a envoyé ici et connectez à nouveau votre compte.",
        ],
        PageReason::Unavailable => [
            "Votre compte ne peut pas être connecté pour le moment",
            "Une erreur s’est produite de notre côté.",
            "Attendez quelques minutes, retournez dans l’application et connectez à nouveau votre compte.",
        ],
        PageReason::AdminApproved => [
            "L’application est approuvée",
            "Un administrateur a approuvé l’application pour l’organisation.",
            "Vous pouvez fermer cette page. Les utilisateurs de l’organisation peuvent maintenant connecter leurs comptes.",
        ],
        PageReason::AdminRefused => [
            "L’application n’a pas été approuvée",
            "Le fournisseur vous a renvoyé avec une erreur, et rien n’a changé ici.",
            "Demandez à un administrateur de l’organisation d’ouvrir l’adresse d’approbation et d’accepter. Si vous vouliez connecter votre compte, recommencez dans l’application.",
        ],
    }
}

fn japanese(reason: PageReason) -> [&'static str; 3] {
    match reason {
        PageReason::UnknownLink => [
            "このリンクは無効です",
            "このアドレスに対応するサインインは、ここでは開始されていません。",
            "元のアプリケーションに戻り、アカウントをもう一度接続してください。",
        ],
        PageReason::AlreadyUsed => [
            "このリンクはすでに使用されています",
            "このリンクのサインインはすでに終了しています。",
            "元のアプリケーションに戻ってください。アカウントがまだ接続されていない場合は、もう一度接続してください。",
        ],
        PageReason::Malformed => [
            "このリンクは壊れています",
            "アドレスが不完全であるか、長すぎるか、同じ項目が重複しています。",
            "元のアプリケーションに戻り、アカウントをもう一度接続してください。",
        ],
        PageReason::WrongProvider => [
            "このリンクは別のプロバイダーのものです",
            "サインインを開始したプロバイダーとは別のプロバイダーから戻ってきました。",
            "元のアプリケーションに戻り、アカウントをもう一度接続してください。",
        ],
        PageReason::Unavailable => [
            "現在アカウントを接続できません",
            "サービス側で問題が発生しました。",
            "数分待ってから元のアプリケーションに戻り、アカウントをもう一度接続してください。",
        ],
        PageReason::AdminApproved => [
            "アプリケーションは承認されました",
            "管理者が組織に対してこのアプリケーションを承認しました。",
            "このページは閉じてかまいません。組織のユーザーはアカウントを接続できるようになりました。",
        ],
        PageReason::AdminRefused => [
            "アプリケーションは承認されませんでした",
            "プロバイダーからエラーが返されました。ここでは何も変更されていません。",
            "組織の管理者に、承認用のアドレスを開いて同意するよう依頼してください。アカウントを接続しようとしていた場合は、アプリケーションからもう一度開始してください。",
        ],
    }
}

fn arabic(reason: PageReason) -> [&'static str; 3] {
    match reason {
        PageReason::UnknownLink => [
            "هذا الرابط غير صالح",
            "هذا العنوان لا يخص أي تسجيل دخول بدأ هنا.",
            "ارجع إلى التطبيق الذي أرسلك إلى هنا واربط حسابك مرة أخرى.",
        ],
        PageReason::AlreadyUsed => [
            "سبق استخدام هذا الرابط",
            "انتهى تسجيل الدخول الذي يخصه هذا الرابط.",
            "ارجع إلى التطبيق: ربما يكون حسابك مرتبطًا بالفعل. وإن لم يكن كذلك فاربطه مرة أخرى.",
        ],
        PageReason::Malformed => [
            "هذا الرابط تالف",
            "العنوان غير مكتمل أو أطول من اللازم أو فيه تكرار.",
            "ارجع إلى التطبيق الذي أرسلك إلى هنا واربط حسابك مرة أخرى.",
        ],
        PageReason::WrongProvider => [
            "هذا الرابط يخص مزودًا آخر",
            "عدت من مزود مختلف عن الذي بدأ معه تسجيل الدخول.",
            "ارجع إلى التطبيق الذي أرسلك إلى هنا واربط حسابك مرة أخرى.",
        ],
        PageReason::Unavailable => [
            "لا يمكن ربط حسابك في الوقت الحالي",
            "حدث خطأ من جانبنا.",
            "انتظر بضع دقائق ثم ارجع إلى التطبيق واربط حسابك مرة أخرى.",
        ],
        PageReason::AdminApproved => [
            "تمت الموافقة على التطبيق",
            "وافق مسؤول على التطبيق للمؤسسة.",
            "يمكنك إغلاق هذه الصفحة. يستطيع مستخدمو المؤسسة الآن ربط حساباتهم.",
        ],
        PageReason::AdminRefused => [
            "لم تتم الموافقة على التطبيق",
            "أعادك المزود مع خطأ، ولم يتغير شيء هنا.",
            "اطلب من مسؤول في المؤسسة أن يفتح عنوان الموافقة ويوافق. وإذا كنت تريد ربط حسابك فابدأ من جديد في التطبيق.",
        ],
    }
}
