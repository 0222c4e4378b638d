"""HTTP for model hubs: the client, retry delays, and network failures as errors with a remedy."""

from __future__ import annotations

import email.utils
import http
import os
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from urllib.request import getproxies

import httpx2

import studio
from studio.errors import SourceRefused, SourceUnreachable
from studio.messages import Message, message

_CONNECT_SECONDS = 15.0
_SILENCE_SECONDS = 30.0  # time without data from the server before the request is retried
MAX_ATTEMPTS = 7
_MAX_SECONDS = 60.0
_MAX_REQUESTED_SECONDS = 60.0
_TRANSIENT_STATUSES = {408, 425, 429, 500, 502, 503, 504}


def open_client() -> httpx2.Client:
    """Return a client that uses the system's trusted certificates, and its proxy or the one in the environment.

    Raise ``SourceUnreachable`` if a proxy or the certificate file cannot be used.
    """
    _forget_unneeded_proxy()
    try:
        return httpx2.Client(
            verify=_trusted_certificates(),
            follow_redirects=True,
            timeout=httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
            headers={"User-Agent": f"timbre-studio/{studio.__version__}"},
        )
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        # A SOCKS proxy, an unknown type of proxy, or an invalid address.
        raise SourceUnreachable(
            "This computer's proxy type is not supported, or its address is wrong.",
            remedy="Set HTTPS_PROXY to an address such as http://127.0.0.1:7890, or import the model from a folder.",
        ) from error


def _forget_unneeded_proxy() -> None:
    """Remove ``ALL_PROXY=socks5://…``, which httpx2 rejects, if the proxies for http and https are set as well."""
    if {"http", "https"} <= getproxies().keys():
        for name in ("all_proxy", "ALL_PROXY"):
            os.environ.pop(name, None)


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Return the trusted certificates. They are read once, because reading takes longer than a request."""
    try:
        return httpx2.create_ssl_context()
    except OSError as error:  # ssl.SSLError is one too
        raise SourceUnreachable(
            "The trusted certificate file set on this computer cannot be used ({reason}).",
            remedy="Correct or remove the environment variable SSL_CERT_FILE.",
            reason=error,
        ) from error


class RetryPolicy:
    """Exponential back-off. Gives up after ``num_attempts`` failures in a row."""

    def __init__(self, first_seconds: float = 1.0, *, num_attempts: int = MAX_ATTEMPTS) -> None:
        self._first_seconds = first_seconds
        self._num_attempts = num_attempts
        self._num_failures = 0

    def next_delay_seconds(self, requested_seconds: float | None = None) -> float | None:
        """Count a failure and return the delay before the next attempt, or None to give up.

        ``requested_seconds`` is the server's Retry-After, honoured up to a minute.
        """
        self._num_failures += 1
        if self._num_failures >= self._num_attempts:
            return None
        delay = min(_MAX_SECONDS, self._first_seconds * 2.0 ** (self._num_failures - 1))
        return max(delay, min(requested_seconds or 0.0, _MAX_REQUESTED_SECONDS))

    def reset(self) -> None:
        self._num_failures = 0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a Retry-After header, which may be a date, or None if it is missing or malformed."""
    value = headers.get("Retry-After", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(value)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return None


class RefusedError(Exception):
    """An HTTP error status."""

    def __init__(self, status: int, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.wait_seconds = retry_after(headers or {})  # the delay that the server requests
        self.is_html = is_html(headers or {})


def is_html(headers: Mapping[str, str]) -> bool:
    """Return whether a response is HTML: an error page, or the login page of a network."""
    return headers.get("Content-Type", "").partition(";")[0].strip().lower() == "text/html"


def unreachable(host: str, error: httpx2.HTTPError | None) -> SourceUnreachable:
    """Return the error for a failed request. ``error`` is None if the connection ended too early."""
    return SourceUnreachable(
        "{host} {happened}.",
        remedy="Downloaded data is kept. Start again to resume, or choose another source (Settings, Models).",
        host=host,
        happened=_happened(error),
    )


def _happened(error: httpx2.HTTPError | None) -> Message:
    if (untrusted := untrusted_certificate(error)) is not None:
        reason = str(getattr(untrusted, "verify_message", "") or untrusted)
        return message("presented a certificate that this computer does not trust ({reason})", reason=reason)
    match error:
        case None | httpx2.RemoteProtocolError() | httpx2.ReadError() | httpx2.WriteError():
            return message("closed the connection")
        case httpx2.ProxyError():
            return message("cannot be reached through this computer's proxy")
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            return message("cannot be reached, or this computer is not connected to the internet")
        case httpx2.TimeoutException():
            return message("stopped responding")
        case _:
            return message("cannot be used ({reason})", reason=str(error) or type(error).__name__)


def untrusted_certificate(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    """Return the refusal of a certificate that caused ``error``, or None if something else did."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error


def refused(host: str, error: RefusedError) -> SourceRefused:
    """Return the error for a request that the server answered with an error status."""
    match error.status:
        case http.HTTPStatus.UNAUTHORIZED | http.HTTPStatus.FORBIDDEN:
            return SourceRefused(
                "{host} restricts access to this model (status {status}).",
                remedy="Choose another source (Settings, Models), or import the model from a folder.",
                host=host,
                status=error.status,
            )
        case http.HTTPStatus.NOT_FOUND:
            return SourceRefused(
                "{host} does not have the model (status {status}).",
                remedy="Choose another source or address (Settings, Models).",
                host=host,
                status=error.status,
            )
        case http.HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            return SourceRefused(
                "This computer's proxy requires a login (status {status}).",
                remedy="Enter the user name and password in the system's proxy settings, then try again.",
                status=error.status,
            )
        case http.HTTPStatus.TOO_MANY_REQUESTS:
            return SourceRefused(
                "{host} received too many requests from this computer (status {status}).",
                remedy="Try again in a few minutes, or choose another source (Settings, Models).",
                host=host,
                status=error.status,
            )
        case status:
            return SourceRefused(
                "{host} refused the download (status {status}).",
                remedy="Try again later, or choose another source (Settings, Models).",
                host=host,
                status=status,
            )


def is_transient(error: RefusedError) -> bool:
    """Return whether the same request may succeed a moment later."""
    is_broken_site = error.status == http.HTTPStatus.INTERNAL_SERVER_ERROR and error.is_html
    return error.status in _TRANSIENT_STATUSES and not is_broken_site


def is_permanent(error: httpx2.HTTPError) -> bool:
    """Return whether a retry is useless: redirect loop, redirect to another protocol, or untrusted certificate."""
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError | httpx2.TooManyRedirects):
        return True
    return untrusted_certificate(error) is not None
