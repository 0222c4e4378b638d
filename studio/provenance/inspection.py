"""Reads the provenance of audio files: the signed manifest, and the tags.

Files are untrusted. A manifest that cannot be read is a result, not an error, and nothing is fetched from the network.
Manifests are verified by an optional library; the mark and the tags need none.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.audio.files import read_tags
from studio.errors import StudioError, UnreadableClip, UnusableCertificate
from studio.messages import Message, message
from studio.provenance.mark import FoundMark, MarkState, find_mark
from studio.provenance.mark_code import number_of
from studio.provenance.signing import (
    ANY_FORMAT,
    EMBEDDING_FORMATS,
    OFFLINE,
    SIDECAR_SUFFIX,
    can_sign,
    import_library,
)
from studio.provenance.statement import SPEECH_LABEL
from studio.settings import SIGNING_CERTIFICATE
from studio.settings_store import Settings
from studio.storage.disk import require_regular_file
from studio.storage.json_input import parse_json
from studio.system.installation import how_to_add

if TYPE_CHECKING:
    from studio.provenance.credentials import Credentials

_MAX_SIDECAR_BYTES = 64 << 20
# The type of the JUMBF box in which C2PA keeps manifests.
MANIFEST_TYPE = b"c2pa\x00\x11\x00\x10\x80\x00\x00\xaa\x00\x38\x9b\x71"
_BLOCK_BYTES = 1 << 20
# Failures that concern only who has signed, not what was signed.
_OF_SIGNER = ("signingCredential.", "timeStamp.", "claimSignature.outsideValidity")
_log = logging.getLogger(__name__)


class ManifestState(Enum):
    VALID = "valid"
    CHANGED = "changed"  # the file, or its manifest, is not what was signed
    ABSENT = "absent"
    UNREADABLE = "unreadable"
    NOT_CHECKED = "not-checked"  # there is one, but not the library that verifies it


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is known about the origin of a file.

    Attributes:
        signer: The name in the certificate, empty if there is none. Anybody can choose the name of a self-made key.
        is_trusted: Whether the signer is this user, or has a certificate that the user trusts.
        reason: Why the manifest is not valid.
        tags: The tags of the file, by libsndfile's names.
        speech: What the program that made the file states about the speech, if it is this program; unverified
            unless the manifest is valid.
        num_ingredients: The number of recordings of which the manifest keeps their own manifests.
        mark: The imperceptible mark in the sound.
    """

    path: Path
    state: ManifestState
    signer: str = ""
    is_trusted: bool = False
    reason: Message | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    speech: Mapping[str, Any] | None = None
    num_ingredients: int = 0
    mark: FoundMark = FoundMark(MarkState.NOT_CHECKED)


def own_certificates() -> bytes:
    """Return the certificate of the self-made key, or nothing if no usable key exists."""
    own = _own_credentials(None)
    return b"" if own is None else own.certificates


def _own_key() -> bytes:
    """Return the private key that signs files, or nothing if no usable key exists."""
    certificate = Settings()[SIGNING_CERTIFICATE]
    own = _own_credentials(Path(certificate) if certificate else None)
    return b"" if own is None else own.private_key


def _own_credentials(certificate: Path | None) -> Credentials | None:
    if not can_sign():
        return None
    from studio.provenance.credentials import load_credentials, self_made_path  # noqa: PLC0415 - an optional extra

    try:
        return load_credentials(certificate) if certificate or self_made_path().exists() else None
    except UnusableCertificate:  # reported when it signs
        return None


def inspect_file(path: Path, *, trusted: bytes = b"") -> Inspection:
    """Inspect ``path``. ``trusted`` are certificates in PEM. Raise ``UnreadableClip`` if there is no such file."""
    return replace(read_manifest(path, trusted=trusted), mark=_mark_in(path))


def _mark_in(path: Path) -> FoundMark:
    """Return the mark in the sound of a file, which is not checked if the sound cannot be read."""
    try:
        mark = find_mark(path)
        return replace(mark, number=number_of(mark.codes, _own_key())) if mark.codes else mark
    except StudioError as error:
        _log.info("the sound of %s is not searched: %s", path.name, error)
        return FoundMark(MarkState.NOT_CHECKED)


def read_manifest(path: Path, *, trusted: bytes = b"") -> Inspection:
    """Inspect ``path`` without its sound. Raise the errors of ``inspect_file``."""
    try:
        require_regular_file(path)
        tags = read_tags(path)
        if not can_sign():
            return _unverified(path, tags)
        return _verified(path, trusted, tags)
    except OSError as error:
        raise UnreadableClip(
            "{path} cannot be read ({reason}).", remedy="Check its name and folder.", path=path, reason=error
        ) from error


def _unverified(path: Path, tags: Mapping[str, str]) -> Inspection:
    """Inspect ``path`` without the library. Raise ``OSError``."""
    has_place = path.suffix.lower() in EMBEDDING_FORMATS
    if not (_contains_manifest(path) if has_place else path.with_suffix(SIDECAR_SUFFIX).is_file()):
        return Inspection(path, ManifestState.ABSENT, tags=tags)
    reason = message(
        "The library c2pa-python, which verifies it, is not installed. The extra “provenance” contains it. {how}",
        how=how_to_add("provenance"),
    )
    return Inspection(path, ManifestState.NOT_CHECKED, reason=reason, tags=tags)


def _contains_manifest(path: Path) -> bool:
    """Return whether there is a manifest anywhere in a file. Raise ``OSError``."""
    before = b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            if MANIFEST_TYPE in before + block:
                return True
            before = (before + block)[1 - len(MANIFEST_TYPE) :]
    return False


def _verified(path: Path, trusted: bytes, tags: Mapping[str, str]) -> Inspection:
    """Inspect ``path`` with the library. Raise ``OSError``."""
    c2pa = import_library()
    try:
        kind = EMBEDDING_FORMATS.get(path.suffix.lower())
        sidecar = path.with_suffix(SIDECAR_SUFFIX)
        manifest = None
        if kind is None:
            if not sidecar.is_file():
                return Inspection(path, ManifestState.ABSENT, tags=tags)
            with sidecar.open("rb") as file:
                manifest = file.read(_MAX_SIDECAR_BYTES)
        settings = OFFLINE | ({"trust": {"user_anchors": trusted.decode("ascii", "replace")}} if trusted else {})
        with (
            path.open("rb") as file,
            c2pa.Context.from_dict(settings) as context,
            c2pa.Reader(kind or ANY_FORMAT, file, manifest, context) as reader,
        ):
            return _inspected(path, parse_json(reader.json()), tags)
    except c2pa.C2paError as error:
        if isinstance(error, c2pa.C2paError.ManifestNotFound):
            return Inspection(path, ManifestState.ABSENT, tags=tags)
        _log.info("the manifest of %s cannot be read: %s", path.name, error)
        reason = message("The manifest, or the file, is damaged ({reason}).", reason=error)
        return Inspection(path, ManifestState.UNREADABLE, reason=reason, tags=tags)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        _log.info("the manifest of %s cannot be used: %r", path.name, error)
        reason = message("The manifest does not have the form of C2PA.")
        return Inspection(path, ManifestState.UNREADABLE, reason=reason, tags=tags)


def _inspected(path: Path, store: Any, tags: Mapping[str, str]) -> Inspection:
    """Return what the manifest ``store`` says. Raise ``KeyError``, ``TypeError`` … if its form is unknown."""
    active = store["manifests"][store["active_manifest"]]
    failures = [str(each["code"]) for each in store["validation_results"]["activeManifest"].get("failure") or ()]
    serious = [code for code in failures if not code.startswith(_OF_SIGNER)]
    signature = active.get("signature_info") or {}
    signer = str(signature.get("common_name") or signature.get("issuer") or "")
    reason = None
    if serious:
        reason = message("The file was changed after it was signed ({codes}).", codes=", ".join(sorted(set(serious))))
    speech = next((each["data"] for each in active.get("assertions") or () if each["label"] == SPEECH_LABEL), None)
    return Inspection(
        path,
        ManifestState.CHANGED if serious else ManifestState.VALID,
        signer,
        is_trusted=not failures and store.get("validation_state") == "Trusted",
        reason=reason,
        tags=tags,
        speech=speech if isinstance(speech, dict) else None,
        num_ingredients=sum(1 for each in active.get("ingredients") or () if each.get("active_manifest")),
    )


def inspection_values(found: Inspection) -> dict[str, Any]:
    """Return the values of the JSON output. Keys are never removed or renamed."""
    return {
        "path": str(found.path),
        "manifest": {
            "state": found.state.value,
            "signer": found.signer or None,
            "is_trusted": found.is_trusted,
        },
        "mark": _mark_values(found.mark),
        "metadata": dict(found.tags) | ({} if found.speech is None else {"speech": found.speech}),
    }


def _mark_values(mark: FoundMark) -> dict[str, Any]:
    values: dict[str, Any] = {"state": mark.state.value, "probability": mark.probability}
    if mark.state is MarkState.FOUND:
        values |= {"seconds": [round(mark.start_seconds, 1), round(mark.end_seconds, 1)], "speed": mark.speed}
        values |= {"number": mark.number} if mark.number else {}
    return values
