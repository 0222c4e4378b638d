"""Network failures as errors with a sentence and a remedy, and which of them are worth a retry."""

from __future__ import annotations

import http
import ssl

import httpx2

from studio.catalog.sources import RefusedError
from studio.errors import SourceRefused, SourceUnreachable
from studio.messages import Message, wording


def unreachable(host: str, error: httpx2.HTTPError | None) -> SourceUnreachable:
    """Return the error for a failed request; ``error`` is None if the connection ended too early."""
    return SourceUnreachable(
        "{host} {happened}.",
        remedy="Downloaded data is kept. Start again to resume, or choose another source (Settings, Models).",
        host=host,
        happened=_happened(error),
    )


def _happened(error: httpx2.HTTPError | None) -> Message:
    if (untrusted := _untrusted_certificate(error)) is not None:
        reason = str(getattr(untrusted, "verify_message", "") or untrusted)
        return wording("presented a certificate that this computer does not trust ({reason})", reason=reason)
    match error:
        case None | httpx2.RemoteProtocolError() | httpx2.ReadError() | httpx2.WriteError():
            return wording("closed the connection")
        case httpx2.ProxyError():
            return wording("cannot be reached through this computer's proxy")
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            return wording("cannot be reached, or this computer is not connected to the internet")
        case httpx2.TimeoutException():
            return wording("stopped responding")
        case _:
            return wording("cannot be used ({reason})", reason=str(error) or type(error).__name__)


def _untrusted_certificate(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error


def refused(host: str, error: RefusedError) -> SourceRefused:
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


_TRANSIENT_STATUSES = {408, 425, 429, 500, 502, 503, 504}


def is_transient(error: RefusedError) -> bool:
    """Return whether the same request may succeed a moment later."""
    is_broken_site = error.status == http.HTTPStatus.INTERNAL_SERVER_ERROR and error.is_html
    return error.status in _TRANSIENT_STATUSES and not is_broken_site


def is_permanent(error: httpx2.HTTPError) -> bool:
    """Return whether a retry is useless: redirect loop, redirect to another protocol, or untrusted certificate."""
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError | httpx2.TooManyRedirects):
        return True
    return _untrusted_certificate(error) is not None
