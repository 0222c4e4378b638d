"""What can go wrong between here and a server, as sentences with a remedy."""

from __future__ import annotations

import http
import ssl

import httpx2

from studio.catalog.sources import RefusedError
from studio.errors import SourceRefused, SourceUnreachable
from studio.wording import Message, wording


def unreachable(host: str, error: httpx2.HTTPError | None) -> SourceUnreachable:
    """``error`` of None: the connection ended too early."""
    return SourceUnreachable(
        "{host} {happened}.",
        remedy="What has arrived is kept: start it again to go on, or choose another source (Settings, Models).",
        host=host,
        happened=_happened(error),
    )


def _happened(error: httpx2.HTTPError | None) -> Message:
    if (untrusted := _untrusted_certificate(error)) is not None:
        return wording("shows a certificate this computer does not trust ({reason})", reason=_why_untrusted(untrusted))
    match error:
        case None | httpx2.RemoteProtocolError() | httpx2.ReadError() | httpx2.WriteError():
            return wording("broke off the connection")
        case httpx2.ProxyError():
            return wording("cannot be reached through the proxy of this computer")
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            return wording("cannot be reached, or this computer is not connected to the internet")
        case httpx2.TimeoutException():
            return wording("does not answer any more")
        case _:
            return wording("cannot be used ({reason})", reason=str(error) or type(error).__name__)


def _untrusted_certificate(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error


def _why_untrusted(error: ssl.SSLCertVerificationError) -> str:
    return str(getattr(error, "verify_message", "") or error)


def refused(host: str, error: RefusedError) -> SourceRefused:
    match error.status:
        case http.HTTPStatus.UNAUTHORIZED | http.HTTPStatus.FORBIDDEN:
            return SourceRefused(
                "{host} does not let everybody have this model (status {status}).",
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
                "The proxy of this computer wants to know who asks (status {status}).",
                remedy="Put name and password into the proxy settings of the system, then try again.",
                status=error.status,
            )
        case http.HTTPStatus.TOO_MANY_REQUESTS:
            return SourceRefused(
                "{host} has been asked too often from here (status {status}).",
                remedy="Try again in some minutes, or choose another source (Settings, Models).",
                host=host,
                status=error.status,
            )
        case status:
            return SourceRefused(
                "{host} does not hand out the model (it answers with status {status}).",
                remedy="Try again later, or choose another source (Settings, Models).",
                host=host,
                status=status,
            )


# Worth asking again later.
_PASSING = {408, 425, 429, 500, 502, 503, 504}


def is_transient(error: RefusedError) -> bool:
    """Return whether the same request may succeed a moment later."""
    is_broken_site = error.status == http.HTTPStatus.INTERNAL_SERVER_ERROR and error.is_html
    return error.status in _PASSING and not is_broken_site


def is_permanent(error: httpx2.HTTPError) -> bool:
    """Return whether the same request fails again: redirected in circles or to another protocol, or not trusted."""
    if isinstance(error, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError | httpx2.TooManyRedirects):
        return True
    return _untrusted_certificate(error) is not None
