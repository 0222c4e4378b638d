"""The ``.voice`` file format: a zip archive of ``manifest.json`` and the clip of one voice.

If the speaker consented in a recording, it is a third entry.

Such files are untrusted input. A file is accepted only in the form that this program writes: regular entries with the
expected names, and recordings that match the hashes in the manifest. Size limits are enforced while unpacking.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.errors import BadVoiceFile, CannotWrite
from studio.messages import Message, message
from studio.storage.atomic_file import atomic_file
from studio.storage.disk import require_regular_file
from studio.storage.json_input import parse_json
from studio.voices.voice import Consent, SpokenConsent, VoiceDetails

SUFFIX = ".voice"

_FORMAT = "timbre-voice"
_VERSION = 1
_MANIFEST = "manifest.json"
_CLIP_NAME = re.compile(r"clip(\.[a-z0-9]{1,11})")
_CONSENT_NAME = re.compile(r"consent(\.[a-z0-9]{1,11})?")
_MAX_MANIFEST_BYTES = 1 << 16
# Enough for 30 s of audio in any supported format.
_MAX_CLIP_BYTES = 64 << 20
# The date of all entries is fixed, so that equal voices result in equal files.
_DATE = (2020, 1, 1, 0, 0, 0)
_REMEDY = "Ask its author to export the voice again."
# The errors that zipfile raises for damaged archives.
_ARCHIVE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, RuntimeError, MemoryError),
)


@dataclass(frozen=True, slots=True)
class VoiceFile:
    """Content of a ``.voice`` file: the metadata, and the bytes and file suffixes of the clip and the spoken consent."""

    details: VoiceDetails
    clip: bytes
    suffix: str
    consent_clip: bytes | None = None
    consent_suffix: str = ""


def write_voice_file(path: Path, clip: Path, details: VoiceDetails, *, consent_clip: Path | None = None) -> None:
    """Write a voice to ``path``. Raises ``BadVoiceFile`` if the clip is missing, ``DiskFull`` or ``CannotWrite``."""
    try:
        require_regular_file(clip)
        content = clip.read_bytes()
        spoken = consent_clip.read_bytes() if consent_clip else None
    except OSError as error:
        raise BadVoiceFile(
            "The recording of {name} is missing.", remedy="Remove the voice and add it again.", name=details.name
        ) from error
    manifest = {
        "format": _FORMAT,
        "version": _VERSION,
        "name": details.name,
        "transcript": details.transcript,
        "notes": details.notes,
        "generation": details.generation,
        "language": details.language,
        "consent": {name: value for name, value in dataclasses.asdict(details.consent).items() if value is not None},
        "clip": f"clip{clip.suffix.lower()}",
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    if not os.path.isdir(path.parent):
        raise CannotWrite("There is no folder {folder}.", remedy="Create it, or choose another.", folder=path.parent)
    with atomic_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(_MANIFEST, _DATE), json.dumps(manifest, ensure_ascii=False, indent=1))
        archive.writestr(zipfile.ZipInfo(str(manifest["clip"]), _DATE), content)
        if consent_clip and spoken is not None:
            archive.writestr(zipfile.ZipInfo(f"consent{consent_clip.suffix}", _DATE), spoken)


def read_voice_file(path: Path) -> VoiceFile:
    """Return the voice in ``path``. Raises ``BadVoiceFile``."""
    try:
        require_regular_file(path)
        if path.stat().st_size > 2 * (_MAX_CLIP_BYTES + _MAX_MANIFEST_BYTES):
            raise _bad(message("{file} is too large for a voice file.", file=path.name))
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            if len(archive.infolist()) != len(entries) or len(entries) not in (2, 3) or _MANIFEST not in entries:
                raise _bad(message("{file} does not contain exactly one voice.", file=path.name))
            manifest = _read_manifest(path, _unpack(path, archive, entries[_MANIFEST], _MAX_MANIFEST_BYTES))
            clip_name = _text(path, manifest, "clip")
            match = _CLIP_NAME.fullmatch(clip_name)
            if match is None or clip_name not in entries:
                raise _bad(message("{file} has an invalid name for its recording.", file=path.name))
            clip = _unpack(path, archive, entries[clip_name], _MAX_CLIP_BYTES)
            consent_clip, consent_suffix = None, ""
            for name in entries.keys() - {_MANIFEST, clip_name}:
                consent_name = _CONSENT_NAME.fullmatch(name)
                if consent_name is None:
                    raise _bad(message("{file} does not contain exactly one voice.", file=path.name))
                consent_clip, consent_suffix = (
                    _unpack(path, archive, entries[name], _MAX_CLIP_BYTES),
                    consent_name[1] or "",
                )
    except FileNotFoundError as error:
        raise BadVoiceFile(
            "There is no file {path}.", remedy="Check the spelling of its name and folder.", path=path
        ) from error
    except _ARCHIVE_ERRORS as error:
        raise _bad(message("{file} is not a voice file, or is damaged.", file=path.name)) from error
    if hashlib.sha256(clip).hexdigest() != _text(path, manifest, "sha256"):
        raise _bad(message("{file} is damaged: its recording does not match its checksum.", file=path.name))
    details = VoiceDetails(
        name=_text(path, manifest, "name"),
        transcript=_optional_text(path, manifest, "transcript"),
        notes=_optional_text(path, manifest, "notes") or "",
        generation=_optional_text(path, manifest, "generation"),
        language=_optional_text(path, manifest, "language"),
        consent=_consent(path, manifest),
    )
    spoken = details.consent.spoken
    if consent_clip is not None and (spoken is None or hashlib.sha256(consent_clip).hexdigest() != spoken.sha256):
        raise _bad(message("{file} is damaged: its recording does not match its checksum.", file=path.name))
    return VoiceFile(details, clip, match[1], consent_clip, consent_suffix)


def _unpack(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, largest_bytes: int) -> bytes:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG) or entry.is_dir():
        raise _bad(message("{file} contains something other than regular files.", file=path.name))
    with archive.open(entry) as file:
        content = file.read(largest_bytes + 1)
    if len(content) > largest_bytes:
        raise _bad(message("{file} unpacks to more than a voice file may contain.", file=path.name))
    return content


def _read_manifest(path: Path, content: bytes) -> dict[str, Any]:
    try:
        manifest = parse_json(content)
    except ValueError as error:
        raise _bad(message("{file} has an unreadable manifest.", file=path.name)) from error
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise _bad(message("{file} is not a voice file.", file=path.name))
    if manifest.get("version") != _VERSION:
        raise BadVoiceFile(
            "{file} was made by another version of the program.", remedy="Update this program.", file=path.name
        )
    return manifest


def _text(path: Path, manifest: dict[str, Any], key: str) -> str:
    value = manifest.get(key)
    if not isinstance(value, str) or not value:
        raise _bad(message("{file} has no valid {key}.", file=path.name, key=key))
    return value


def _consent(path: Path, manifest: dict[str, Any]) -> Consent:
    """Return the consent record, which is empty for files of earlier versions."""
    found = manifest.get("consent") or {}
    if not isinstance(found, dict):
        raise _bad(message("{file} has an invalid consent record.", file=path.name))
    try:
        spoken = None if found.get("spoken") is None else SpokenConsent.parse(found["spoken"])
    except ValueError as error:
        raise _bad(message("{file} has an invalid consent record.", file=path.name)) from error
    by, date, scope, until = (_optional_text(path, found, key) or "" for key in ("by", "date", "scope", "until"))
    return Consent(by, date, scope, until, spoken)


def _optional_text(path: Path, manifest: dict[str, Any], key: str) -> str | None:
    return None if manifest.get(key) in (None, "") else _text(path, manifest, key)


def _bad(message: Message) -> BadVoiceFile:
    return BadVoiceFile(message, remedy=_REMEDY)
