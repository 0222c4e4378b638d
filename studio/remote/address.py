"""Address and token of a speech server on another computer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from studio import paths
from studio.errors import UnusableSetting
from studio.storage.token_file import read_token

_DEFAULT_PORT = 8807  # of `timbre serve`
_TRITON_PORT = 8001  # of Triton's gRPC interface
_TRITON_SCHEMES = ("grpc", "grpcs")
_ENCRYPTED_SCHEMES = ("https", "grpcs")
_SCHEMES = ("http", "https", *_TRITON_SCHEMES)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """``url`` is without a path, as returned by :func:`normalized_url`. ``token_file`` need not exist.

    ``model`` is set for a server of another program: with OpenAI's speech API, or Triton with a model of CosyVoice.
    With the former, a line uses the voice of the same name in ``voices``, or else ``voice``.
    """

    url: str
    token_file: Path | None = None
    model: str = ""
    voice: str = ""
    voices: tuple[str, ...] = ()

    @property
    def is_other_program(self) -> bool:
        return bool(self.model)

    @property
    def is_triton(self) -> bool:
        return urlsplit(self.url).scheme in _TRITON_SCHEMES

    @property
    def is_encrypted(self) -> bool:
        return urlsplit(self.url).scheme in _ENCRYPTED_SCHEMES

    @property
    def is_this_computer(self) -> bool:
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.url).netloc

    def token(self) -> str | None:
        """Return the token, or None without one. Raise ``UnusableSetting``."""
        return None if self.token_file is None else read_token(self.token_file)


def server_token_file() -> Path:
    """Return the file in which the window keeps the token."""
    return paths.config_folder() / "server-token"


def normalized_url(text: str) -> str:
    """Return the address of a server, given as host, host:port or URL. Raise ``UnusableSetting``.

    Without a scheme, it is http and the port of `timbre serve`. Addresses of Triton begin with grpc:// or grpcs://.
    """
    written = text.strip()
    has_scheme = "://" in written
    try:
        parts = urlsplit(written if has_scheme else f"http://{written}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    is_root = parts.path.rstrip("/") in ("", "/v1")
    if not host or " " in host or parts.scheme not in _SCHEMES or parts.username or parts.query or not is_root:
        raise UnusableSetting(
            "“{address}” is not the address of a server.",
            remedy="Enter a name or an address, such as 192.168.1.20:8807, https://voices.example.org or grpc://192.168.1.20:8001.",
            address=text.strip(),
        )
    if port is None and not has_scheme:
        port = _DEFAULT_PORT
    elif port is None and parts.scheme in _TRITON_SCHEMES:
        port = _TRITON_PORT
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" + ("" if port is None else f":{port}")


def descriptions_folder(url: str) -> Path:
    """Return the folder that contains the folders of the models of the server at ``url``."""
    return paths.data_folder() / "servers" / hashlib.sha256(url.encode()).hexdigest()[:16]
