"""SenseVoiceSmall for Chinese, Cantonese, English, Japanese and Korean, in the ONNX layout of sherpa-onnx.

The network receives filter banks, of which seven frames are stacked at every sixth (60 ms), and ids of the language and
of the spelling of numbers. Its first four outputs are tags; the others are CTC logits. Its settings are in the metadata
of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.audio.waveform import Waveform
from studio.errors import DamagedModelFile
from studio.take_checks.recognizers.ctc import TokenSpan, align_tokens, greedy_tokens, log_softmax
from studio.take_checks.recognizers.pieces import Vocabulary
from studio.take_checks.recognizers.protocol import SAMPLE_RATE, AlignedUnit, HeardUnit, Recognition, Samples
from studio.take_checks.recognizers.sense_voice_files import LANGUAGES, NETWORK_FILES, TOKENS_FILE, find_network
from studio.take_checks.recognizers.session import open_recognizer_session
from studio.take_checks.recognizers.windows import windows
from studio.take_checks.units import is_tokens
from studio.voices.features import kaldi_fbank

FloatArray = npt.NDArray[np.float32]

_NUM_TAGS = 4
_HOP_SAMPLES = 160
_MIN_SAMPLES = 2 * 400
_INT16_SCALE = np.float32(32_768.0)
# A CTC network emits a token in a frame or two; the sound lasts until the next token, but not longer than this.
_MAX_UNIT_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class _Settings:
    """The metadata of the network."""

    window: int
    shift: int
    is_scaled_to_one: bool
    without_itn: int
    languages: Mapping[str, int]
    neg_mean: FloatArray
    inv_stddev: FloatArray

    @classmethod
    def read(cls, metadata: Mapping[str, str]) -> _Settings:
        """Raise ``KeyError`` and ``ValueError``."""
        return cls(
            window=int(metadata["lfr_window_size"]),
            shift=int(metadata["lfr_window_shift"]),
            is_scaled_to_one=bool(int(metadata["normalize_samples"])),
            without_itn=int(metadata["without_itn"]),
            languages={name: int(metadata[f"lang_{name}"]) for name in ("auto", *LANGUAGES)},
            neg_mean=_vector(metadata["neg_mean"]),
            inv_stddev=_vector(metadata["inv_stddev"]),
        )


class SenseVoice:
    """See ``Recognizer``. Raise ``DamagedModelFile`` if the folder has no usable network."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        path = find_network(folder) or folder / NETWORK_FILES[0]
        self._session = open_recognizer_session(path)
        try:
            self._settings = _Settings.read(self._session.get_modelmeta().custom_metadata_map)
        except (KeyError, ValueError) as error:
            raise DamagedModelFile(
                "{file} is not a SenseVoice network of the supported layout.",
                remedy="Install the model again.",
                file=path.name,
            ) from error
        self._vocabulary = Vocabulary.read(folder / TOKENS_FILE)
        self._frame_seconds = self._settings.shift * _HOP_SAMPLES / SAMPLE_RATE

    def recognize(self, samples: Samples, expected: Sequence[str], language: str) -> Recognition:
        scores = self._log_probabilities(samples, language)
        return Recognition(self._heard(scores), self._aligned(scores, expected))

    def transcribe(self, samples: Samples, language: str) -> tuple[HeardUnit, ...]:
        return self._heard(self._log_probabilities(samples, language))

    def _log_probabilities(self, samples: Samples, language: str) -> FloatArray:
        """Return (frames, tokens)."""
        settings = self._settings
        step = settings.shift * _HOP_SAMPLES
        parts = []
        for _, part in windows(samples, step_samples=step):
            num_frames = max(1, len(part) // step)
            padded = np.pad(part, (0, max(0, _MIN_SAMPLES + step - len(part))))
            features = self._features(padded)
            inputs = (
                features[None],
                np.array([len(features)], np.int32),
                np.array([settings.languages.get(language, settings.languages["auto"])], np.int32),
                np.array([settings.without_itn], np.int32),
            )
            names = [each.name for each in self._session.get_inputs()]
            (logits,) = self._session.run(None, dict(zip(names, inputs, strict=True)))
            scores = log_softmax(logits[0, _NUM_TAGS:])
            # Parts are joined, so each has as many frames as its length.
            scores = np.concatenate([scores, np.repeat(scores[-1:], max(0, num_frames - len(scores)), axis=0)])
            parts.append(scores[:num_frames])
        joined: FloatArray = np.concatenate(parts)
        return joined

    def _features(self, samples: Samples) -> FloatArray:
        """Return (frames, window * 80)."""
        settings = self._settings
        scaled = samples if settings.is_scaled_to_one else samples * _INT16_SCALE
        fbank = kaldi_fbank(Waveform(scaled, SAMPLE_RATE), subtract_mean=False, has_hamming_window=True)
        missing = settings.window - len(fbank)
        if missing > 0:
            fbank = np.concatenate([fbank, np.repeat(fbank[-1:], missing, axis=0)])
        starts = range(0, len(fbank) - settings.window + 1, settings.shift)
        stacked = np.stack([fbank[start : start + settings.window].ravel() for start in starts])
        features: FloatArray = ((stacked + settings.neg_mean) * settings.inv_stddev).astype(np.float32)
        return features

    def _heard(self, scores: FloatArray) -> tuple[HeardUnit, ...]:
        spans = [span for span in greedy_tokens(scores) if not self._vocabulary.is_tag(span.token)]
        units = self._vocabulary.units_of([span.token for span in spans])
        return tuple(
            HeardUnit(text, *self._seconds(spans, first, end), min(span.probability for span in spans[first:end]))
            for text, first, end in units
        )

    def _aligned(self, scores: FloatArray, expected: Sequence[str]) -> tuple[AlignedUnit | None, ...]:
        encoded = [() if is_tokens(unit) else self._vocabulary.encode(unit) for unit in expected]
        tokens = [token for unit in encoded for token in unit]
        spans = align_tokens(scores, tokens)
        if spans is None:
            return (None,) * len(expected)
        aligned: list[AlignedUnit | None] = []
        first = 0
        for unit in encoded:
            if unit:
                end = first + len(unit)
                score = min(span.probability for span in spans[first:end])
                aligned.append(AlignedUnit(*self._seconds(spans, first, end), score))
                first = end
            else:  # the vocabulary lacks the character, so it counts as spoken
                at = spans[first - 1].end * self._frame_seconds if first else 0.0
                aligned.append(AlignedUnit(at, at, 1.0))
        return tuple(aligned)

    def _seconds(self, spans: Sequence[TokenSpan], first: int, end: int) -> tuple[float, float]:
        start = spans[first].start * self._frame_seconds
        stop = spans[end - 1].end * self._frame_seconds
        limit = stop + _MAX_UNIT_SECONDS
        return start, max(stop, min(limit, spans[end].start * self._frame_seconds)) if end < len(spans) else stop


def _vector(text: str) -> FloatArray:
    return np.array([float(number) for number in text.split(",")], np.float32)
