"""Signs files that were made from signed ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from studio.provenance.inspection import ManifestState, read_manifest
from studio.provenance.recorded_speech import read_speech
from studio.provenance.signing import FileSigner, Signing
from studio.provenance.statement import Statement


def sign_edited(signing: Signing, part: Path, original: Path, edit: str) -> None:
    """Sign ``part``, which is ``original`` after an ``edit`` and replaces it.

    The manifest of the original is kept, and what it says about the speech is repeated. Without a manifest, nothing is
    known about the file, and it is not signed. Raise ``CannotSign``, ``UnusableCertificate``, ``DiskFull``,
    ``CannotWrite``.
    """
    found = read_manifest(original)
    if found.state not in (ManifestState.VALID, ManifestState.CHANGED):
        return
    said = None if found.state is ManifestState.CHANGED or found.speech is None else read_speech(found.speech)
    said = said or Statement("")
    FileSigner(signing).sign(part, replace(said, edits=(*said.edits, edit), source=original, is_edit=True), original)
