import time

import httpx

from switchboard import Switchboard, webhooks


def answer(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"id": "cal_1", "name": "Work"})


# Calls without a server.
sb = Switchboard(api_key="test", http_client=httpx.Client(transport=httpx.MockTransport(answer)))
assert sb.calendars.get("cal_1")["name"] == "Work"

# A signed request for your receiver of webhooks.
secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
body = b'{"id":"ev_1","type":"webhook.test","sequence":1}'
headers = webhooks.sign(secret, id="ev_1", timestamp=int(time.time()), body=body)
assert webhooks.verify(secret, headers, body)["type"] == "webhook.test"
