"""Address and token of a speech server on another computer."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from studio import paths
from studio.errors import UnusableSetting
from studio.messages import wording
from studio.storage.atomic_file import atomic_path
from studio.storage.disk import disk_errors

_DEFAULT_PORT = 8807  # of `timbre serve`
_TRITON_PORT = 8001  # of Triton's gRPC interface
_TRITON_SCHEMES = ("grpc", "grpcs")
_ENCRYPTED_SCHEMES = ("https", "grpcs")
_SCHEMES = ("http", "https", *_TRITON_SCHEMES)


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """``url`` is without a path, as returned by :func:`normalized_url`. ``token_file`` need not exist.

    ``model`` is set for a server of another program: with OpenAI's speech API, or Triton with a model of CosyVoice. With
    the former, its ``voices`` speak lines of voices with the same name, and ``voice`` speaks the others.
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


def read_token(path: Path) -> str | None:
    """Return the token in ``path``, or None if the file is empty or missing.

    Raise ``UnusableSetting`` if other users can read it, or if it is not a token.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        token = path.read_text("utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableSetting(
            "The token file {path} cannot be used ({reason}).", remedy="Enter the token again.", path=path, reason=error
        ) from error
    if os.name == "posix" and mode & 0o077:
        raise UnusableSetting(
            "Other users can read the token file {path}.", remedy="Restrict it: chmod 600 {path}.", path=path
        )
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UnusableSetting(
            "The token in {path} contains characters that tokens do not have.",
            remedy="Copy it again from the other computer.",
            path=path,
        )
    return token or None


def write_token(path: Path, token: str) -> None:
    """Write the token into a file that only this user can read, or delete the file if ``token`` is empty.

    Raise ``DiskFull`` or ``CannotWrite``.
    """
    if_refused = wording("Check the permissions of its folder.")
    with disk_errors(path, if_full=wording("Free some space and try again."), if_refused=if_refused):
        if not token:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # a replaced file would keep its permissions
        with atomic_path(path) as part:
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(token + "\n")


def descriptions_folder(url: str) -> Path:
    """Return the folder that contains the folders of the models of the server at ``url``."""
    return paths.data_folder() / "servers" / hashlib.sha256(url.encode()).hexdigest()[:16]
