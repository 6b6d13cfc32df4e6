"""The two clients."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Unpack

import httpx

from switchboard import _core as core
from switchboard._async import AsyncTransport
from switchboard._options import ChangeOptions
from switchboard._sync import Transport
from switchboard.generated.async_resources import AsyncResources
from switchboard.generated.resources import API_VERSION, Resources


class Switchboard(Resources):
    """A client of a Switchboard server. Share one among threads, and close it, or use it in `with`."""

    def __init__(
        self,
        *,
        api_key: str | Callable[[], str] | None = None,
        base_url: str | None = None,
        timeout: float = core.DEFAULT_TIMEOUT_S,
        max_retries: int = core.DEFAULT_RETRIES,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Makes a client.

        Args:
            api_key: A key, or a function that returns one for each attempt. The default is the variable SWITCHBOARD_API_KEY.
            base_url: The address of the server. The default is the variable SWITCHBOARD_SERVER, else http://127.0.0.1:8080.
            timeout: Seconds for each attempt. A download may take longer while bytes keep coming. `math.inf` means no limit.
            max_retries: Retries after the first attempt.
            headers: More headers of every request.
            http_client: An httpx client of your own, for proxies, certificates and tests. You close it.
        """
        key = core.default_key() if api_key is None else api_key
        config = core.configure(base_url, timeout, max_retries, headers, API_VERSION)
        client = httpx.Client() if http_client is None else http_client
        self._own_client = client if http_client is None else None
        self._transport = Transport(config, (lambda: key) if isinstance(key, str) else key, client)
        super().__init__(self._transport)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: core.Query | None = None,
        body: Any = None,
        **options: Unpack[ChangeOptions],
    ) -> Any:
        """Sends any request, for operations that are newer than this client. `path` begins with `/v1/`."""
        call = core.prepare(self._transport.config, method.upper(), path, query, body, options)
        return self._transport.send(call)

    def close(self) -> None:
        """Closes the connections, and ends feeds that wait."""
        self._transport.close()
        if self._own_client is not None:
            self._own_client.close()

    def __enter__(self) -> Switchboard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncSwitchboard(AsyncResources):
    """A client of a Switchboard server for asyncio. Close it, or use it in `async with`."""

    def __init__(
        self,
        *,
        api_key: str | Callable[[], str | Awaitable[str]] | None = None,
        base_url: str | None = None,
        timeout: float = core.DEFAULT_TIMEOUT_S,
        max_retries: int = core.DEFAULT_RETRIES,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Makes a client.

        Args:
            api_key: A key, or a function that returns one for each attempt, which may be a coroutine. The default is the
                variable SWITCHBOARD_API_KEY.
            base_url: The address of the server. The default is the variable SWITCHBOARD_SERVER, else http://127.0.0.1:8080.
            timeout: Seconds for each attempt. A download may take longer while bytes keep coming. `math.inf` means no limit.
            max_retries: Retries after the first attempt.
            headers: More headers of every request.
            http_client: An httpx client of your own, for proxies, certificates and tests. You close it.
        """
        key = core.default_key() if api_key is None else api_key
        config = core.configure(base_url, timeout, max_retries, headers, API_VERSION)
        client = httpx.AsyncClient() if http_client is None else http_client
        self._own_client = client if http_client is None else None
        self._transport = AsyncTransport(config, (lambda: key) if isinstance(key, str) else key, client)
        super().__init__(self._transport)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: core.Query | None = None,
        body: Any = None,
        **options: Unpack[ChangeOptions],
    ) -> Any:
        """Sends any request, for operations that are newer than this client. `path` begins with `/v1/`."""
        call = core.prepare(self._transport.config, method.upper(), path, query, body, options)
        return await self._transport.send(call)

    async def close(self) -> None:
        """Closes the connections."""
        if self._own_client is not None:
            await self._own_client.aclose()

    async def __aenter__(self) -> AsyncSwitchboard:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
