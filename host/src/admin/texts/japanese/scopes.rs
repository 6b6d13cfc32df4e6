//! Scopes in words, in Japanese.

use crate::admin::texts::ScopeTexts;

pub static JAPANESE: ScopeTexts = ScopeTexts {
    surfaces: &[
        (
            "メール",
            &[
                ("email.read", "メッセージ、スレッド、フォルダー、下書き、添付ファイルの読み取り。"),
                (
                    "email.write",
                    "メッセージの変更、移動、削除と、下書きとフォルダーの作成。読み取りを含みます。",
                ),
                ("email.send", "メッセージの送信。読み取りは含みません。"),
                ("email.track", "送信したメッセージの開封とクリックの追跡。"),
            ],
        ),
        (
            "カレンダー",
            &[
                ("calendar.read", "カレンダーと予定の読み取り。空き状況を含みます。"),
                ("calendar.write", "予定の作成、変更、削除。読み取りを含みます。"),
                ("calendar.freebusy", "空き状況の確認。予定の詳細は見えません。"),
            ],
        ),
        (
            "連絡先",
            &[
                ("contacts.read", "連絡先、グループ、写真の読み取り。"),
                ("contacts.write", "連絡先の作成、変更、削除。読み取りを含みます。"),
            ],
        ),
        (
            "タスク",
            &[
                ("tasks.read", "タスクリストとタスクの読み取り。"),
                ("tasks.write", "タスクの作成、変更、削除。読み取りを含みます。"),
            ],
        ),
        (
            "スケジューリング",
            &[
                ("scheduling.read", "イベントタイプ、スケジュール、予約の読み取り。"),
                (
                    "scheduling.write",
                    "イベントタイプとスケジュールの作成と変更、予約の承認と辞退。読み取りと予約を含みます。",
                ),
                ("scheduling.book", "空き時間の確認と予約。ウェブページで使うキーに適しています。"),
            ],
        ),
        (
            "アカウント",
            &[
                ("connections.read", "接続済みアカウントとその状態の一覧。"),
                ("connections.write", "アカウントの接続、更新、接続解除。"),
            ],
        ),
        (
            "イベントとウェブフック",
            &[
                ("webhooks.read", "ウェブフックと配信の一覧。"),
                ("webhooks.write", "ウェブフックの作成、変更、削除と、イベントの再送信。"),
                ("events.read", "イベントログとそのライブストリームの読み取り。"),
            ],
        ),
        (
            "管理",
            &[
                ("api_keys.write", "このキーの権限を超えないキーの作成と失効。"),
                ("usage.read", "使用状況の読み取り。"),
            ],
        ),
    ],
    everything: "すべての読み取りと書き込み",
    reads_everything: "すべての読み取り",
    reads: "{names}の読み取り",
    writes: "{names}の読み取りと書き込み",
    list_more: "{a}、{b}",
    list_last: "{a}、{b}",
    acts_more: "{a} / {b}",
    names: &[
        ("email", "メール"),
        ("calendar", "カレンダー"),
        ("contacts", "連絡先"),
        ("tasks", "タスク"),
        ("scheduling", "スケジューリング"),
        ("connections", "アカウント"),
        ("webhooks", "ウェブフック"),
        ("events", "イベント"),
        ("api_keys", "キー"),
        ("usage", "使用状況"),
        ("admin", "インスタンス"),
    ],
    sends: "メールの送信",
    books: "予約",
    sees_busy: "空き状況の確認",
    tracks: "メールの追跡",
    runs_operators: "オペレーターの管理",
    installs_connectors: "コネクターのインストール",
    nothing: "なし",
};
