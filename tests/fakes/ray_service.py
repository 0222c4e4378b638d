"""Requests to a service on Ray, in tests that run only with RAY_AUTH_MODE=token and the extra "cluster"."""

from __future__ import annotations

import os
import secrets
import socket
from typing import Any

import httpx2
import pytest


def require_ray() -> Any:
    """Return Ray, or skip the tests of a module. Ray reads its environment when it is imported."""
    if os.environ.get("RAY_AUTH_MODE") != "token":
        pytest.skip("needs RAY_AUTH_MODE=token", allow_module_level=True)
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # otherwise Ray writes a file that others can read
    return pytest.importorskip("ray", reason="needs the extra “cluster”")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def speak(url: str, text: str, **values: Any) -> httpx2.Response:
    body = {"input": text, "response_format": "pcm", **values}
    return httpx2.post(f"{url}/v1/audio/speech", json=body, timeout=120)


def metrics(url: str) -> list[str]:
    return httpx2.get(f"{url}/metrics", timeout=60).text.splitlines()
