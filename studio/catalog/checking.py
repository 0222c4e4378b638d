"""Required and allowed files of a model, verification of installed models against their checksums, and removal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from studio.catalog.folders import (
    bundled_folder,
    delete_model,
    files_in,
    is_bundled,
    lock_model,
    models_folder,
    staging_folder,
)
from studio.catalog.installed import InstallRecord, RecordedFile, model_not_found, read_record, write_record
from studio.catalog.known import known_models
from studio.catalog.progress import CancelToken, OnProgress, Phase, ProgressCounter, ignore_progress
from studio.errors import MissingModelFile, ModelNotFound
from studio.model.generations import detect_generation
from studio.model.measurements import INCLUDED_FILE
from studio.model.weight_files import parts_of, weight_file
from studio.take_checks.recognizers.choice import MODEL_RECOGNIZER_FILE
from studio.take_checks.recognizers.sense_voice_files import FILES, LAYOUT, TOKENS_FILE, find_network

_BLOCK_BYTES = 1 << 20
_TEXT_FOLDER = "CosyVoice-BlankEN"
_REQUIRED_STAGES = ("llm", "flow", "hift")
_REQUIRED = ("campplus.onnx",)
_REQUIRED_TEXT = ("config.json", "vocab.json", "merges.txt", "tokenizer_config.json")
# Patterns of the files that an import copies. Other files are ignored.
_ALLOWED = (
    "cosyvoice*.yaml", "llm.pt", "llm.*.pt", "flow.pt", "hift.pt", "llm*.safetensors", "flow*.safetensors", "hift*.safetensors",
    "campplus.onnx", MODEL_RECOGNIZER_FILE, "speech_tokenizer_v?.onnx",
    "flow.decoder.estimator.fp32.onnx", "spk2info.pt", "styles.json", INCLUDED_FILE, "random.json", "*.md", "LICENSE*", "NOTICE*",
    f"{_TEXT_FOLDER}/*.json", f"{_TEXT_FOLDER}/*.txt",
)  # fmt: skip


def is_allowed_file(path: str) -> bool:
    """Return whether ``path``, relative to the model with slashes, may be part of a model."""
    return path in FILES or any(
        fnmatchcase(path, pattern) and path.count("/") == pattern.count("/") for pattern in _ALLOWED
    )


def require_complete(folder: Path) -> str:
    """Return the name of the model's generation, or of the recogniser's layout.

    Raise ``MissingModelFile``, and the errors of ``detect_generation``.
    """
    required: tuple[str, ...]
    if find_network(folder):
        name, required = LAYOUT, (TOKENS_FILE,)
    else:
        generation, _ = detect_generation(folder)
        text = [f"{generation.text_folder}/{name}" for name in _REQUIRED_TEXT] if generation.text_folder else []
        weights = [path.name for stem in _REQUIRED_STAGES for path in parts_of(weight_file(folder, stem))]
        name, required = generation.name, (*weights, *_REQUIRED, generation.speech_tokenizer_file, *text)
    missing = tuple(path for path in required if not (folder / path).is_file())
    if missing:
        raise MissingModelFile(
            "The model in {folder} is incomplete: {missing} is missing.",
            remedy="Install the model again, or import a complete copy.",
            folder=folder.name,
            missing=missing,
        )
    return name


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a verification."""

    name: str
    num_files: int
    damaged: tuple[str, ...]  # files that are missing or differ
    is_learned: bool  # no checksums were known, so the current ones were recorded

    @property
    def is_intact(self) -> bool:
        return not self.damaged


def check_model(
    name: str, *, stop: CancelToken | None = None, on_progress: OnProgress = ignore_progress
) -> CheckResult:
    """Hash all files of a model and record the damaged ones; a damaged model is not loaded.

    A folder without a record is compared with the release of the same name. Without such a release, its checksums are
    recorded for the next check. Raise ``DownloadCancelled``, ``ModelNotFound``, ``ModelBusy``, ``MissingModelFile``.
    """
    stop = stop or CancelToken()
    folder, bundled = models_folder() / name, bundled_folder() / name
    if is_bundled(name):
        require_complete(bundled)
        return _compare(name, bundled, None, stop, on_progress)[0]
    if not folder.is_dir():
        raise model_not_found(name)
    with lock_model(name):
        record = read_record(folder)
        result, found = _compare(name, folder, record, stop, on_progress)
        if record is None:
            require_complete(folder)
            record = InstallRecord(name, str(folder), "", tuple(found.values()))
        write_record(folder, record.with_damaged(result.damaged))
        return result


def _compare(
    name: str, folder: Path, record: InstallRecord | None, stop: CancelToken, on_progress: OnProgress
) -> tuple[CheckResult, dict[str, RecordedFile]]:
    """Compare the files in ``folder`` with their checksums. Return the files that were found, too."""
    expected = _expected_checksums(name, folder, record)
    found = _hash_files(folder, expected, stop, on_progress)
    damaged = [
        path for path, sha256 in expected.items() if path not in found or sha256 not in (None, found[path].sha256)
    ]
    return CheckResult(name, len(expected), tuple(sorted(damaged)), is_learned=not any(expected.values())), found


def remove_model(name: str) -> bool:
    """Delete a model and its unfinished download. Return False if neither exists.

    Raise ``ModelBusy``, ``CannotWrite``, and ``ModelNotFound`` for a bundled model.
    """
    installed = models_folder() / name
    if is_bundled(name):
        raise ModelNotFound(
            "{name} is part of the program and cannot be removed.", remedy="Choose an installed model.", name=name
        )
    with lock_model(name):
        found = [folder for folder in (installed, staging_folder(name)) if folder.is_dir()]
        for folder in found:
            delete_model(folder)
    return bool(found)


def discard_download(name: str) -> None:
    """Delete an unfinished download. Raise ``ModelBusy``, ``CannotWrite``."""
    with lock_model(name):
        delete_model(staging_folder(name))


def _expected_checksums(name: str, folder: Path, record: InstallRecord | None) -> dict[str, str | None]:
    """Return the SHA-256 of each file, or None if it is unknown."""
    if record is not None:
        return {file.path: file.sha256 for file in record.files}
    release = known_models().get(name)
    expected: dict[str, str | None] = dict.fromkeys(files_in(folder))
    if release is not None:
        released = [file for file in release.files if file.variant is None or file.path in expected]
        expected.update({file.path: file.sha256 for file in released})
    return expected


def _hash_files(
    folder: Path, paths: Iterable[str], stop: CancelToken, on_progress: OnProgress
) -> dict[str, RecordedFile]:
    """Return the size and SHA-256 of each readable file, by path."""
    sizes = {path: (folder / path).stat().st_size for path in paths if (folder / path).is_file()}
    counter = ProgressCounter(Phase.CHECKING, sum(sizes.values()), stop, on_progress)
    files: dict[str, RecordedFile] = {}
    for path, size in sizes.items():
        counter.begin(path, size)
        try:
            files[path] = RecordedFile(path, size, _sha256_of(folder / path, counter))
        except OSError:  # an unreadable file counts as damaged
            continue
    return files


def _sha256_of(path: Path, counter: ProgressCounter) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            counter.add(len(block))
    return digest.hexdigest()
