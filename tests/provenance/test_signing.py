"""Signed files keep their audio, and say what is known about it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from speech_files import write_speech

from studio.audio.files import read_audio, read_tags
from studio.errors import UnusableCertificate
from studio.provenance.inspection import Inspection, ManifestState, inspect_file
from studio.provenance.signing import SIDECAR_SUFFIX, FileSigner, Signing
from studio.provenance.statement import Statement, hash_text

pytestmark = pytest.mark.usefixtures("c2pa")

IMPORT = "from studio.provenance.signing import import_library; print(import_library().c2pa._lib._name)"
FORMATS = {"wav16": ".wav", "wav32f": ".wav", "flac24": ".flac", "mp3": ".mp3", "ogg": ".ogg", "opus": ".opus"}


def inspected(path: Path) -> Inspection:
    from studio.provenance.credentials import load_credentials  # an optional extra

    return inspect_file(path, trusted=load_credentials(None).certificates)


def test_a_library_in_the_current_folder_is_not_loaded(tmp_path: Path) -> None:
    import c2pa  # an optional extra

    library = Path(c2pa.__file__).parent / "libs" / "libc2pa_c.so"
    if not library.is_file():
        pytest.skip("another platform")
    (tmp_path / "libc2pa_c.so").symlink_to(library)
    environment = {name: value for name, value in os.environ.items() if name != "C2PA_LIBRARY_NAME"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    ran = subprocess.run(
        [sys.executable, "-c", IMPORT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str(library)


@pytest.mark.parametrize("encoding", FORMATS)
def test_a_signed_file_keeps_its_audio_and_tags_and_is_valid(
    encoding: str, tmp_path: Path, signer: FileSigner, statement: Statement
) -> None:
    path = write_speech(tmp_path / f"speech{FORMATS[encoding]}", encoding)
    before, tags = read_audio(path).samples, read_tags(path)
    signer.sign(path, statement)
    np.testing.assert_array_equal(read_audio(path).samples, before)
    assert read_tags(path) == tags
    found = inspected(path)
    assert (found.state, found.is_trusted, found.reason) == (ManifestState.VALID, True, None)
    assert path.with_suffix(SIDECAR_SUFFIX).exists() == (path.suffix in (".ogg", ".opus"))


@pytest.mark.parametrize("encoding", [*FORMATS, "m4b"])
def test_a_changed_byte_is_found(encoding: str, tmp_path: Path, signer: FileSigner, statement: Statement) -> None:
    path = write_speech(tmp_path / f"speech{FORMATS.get(encoding, '.m4b')}", encoding)
    signer.sign(path, statement)
    assert inspected(path).state is ManifestState.VALID
    content = bytearray(path.read_bytes())
    content[len(content) * 4 // 5] ^= 1
    path.write_bytes(content)
    found = inspected(path)
    assert found.state is ManifestState.CHANGED
    assert not found.is_trusted
    assert "changed after it was signed" in str(found.reason)


def test_the_statement_contains_hashes_instead_of_the_text(
    tmp_path: Path, signer: FileSigner, statement: Statement
) -> None:
    path = write_speech(tmp_path / "speech.wav", "wav16")
    signer.sign(path, statement)
    assert b"secret sentence" not in path.read_bytes()
    speech = inspected(path).speech
    assert speech is not None
    (line,) = speech["lines"]
    assert (speech["model"], speech["licence"], speech["edits"]) == ("mini", "Apache-2.0", ["joined"])
    assert (line["text_sha256"], line["voice"], line["seed"]) == (hash_text("A secret sentence."), "Ada", 7)
    assert line["settings"] == {"speed": 1.25}


def test_the_manifest_of_a_converted_recording_is_kept(
    tmp_path: Path, signer: FileSigner, statement: Statement
) -> None:
    recording = write_speech(tmp_path / "recording.wav", "wav16")
    signer.sign(recording, statement)
    converted = write_speech(tmp_path / "converted.flac", "flac16")
    signer.sign(converted, Statement("mini", lines=statement.lines, source=recording))
    found = inspected(converted)
    assert (found.state, found.num_ingredients) == (ManifestState.VALID, 1)


def test_a_recording_without_manifest_can_be_converted(
    tmp_path: Path, signer: FileSigner, statement: Statement
) -> None:
    recording = tmp_path / "memo.aac"
    recording.write_bytes(b"some recording")
    converted = write_speech(tmp_path / "converted.wav", "wav16")
    signer.sign(converted, Statement("mini", lines=statement.lines, source=recording))
    assert (inspected(converted).state, inspected(converted).num_ingredients) == (ManifestState.VALID, 0)


def test_another_signer_is_named_but_not_trusted(
    tmp_path: Path, signer: FileSigner, statement: Statement, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_speech(tmp_path / "speech.wav", "wav16")
    signer.sign(path, statement)
    monkeypatch.setenv("TIMBRE_DATA", str(tmp_path / "other"))
    found = inspected(path)
    assert (found.state, found.is_trusted) == (ManifestState.VALID, False)
    assert found.signer.startswith("Timbre Studio, self-made key ")


def test_the_self_made_key_is_kept_and_private(tmp_path: Path) -> None:
    from studio.provenance.credentials import load_credentials, self_made_path

    first = load_credentials(None)
    assert load_credentials(None) == first
    if os.name == "posix":
        assert stat.S_IMODE(self_made_path().stat().st_mode) == 0o600


def test_the_users_own_certificate_signs(tmp_path: Path, statement: Statement) -> None:
    from studio.provenance.credentials import load_credentials, self_made_path

    load_credentials(None)
    own = self_made_path().rename(tmp_path / "own.pem")
    path = write_speech(tmp_path / "speech.mp3", "mp3")
    FileSigner(Signing(own)).sign(path, statement)
    assert not self_made_path().exists()
    found = inspect_file(path, trusted=own.read_bytes().partition(b"-----END PRIVATE KEY-----\n")[2])
    assert found.is_trusted


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_an_unusable_certificate_is_a_sentence(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "own.pem"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(UnusableCertificate, match="cannot be used"):
        FileSigner(Signing(path))


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.pem"
    path.write_bytes(b"a key")
    path.chmod(0o644)
    with pytest.raises(UnusableCertificate, match="Other users can read"):
        FileSigner(Signing(path))
