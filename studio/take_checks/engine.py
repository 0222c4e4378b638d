"""The engine of the check process."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from studio.audio.resampling import resample
from studio.audio.waveform import Waveform
from studio.errors import RecognizerNotFound, UnrecognizedVoice
from studio.take_checks.checking import check_take, open_meter
from studio.take_checks.comparison import compare, word_times
from studio.take_checks.differences import transcript_differences
from studio.take_checks.findings import TextFindings
from studio.take_checks.process import as_studio_error
from studio.take_checks.recognizers.choice import AUTO, MODEL, OFF, AvailableRecognizer, choose, recognizer_of_model
from studio.take_checks.recognizers.opening import open_recognizer
from studio.take_checks.recognizers.protocol import SAMPLE_RATE, HeardUnit, Recognizer, Samples, unrecognized_voice
from studio.take_checks.records import Embeddings, TakeCheck, Transcript, Verdict
from studio.take_checks.requests import CheckRequest, EmbeddingRequest, TranscriptRequest
from studio.take_checks.speaker import ENCODER_FILE
from studio.take_checks.units import choose_language, expected_texts, is_character, spoken_units

_log = logging.getLogger(__name__)

_NO_RECOGNIZER = frozenset({RecognizerNotFound.code, UnrecognizedVoice.code})

FindRecognizers = Callable[[], tuple[AvailableRecognizer, ...]]

# The list of installed models is above this package, so it is imported by name.
_CATALOG = "studio.catalog.recognizers"


def open_engine() -> TakeCheckEngine:
    """Return an engine that uses the recognisers installed at the time of each request."""
    find: FindRecognizers = importlib.import_module(_CATALOG).available_recognizers
    return TakeCheckEngine(find)


class TakeCheckEngine:
    """Checks takes and transcribes recordings. Keeps one recogniser loaded, because they are large."""

    def __init__(self, find_recognizers: FindRecognizers) -> None:
        self._find_recognizers = find_recognizers
        self._open: tuple[AvailableRecognizer, Recognizer] | None = None

    def check(self, request: CheckRequest) -> TakeCheck:
        check = check_take(request, None if request.recognizer == OFF else self._findings)
        if check.error_code in _NO_RECOGNIZER and request.recognizer == AUTO and request.evidence:
            # Without a recogniser for the language or voice, the evidence of the language model decides.
            return replace(check, error_code="")
        if check.error_code and not check.recognizer and request.recognizer != OFF:
            return check.without_recognition(check.error_code)
        has_compared_text = bool(check.recognizer or check.words or request.evidence)
        if check.verdict is Verdict.GOOD and not has_compared_text:
            return replace(check, verdict=Verdict.NOT_CHECKED)
        return check

    def embed(self, request: EmbeddingRequest) -> Embeddings:
        """Return the speaker embedding of each part. Raise the errors of ``SpeakerEncoder``."""
        meter = open_meter(request.model_folder / ENCODER_FILE)
        return Embeddings(meter.embed(Waveform(request.samples, request.sample_rate), request.spans))

    def transcribe(self, request: TranscriptRequest) -> Transcript:
        """Transcribe a recording. Raise the errors of ``choose`` and of the recogniser, such as ``UnrecognizedVoice``."""
        language = choose_language(request.language, request.typed).value if request.language or request.typed else "en"
        recognizer = self._recognizer(request.recognizer, language)
        samples = at_recognizer_rate(request.samples, request.sample_rate)
        heard = recognizer.transcribe(samples, language)
        text, spans = _joined(heard)
        units = spoken_units(text, language)
        if units and not request.typed.strip():
            # If the second pass hears a word twice, the recogniser does not understand this voice.
            known = recognizer.recognize(samples, [unit.text for unit in units], language)
            indices = [unit.expected_index for unit in known.heard if unit.expected_index >= 0]
            if len(set(indices)) < len(indices):
                raise unrecognized_voice()
        times: list[tuple[float, float] | None] = [_time_at(unit.start, spans, heard) for unit in units]
        return Transcript(
            text,
            word_times(text, units, times),
            transcript_differences(request, recognizer, samples, heard, language) if request.typed.strip() else (),
            recognizer.name,
        )

    def _findings(self, request: CheckRequest) -> TextFindings:
        """Compare a take with its text. See ``TextCheck``."""
        language = choose_language(request.language, request.text).value
        try:
            # Only takes of a model have evidence; other recordings are unknown to its recogniser.
            folder = request.model_folder if request.evidence else None
            recognizer = self._recognizer(request.recognizer, language, folder)
            units = spoken_units(request.text, language)
            samples = at_recognizer_rate(request.samples, request.sample_rate)
            recognition = recognizer.recognize(samples, expected_texts(units, request.text), language)
        except Exception as error:  # noqa: BLE001 - the other checks do not need the recogniser
            _log.exception("no recognition")
            self._open = None
            return TextFindings(error_code=as_studio_error(error).code)
        return compare(
            request.text,
            units,
            recognition,
            seconds=len(request.samples) / request.sample_rate,
            recognizer=recognizer.name,
            language=language,
            known_words=request.known_words,
        )

    def _recognizer(self, name: str, language: str, model_folder: Path | None = None) -> Recognizer:
        own = recognizer_of_model(model_folder)
        if name in (AUTO, MODEL) and own and language in own.languages:
            choice = own
        else:
            choice = choose(name, language, self._find_recognizers())
        if self._open is None or self._open[0] != choice:
            self._open = None  # frees its memory first
            self._open = (choice, open_recognizer(choice))
        return self._open[1]


def at_recognizer_rate(samples: Samples, sample_rate: int) -> Samples:
    """Return finite samples at 16 kHz."""
    finite = np.nan_to_num(samples.astype(np.float32, copy=False), nan=0.0, posinf=1.0, neginf=-1.0)
    return resample(finite, sample_rate, SAMPLE_RATE)


def _joined(heard: tuple[HeardUnit, ...]) -> tuple[str, list[int]]:
    """Return the text of the heard units, with spaces between words but not between characters, and their ends."""
    text = ""
    ends = []
    for unit in heard:
        is_word = unit.text[:1].isascii() or (unit.text[:1].isalpha() and not is_character(unit.text))
        text += (" " if text and is_word else "") + unit.text
        ends.append(len(text))
    return text, ends


def _time_at(position: int, ends: list[int], heard: tuple[HeardUnit, ...]) -> tuple[float, float] | None:
    index = next((number for number, end in enumerate(ends) if position < end), None)
    return None if index is None else (heard[index].from_seconds, heard[index].to_seconds)
