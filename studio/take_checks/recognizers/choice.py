"""The recognisers that this computer has, and the choice of one for a language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from studio.errors import RecognizerNotFound
from studio.storage.json_input import parse_json

AUTO, OFF = "auto", "off"
# A recogniser in the folder of a model, for its own takes.
MODEL, MODEL_RECOGNIZER_FILE = "model", "recognizer.onnx"
# Its languages, and the sounds of letters and syllables. Without this file, it knows English only.
MODEL_SOUNDS_FILE = "recognizer.json"


@dataclass(frozen=True, slots=True)
class AvailableRecognizer:
    """A recogniser that can be opened. ``folder`` contains its files; None means the one that is part of the program."""

    name: str
    languages: frozenset[str]
    folder: Path | None = None


EMBEDDED = AvailableRecognizer("pocketsphinx", frozenset({"en"}))


def recognizer_of_model(folder: Path | None) -> AvailableRecognizer | None:
    """Return the recogniser for takes of the model in ``folder``, if it has one."""
    if folder is None or not (folder / MODEL_RECOGNIZER_FILE).is_file():
        return None
    return AvailableRecognizer(MODEL, _languages(folder / MODEL_SOUNDS_FILE), folder)


def _languages(path: Path) -> frozenset[str]:
    try:
        return frozenset(map(str, parse_json(path.read_text("utf-8"))["languages"]))
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset({"en"})


def choose(name: str, language: str, available: tuple[AvailableRecognizer, ...]) -> AvailableRecognizer:
    """Return the recogniser called ``name``, or for ``auto`` the first for ``language``.

    Raise ``RecognizerNotFound``.
    """
    fitting = [each for each in available if name in (AUTO, each.name)]
    if not fitting and name != AUTO:
        raise RecognizerNotFound(
            "The speech recogniser {name} is not installed.",
            remedy="Install it with `timbre models install {name}`, or choose one of: {known}.",
            name=name,
            known=", ".join(each.name for each in available) or "off",
        )
    for each in fitting:
        if language in each.languages:
            return each
    raise RecognizerNotFound(
        "No installed speech recogniser supports the language of the text ({language}).",
        remedy="Install one. `timbre models list` shows the languages of each.",
        language=language,
    )
