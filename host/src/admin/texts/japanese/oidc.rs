//! Words of sign-in by an OpenID provider in Japanese.

use crate::admin::texts::OidcTexts;

pub static JAPANESE_OIDC: OidcTexts = OidcTexts {
    sign_in: "{name}でサインイン",
    join: "{name}で参加",
    confirm: "{name}で確認",
    confirm_text: "もう一度サインインを求められます。",
    leaving: "{name}に移動しています",
    leaving_text: "自動的に移動します。移動しない場合は、次のリンクを開いてください。",
    title: "{name}でのサインイン",
    connected: "{name}でサインインできます。",
    connected_elsewhere: "{name}と連携していますが、このサーバーでは現在使われていません。",
    not_connected: "未連携です。アカウントを連携すると、それでサインインできます。",
    connect: "連携する",
    disconnect: "連携を解除",
    last_way: "サインインする方法はこれだけです。解除する前にパスワードを設定してください。",
    failed_title: "サインインできませんでした",
    unavailable: "{name}が正しく応答していません。1分後にもう一度試すか、パスワードでサインインしてください。",
    state: "このサインインは、別のブラウザーで開始されたか、10分以上かかったか、すでに完了しています。",
    declined: "{name}でキャンセルされました。",
    refused: "リクエストが{name}に拒否されました。理由はサーバーのログにあります。",
    bad_token: "{name}の応答が正しくありません。理由はサーバーのログにあります。",
    unknown: "お使いの{name}アカウントは、ここでは誰とも連携されていません。オーナーに招待を依頼してください。ここでのパスワードをお持ちの場合は、それでサインインし、アカウントのページで{name}と連携してください。",
    other_address: "招待されたメールアドレスの所有が、{name}で確認されていません。そのアドレスの{name}アカウントを使うか、パスワードで参加してください。",
    known_address: "このメールアドレスのアカウントはすでにあります。サインインしてからリンクを開き直すと参加できます。",
    taken: "この{name}アカウントは別の人と連携されているか、あなたがすでに別のアカウントと連携しています。",
    other_person: "連携しているものとは別の{name}アカウントでサインインしました。",
    not_fresh: "今サインインしたことを{name}で確認できませんでした。代わりにパスワードかコードを使ってください。",
    try_again: "もう一度試す",
};
