"""Training sequences with the exact layout of the program (specification E5, E7, B6, B7).

    start | prompt text, text | task | prompt speech, speech | end
    start | preamble | 5 text | 15 speech | 5 text | 15 speech ... | rest of the text | task | rest of the speech | end

In zero-shot mode, the preamble, the words of the prompt and the text come before the speech of the prompt. In
cross-lingual and instruct mode there is no prompt: the preamble, which contains the instruction in instruct mode, comes
before the text. At inference, prompt speech comes from a tokenizer that makes errors, so part of it is corrupted here;
predicted tokens never are.

The second layout is that of text that is still arriving. Decision: the fill mark, which requests more text, follows as
soon as the speech would overtake the text. Reason: a sentence is then spoken as well as from the whole text.
Alternative: the official recipe, whose blocks always have 15 tokens, and in which slow text gives wrong words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from studio.model.speech_lm.interleave import InterleavedScheduler, Segment, TokenKind
from studio.text.tokenizer import COSYVOICE3_TEXT, TextTokenizer
from training.corpus.styles import HEIGHT_STYLES
from training.corpus.tokens import TokenScheme
from training.corpus.utterance import IntArray
from training.shipping.instructions import BRITISH, Instruction
from training.trainers.reading_guide import NOWHERE
from training.trainers.renderings import Renderer
from training.trainers.speech_lm_lines import NORMAL, SpokenLine, by_speaker_and_style, concatenated
from training.trainers.speech_lm_network import SequenceBatch

_TOKENS_PER_SECOND = 25
_WEIGHT_OF_SIZE = 0.7
# The first tokens decide whether a voice whispers or is high; the rest continues them, regardless of the instruction.
_FIRST_TOKENS, _WEIGHT_OF_FIRST = 4, 8.0
_PRESET_SHARE = 0.3  # share of instructions with the sentence of the preset, which most requests contain
_TEXT_PER_BLOCK, _SPEECH_PER_BLOCK = 5, 15
_LOOK_AHEAD = 2  # text tokens after the spoken one that must have arrived
NOTHING, END, FILL = -1, -2, -3  # targets that are not speech tokens


@dataclass(frozen=True, slots=True)
class SequenceSettings:
    """Shares and lengths of the kinds of sequences.

    Prompt speech is predicted too, with ``prompt_weight``. ``corrupted_prompt`` and ``corrupted_speech`` are the largest
    shares of corrupted input tokens.
    """

    zero_shot_share: float = 0.5
    cross_lingual_share: float = 0.1  # the rest is in instruct mode
    interleaved_share: float = 0.35  # of all modes
    longest_prompt_seconds: float = 8.0
    longest_speech_seconds: float = 12.0
    prompt_weight: float = 0.5
    corrupted_prompt: float = 0.4
    corrupted_speech: float = 0.1
    tagged_share: float = 0.03  # share of English words in phones, as in corrections by the user
    spoken_share: float = 0.5  # share of Mandarin lines in the syllables that were spoken
    divided_share: float = 0.1  # share of text tokens in two parts
    neutral_accent: str = "us"  # the pronunciation without a prompt


@dataclass(slots=True, eq=False)
class TrainingSequence:
    """``inputs`` are rows of the network's input table (text ids, start, task, pairs), with their ``pitches``.

    ``targets`` are the speech tokens, marks or ``NOTHING`` that follow each input, with ``weights``. ``reading`` is the
    position of the text token that each of them speaks.
    """

    inputs: list[int] = field(default_factory=list)
    pitches: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    reading: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.inputs)

    def add(self, row: int, pitch: int) -> None:
        self.inputs.append(row)
        self.pitches.append(pitch)
        self.targets.append(NOTHING)
        self.weights.append(0.0)
        self.reading.append(NOWHERE)

    def predict(self, target: int, weight: float, reading: int = NOWHERE) -> None:
        """Let ``target`` follow the last input."""
        self.targets[-1], self.weights[-1], self.reading[-1] = target, weight, reading


@dataclass(frozen=True, slots=True)
class _Speech:
    """Tokens as input and as target, with the index of the text token that each speaks, among all of the text."""

    heard: IntArray
    tokens: IntArray
    places: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]


class SequenceMaker:
    """Draws sequences from ``lines`` of one split, with its own random generator."""

    def __init__(
        self,
        lines: Sequence[SpokenLine],
        scheme: TokenScheme,
        tokenizer: TextTokenizer,
        instructions: Mapping[str, Instruction],
        *,
        settings: SequenceSettings,
        random: np.random.Generator,
    ) -> None:
        self._scheme, self._settings, self._random, self._tokenizer = scheme, settings, random, tokenizer
        self._start_row, self._task_row = tokenizer.num_tokens, tokenizer.num_tokens + 1
        self._first_pair_row = tokenizer.num_tokens + 2
        self._renderer = Renderer(
            tokenizer, settings.tagged_share, settings.spoken_share, random, divided_share=settings.divided_share
        )
        self._stops = {tokenizer.encode(mark, allow_special=False) for mark in ".。"}
        self._preamble = COSYVOICE3_TEXT.cross_lingual(tokenizer)
        groups = list(by_speaker_and_style(lines).values())
        self._anybody = _Choice.among(groups)
        # A prompt and another line of the speaker, or the same line twice if there is only one. The pitch of a clip
        # identifies the speaker and must not influence the style.
        of_any_height = [group for group in groups if group[0].style not in HEIGHT_STYLES] or groups
        self._pairs = _Choice.among(
            [group for group in of_any_height if len({line.spoken for line in group}) > 1] or of_any_height
        )
        neutral = [group for group in groups if group[0].speaker.accent == settings.neutral_accent] or groups
        self._neutral = _Choice.among([group for group in neutral if group[0].style == NORMAL] or neutral)
        self._instructed: list[tuple[list[tuple[int, ...]], _Choice]] = []
        for style, instruction in instructions.items():
            in_style = _british(groups) if style == BRITISH else [each for each in neutral if each[0].style == style]
            if in_style:
                variants = [COSYVOICE3_TEXT.instruct(sentence, tokenizer) for sentence in instruction.sentences]
                self._instructed.append((variants, _Choice.among(in_style)))

    def draw(self, *, is_short: bool = False) -> TrainingSequence:
        """Return a sequence of any kind; if ``is_short``, one line without a prompt, for learning to read."""
        if is_short:
            group = self._anybody.pick(self._random)
            return self.sequence(self._preamble, (), [group[int(self._random.integers(len(group)))]])
        settings, kind = self._settings, self._random.random()
        is_interleaved = self._random.random() < settings.interleaved_share
        if kind < settings.zero_shot_share:
            group = self._pairs.pick(self._random)
            prompt = self._lines_of(group, settings.longest_prompt_seconds)
            said = {line.spoken for line in prompt}
            others = [line for line in group if line.spoken not in said] or group
            return self.sequence(self._preamble, prompt, self._speech_of(others), is_interleaved=is_interleaved)
        before, choice = self._preamble, self._neutral
        if self._instructed and kind >= settings.zero_shot_share + settings.cross_lingual_share:
            variants, choice = self._instructed[self._random.integers(len(self._instructed))]
            is_preset = self._random.random() < _PRESET_SHARE
            before = variants[0 if is_preset else self._random.integers(len(variants))]
        return self.sequence(before, (), self._speech_of(choice.pick(self._random)), is_interleaved=is_interleaved)

    def _speech_of(self, group: Sequence[SpokenLine]) -> list[SpokenLine]:
        return self._lines_of(group, self._settings.longest_speech_seconds)

    def _lines_of(self, group: Sequence[SpokenLine], longest_seconds: float) -> list[SpokenLine]:
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

    def sequence(
        self,
        before: tuple[int, ...],
        prompt: Sequence[SpokenLine],
        target: Sequence[SpokenLine],
        *,
        is_interleaved: bool = False,
    ) -> TrainingSequence:
        """Return the sequence of ``target`` after the text ``before`` and the ``prompt``."""
        text: list[int] = []
        places: list[npt.NDArray[np.int64]] = []
        num_prompt_text = 0
        for lines in (prompt, target):
            # The second sentence of a paragraph begins with a space, except in Chinese.
            is_following = lines is target and self._random.random() < 0.3
            for line in lines:
                own, found = self._renderer.render(line, " " if is_following and line.language == "en" else "")
                places.append(len(text) + found)
                text += own
                is_following = True
            if lines is prompt:
                # Users often omit the mark at the end of a transcript.
                if tuple(text[-1:]) in self._stops and self._random.random() < 0.15:
                    text.pop()
                num_prompt_text = len(text)
        speech = self._speech(prompt, target, np.concatenate(places).clip(max=len(text) - 1))
        num_prompt = sum(len(line.tokens) for line in prompt)
        made = TrainingSequence()
        made.add(self._start_row, self._scheme.pitches)
        for token in before:
            made.add(token, self._scheme.pitches)
        if is_interleaved:
            self._add_interleaved(made, text, num_prompt_text, speech, num_prompt)
        else:
            self._add_whole(made, text, speech)
        made.predict(END, 1.0, len(made) - 1 if is_interleaved else len(before) + len(text))
        return made

    def _speech(
        self, prompt: Sequence[SpokenLine], target: Sequence[SpokenLine], places: npt.NDArray[np.int64]
    ) -> _Speech:
        prompt_tokens = concatenated(line.tokens for line in prompt)
        tokens = concatenated(line.tokens for line in target)
        heard = [
            self._corrupted(concatenated(line.heard for line in prompt), self._settings.corrupted_prompt),
            self._corrupted(tokens, self._settings.corrupted_speech),
        ]
        weights = np.ones(len(prompt_tokens) + len(tokens))
        weights[: len(prompt_tokens)] = self._settings.prompt_weight
        weights[len(prompt_tokens) :][:_FIRST_TOKENS] = _WEIGHT_OF_FIRST
        return _Speech(np.concatenate(heard), np.concatenate([prompt_tokens, tokens]), places, weights)

    def _add_whole(self, made: TrainingSequence, text: Sequence[int], speech: _Speech) -> None:
        first_text = len(made)
        for token in text:
            made.add(token, self._scheme.pitches)
        made.add(self._task_row, self._scheme.pitches)
        for index in range(len(speech.tokens)):
            self._add_speech(made, speech, index, first_text + int(speech.places[index]))

    def _add_interleaved(
        self, made: TrainingSequence, text: Sequence[int], num_prompt_text: int, speech: _Speech, num_prompt: int
    ) -> None:
        positions: list[int] = []  # of the text tokens that are inputs
        order = InterleavedScheduler(
            text_per_block=_TEXT_PER_BLOCK,
            speech_per_block=_SPEECH_PER_BLOCK,
            prompt_text=text[:num_prompt_text],
            prompt_speech=range(num_prompt),
        )

        def add(segment: Segment) -> None:
            if segment.kind is TokenKind.TASK:
                made.add(self._task_row, self._scheme.pitches)
            for token in segment.tokens:
                if segment.kind is TokenKind.TEXT:
                    positions.append(len(made))
                    made.add(token, self._scheme.pitches)
                else:
                    self._add_speech(made, speech, token, positions[min(speech.places[token], len(positions) - 1)])

        index = num_prompt
        for token in text[num_prompt_text:]:
            for segment in order.receive(token):
                add(segment)
            while order.speech_left:
                has_overtaken = index == len(speech.tokens) or speech.places[index] + _LOOK_AHEAD >= len(positions)
                if has_overtaken:
                    made.predict(FILL, 1.0)
                    order.end_block()
                    break
                self._add_speech(made, speech, index, positions[speech.places[index]])
                index += 1
                order.count_speech_token()
                if not order.speech_left:
                    made.predict(FILL, 1.0)
        for segment in order.finish():
            add(segment)
        while index < len(speech.tokens):
            self._add_speech(made, speech, index, positions[speech.places[index]])
            index += 1

    def _add_speech(self, made: TrainingSequence, speech: _Speech, index: int, reading: int) -> None:
        """Predict a speech token after the last input, and add it as an input."""
        made.predict(int(speech.tokens[index]), float(speech.weights[index]), reading)
        pitch, pair = divmod(int(speech.heard[index]), self._scheme.sounds)
        made.add(self._first_pair_row + pair, pitch)

    def _corrupted(self, tokens: IntArray, most: float) -> IntArray:
        """Return ``tokens`` with up to a share ``most`` replaced, as by tokenizer errors: a neighbour's sound, any
        sound, or another pitch.
        """
        num_tokens = len(tokens)
        if num_tokens < 2 or most == 0.0:
            return tokens
        random, num_sounds = self._random, self._scheme.sounds
        is_wrong = random.random(num_tokens) < most * random.random()
        pairs, pitches = tokens % num_sounds, tokens // num_sounds
        neighbours = pairs[np.clip(np.arange(num_tokens) + random.choice((-1, 1), num_tokens), 0, num_tokens - 1)]
        anywhere = pairs[random.integers(num_tokens, size=num_tokens)]
        kind = random.random(num_tokens)
        pairs = np.where(is_wrong & (kind < 0.6), neighbours, pairs)
        pairs = np.where(is_wrong & (kind >= 0.6) & (kind < 0.85), anywhere, pairs)
        pitches = np.where(is_wrong & (kind > 0.7), pitches[random.integers(num_tokens, size=num_tokens)], pitches)
        corrupted: IntArray = (pairs + num_sounds * pitches).astype(np.int32)
        return corrupted


def collate(sequences: Sequence[TrainingSequence], scheme: TokenScheme) -> SequenceBatch:
    length = max(map(len, sequences))
    shape = (len(sequences), length)
    inputs, reading = np.zeros(shape, np.int64), np.full(shape, NOWHERE, np.int64)
    pitches = np.full(shape, scheme.pitches, np.int64)
    targets, weights = np.full(shape, NOTHING, np.int64), np.zeros(shape, np.float32)
    for row, sequence in enumerate(sequences):
        own = slice(0, len(sequence))
        inputs[row, own], pitches[row, own], reading[row, own] = sequence.inputs, sequence.pitches, sequence.reading
        targets[row, own], weights[row, own] = sequence.targets, sequence.weights
    predicting = np.flatnonzero(targets.reshape(-1) != NOTHING)
    wanted = targets.reshape(-1)[predicting]
    pairs = np.where(wanted >= 0, wanted % scheme.sounds, scheme.sounds + (wanted == FILL))
    return SequenceBatch(
        torch.from_numpy(inputs),
        torch.from_numpy(pitches),
        torch.from_numpy(predicting),
        torch.from_numpy(pairs),
        torch.from_numpy(np.where(wanted >= 0, wanted // scheme.sounds, 0)),
        torch.from_numpy(weights.reshape(-1)[predicting]),
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


def _british(groups: Sequence[list[SpokenLine]]) -> list[list[SpokenLine]]:
    normal = [group for group in groups if group[0].style == NORMAL and group[0].speaker.accent == "gb"]
    english = [[line for line in group if line.language == "en"] for group in normal]
    return [group for group in english if group]


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """Groups of lines to draw from; larger ones more often, but not in proportion."""

    groups: list[list[SpokenLine]]
    shares: npt.NDArray[np.float64]  # cumulated

    @classmethod
    def among(cls, groups: list[list[SpokenLine]]) -> _Choice:
        weights = np.array([len(group) for group in groups], np.float64) ** _WEIGHT_OF_SIZE
        return cls(groups, np.cumsum(weights) / weights.sum())

    def pick(self, random: np.random.Generator) -> list[SpokenLine]:
        place = np.searchsorted(self.shares, random.random(), side="right")
        return self.groups[min(int(place), len(self.groups) - 1)]
