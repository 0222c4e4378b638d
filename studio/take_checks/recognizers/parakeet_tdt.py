"""NVIDIA Parakeet TDT 0.6b v3 for 25 European languages, in the ONNX layout of onnx-asr.

A token-and-duration transducer: at a frame of the encoder (80 ms), the joint network scores the next token and how many
frames it lasts. ``nemo128.onnx`` computes the features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.errors import DamagedModelFile
from studio.take_checks.comparison import placed
from studio.take_checks.recognizers.ctc import log_softmax
from studio.take_checks.recognizers.layouts import PARAKEET_TDT
from studio.take_checks.recognizers.pieces import Vocabulary
from studio.take_checks.recognizers.protocol import SAMPLE_RATE, AlignedUnit, HeardUnit, Recognition, Samples
from studio.take_checks.recognizers.session import open_recognizer_session
from studio.take_checks.recognizers.windows import windows
from studio.take_checks.units import SpokenUnit

FloatArray = npt.NDArray[np.float32]

_FRAME_SAMPLES = 1280
_FRAME_SECONDS = _FRAME_SAMPLES / SAMPLE_RATE
_MIN_SAMPLES = 4000
_MAX_TOKENS_PER_FRAME = 10
_BLANK = "<blk>"
# Alignment needs a table of frames x tokens x vocabulary entries, computed token by token.
_MAX_ALIGNED_FRAMES = 750

State = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True)
class _Emission:
    """A token that the transducer emits, in frames of the encoder."""

    token: int
    start: int
    end: int
    probability: float


class ParakeetTdt:
    """See ``Recognizer``. Raise ``DamagedModelFile`` if the folder has no usable networks."""

    languages = frozenset(PARAKEET_TDT.languages)

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._features = open_recognizer_session(folder / "nemo128.onnx")
        self._encoder = open_recognizer_session(PARAKEET_TDT.network(folder, 0))
        self._joint = open_recognizer_session(PARAKEET_TDT.network(folder, 1))
        self._vocabulary = Vocabulary.read(folder / "vocab.txt")
        blank = self._vocabulary.id_of(_BLANK)
        shapes = {each.name: each.shape for each in self._joint.get_inputs()}
        if blank is None or not {"input_states_1", "input_states_2"} <= set(shapes):
            raise DamagedModelFile(
                "{folder} does not contain a Parakeet TDT recogniser of the supported layout.",
                remedy="Install the model again.",
                folder=folder.name,
            )
        self._blank = blank
        self._first_state = tuple(
            np.zeros((int(shapes[state][0]), 1, int(shapes[state][2])), np.float32)
            for state in ("input_states_1", "input_states_2")
        )

    def recognize(self, samples: Samples, expected: Sequence[str], language: str) -> Recognition:  # noqa: ARG002
        encoded = self._encoded(samples)
        emissions = list(self._greedy(encoded))
        heard = self._units(emissions)
        return Recognition(heard, self._aligned(encoded, emissions, heard, expected))

    def transcribe(self, samples: Samples, language: str) -> tuple[HeardUnit, ...]:  # noqa: ARG002
        return self._units(list(self._greedy(self._encoded(samples))))

    def _encoded(self, samples: Samples) -> FloatArray:
        """Return (frames, features of the encoder)."""
        parts = []
        for _, part in windows(samples, step_samples=_FRAME_SAMPLES):
            padded = np.pad(part, (0, max(0, _MIN_SAMPLES - len(part))))
            features, lengths = self._features.run(
                ["features", "features_lens"],
                {"waveforms": padded[None], "waveforms_lens": np.array([len(padded)], np.int64)},
            )
            outputs, num_frames = self._encoder.run(
                ["outputs", "encoded_lengths"], {"audio_signal": features, "length": lengths}
            )
            frames = outputs[0, :, : int(num_frames[0])].T
            whole = -(-len(part) // _FRAME_SAMPLES)
            parts.append(frames[:whole])
        joined: FloatArray = np.concatenate(parts)
        return joined

    def _scores(self, frames: FloatArray, token: int, state: State) -> tuple[FloatArray, FloatArray, State]:
        """Return log probabilities (frames, tokens) and (frames, durations) after ``token``, and the next state."""
        logits, first, second = self._joint.run(
            ["outputs", "output_states_1", "output_states_2"],
            {
                "encoder_outputs": np.ascontiguousarray(frames.T[None]),
                "targets": np.array([[token]], np.int32),
                "target_length": np.array([1], np.int32),
                "input_states_1": state[0],
                "input_states_2": state[1],
            },
        )
        rows = logits.reshape(len(frames), -1)
        size = len(self._vocabulary.pieces)
        return log_softmax(rows[:, :size]), log_softmax(rows[:, size:]), (first, second)

    def _greedy(self, encoded: FloatArray) -> Iterator[_Emission]:
        state: State = (self._first_state[0], self._first_state[1])
        previous, frame, num_here = self._blank, 0, 0
        while frame < len(encoded):
            tokens, durations, next_state = self._scores(encoded[frame : frame + 1], previous, state)
            token, step = int(tokens[0].argmax()), int(durations[0].argmax())
            if token != self._blank:
                yield _Emission(token, frame, frame + max(1, step), float(np.exp(tokens[0, token])))
                previous, state, num_here = token, next_state, num_here + 1
            if step == 0 and (token == self._blank or num_here >= _MAX_TOKENS_PER_FRAME):
                step = 1
            if step:
                frame, num_here = frame + step, 0

    def _units(self, emissions: Sequence[_Emission]) -> tuple[HeardUnit, ...]:
        return tuple(
            HeardUnit(text, *_seconds(emissions[first:end]), min(each.probability for each in emissions[first:end]))
            for text, first, end in self._vocabulary.units_of([each.token for each in emissions])
        )

    def _aligned(
        self,
        encoded: FloatArray,
        emissions: Sequence[_Emission],
        heard: Sequence[HeardUnit],
        expected: Sequence[str],
    ) -> tuple[AlignedUnit | None, ...]:
        """Align the ``expected`` units. Those that were heard keep their spelling, with capitals and punctuation."""
        if len(encoded) > _MAX_ALIGNED_FRAMES:
            return ()
        spelled = self._vocabulary.units_of([each.token for each in emissions])
        matched = placed(heard, [SpokenUnit(text, 0, 0) for text in expected])
        tokens_at = {
            unit.expected_index: tuple(each.token for each in emissions[first:end])
            for unit, (_, first, end) in zip(matched, spelled, strict=True)
            if unit.expected_index >= 0 and unit.text == expected[unit.expected_index]
        }
        encoded_units = [tokens_at.get(index) or self._spelling(text) for index, text in enumerate(expected)]
        path = self._viterbi(encoded, [token for unit in encoded_units for token in unit])
        if path is None:
            return (None,) * len(expected)
        aligned: list[AlignedUnit | None] = []
        first = 0
        for unit in encoded_units:
            part = path[first : first + len(unit)]
            first += len(unit)
            at = _seconds(path[first - 1 : first])[1] if first else 0.0
            score = min((each.probability for each in part), default=1.0)
            aligned.append(AlignedUnit(*_seconds(part), score) if part else AlignedUnit(at, at, 1.0))
        return tuple(aligned)

    def _spelling(self, unit: str) -> tuple[int, ...]:
        return self._vocabulary.encode(unit)

    def _viterbi(self, encoded: FloatArray, tokens: Sequence[int]) -> list[_Emission] | None:
        """Return the most probable frames of ``tokens``, or None if the audio is too short for them."""
        num_frames, num_tokens = len(encoded), len(tokens)
        token_scores, blank_scores, ratios, durations = self._lattice(encoded, tokens)
        longest = durations.shape[2] - 1
        best = np.full((num_frames + longest + 1, num_tokens + 1), -np.inf)
        best[0, 0] = 0.0
        came: dict[tuple[int, int], tuple[int, int]] = {}
        for frame in range(num_frames):
            for done in range(num_tokens + 1):
                score = best[frame, done]
                if score == -np.inf:
                    continue
                for step in range(longest + 1):
                    if step:
                        reached = score + blank_scores[frame, done] + durations[frame, done, step]
                        if reached > best[frame + step, done]:
                            best[frame + step, done] = reached
                            came[frame + step, done] = (frame, done)
                    if done < num_tokens:
                        reached = score + token_scores[frame, done] + durations[frame, done, step]
                        if reached > best[frame + step, done + 1]:
                            best[frame + step, done + 1] = reached
                            came[frame + step, done + 1] = (frame, done)
        last = int(best[num_frames:, num_tokens].argmax()) + num_frames
        if best[last, num_tokens] == -np.inf:
            return None
        path: list[_Emission] = []
        place = (last, num_tokens)
        while place != (0, 0):
            before = came[place]
            if before[1] < place[1]:
                ratio = float(np.exp(ratios[before]))
                path.append(_Emission(tokens[before[1]], before[0], max(before[0] + 1, place[0]), ratio))
            place = before
        return path[::-1]

    def _lattice(
        self, encoded: FloatArray, tokens: Sequence[int]
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return log probabilities for each frame and number of tokens so far.

        These are: of the next token (frames, tokens), of a blank (frames, tokens + 1), of the next token relative to
        the best token (frames, tokens), and of durations (frames, tokens + 1, durations).
        """
        state: State = (self._first_state[0], self._first_state[1])
        columns, blanks, ratios, durations = [], [], [], []
        previous = self._blank
        for token in [*tokens, None]:
            token_scores, duration_scores, state = self._scores(encoded, previous, state)
            blanks.append(token_scores[:, self._blank])
            durations.append(duration_scores)
            if token is not None:
                columns.append(token_scores[:, token])
                ratios.append(token_scores[:, token] - token_scores.max(axis=1))
                previous = token
        empty = np.zeros((len(encoded), 0), np.float32)
        return (
            np.stack(columns, axis=1) if columns else empty,
            np.stack(blanks, axis=1),
            np.stack(ratios, axis=1) if ratios else empty,
            np.stack(durations, axis=1),
        )


def _seconds(emissions: Sequence[_Emission]) -> tuple[float, float]:
    if not emissions:
        return 0.0, 0.0
    return emissions[0].start * _FRAME_SECONDS, emissions[-1].end * _FRAME_SECONDS
