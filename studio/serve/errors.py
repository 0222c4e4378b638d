"""Errors as HTTP responses, in the form of OpenAI's API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi.responses import JSONResponse

from studio.errors import BadRequest, StudioError, TooManyRequests
from studio.serve.request_log import request_id

_CLIENT_ERROR, _SERVER_ERROR = "invalid_request_error", "server_error"
_STATUS_OF_CODE = {
    "wrong-token": 401,
    "not-allowed": 403,
    "voice-not-found": 404,
    "model-not-found": 404,
    "unknown-voice": 404,
    "request-timed-out": 408,
    "voice-exists": 409,
    "request-too-large": 413,
    "too-many-requests": 429,
    "worker-died": 503,
    "worker-busy": 503,
    "engine-died": 503,
    "service-stopping": 503,
    "out-of-memory": 503,
    "disk-full": 507,
}
# Exit statuses of errors that are caused by the values of the request: options, clips, texts, voices, the service.
_CAUSED_BY_REQUEST = frozenset({1, 2, 4, 6, 7, 14})


def http_status(error: StudioError) -> int:
    """Return the HTTP status of ``error``."""
    usual = 400 if error.exit_status in _CAUSED_BY_REQUEST else 500
    return _STATUS_OF_CODE.get(error.code, usual)


def error_body(error: StudioError) -> dict[str, object]:
    """Return the JSON body. ``code`` is the stable code of the error, ``message`` the problem and its remedy."""
    kind = _CLIENT_ERROR if http_status(error) < 500 else _SERVER_ERROR
    body: dict[str, object] = {"message": str(error), "type": kind, "param": None, "code": error.code}
    return {"error": body | {"request_id": request_id()}}


def error_response(error: StudioError, *, retry_after_seconds: int | None = None) -> JSONResponse:
    headers = {} if retry_after_seconds is None else {"Retry-After": str(retry_after_seconds)}
    if isinstance(error, TooManyRequests) and retry_after_seconds is None:
        headers["Retry-After"] = "1"
    return JSONResponse(error_body(error), http_status(error), headers)


def invalid_field(errors: Sequence[Any], *, skips: int = 0) -> BadRequest:
    """Return the error for the first of Pydantic's ``errors``, without the value, which could be a text.

    ``skips`` is the number of parts of its location before the name of the field.
    """
    field = ".".join(str(part) for part in errors[0]["loc"][skips:]) or "body"
    return BadRequest("The field “{field}” is invalid: {reason}.", field=field, reason=errors[0]["msg"])


def invalid_json(text: str, offset: int, reason: str) -> BadRequest:
    """Return the error for a body that is not JSON at ``offset``, without the text itself."""
    before = text[:offset]
    return BadRequest(
        "The body is not valid JSON at line {line}, column {column}: {reason}.",
        line=before.count("\n") + 1,
        column=offset - before.rfind("\n"),
        reason=reason,
    )
