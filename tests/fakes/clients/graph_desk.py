"""What the scripts of Microsoft's Python client share: the client out of its wheel, checks, and the other side of the fake.

The first argument of a script is the origin of a fresh fake, the second one the client's wheel.
"""

import dataclasses
import json
import sys
import urllib.request

import graph_wheel

graph_wheel.install(sys.argv[2])

from kiota_abstractions.authentication import AuthenticationProvider
from kiota_abstractions.base_request_configuration import RequestConfiguration
from kiota_abstractions.default_query_parameters import QueryParameters
from msgraph import GraphRequestAdapter, GraphServiceClient
from msgraph.generated.models.o_data_errors.o_data_error import ODataError

URL = sys.argv[1].rstrip("/")
ALICE = "alice@example.com"
IMMUTABLE = 'IdType="ImmutableId"'
checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        raise AssertionError(what)


def same(found, wanted, what):
    check(found == wanted, f"{what}: {found!r} instead of {wanted!r}")


def control(path, body=None, method="POST"):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"{URL}/__control/{path}", data=data, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


async def refused(call, status, code, what):
    try:
        answer = await call
    except ODataError as error:
        same((error.response_status_code, error.error.code), (status, code), what)
        return error.error.message
    raise AssertionError(f"{what}: {answer!r} instead of {status} {code}")


class Token(AuthenticationProvider):
    def __init__(self, token):
        self.token = token

    async def authenticate_request(self, request, additional_authentication_context={}):
        request.headers.try_add("Authorization", f"Bearer {self.token}")


def signed_in(user, scopes):
    token = control("tokens", {"user": user, "scopes": scopes})["accessToken"]
    adapter = GraphRequestAdapter(Token(token))
    # The client copies it when it is made.
    adapter.base_url = f"{URL}/v1.0"
    return GraphServiceClient(request_adapter=adapter)


@dataclasses.dataclass
class Query(QueryParameters):
    """Parameters of a query; the URI template of a path leaves out those that it does not have."""

    top: int = None
    select: list = None
    expand: list = None
    filter: str = None
    orderby: list = None
    search: str = None
    start: str = None
    end: str = None

    def get_query_parameter(self, name):
        return {"start": "startDateTime", "end": "endDateTime"}.get(name, f"%24{name}")


def asking(prefer=IMMUTABLE, headers={}, **query):
    configuration = RequestConfiguration(query_parameters=Query(**query) if query else None)
    for name, value in {"Prefer": prefer, **headers}.items():
        if value:
            configuration.headers.add(name, value)
    return configuration


async def read_delta(delta, page_size, link=None):
    """All pages of a delta, from a link where one is given: what they name, by id, with the reason of those that are removed; and the
    link to go on."""
    prefer = f"{IMMUTABLE}, odata.maxpagesize={page_size}"
    found = {}
    page = await (delta.with_url(link) if link else delta).get(asking(prefer=prefer))
    while True:
        check(len(page.value) <= page_size, "a page of the size asked for")
        for item in page.value:
            found[item.id] = (item.additional_data.get("@removed") or {}).get("reason")
        if not page.odata_next_link:
            return found, page.odata_delta_link
        page = await delta.with_url(page.odata_next_link).get(asking(prefer=prefer))
