"""Takes of the measurement: good ones, and ones with planted faults, made once and stored in a folder.

Faults of the language model are planted in its speech tokens, which flow and vocoder then decode, so that a take sounds as
if the model had made the fault. The evidence comes from the plain model, for these tokens and the intended text.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import soundfile
import torch

from measurements.planted_faults.prompts import PromptClip
from measurements.planted_faults.truth import Spoken, SpokenWord, spoken_words
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import FlowPrompt, FlowPromptState, SpeechTokenRequest
from studio.pipeline.enrolment import build_prompt
from studio.pipeline.evidence import EvidenceReader, Generation, UtteredSentence
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions, SentenceEvidence, VoiceReference
from studio.pipeline.silence import without_leading_silence
from studio.pipeline.synthesizer import Synthesizer
from studio.text.segmentation import Sentence, prepare_text
from training.synthesizers.phones import SILENCE
from training.synthesizers.tokens import NUM_PAIRS, labels_of, shipped_pairs

TOKEN_SECONDS = 0.04
_RATE = 24_000
_SILENCE_TOKENS = 37  # 1.48 s
_ATTEMPTS = 6


@dataclass(frozen=True, slots=True)
class MeasuredTake:
    """A stored take. ``place`` is the place of the fault in seconds, or None for a good take."""

    path: Path
    kind: str
    text: str
    prompt: Path
    evidence: tuple[SentenceEvidence, ...]
    place: tuple[float, float] | None
    words: tuple[SpokenWord, ...]
    is_really_good: bool = True
    samples: np.ndarray = field(repr=False, default_factory=lambda: np.zeros(0, np.float32))
    sample_rate: int = 24_000


@dataclass(frozen=True, slots=True)
class Generated:
    """Speech tokens of a sentence in a voice."""

    sentence: Sentence
    request: SpeechTokenRequest
    tokens: list[int]
    spoken: Spoken


class TakeMaker:
    """Makes takes with a model folder. The number of a take determines its content."""

    def __init__(self, model: Path) -> None:
        self.model = model
        self.synthesizer: Synthesizer = load_synthesizer(model, EngineOptions(engines="plain", num_threads=1))
        self._form = self.synthesizer.checkpoint.generation.text
        self._prompts: dict[Path, FlowPrompt] = {}
        self._states: dict[Path, FlowPromptState] = {}

    def generate(self, text: str, clip: PromptClip, seed: int) -> Generated:
        stages = self.synthesizer.stages
        sentence, request = self._request(text, clip)
        sampler = RepetitionAwareSampler(stages.speech_lm.sampling, seed)
        tokens = list(stages.speech_lm.generate(request, sampler))
        return Generated(sentence, request, tokens, self.spoken(tokens, sentence.spoken.strip()))

    def as_generated(self, text: str, clip: PromptClip, tokens: list[int]) -> Generated:
        """Return a stored sentence as if it had been generated again."""
        sentence, request = self._request(text, clip)
        return Generated(sentence, request, tokens, self.spoken(tokens, sentence.spoken.strip()))

    def _request(self, text: str, clip: PromptClip) -> tuple[Sentence, SpeechTokenRequest]:
        tokenizer = self.synthesizer.stages.text_tokenizer
        (sentence,) = prepare_text(text, form=self._form, tokenizer=tokenizer)
        assert isinstance(sentence, Sentence)
        request = SpeechTokenRequest(
            text_tokens=sentence.text_tokens,
            prompt_text_tokens=self._form.zero_shot(clip.transcript, tokenizer),
            prompt_speech_tokens=tuple(self._prompt(clip).speech_tokens),
        )
        return sentence, request

    def spoken(self, tokens: list[int], text: str) -> Spoken:
        respellings = self.synthesizer.stages.text_tokenizer.respellings
        assert respellings is not None
        return spoken_words(np.array(tokens), text, respellings)

    def decode(self, tokens: list[int], clip: PromptClip) -> np.ndarray:
        flow, vocoder = self.synthesizer.stages.flow, self.synthesizer.stages.vocoder
        if clip.path not in self._states:
            self._states[clip.path] = flow.prepare_prompt(self._prompt(clip))
        stream = flow.open_stream(self._states[clip.path])
        mel = stream.decode(tokens, ())
        stream.close()
        samples: np.ndarray = vocoder.synthesize_whole(mel, vocoder.noise(0)).numpy(force=True)
        return samples

    def evidence(
        self, generated: Generated, tokens: list[int], text: str | None = None
    ) -> tuple[SentenceEvidence, ...]:
        """Return the evidence for ``tokens`` as speech of the text of ``generated``."""
        stages = self.synthesizer.stages
        sampler = RepetitionAwareSampler(stages.speech_lm.sampling, 0)
        spoken = text or generated.sentence.spoken
        generation = Generation(spoken, generated.request, sampler, None, tokens, 1 << 30)
        sentence = UtteredSentence(generation, 0.0, len(tokens) * TOKEN_SECONDS)
        return EvidenceReader(
            stages.alignment, stages.speech_lm, stages.text_tokenizer, (), TOKEN_SECONDS, [sentence]
        ).read()

    def _prompt(self, clip: PromptClip) -> FlowPrompt:
        if clip.path not in self._prompts:
            voice = VoiceReference(clip.path, transcript=clip.transcript)
            prompt = build_prompt(voice, self.synthesizer.stages.frontend(), "")
            self._prompts[clip.path] = FlowPrompt(prompt.speech_tokens, prompt.mel, prompt.embedding)
        return self._prompts[clip.path]


KINDS = (
    "dropped word",
    "repeated word",
    "cut at the end",
    "cut at the start",
    "silence inside",
    "babble appended",
    "noise burst",
    "another voice",
    "wrong sentence",
)
HARD_KINDS = ("dropped word", "repeated word", "cut at the start")


@dataclass(frozen=True, slots=True)
class Base:
    """A take that matches its text; faults are planted in it."""

    text: str
    clip: PromptClip
    generated: Generated
    samples: np.ndarray = field(repr=False)

    @property
    def tokens(self) -> list[int]:
        return self.generated.tokens


@dataclass(frozen=True, slots=True)
class Planted:
    """A take with a fault, whose audio is decoded from ``tokens`` if ``samples`` is None."""

    tokens: list[int]
    place: tuple[float, float]
    samples: np.ndarray | None = field(default=None, repr=False)


WHOLE_TAKE = (0.0, 1e9)
Random = np.random.Generator


@dataclass
class TakeSet:
    """All takes of one purpose, in ``folder``. Bases number n and n + ``len(sentences)`` differ only in their voice.

    Attributes:
        num_hard: Number of takes of each of the ``HARD_KINDS``, on which most limits depend.
        seed: Another seed gives other takes of the same sentences and voices, with faults at other places.
    """

    folder: Path
    sentences: tuple[str, ...]
    specials: tuple[str, ...]
    clips: list[PromptClip]
    num_bases: int
    num_specials: int
    num_per_kind: int
    num_hard: int
    seed: int = 0
    _bases: dict[int, Base] = field(default_factory=dict)

    def make(self, maker: Callable[[], TakeMaker], report: Callable[[str], None]) -> None:
        """Make the takes that are missing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        opened: TakeMaker | None = None
        wanted = [("good", number) for number in range(self.num_bases)]
        for number in range(max(self.num_per_kind, self.num_hard, self.num_specials)):
            wanted += [("special", number)] if number < self.num_specials else []
            wanted += [
                (kind, number)
                for kind in KINDS
                if number < (self.num_hard if kind in HARD_KINDS else self.num_per_kind)
            ]
        for kind, number in wanted:
            path = self._path(kind, number)
            if path.with_suffix(".json").exists():
                continue
            opened = opened or maker()
            self._make(opened, kind, number, path)
            report(f"{self.folder.name}: {path.stem}")

    def takes(self) -> Iterator[MeasuredTake]:
        for path in sorted(self.folder.glob("*.json")):
            content = json.loads(path.read_text("utf-8"))
            samples, rate = soundfile.read(path.with_suffix(".wav"), dtype="float32")
            yield _trimmed(
                MeasuredTake(
                    path=path,
                    kind=content["kind"],
                    text=content["text"],
                    prompt=Path(content["prompt"]),
                    evidence=tuple(_evidence(each) for each in content["evidence"]),
                    place=tuple(content["place"]) if content["place"] else None,
                    words=tuple(SpokenWord(**word) for word in content["words"]),
                    is_really_good=content["is_really_good"],
                    samples=samples,
                    sample_rate=rate,
                )
            )

    def _path(self, kind: str, number: int) -> Path:
        return self.folder / f"{kind.replace(' ', '-')}-{number:03d}.wav"

    def _clip(self, number: int) -> PromptClip:
        return self.clips[(number + 3 * (number // len(self.sentences))) % len(self.clips)]

    def _make(self, maker: TakeMaker, kind: str, number: int, path: Path) -> None:
        random = np.random.default_rng(zlib.crc32(path.stem.encode(), self.seed))
        if kind == "special":  # as the model speaks it, with or without natural faults
            text, clip = self.specials[number % len(self.specials)], self.clips[(number * 5) % len(self.clips)]
            generated = maker.generate(text, clip, int(random.integers(1 << 30)))
            planted = Planted(generated.tokens, WHOLE_TAKE)
        elif kind == "good":
            base = self._base(maker, number)
            text, clip, generated = base.text, base.clip, base.generated
            planted = Planted(base.tokens, WHOLE_TAKE, base.samples)
        else:
            base = self._base(maker, number)
            text, clip, generated = base.text, base.clip, base.generated
            planted = self._planted(maker, kind, number, base, random)
        samples = planted.samples if planted.samples is not None else maker.decode(planted.tokens, clip)
        soundfile.write(path, samples, _RATE, subtype="FLOAT")
        spoken = maker.spoken(planted.tokens, generated.sentence.spoken.strip())
        is_good = kind in ("good", "special")
        content = {
            "kind": "good" if is_good else kind,
            "text": text,
            "prompt": str(clip.path),
            "tokens": planted.tokens,
            "evidence": [asdict(each) for each in maker.evidence(generated, planted.tokens)],
            "evidence_version": 2,
            "place": None if is_good else planted.place,
            "words": [asdict(word) for word in spoken.words],
            "is_really_good": is_good and spoken.says_its_text,
        }
        path.with_suffix(".json").write_text(json.dumps(content), "utf-8")

    def _base(self, maker: TakeMaker, number: int) -> Base:
        """Return base ``number``. If its take is stored, it is generated again from the seed."""
        if number not in self._bases:
            clip, text = self._clip(number), self.sentences[number % len(self.sentences)]
            path = self._path("good", number)
            if path.with_suffix(".json").exists():
                content = json.loads(path.with_suffix(".json").read_text("utf-8"))
                samples, _ = soundfile.read(path, dtype="float32")
                generated = maker.as_generated(text, clip, content["tokens"])
            else:
                generated = _clean(maker, text, clip, np.random.default_rng(zlib.crc32(path.stem.encode(), self.seed)))
                samples = maker.decode(generated.tokens, clip)
            self._bases[number] = Base(text, clip, generated, samples)
        return self._bases[number]

    def _planted(self, maker: TakeMaker, kind: str, number: int, base: Base, random: Random) -> Planted:
        if kind == "another voice":
            other = self._base(maker, (number + len(self.sentences)) % self.num_bases)
            return Planted(other.tokens, WHOLE_TAKE, other.samples)
        if kind in ("wrong sentence", "babble appended"):
            step = len(self.clips) * (1 if kind == "wrong sentence" else 2)
            other = self._base(maker, (number + step) % len(self.sentences))
            if kind == "wrong sentence":
                return Planted(other.tokens, WHOLE_TAKE, other.samples)
            return _with_babble(base, other, random)
        if kind == "dropped word":
            return _without_word(maker, base, random)
        if kind == "repeated word":
            return _with_repetition(maker, base, random)
        derive = {
            "cut at the end": _cut_at_end,
            "cut at the start": _cut_at_start,
            "silence inside": _with_silence,
            "noise burst": _with_noise,
        }
        return derive[kind](base, random)


def _trimmed(take: MeasuredTake) -> MeasuredTake:
    """Remove leading silence, as the window and the command line do."""
    samples = np.concatenate(list(without_leading_silence([take.samples], take.sample_rate)))
    removed = (len(take.samples) - len(samples)) / take.sample_rate
    return replace(
        take,
        samples=samples,
        evidence=tuple(
            replace(each, from_seconds=max(0.0, each.from_seconds - removed), to_seconds=each.to_seconds - removed)
            for each in take.evidence
        ),
        place=take.place and (max(0.0, take.place[0] - removed), take.place[1] - removed),
        words=tuple(
            replace(word, from_seconds=max(0.0, word.from_seconds - removed), to_seconds=word.to_seconds - removed)
            for word in take.words
        ),
    )


def _clean(maker: TakeMaker, text: str, clip: PromptClip, random: np.random.Generator) -> Generated:
    """Return a take that matches its text, so that the planted fault is the only one."""
    best: Generated | None = None
    for _ in range(_ATTEMPTS):
        generated = maker.generate(text, clip, int(random.integers(1 << 30)))
        if generated.spoken.says_its_text:
            return generated
        best = best or generated
    assert best is not None
    return best


def _inner_words(words: tuple[SpokenWord, ...]) -> list[int]:
    return [number for number, word in enumerate(words) if 0 < number < len(words) - 1 and len(word.text) >= 3]


def _without_word(maker: TakeMaker, base: Base, random: Random) -> Planted:
    words = base.generated.spoken.words
    number = int(random.choice(_inner_words(words)))
    spoken = base.generated.sentence.spoken.strip()
    word = words[number]
    shorter = spoken[: word.start].rstrip() + spoken[word.end :]
    other = _clean(maker, shorter, base.clip, random)
    before, after = other.spoken.words[number - 1], other.spoken.words[number]
    return Planted(other.tokens, (before.to_seconds, after.from_seconds))


def _with_repetition(maker: TakeMaker, base: Base, random: Random) -> Planted:
    words = base.generated.spoken.words
    number = int(random.choice(_inner_words(words)))
    spoken = base.generated.sentence.spoken.strip()
    word = words[number]
    repeated = f"{spoken[: word.end]} {spoken[word.start :]}"
    for _ in range(2):  # the model ignores a third of the repetitions
        other = maker.generate(repeated, base.clip, int(random.integers(1 << 30)))
        has_repetition = maker.spoken(other.tokens, spoken).longest_extra >= 2
        if has_repetition and other.spoken.says_its_text:
            first, second = other.spoken.words[number], other.spoken.words[number + 1]
            return Planted(other.tokens, (first.from_seconds, second.to_seconds))
    start, end = (round(seconds / TOKEN_SECONDS) for seconds in (word.from_seconds, word.to_seconds))
    tokens = base.tokens[:end] + base.tokens[start:]
    return Planted(tokens, (start * TOKEN_SECONDS, (2 * end - start) * TOKEN_SECONDS))


def _cut_at_end(base: Base, random: Random) -> Planted:
    """End the take after 30 to 70 % of the last word."""
    last = base.generated.spoken.words[-1]
    share = random.uniform(0.3, 0.7)
    num_kept = round((last.from_seconds + share * (last.to_seconds - last.from_seconds)) / TOKEN_SECONDS)
    end = num_kept * TOKEN_SECONDS
    return Planted(base.tokens[:num_kept], (min(end, last.from_seconds), end), base.samples[: _sample(num_kept)])


def _cut_at_start(base: Base, random: Random) -> Planted:
    """Begin the take within the first word, or within the second one if the first is very short."""
    words = base.generated.spoken.words
    first = words[0] if words[0].to_seconds - words[0].from_seconds >= 0.2 else words[1]
    share = random.uniform(0.3, 0.7)
    num_cut = round((first.from_seconds + share * (first.to_seconds - first.from_seconds)) / TOKEN_SECONDS)
    place = (0.0, max(0.0, first.to_seconds - num_cut * TOKEN_SECONDS))
    return Planted(base.tokens[num_cut:], place, base.samples[_sample(num_cut) :])


def _with_silence(base: Base, random: Random) -> Planted:
    """Insert 1.5 s of silence between two words without punctuation."""
    words = base.generated.spoken.words
    spoken = base.generated.sentence.spoken.strip()
    places = [
        number for number in range(len(words) - 1) if spoken[words[number].end : words[number + 1].start].isspace()
    ]
    word = words[int(random.choice(places))]
    cut = round(word.to_seconds / TOKEN_SECONDS)
    tokens = base.tokens[:cut] + [silent_token(base.tokens)] * _SILENCE_TOKENS + base.tokens[cut:]
    room = random.normal(scale=2.5e-5, size=_sample(_SILENCE_TOKENS))
    samples = _joined([base.samples[: _sample(cut)], room, base.samples[_sample(cut) :]])
    return Planted(tokens, (cut * TOKEN_SECONDS, (cut + _SILENCE_TOKENS) * TOKEN_SECONDS), samples)


def silent_token(tokens: list[int]) -> int:
    pairs = shipped_pairs()
    colour = int(np.median(np.array(tokens) // NUM_PAIRS))
    return int(pairs.class_of[SILENCE, SILENCE]) + NUM_PAIRS * colour


def _with_babble(base: Base, other: Base, random: Random) -> Planted:
    """Append 0.7 to 1.6 s of syllables from another sentence in random order."""
    labels = labels_of(np.array(other.tokens), shipped_pairs()).reshape(-1, 2)
    starts = [start for start in range(len(labels) - 4) if (labels[start : start + 4] != SILENCE).all()]
    chosen = random.choice(starts, size=int(random.integers(5, 11)))
    end = round(base.generated.spoken.words[-1].to_seconds / TOKEN_SECONDS) + 2
    tokens, pieces = base.tokens[:end], [base.samples[: _sample(end)]]
    for start in chosen:
        tokens = tokens + other.tokens[start : start + 4]
        pieces.append(other.samples[_sample(start) : _sample(start + 4)])
    rest = base.tokens[end:]
    samples = _joined([*pieces, base.samples[_sample(end) :]])
    return Planted(tokens + rest, (end * TOKEN_SECONDS, (end + 4 * len(chosen)) * TOKEN_SECONDS), samples)


def _with_noise(base: Base, random: Random) -> Planted:
    """Add 0.25 to 0.6 s of white or pink noise at the level of the speech."""
    samples = base.samples
    length = int(random.uniform(0.25, 0.6) * _RATE)
    start = int(random.integers(2400, max(2401, len(samples) - length - 2400)))
    noise = random.normal(size=length)
    if random.random() < 0.5:
        spectrum = np.fft.rfft(noise)
        noise = np.fft.irfft(spectrum / np.sqrt(np.maximum(1, np.arange(len(spectrum)))), length)
    speech = samples[np.abs(samples) > 0.1 * np.abs(samples).max()]
    noise *= np.sqrt(np.mean(speech**2)) / np.sqrt(np.mean(noise**2))
    noisy = samples.copy()
    noisy[start : start + length] += noise[: len(noisy) - start]
    place = (start / _RATE, (start + length) / _RATE)
    return Planted(base.tokens, place, np.clip(noisy, -1, 1).astype(np.float32))


def _sample(token: int) -> int:
    return round(token * TOKEN_SECONDS * _RATE)


def _joined(pieces: list[np.ndarray]) -> np.ndarray:
    """Concatenate ``pieces`` without clicks; the length does not change."""
    fade = round(0.003 * _RATE)
    faded = []
    for number, piece in enumerate(pieces):
        part = piece.astype(np.float32)
        if number:
            part[:fade] *= np.linspace(0, 1, fade, dtype=np.float32)[: len(part)]
        if number < len(pieces) - 1:
            part[-fade:] *= np.linspace(1, 0, fade, dtype=np.float32)[-len(part) :]
        faded.append(part)
    return np.concatenate(faded)


def _evidence(content: dict[str, object]) -> SentenceEvidence:
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}
    return SentenceEvidence(**values)  # type: ignore[arg-type]


def set_threads() -> None:
    torch.set_num_threads(1)
