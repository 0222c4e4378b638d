"""Validation of the speech language model: correct phones, plausible length, and regular ends.

Measured in phones of its tokens against those of the teacher for the same text; sampling is the program's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from studio.model.speech_lm import RepetitionAwareSampler, SpeechLMNetwork, build_speech_lm
from studio.model.speech_lm.interleave import generate_from_pieces
from studio.model.stages import SpeechTokenRequest
from studio.text.tokenizer import COSYVOICE3_TEXT, TextTokenizer
from training.corpus.tokens import Register, TokenTable
from training.corpus.utterance import IntArray
from training.shipping.instructions import Instruction
from training.trainers.speech_lm_lines import NORMAL, SpokenLine

_DURATION_RANGE = (
    0.6,
    1.6,
)  # relative to the synthesizer; within this range, the speech has neither run on nor been cut off
# A model that generates three times too much will not end. This limit saves time with an untrained model.
_MAX_RATIO = 3
_MAX_SPEECH_PER_TEXT_TOKEN = 12


@dataclass(frozen=True, slots=True)
class Trial:
    """A request, and the teacher's tokens for the same text and speaker.

    ``num_instruction_tokens`` of the prompt text precede the words of the prompt.
    """

    request: SpeechTokenRequest
    expected: IntArray
    num_instruction_tokens: int


def zero_shot_trials(
    lines: Sequence[SpokenLine], tokenizer: TextTokenizer, count: int, random: np.random.Generator
) -> list[Trial]:
    """Return ``count`` normal lines, each with another line of its speaker as the prompt."""
    normal = [line for line in lines if line.style == NORMAL]
    trials: list[Trial] = []
    for number in random.permutation(len(normal)):
        line = normal[number]
        prompts = [other for other in normal if other.speaker.name == line.speaker.name and other.spoken != line.spoken]
        if len(trials) == count or not prompts:
            continue
        prompt = prompts[random.integers(len(prompts))]
        request = SpeechTokenRequest(
            text_tokens=tokenizer.encode_speech(line.spoken),
            prompt_text_tokens=COSYVOICE3_TEXT.cross_lingual(tokenizer) + tokenizer.encode_speech(prompt.spoken),
            prompt_speech_tokens=tuple(prompt.heard.tolist()),
            max_tokens=_MAX_RATIO * len(line.tokens),
        )
        trials.append(Trial(request, line.tokens, len(COSYVOICE3_TEXT.cross_lingual(tokenizer))))
    return trials


def instructed_requests(
    texts: Sequence[str], prompt_text: tuple[int, ...], tokenizer: TextTokenizer
) -> list[SpeechTokenRequest]:
    """Return requests of ``texts`` after the prompt text ``prompt_text``, without prompt speech."""
    encoded = [tokenizer.encode_speech(text) for text in texts]
    return [
        SpeechTokenRequest(
            text_tokens=text, prompt_text_tokens=prompt_text, max_tokens=_MAX_SPEECH_PER_TEXT_TOKEN * len(text)
        )
        for text in encoded
    ]


class Speaking:
    """Generates speech tokens with the current weights of ``network``, and measures them."""

    def __init__(self, network: SpeechLMNetwork, table: TokenTable, seed: int = 0) -> None:
        self._model = build_speech_lm(network)
        self._table, self._seed = table, seed

    def say(self, request: SpeechTokenRequest) -> tuple[IntArray, bool]:
        """Return the tokens, and whether the model ended the sentence."""
        sampler = RepetitionAwareSampler(self._model.sampling, self._seed)
        tokens = np.fromiter(self._model.generate(request, sampler), dtype=np.int32)
        return tokens, len(tokens) != request.max_tokens

    def measure(self, trials: Sequence[Trial]) -> dict[str, float]:
        """Return means over ``trials``."""
        errors = num_phones = 0
        ratios, ends = [], []
        for trial in trials:
            tokens, has_ended = self.say(trial.request)
            said, expected = self._table.phones_of(tokens), self._table.phones_of(trial.expected)
            errors += edit_distance(said, expected)
            num_phones += len(expected)
            ratios.append(len(tokens) / len(trial.expected))
            ends.append(has_ended)
        low, high = _DURATION_RANGE
        return {
            "phone_error_rate": errors / max(1, num_phones),
            "duration_ratio": float(np.mean(ratios)),
            "duration_in_range": float(np.mean([low <= ratio <= high for ratio in ratios])),
            "ended": float(np.mean(ends)),
        }

    def measure_arriving(self, trials: Sequence[Trial]) -> float:
        """Return the error rate of sounds if the text arrives while it is spoken."""
        errors = num_phones = 0
        for trial in trials:
            request = replace(trial.request, text_tokens=())
            sampler = RepetitionAwareSampler(self._model.sampling, self._seed)
            made = generate_from_pieces(
                self._model,
                request,
                trial.request.text_tokens,
                sampler,
                num_instruction_tokens=trial.num_instruction_tokens,
            )
            said = self._table.phones_of(np.fromiter(made, dtype=np.int32))
            expected = self._table.phones_of(trial.expected)
            errors += edit_distance(said, expected)
            num_phones += len(expected)
        return errors / max(1, num_phones)

    def measure_styles(
        self, texts: Sequence[str], instructions: Mapping[str, Instruction], tokenizer: TextTokenizer
    ) -> dict[str, float]:
        """Return the rate and pitch (in semitones) relative to the default style, and the shares of registers."""
        plain = instructed_requests(texts, COSYVOICE3_TEXT.cross_lingual(tokenizer), tokenizer)
        usual = np.concatenate([self.say(request)[0] for request in plain])
        values: dict[str, float] = {}
        for style, instruction in instructions.items():
            prompt_text = COSYVOICE3_TEXT.instruct(instruction.canonical, tokenizer)
            said = [self.say(request)[0] for request in instructed_requests(texts, prompt_text, tokenizer)]
            spoken = np.concatenate(said)
            match style:
                case "fast" | "slow":
                    values[f"{style}_rate"] = len(usual) / max(1, len(spoken))
                case "high" | "low":
                    pitches = [np.median(self._table.semitones_of(tokens)) for tokens in (spoken, usual) if len(tokens)]
                    values[f"{style}_semitones"] = float(pitches[0] - pitches[-1]) if pitches else 0.0
                case "whisper" | "loud" | "soft":
                    wanted = Register.of_style(style)
                    registers = self._table.registers_of(spoken)
                    values[f"{style}_share"] = float(np.mean([each is wanted for each in registers]))
        return values


def edit_distance(said: Sequence[str], expected: Sequence[str]) -> int:
    """Return the smallest number of insertions, deletions and substitutions between the sequences."""
    previous = list(range(len(expected) + 1))
    for row, sound in enumerate(said, start=1):
        current = [row]
        for column, wanted in enumerate(expected, start=1):
            current.append(min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (sound != wanted)))
        previous = current
    return previous[-1]
