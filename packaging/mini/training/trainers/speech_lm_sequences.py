"""Training sequences with the exact layout of the program (specification E5, B6, B7).

    start | prompt text, text | task | prompt speech, speech | end

In zero-shot mode, the preamble, the words of the prompt and the text come before the speech of the prompt. In
cross-lingual and instruct mode there is no prompt: the preamble, which contains the instruction in instruct mode, comes
before the text. A text may have several sentences. At inference, prompt speech comes from a tokenizer that makes
errors, so part of it is corrupted here; predicted tokens never are. The colour of a prompt varies, but predicted tokens
have the single colour of their style.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from studio.text.prompt_form import COSYVOICE3_TEXT
from studio.text.tokenizer import TextTokenizer
from training.corpus.styles import HEIGHT_STYLES
from training.corpus.tokens import NUM_PAIRS, asked_tokens, pairs_and_colours
from training.corpus.utterance import IntArray
from training.shipping.instructions import Instruction
from training.trainers.reading_guide import NOWHERE
from training.trainers.renderings import Renderer
from training.trainers.speech_lm_lines import NORMAL, Line, by_speaker_and_style, concatenated
from training.trainers.speech_lm_network import END, NO_COLOUR, SequenceBatch

_TOKENS_PER_SECOND = 25
_WEIGHT_OF_SIZE = 0.7
# The first tokens decide whether a voice whispers or is high; the rest continues them, regardless of the instruction.
_FIRST_TOKENS, _WEIGHT_OF_FIRST = 4, 8.0
_PRESET_SHARE = 0.3  # share of instructions with the sentence of the preset, which most requests contain


@dataclass(frozen=True, slots=True)
class SequenceSettings:
    """Shares and lengths of the kinds of sequences.

    Prompt speech is predicted too, with ``prompt_weight``. ``corrupted_prompt`` and ``corrupted_speech`` are the largest
    shares of corrupted input tokens.
    """

    zero_shot_share: float = 0.45
    cross_lingual_share: float = 0.1  # the rest is in instruct mode
    longest_prompt_seconds: float = 8.0
    longest_speech_seconds: float = 12.0
    prompt_weight: float = 0.5
    corrupted_prompt: float = 0.4
    corrupted_speech: float = 0.04
    written_share: float = 0.05  # share of words in letters instead of phones, for names that are not in the dictionary
    tagged_share: float = 0.03  # share of words in phones, as in corrections by the user
    neutral_engine: str = "flite"  # accents whose pronunciation is the default without a prompt
    neutral_share: float = 0.5  # share of prompts and continuations


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSequence:
    """``inputs`` are rows of the network's input table (text ids, start, task, pairs), with their ``colours``.

    From position ``first_prediction`` on, everything is predicted: ``tokens``, then the end. ``reading`` is the
    approximate position of the text token that each of them speaks.
    """

    inputs: npt.NDArray[np.int64]
    colours: npt.NDArray[np.int64]
    first_prediction: int
    tokens: IntArray
    num_prompt_tokens: int
    reading: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.inputs)


class SequenceMaker:
    """Draws sequences from ``lines`` of one split, with its own random generator."""

    def __init__(
        self,
        lines: Sequence[Line],
        tokenizer: TextTokenizer,
        instructions: Mapping[str, Instruction],
        settings: SequenceSettings,
        random: np.random.Generator,
    ) -> None:
        self._settings, self._random, self._tokenizer = settings, random, tokenizer
        self._start_row, self._task_row = tokenizer.num_tokens, tokenizer.num_tokens + 1
        self._first_pair_row = tokenizer.num_tokens + 2
        self._renderer = Renderer(tokenizer, settings.written_share, settings.tagged_share, random)
        self._stop = tokenizer.encode(".", allow_special=False)
        self._preamble = COSYVOICE3_TEXT.cross_lingual(tokenizer)
        groups = list(by_speaker_and_style(lines).values())
        normal = [group for group in groups if group[0].style == NORMAL]
        self._anybody = _Choice.among(groups, settings)
        # A prompt and another line of the speaker, or the same line twice if there is only one. The pitch of a clip
        # identifies the speaker and must not influence the style.
        of_any_height = [group for group in groups if group[0].style not in HEIGHT_STYLES] or groups
        self._pairs = _Choice.among(
            [group for group in of_any_height if len({line.spoken for line in group}) > 1] or of_any_height, settings
        )
        self._neutral = _Choice.among(_only_neutral(normal, settings), settings)
        self._instructed: list[tuple[list[tuple[int, ...]], _Choice]] = []
        for style, instruction in instructions.items():
            in_style = [group for group in groups if group[0].style == style]
            if in_style:
                variants = [COSYVOICE3_TEXT.instruct(sentence, tokenizer) for sentence in instruction.sentences]
                self._instructed.append((variants, _Choice.among(_only_neutral(in_style, settings), settings)))

    def draw(self, *, is_short: bool = False) -> TrainingSequence:
        """Return a sequence of any kind; if ``is_short``, one utterance without a prompt, for learning to read."""
        if is_short:
            group = self._anybody.pick(self._random)
            return self._sequence(self._preamble, (), [group[int(self._random.integers(len(group)))]])
        settings, kind = self._settings, self._random.random()
        if kind < settings.zero_shot_share:
            return self._zero_shot()
        if self._instructed and kind >= settings.zero_shot_share + settings.cross_lingual_share:
            return self._instruct()
        return self._sequence(self._preamble, (), self._speech_of(self._neutral.pick(self._random)))

    def _zero_shot(self) -> TrainingSequence:
        group = self._pairs.pick(self._random)
        prompt = self._lines_of(group, self._settings.longest_prompt_seconds)
        said = {line.spoken for line in prompt}
        others = [line for line in group if line.spoken not in said] or group
        return self._sequence(self._preamble, prompt, self._speech_of(others))

    def _instruct(self) -> TrainingSequence:
        variants, choice = self._instructed[self._random.integers(len(self._instructed))]
        is_preset = self._random.random() < _PRESET_SHARE
        prompt = variants[0 if is_preset else self._random.integers(len(variants))]
        return self._sequence(prompt, (), self._speech_of(choice.pick(self._random)))

    def _speech_of(self, group: Sequence[Line]) -> list[Line]:
        return self._lines_of(group, self._settings.longest_speech_seconds)

    def _lines_of(self, group: Sequence[Line], longest_seconds: float) -> list[Line]:
        """Return one or more lines whose total length is allowed."""
        limit = longest_seconds * _TOKENS_PER_SECOND
        chosen = [group[int(self._random.integers(len(group)))]]
        length = len(chosen[0].tokens)
        while self._random.random() < 0.45:
            line = group[int(self._random.integers(len(group)))]
            length += len(line.tokens)
            if length > limit:
                break
            chosen.append(line)
        return chosen

    def _sequence(
        self, prompt_text: tuple[int, ...], prompt: Sequence[Line], target: Sequence[Line]
    ) -> TrainingSequence:
        text, reading = [*prompt_text], []
        for lines in (prompt, target):
            # The second sentence of a paragraph begins with a space.
            is_following = lines is target and self._random.random() < 0.3
            for line in lines:
                own, places = self._renderer.render(line, " " * is_following)
                reading.append(1 + len(text) + places)
                text += own
                is_following = True
            # Users often omit the mark at the end of a transcript.
            if lines is prompt and tuple(text[-1:]) == self._stop and self._random.random() < 0.15:
                text.pop()
        prompt_tokens = concatenated(line.tokens for line in prompt)
        target_tokens = concatenated(asked_tokens(line.tokens, line.style) for line in target)
        heard = np.concatenate(
            [
                self._corrupted(prompt_tokens, self._settings.corrupted_prompt),
                self._corrupted(target_tokens, self._settings.corrupted_speech),
            ]
        )
        pairs, colours = pairs_and_colours(heard)
        before = np.array([self._start_row, *text, self._task_row], np.int64)
        return TrainingSequence(
            inputs=np.concatenate([before, self._first_pair_row + pairs.astype(np.int64)]),
            colours=np.concatenate([np.full(len(before), NO_COLOUR, np.int64), colours.astype(np.int64)]),
            first_prediction=len(before) - 1,
            tokens=np.concatenate(
                [concatenated(asked_tokens(line.tokens, line.style) for line in prompt), target_tokens]
            ),
            num_prompt_tokens=len(prompt_tokens),
            reading=np.minimum(np.append(np.concatenate(reading), len(text)), len(text)),
        )

    def _corrupted(self, tokens: IntArray, most: float) -> IntArray:
        """Return ``tokens`` with up to a share ``most`` replaced, as by tokenizer errors: a neighbour's phone, any
        phone, or a level.
        """
        num_tokens = len(tokens)
        if num_tokens < 2 or most == 0.0:
            return tokens
        random = self._random
        is_wrong = random.random(num_tokens) < most * random.random()
        pairs, colours = pairs_and_colours(tokens)
        neighbours = pairs[np.clip(np.arange(num_tokens) + random.choice((-1, 1), num_tokens), 0, num_tokens - 1)]
        anywhere = pairs[random.integers(num_tokens, size=num_tokens)]
        kind = random.random(num_tokens)
        pairs = np.where(is_wrong & (kind < 0.6), neighbours, pairs)
        pairs = np.where(is_wrong & (kind >= 0.6) & (kind < 0.85), anywhere, pairs)
        colours = np.where(is_wrong & (kind > 0.7), colours[random.integers(num_tokens, size=num_tokens)], colours)
        corrupted: IntArray = (pairs + NUM_PAIRS * colours).astype(np.int32)
        return corrupted


def collate(sequences: Sequence[TrainingSequence], prompt_weight: float) -> SequenceBatch:
    length = max(map(len, sequences))
    inputs = np.zeros((len(sequences), length), np.int64)
    colours = np.full((len(sequences), length), NO_COLOUR, np.int64)
    reading = np.full((len(sequences), length), NOWHERE, np.int64)
    predicting, next_pair, next_colour, weights = [], [], [], []
    for row, sequence in enumerate(sequences):
        inputs[row, : len(sequence)] = sequence.inputs
        colours[row, : len(sequence)] = sequence.colours
        reading[row, sequence.first_prediction : len(sequence)] = sequence.reading
        predicting.append(row * length + np.arange(sequence.first_prediction, len(sequence)))
        pairs, own_colours = pairs_and_colours(sequence.tokens)
        next_pair.append(np.append(pairs, END))
        next_colour.append(np.append(own_colours, 0))
        weights.append(np.ones(len(sequence.tokens) + 1, np.float32))
        weights[-1][: sequence.num_prompt_tokens] = prompt_weight
        weights[-1][sequence.num_prompt_tokens :][:_FIRST_TOKENS] = _WEIGHT_OF_FIRST
    return SequenceBatch(
        torch.from_numpy(inputs),
        torch.from_numpy(colours),
        torch.from_numpy(np.concatenate(predicting)),
        torch.from_numpy(np.concatenate(next_pair).astype(np.int64)),
        torch.from_numpy(np.concatenate(next_colour).astype(np.int64)),
        torch.from_numpy(np.concatenate(weights)),
        torch.from_numpy(reading),
    )


def batches_of_like_length(
    sequences: list[TrainingSequence], most_positions: int, random: np.random.Generator
) -> list[list[TrainingSequence]]:
    """Return ``sequences`` in batches of at most ``most_positions``, including padding, in any order."""
    batches: list[list[TrainingSequence]] = [[]]
    for sequence in sorted(sequences, key=len):
        if batches[-1] and (len(batches[-1]) + 1) * len(sequence) > most_positions:
            batches.append([])
        batches[-1].append(sequence)
    random.shuffle(batches)
    return batches


def _only_neutral(groups: list[list[Line]], settings: SequenceSettings) -> list[list[Line]]:
    """Return the lines with the default pronunciation, or all lines if there are none."""
    return [group for group in groups if group[0].speaker.engine == settings.neutral_engine] or groups


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """Groups of lines to draw from; larger ones more often, but not in proportion."""

    groups: list[list[Line]]
    shares: npt.NDArray[np.float64]  # cumulated

    @classmethod
    def among(cls, groups: list[list[Line]], settings: SequenceSettings) -> _Choice:
        weights = np.array([len(group) for group in groups], np.float64) ** _WEIGHT_OF_SIZE
        is_neutral = np.array([group[0].speaker.engine == settings.neutral_engine for group in groups], bool)
        if is_neutral.any() and not is_neutral.all():
            weights[is_neutral] *= settings.neutral_share / weights[is_neutral].sum()
            weights[~is_neutral] *= (1.0 - settings.neutral_share) / weights[~is_neutral].sum()
        return cls(groups, np.cumsum(weights) / weights.sum())

    def pick(self, random: np.random.Generator) -> list[Line]:
        place = np.searchsorted(self.shares, random.random(), side="right")
        return self.groups[min(int(place), len(self.groups) - 1)]
