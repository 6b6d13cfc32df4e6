import httpx

from switchboard import Switchboard, response_of

sb = Switchboard(
    # api_key="uc_live_…",                 # default: the variable SWITCHBOARD_API_KEY; or a function that returns a key
    # base_url="https://api.example.com",  # default: the variable SWITCHBOARD_SERVER
    timeout=10.0,  # seconds for each attempt
    max_retries=4,
    http_client=httpx.Client(limits=httpx.Limits(max_connections=20)),  # proxies, certificates, limits
)
page = sb.connections.list(limit=1, timeout=60.0, headers={"x-trace": "17"}).page()
answer = response_of(page)
print(answer.status, answer.request_id)
