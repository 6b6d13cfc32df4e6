//! CardDAV against servers that behave in ways that the real ones here do not: recorded, native, without a network.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]
#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use std::cell::RefCell;
use std::rc::Rc;

use connector_dav::Dav;
use connector_sdk::http::{Request, Response, SendError};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Contacts as _, Context, Lifecycle as _, code};
use model::contacts::{Contact, ContactGroup};
use model::wire::contacts::ContactWrite;
use model::wire::{ChangesRequest, Connection, ItemDelete, ItemWrite};

const BASE: &str = "https://dav.example.com";

fn only_url() -> Connection {
    let mut connection = Connection::default();
    connection.settings.insert("serverUrl".into(), BASE.into());
    connection
}

fn connection(versions: &[&str]) -> Connection {
    let mut connection = only_url();
    connection.settings.insert("addressbookHomeUrl".into(), format!("{BASE}/cards/").into());
    connection.settings.insert("vcardVersions".into(), versions.into());
    connection
}

fn multistatus(inside: &str) -> Response {
    let xml = format!(
        "<d:multistatus xmlns:d=\"DAV:\" xmlns:r=\"urn:ietf:params:xml:ns:carddav\" xmlns:c=\"urn:ietf:params:xml:ns:caldav\">{inside}</d:multistatus>"
    );
    response(207, &[("content-type", "application/xml")], &xml)
}

fn member(href: &str, properties: &str) -> String {
    format!(
        "<d:response><d:href>{href}</d:href><d:propstat><d:prop>{properties}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    )
}

fn card(etag: &str, text: &str) -> String {
    format!("<d:getetag>\"{etag}\"</d:getetag><r:address-data>{text}</r:address-data>")
}

fn text(request: &Request) -> String {
    String::from_utf8(body(request)).unwrap()
}

fn named(name: &str) -> ContactWrite {
    let body = Contact { display_name: Some(name.into()), ..Contact::default() };
    let write = ItemWrite {
        collection: "/cards/me/".into(),
        body,
        changed: vec!["displayName".into()],
        ..ItemWrite::default()
    };
    ContactWrite { write, ..ContactWrite::default() }
}

/// The methods of all requests so far.
fn methods(host: &Recorded) -> Vec<String> {
    host.requests.borrow().iter().map(|request| request.method.clone()).collect()
}

/// An import costs one PUT a contact; only a server that tells no strong ETag is asked what it stored.
#[test]
fn a_create_is_one_request_where_the_etag_is_strong() {
    for (etag, expected) in
        [("\"1\"", vec!["PUT"]), ("W/\"1\"", vec!["PUT", "REPORT"]), ("", vec!["PUT", "REPORT"])]
    {
        let host = Recorded::answering(move |request| {
            Ok(match request.method.as_str() {
                "PUT" => {
                    let headers = [("etag", etag)];
                    response(201, if etag.is_empty() { &[] } else { &headers }, "")
                }
                _ => {
                    let asked = text(request);
                    let href = asked.split("<D:href>").nth(1).unwrap().split("</D:href>").next().unwrap();
                    multistatus(&member(
                        href,
                        &card("2", "BEGIN:VCARD\nVERSION:3.0\nFN:As stored\nEND:VCARD\n"),
                    ))
                }
            })
        });
        let cx = Context::new(&host, connection(&["3.0", "4.0"])).keyed("k");
        let made = Dav::create_contact(&cx, named("As sent")).unwrap();
        assert_eq!(methods(&host), expected);
        let name = made.sources[0].items[0].body.read::<Contact>().unwrap().display_name.unwrap();
        assert_eq!(name, if expected.len() == 1 { "As sent" } else { "As stored" });
        let put = text(&host.requests.borrow()[0]);
        assert!(put.contains("VERSION:4.0"), "{put}");
        assert!(host.requests.borrow()[0].headers.contains(&("if-none-match".into(), "*".into())));
    }
}

/// 3.0 is what every server takes: it is sent where nothing else is known, and where 4.0 is refused.
#[test]
fn the_version_is_one_that_the_server_takes() {
    let created = || response(201, &[("etag", "\"1\"")], "");
    let host = Recorded::answering(move |_| Ok(created()));
    Dav::create_contact(&Context::new(&host, connection(&[])), named("A")).unwrap();
    assert!(text(&host.requests.borrow()[0]).contains("VERSION:3.0"));
    for refusal in [
        response(415, &[], ""),
        response(
            403,
            &[],
            "<d:error xmlns:d=\"DAV:\" xmlns:r=\"urn:ietf:params:xml:ns:carddav\"><r:supported-address-data/></d:error>",
        ),
    ] {
        let host = Recorded::answering(move |request| {
            Ok(if text(request).contains("VERSION:4.0") { refusal.clone() } else { created() })
        });
        let cx = Context::new(&host, connection(&["4.0"]));
        Dav::create_contact(&cx, named("A")).unwrap();
        let group = ItemWrite {
            collection: "/cards/me/".into(),
            body: ContactGroup { name: "G".into(), ..ContactGroup::default() },
            ..ItemWrite::default()
        };
        Dav::create_group(&cx, group).unwrap();
        assert_eq!(methods(&host), ["PUT"; 4]);
        assert!(text(&host.requests.borrow()[3]).contains("X-ADDRESSBOOKSERVER-KIND:group"));
    }
}

/// The answer to a create got lost: the repeated one finds the contact. A UID that is taken elsewhere is reported.
#[test]
fn a_lost_answer_is_found_again() {
    let stored: Rc<RefCell<Option<String>>> = Rc::default();
    let shared = stored.clone();
    let host = Recorded::answering(move |request| {
        let mut stored = shared.borrow_mut();
        match (request.method.as_str(), stored.is_some()) {
            ("PUT", false) => {
                *stored = Some(text(request));
                Err(SendError::new("timeout", "the provider did not answer in time"))
            }
            ("PUT", true) => Ok(response(412, &[], "")),
            _ => {
                let asked = text(request);
                let href = asked.split("<D:href>").nth(1).unwrap().split("</D:href>").next().unwrap();
                Ok(multistatus(&member(href, &card("9", &stored.clone().unwrap()))))
            }
        }
    });
    let cx = || Context::new(&host, connection(&["3.0"])).keyed("the key");
    assert_eq!(Dav::create_contact(&cx(), named("Once")).unwrap_err().code, code::TIMEOUT);
    let found = Dav::create_contact(&cx(), named("Once")).unwrap();
    assert_eq!(found.sources[0].etag.as_deref(), Some("\"9\""));
    assert_eq!(
        found.sources[0].items[0].body.read::<Contact>().unwrap().display_name.as_deref(),
        Some("Once")
    );

    let conflict = "<d:error xmlns:d=\"DAV:\" xmlns:r=\"urn:ietf:params:xml:ns:carddav\"><r:no-uid-conflict><d:href>/cards/me/x.vcf</d:href></r:no-uid-conflict></d:error>";
    let host = Recorded::answering(move |request| {
        Ok(match request.method.as_str() {
            "PUT" => response(403, &[], conflict),
            _ => multistatus(""),
        })
    });
    let failure = Dav::create_contact(&Context::new(&host, connection(&[])), named("A")).unwrap_err();
    assert_eq!(failure.code, code::ALREADY_EXISTS);
    assert!(failure.message.contains("address book has a contact"), "{}", failure.message);
}

/// A server that keeps 3.0 and hands out 4.0, or the other way round: the edit is made to what it keeps.
#[test]
fn an_edit_is_made_to_the_form_that_is_kept() {
    let forms = [
        (
            "3.0",
            "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:u\r\nN:B;A;;;\r\nFN:A B\r\nTEL;TYPE=pref:1\r\nREV:2024-03-01T12:00:00Z\r\nEND:VCARD\r\n",
        ),
        (
            "4.0",
            "BEGIN:VCARD\r\nVERSION:4.0\r\nUID:u\r\nN:B;A;;;\r\nFN:A B\r\nTEL;PREF=1:1\r\nREV:20240301T120000Z\r\nEND:VCARD\r\n",
        ),
        ("4.0", "BEGIN:VCARD\r\nVERSION:4.0\r\nUID:u\r\nFN:A B\r\nEND:VCARD\r\n"),
    ];
    for (version, kept) in forms {
        for known in [&["3.0", "4.0"][..], &["3.0"], &[]] {
            let host = Recorded::answering(move |request| {
                let asked = text(request);
                if request.method == "PUT" {
                    return Ok(response(204, &[("etag", "\"2\"")], ""));
                }
                let wanted = if asked.contains("version=\"4.0\"") { "4.0" } else { "3.0" };
                // As long as it was, where the card has nothing that differs: only the version is another one.
                let converted = match (wanted == version, wanted) {
                    (true, _) => kept.to_owned(),
                    (_, "4.0") => kept.replace("VERSION:3.0", "VERSION:4.0").replace("TYPE=pref", "PREF=1"),
                    _ => kept.replace("VERSION:4.0", "VERSION:3.0").replace("PREF=1", "TYPE=pref"),
                };
                let length = format!("<d:getcontentlength>{}</d:getcontentlength>", kept.len());
                Ok(multistatus(&member(
                    "/cards/me/a.vcf",
                    &(length + &card("1", &converted.replace("\r\n", "\n"))),
                )))
            });
            let mut args = named("New");
            args.write.source = Some("/cards/me/a.vcf".into());
            args.write.if_match = Some("\"1\"".into());
            Dav::update_contact(&Context::new(&host, connection(known)), args).unwrap();
            let requests = host.requests.borrow();
            let put = requests.last().unwrap();
            let expected = kept.replace("FN:A B", "FN:New");
            let without_rev = |text: &str| {
                text.lines().filter(|line| !line.starts_with("REV")).map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(without_rev(&text(put)), without_rev(&expected), "{version} kept, {known:?} known");
            assert!(put.headers.contains(&("if-match".into(), "\"1\"".into())));
        }
    }
}

/// A contact that cannot be kept is refused before anything is written, and so is a change of one that is gone or of another kind.
#[test]
fn refusals_come_before_writes() {
    let group = "BEGIN:VCARD\nVERSION:3.0\nX-ADDRESSBOOKSERVER-KIND:group\nFN:G\nEND:VCARD\n";
    let host = Recorded::answering(move |request| {
        assert_eq!(request.method, "REPORT", "nothing is written");
        Ok(multistatus(&member("/cards/me/a.vcf", &card("1", group))))
    });
    let cx = || Context::new(&host, connection(&[]));
    let mut starred = named("A");
    starred.write.body.starred = true;
    starred.write.changed.push("starred".into());
    starred.write.strict = true;
    let failure = Dav::create_contact(&cx(), starred).unwrap_err();
    assert_eq!(
        (failure.code.as_str(), &failure.detail.unwrap()["field"]),
        (code::UNSUPPORTED, &"starred".into())
    );
    let mut change = named("A");
    change.write.source = Some("/cards/me/a.vcf".into());
    assert_eq!(Dav::update_contact(&cx(), change.clone()).unwrap_err().code, code::INVALID);
    change.write.if_match = Some("\"0\"".into());
    assert_eq!(Dav::update_contact(&cx(), change.clone()).unwrap_err().code, code::CONFLICT);
    change.write.source = Some("https://evil.example.com/a.vcf".into());
    assert_eq!(Dav::update_contact(&cx(), change).unwrap_err().code, code::NOT_FOUND);
    let gone = Recorded::answering(|_| Ok(response(410, &[], "")));
    let args =
        ItemDelete { collection: "/cards/me/".into(), source: "/cards/me/a.vcf".into(), if_match: None };
    assert!(Dav::delete_contact(&Context::new(&gone, connection(&[])), args).unwrap().sources[0].deleted);
}

/// A group that another client changes at the same time is tried again; one that cannot be changed is a warning.
#[test]
fn a_group_that_moves_is_tried_again() {
    let puts = Rc::new(RefCell::new(0));
    let counted = puts.clone();
    let host = Recorded::answering(move |request| {
        let is_group = text(request).contains("group.vcf") || request.url.contains("group.vcf");
        Ok(match request.method.as_str() {
            "PUT" if is_group => {
                *counted.borrow_mut() += 1;
                if *counted.borrow() == 1 {
                    response(412, &[], "")
                } else {
                    response(204, &[("etag", "\"3\"")], "")
                }
            }
            "PUT" => response(201, &[("etag", "\"2\"")], ""),
            _ if is_group => {
                let group =
                    "BEGIN:VCARD\nVERSION:3.0\nX-ADDRESSBOOKSERVER-KIND:group\nFN:G\nUID:g\nEND:VCARD\n";
                let etag = if *counted.borrow() == 0 { "1" } else { "2" };
                multistatus(&member("/cards/me/group.vcf", &card(etag, group)))
            }
            _ => multistatus(&member(
                "/cards/me/person.vcf",
                &card("1", "BEGIN:VCARD\nVERSION:3.0\nFN:P\nEND:VCARD\n"),
            )),
        })
    });
    let mut args = named("A");
    args.joins = vec!["/cards/me/group.vcf".into(), "/cards/me/person.vcf".into()];
    let made = Dav::create_contact(&Context::new(&host, connection(&[])), args).unwrap();
    assert_eq!((made.sources.len(), *puts.borrow()), (2, 2));
    let uid = made.sources[0].items[0].uid.clone().unwrap();
    let group: ContactGroup = made.sources[1].items[0].body.read().unwrap();
    assert_eq!(group.contact_ids, Some(vec![uid]));
    let warned: Vec<_> = made.warnings.iter().map(|w| (w.code.as_str(), w.target.as_deref())).collect();
    assert_eq!(warned, [("group_not_changed", Some("/cards/me/person.vcf"))]);
}

/// A big book is read page by page; what is no card, or a broken one, is an error of its own.
#[test]
fn a_big_book_is_read_in_pages() {
    let host = Recorded::answering(|request| {
        let asked = text(request);
        if !asked.contains("addressbook-multiget") {
            let all: String = (0..10_000)
                .map(|n| member(&format!("/cards/me/{n:05}.vcf"), "<d:getetag>\"1\"</d:getetag>"))
                .collect();
            return Ok(multistatus(&format!("{all}<d:sync-token>t</d:sync-token>")));
        }
        let hrefs = asked.split("<D:href>").skip(1).map(|rest| rest.split("</D:href>").next().unwrap());
        let one = |href: &str| match href {
            "/cards/me/00001.vcf" => member(href, &card("1", "BEGIN:VCARD\nVERSION:3.0\nFN:cut")),
            "/cards/me/00002.vcf" => member(href, &card("1", "BEGIN:VCALENDAR\nEND:VCALENDAR\n")),
            _ => {
                member(href, &card("1", &format!("BEGIN:VCARD\nVERSION:3.0\nUID:{href}\nFN:x\nEND:VCARD\n")))
            }
        };
        Ok(multistatus(&hrefs.map(one).collect::<String>()))
    });
    let args = ChangesRequest { collection: Some("/cards/me/".into()), ..ChangesRequest::default() };
    let (mut cursor, mut seen, mut errors) = (None, 0, Vec::new());
    for _ in 0..3 {
        let page = Dav::changes(&Context::new(&host, connection(&[])).at(cursor), args.clone()).unwrap();
        assert!(page.more && page.body.enumeration);
        seen += page.body.sources.len();
        errors.extend(page.body.sources.into_iter().filter_map(|s| Some((s.external_id, s.error?.code))));
        cursor = page.cursor;
    }
    assert_eq!(seen, 600);
    let unreadable = |id: &str| (id.to_owned(), "unreadable".to_owned());
    assert_eq!(errors, [unreadable("/cards/me/00001.vcf"), unreadable("/cards/me/00002.vcf")]);
    // One list of names and one multiget a page.
    assert_eq!(methods(&host).len(), 6);
}

/// The result of `check` on a server with these homes, by principal.
fn checked(
    answer: impl Fn(&Request) -> Response + 'static,
) -> Result<model::wire::Account, connector_sdk::Failure> {
    let host = Recorded::answering(move |request| {
        assert!(request.url.starts_with(BASE), "{}", request.url);
        Ok(answer(request))
    });
    Dav::check(&Context::new(&host, only_url()))
}

fn principal(at: &str) -> Response {
    multistatus(&member(
        "/",
        &format!("<d:current-user-principal><d:href>{at}</d:href></d:current-user-principal>"),
    ))
}

fn home(service: &str, url: &str) -> String {
    format!("<{service}><d:href>{url}</d:href></{service}>")
}

/// One service is enough; each is found at its own well-known URI where one principal does not name both; a home on another server
/// is left out, unless there is no other: then the host is asked for it.
#[test]
fn either_service_is_found() {
    let books = |request: &Request, homes: &str| match (request.method.as_str(), &request.url[BASE.len()..]) {
        ("OPTIONS", "/cal/") => response(200, &[("dav", "1, calendar-access")], ""),
        (_, "/none/") => response(404, &[], ""),
        (_, "/p/") => multistatus(&member("/p/", homes)),
        (_, "/cards/") => multistatus(&member(
            "/cards/me/",
            "<d:resourcetype><d:collection/><r:addressbook/></d:resourcetype><r:supported-address-data>\
             <r:address-data-type content-type=\"text/vcard\" version=\"3.0\"/><r:address-data-type content-type=\"text/vcard\" \
             version=\"4.0\"/></r:supported-address-data>",
        )),
        _ => principal("/p/"),
    };
    let here = home("r:addressbook-home-set", "/cards/");
    let only = here.clone();
    let account = checked(move |request| books(request, &only)).unwrap();
    assert_eq!(account.surfaces, ["contacts"]);
    assert_eq!(account.settings["addressbookHomeUrl"], format!("{BASE}/cards/"));
    assert_eq!(account.settings["vcardVersions"], serde_json::json!(["3.0", "4.0"]));
    assert!(!account.settings.contains_key("calendarHomeUrl"));

    let calendars = home("c:calendar-home-set", "/cal/");
    let both = format!("{here}{calendars}");
    let account = checked(move |request| books(request, &both)).unwrap();
    assert_eq!(account.surfaces, ["calendar", "contacts", "tasks"]);

    let none = format!("{}{calendars}", home("r:addressbook-home-set", "/none/"));
    let account = checked(move |request| books(request, &none)).unwrap();
    assert_eq!(account.surfaces, ["calendar", "tasks"]);

    // Two principals, one for each.
    let (cards, cal) = (here.clone(), calendars.clone());
    let account = checked(move |request| match &request.url[BASE.len()..] {
        "/.well-known/carddav" | "/other/" if request.url.ends_with("other/") => {
            multistatus(&member("/other/", &cards))
        }
        "/.well-known/carddav" => principal("/other/"),
        _ => books(request, &cal),
    })
    .unwrap();
    assert_eq!(account.surfaces, ["calendar", "contacts", "tasks"]);
    assert_eq!(account.external_account_id, format!("{BASE}/p/"));

    let elsewhere = home("r:addressbook-home-set", "https://cards.example.net/home/");
    let split = format!("{elsewhere}{calendars}");
    let account = checked(move |request| books(request, &split)).unwrap();
    assert_eq!(account.surfaces, ["calendar", "tasks"]);
    let account = checked(move |request| books(request, &elsewhere)).unwrap();
    assert_eq!(account.discovered_origins, ["https://cards.example.net"], "the host decides");
    assert_eq!(account.external_account_id, "", "and asks again");
    let failure = checked(move |request| books(request, "")).unwrap_err();
    assert_eq!(failure.code, code::INVALID);
}

/// A server that refuses a property of a new book gets it without; what it still does not take is a warning. One that cannot make
/// address books says so.
#[test]
fn a_book_is_made_as_far_as_the_server_goes() {
    let made: Rc<RefCell<String>> = Rc::default();
    let host = Recorded::answering(move |request| {
        let asked = text(request);
        Ok(match request.method.as_str() {
            "MKCOL" if asked.contains("addressbook-description") => response(424, &[], ""),
            "MKCOL" => {
                let kind = "<D:resourcetype><D:collection/><CR:addressbook/></D:resourcetype>";
                assert!(asked.contains(kind), "{asked}");
                *made.borrow_mut() = request.url[BASE.len()..].to_owned();
                response(201, &[], "")
            }
            "PROPPATCH" => multistatus(
                "<d:response><d:href>/</d:href><d:propstat><d:prop><r:addressbook-description/></d:prop>\
                 <d:status>HTTP/1.1 403 Forbidden</d:status></d:propstat></d:response>",
            ),
            _ => {
                let kind = "<d:resourcetype><d:collection/><r:addressbook/></d:resourcetype>";
                multistatus(&member(&made.borrow(), &format!("{kind}<d:displayname>B</d:displayname>")))
            }
        })
    });
    let body = model::contacts::ContactBook {
        name: "B".into(),
        description: Some("D".into()),
        ..Default::default()
    };
    let changed = vec!["name".to_owned(), "description".to_owned()];
    let args = model::wire::CollectionWrite { body, changed, ..Default::default() };
    let made = Dav::create_book(&Context::new(&host, connection(&[])), args.clone());
    assert_eq!(methods(&host), ["MKCOL", "MKCOL", "PROPPATCH", "PROPFIND"]);
    let made = made.unwrap();
    assert_eq!(made.warnings[0].code, "field_not_supported");
    let book: model::contacts::ContactBook = made.sources[0].items[0].body.read().unwrap();
    assert!(book.is_default && !book.read_only);
    let old = Recorded::answering(|_| Ok(response(415, &[], "")));
    let failure = Dav::create_book(&Context::new(&old, connection(&[])), args).unwrap_err();
    assert_eq!(failure.code, code::UNSUPPORTED);
}
