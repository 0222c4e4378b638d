"""Signs audio files with C2PA manifests: inside the file, or beside it where the format has no place for one."""

from __future__ import annotations

import importlib.util
import io
import logging
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from studio.errors import CannotSign
from studio.messages import Message, message
from studio.provenance.consents import with_consents
from studio.provenance.mark_code import PLAIN_CODE, file_id, keyed_code
from studio.provenance.statement import INGREDIENT, Statement
from studio.settings import SIGNING_CERTIFICATE, SIGNS_FILES
from studio.settings_store import Settings
from studio.storage.atomic_file import atomic_path, atomic_write
from studio.system.installation import how_to_add

SIDECAR_SUFFIX = ".c2pa"
# C2PA's names of the formats that can contain a manifest, by file suffix.
EMBEDDING_FORMATS = {
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".m4b": "audio/mp4",
    ".mp4": "audio/mp4",
}
_LIBRARY_NAMES = {"darwin": "libc2pa_c.dylib", "win32": "c2pa_c.dll"}
ANY_FORMAT = "application/octet-stream"
# Nothing is fetched from the network, whatever a manifest asks for.
OFFLINE = {"verify": {"remote_manifest_fetch": False, "ocsp_fetch": False}}
_log = logging.getLogger(__name__)


def can_sign() -> bool:
    """Return whether c2pa-python is installed, without importing it."""
    return importlib.util.find_spec("c2pa") is not None


def import_library() -> Any:
    """Return the module ``c2pa``, with the shared library of its own package.

    WORKAROUND for c2pa-python, which first looks for this library in the current folder: a file of another person there
    would be run. An absolute path in this variable takes precedence.
    """
    spec = importlib.util.find_spec("c2pa")
    assert spec is not None
    assert spec.origin is not None
    library = Path(spec.origin).resolve().parent / "libs" / _LIBRARY_NAMES.get(sys.platform, "libc2pa_c.so")
    if library.is_file():
        os.environ.setdefault("C2PA_LIBRARY_NAME", str(library))
    import c2pa  # noqa: PLC0415 - takes time to import, and is optional

    return c2pa


def why_not_signed() -> Message:
    """Return a sentence for users who want signed files but have not installed the library."""
    return message(
        "Files are not signed: the library c2pa-python is not installed. The extra “provenance” contains the libraries. "
        "{how}",
        how=how_to_add("provenance"),
    )


@dataclass(frozen=True, slots=True)
class Signing:
    """The wish to sign files, with the key in ``certificate`` or a self-made one."""

    certificate: Path | None = None


def chosen_signing(settings: Settings) -> Signing | None:
    """Return how files are signed, or None if the user does not want it or the library is not installed."""
    if not (settings[SIGNS_FILES] and can_sign()):
        return None
    own = settings[SIGNING_CERTIFICATE]
    return Signing(Path(own) if own else None)


def mark_code(signer: FileSigner | None, *parts: str) -> str:
    """Return the code of the mark for a file that is determined by ``parts``. Without a key it has no number."""
    return PLAIN_CODE if signer is None else signer.mark_code(*parts)


class FileSigner:
    """Signs files with the key of this user. Thread-safe."""

    def __init__(self, signing: Signing) -> None:
        """Load the key. Raise ``UnusableCertificate``, ``CannotWrite``, ``DiskFull``."""
        c2pa = import_library()
        # It takes time to import, and only signed files need it.
        from studio.provenance.credentials import load_credentials  # noqa: PLC0415

        key = load_credentials(signing.certificate)
        self._c2pa = c2pa
        self._info = (key.algorithm.encode(), key.certificates, key.private_key, None)

    def mark_code(self, *parts: str) -> str:
        """Return the code of the mark for a file that is determined by ``parts``."""
        return keyed_code(file_id(*parts), self._info[2])

    def sign(self, path: Path, statement: Statement, target: Path | None = None) -> None:
        """Add a manifest to the audio file ``path``, which will be renamed to ``target``.

        Raise ``CannotSign``, ``DiskFull`` or ``CannotWrite``.
        """
        target = target or path
        kind = EMBEDDING_FORMATS.get(target.suffix.lower())
        if kind is None:
            with path.open("rb") as source:
                atomic_write(
                    target.with_suffix(SIDECAR_SUFFIX), self._signed(source, io.BytesIO(), None, statement, target.name)
                )
            return
        with atomic_path(path, syncs=False) as part, path.open("rb") as source, part.open("x+b") as signed:
            self._signed(source, signed, kind, statement, target.name)

    def sign_content(self, content: bytes, name: str, statement: Statement) -> bytes:
        """Return the audio file ``name`` with a manifest. Its format can contain one. Raise ``CannotSign``."""
        signed = io.BytesIO()
        self._signed(io.BytesIO(content), signed, EMBEDDING_FORMATS[Path(name).suffix], statement, name)
        return signed.getvalue()

    def _signed(self, source: BinaryIO, signed: BinaryIO, kind: str | None, statement: Statement, title: str) -> bytes:
        """Write the file with its manifest into ``signed``, and return the manifest."""
        try:
            c2pa = self._c2pa
            context = c2pa.Context.from_dict(OFFLINE)
            with (
                c2pa.Signer.from_info(c2pa.C2paSignerInfo(*self._info)) as signer,
                c2pa.Builder(with_consents(statement).manifest(title), context) as builder,
            ):
                if statement.source is not None:
                    _add_ingredient(c2pa, builder, statement.source)
                if kind is None:
                    builder.set_no_embed()
                manifest: bytes = builder.sign(signer, kind or ANY_FORMAT, source, signed)
                return manifest
        except self._c2pa.C2paError as error:
            raise CannotSign(
                "{file} cannot be signed ({reason}).",
                remedy="Write it without a manifest, or use another certificate.",
                file=title,
                reason=error,
            ) from error


def _add_ingredient(c2pa: Any, builder: Any, recording: Path) -> None:
    """Keep the manifest of ``recording``. One that is damaged is left out. Raise ``C2paError``."""
    kind = EMBEDDING_FORMATS.get(recording.suffix.lower(), ANY_FORMAT)
    ingredient = {"title": recording.name, "relationship": "parentOf", "label": INGREDIENT}
    with recording.open("rb") as file:
        try:
            builder.add_ingredient(ingredient, kind, file)
        except c2pa.C2paError as error:
            _log.warning("the manifest of %s is damaged and not kept: %s", recording.name, error)
            file.seek(0)
            builder.add_ingredient(ingredient, ANY_FORMAT, file)
