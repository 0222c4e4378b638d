"""Speaking words of a take again: the speech tokens that are replaced, and the joins with the rest of the recording.

The flow renders the tokens of the whole text, so that the new words have both sides as their context.

Decision: only the sound near the words is taken from this rendering, and the recording is kept elsewhere. Reason: a
causal flow (CosyVoice2 and CosyVoice3) renders the same samples only before the chunk that contains the words, and that
of CosyVoice-300M none of the sentence, while the recording is the same in all generations and with every engine. At a
join, both are the same tokens in the same voice, so that the sound is continued in phase, with an overlap of 5 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from studio.audio.joining import switched
from studio.audio.resampling import Samples
from studio.errors import UnusableSetting
from studio.model.options import SamplingOptions
from studio.pipeline.request import (
    KnownTokens,
    Mode,
    SentenceEvidence,
    SynthesisReport,
    SynthesisRequest,
    VoiceReference,
)
from studio.project.fingerprint import fingerprint, voice_matches
from studio.project.project import Project
from studio.project.requests import repair_request
from studio.project.take_match import TakeMatch, compare_take
from studio.project.takes import Take, TakeParameters
from studio.take_checks.records import WordTime
from studio.take_checks.sound import analysed
from studio.take_checks.text_check import check_text
from studio.take_checks.words import split_words, written_words

# Word times are exact to about two tokens, and a word sounds in the ends of its neighbours.
_MARGIN_SECONDS = 0.08
# The old recording is kept from this distance to the words on, so the joins are up to 0.12 s long.
_KEPT_SECONDS = 0.2
# A shorter rest of a sentence is its last sound or silence, and is spoken again as well.
_MIN_REST_SECONDS = 0.25
_MAX_CHANGED_SHARE = 0.5
_MAX_SHORTENED_TOKENS = 5  # of a silence where new and kept tokens meet

TimeSpan = tuple[float, float]


def words_of_take(take: Take, evidence: Sequence[SentenceEvidence], recording: Samples) -> tuple[WordTime, ...]:
    """Return the words of a take by its check or else by the attention of its model; empty if neither gives times."""
    if take.check is not None and take.check.words:
        return take.check.words
    return check_text(take.parameters.text, evidence, analysed(recording, take.sample_rate)).words


def words_in_text(words: Sequence[WordTime], spoken: str, text: str) -> tuple[WordTime, ...]:
    """Return ``words`` of the ``spoken`` text with their places in ``text``, to which the dictionary was applied."""
    if spoken == text:
        return tuple(words)
    written, pronounced = split_words(text), split_words(spoken)
    owners = written_words(written, pronounced)
    placed: list[WordTime] = []
    for word in words:
        found = [owner for owner, each in zip(owners, pronounced, strict=False) if each.end > word.text_start]
        if not found:
            continue
        place = written[found[0]]
        if placed and placed[-1].text_start == place.start:
            placed[-1] = replace(placed[-1], to_seconds=word.to_seconds)
        else:
            placed.append(WordTime(place.text, word.from_seconds, word.to_seconds, place.start, place.end))
    return tuple(placed)


def span_of_text(words: Sequence[WordTime], start: int, end: int) -> TimeSpan | None:
    """Return the time of the words from ``start`` to ``end`` in the text, or of the gap there; None without words."""
    inside = [word for word in words if word.text_start < end and word.text_end > start]
    if inside:
        return inside[0].from_seconds, inside[-1].to_seconds
    before = [word.to_seconds for word in words if word.text_end <= start]
    after = [word.from_seconds for word in words if word.text_start >= end]
    if not before and not after:
        return None
    return (before or after[:1])[-1], (after or before[-1:])[0]


def changed_spans(words: Sequence[WordTime], old: str, new: str) -> list[TimeSpan] | None:
    """Return the times of the words of ``old`` that differ from ``new``; None if most differ or no time is known."""
    written, wanted = split_words(old), split_words(new)
    matcher = SequenceMatcher(
        None, [word.text.casefold() for word in written], [word.text.casefold() for word in wanted], autojunk=False
    )
    spans: list[TimeSpan] = []
    num_changed = 0
    for kind, first, last, _, _ in matcher.get_opcodes():
        if kind == "equal":
            continue
        num_changed += last - first
        start = written[first].start if first < len(written) else len(old)
        found = span_of_text(words, start, written[last - 1].end if last > first else start)
        if found is None:
            return None
        spans.append(found)
    return spans if num_changed <= _MAX_CHANGED_SHARE * len(written) else None


def replaced_tokens(evidence: Sequence[SentenceEvidence], spans: Iterable[TimeSpan]) -> tuple[KnownTokens, ...]:
    """Return the tokens of a take of which those in ``spans`` are spoken again, in one part of each sentence."""
    places = list(spans)
    known = []
    for sentence in evidence:
        inside = [
            (max(start, sentence.from_seconds), min(end, sentence.to_seconds))
            for start, end in places
            if start <= sentence.to_seconds and end >= sentence.from_seconds
        ]
        part = _token_range(sentence, min(inside)[0], max(end for _, end in inside)) if inside else None
        known.append(KnownTokens(sentence.spoken_text, sentence.speech_tokens, part))
    return tuple(known)


def _token_range(sentence: SentenceEvidence, start_seconds: float, end_seconds: float) -> tuple[int, int]:
    total, least = len(sentence.speech_tokens), _MIN_REST_SECONDS / sentence.token_seconds

    def token_at(seconds: float) -> int:
        place = total - (sentence.to_seconds - seconds) / sentence.token_seconds
        return min(max(0, round(place)), total)

    start, end = token_at(start_seconds - _MARGIN_SECONDS), token_at(end_seconds + _MARGIN_SECONDS)
    return (start if start >= least else 0), (end if total - end >= least else total)


@dataclass(frozen=True, slots=True)
class RepairedSpeech:
    """A recording with words that were spoken again.

    Attributes:
        evidence: About the whole take.
        spans: The times of the new words.
    """

    samples: Samples
    evidence: tuple[SentenceEvidence, ...]
    spans: tuple[TimeSpan, ...]


@dataclass(frozen=True, slots=True)
class WordRepairPlan:
    """The tokens of ``take`` that are replaced so that it speaks ``text``."""

    take: Take
    recording: Samples
    evidence: tuple[SentenceEvidence, ...]
    known_tokens: tuple[KnownTokens, ...]
    text: str

    def request(self, voice: VoiceReference, seed: int) -> SynthesisRequest:
        return repair_request(self.take, self.known_tokens, text=self.text, seed=seed, voice=voice)

    def join(self, spoken: Samples, report: SynthesisReport) -> tuple[RepairedSpeech, SynthesisReport]:
        """Return the take with its new words, and its report. See ``join_new_words``."""
        rate = self.take.sample_rate
        if not all(map(_is_kept, self.known_tokens, report.evidence)):
            raise _other_reading()
        repaired = join_new_words(self.recording, spoken, rate, self.evidence, report.evidence)
        seconds = len(repaired.samples) / rate
        mode = Mode.REPLACED_WORDS if self.take.is_recording else report.mode
        return repaired, replace(report, evidence=repaired.evidence, audio_seconds=seconds, mode=mode)


def plan_repair(
    take: Take,
    recording: Samples,
    evidence: tuple[SentenceEvidence, ...],
    *,
    span: TimeSpan | None = None,
    new_text: str | None = None,
) -> WordRepairPlan:
    """Plan to speak the words in ``span`` again, or those that differ in ``new_text``. Raise ``UnusableSetting``."""
    text = take.parameters.text
    evidence = tuple(_with_token_seconds(each) for each in evidence)
    if new_text is None:
        return WordRepairPlan(take, recording, evidence, replaced_tokens(evidence, [span] if span else []), text)
    spans = changed_spans(words_of_take(take, evidence, recording), text, new_text)
    if not spans:
        raise UnusableSetting(
            "The words that have changed since this take could not be identified.",
            remedy="Select the words to speak again, or speak the line again.",
        )
    return WordRepairPlan(take, recording, evidence, replaced_tokens(evidence, spans), new_text)


def has_only_other_words(project: Project, take: Take) -> bool:
    """Return whether voice and style of a line are those of ``take``, but its text or the dictionary has changed."""
    line, parameters = project.line(take.line_id), take.parameters
    return (
        compare_take(project, take) is TakeMatch.OLDER_TEXT
        and voice_matches(line, parameters, project.voice_keys)
        and line.style == parameters.style
        and (line.sampling or SamplingOptions()) == (parameters.sampling or SamplingOptions())
    )


def repaired_parameters(project: Project, take: Take, request: SynthesisRequest) -> TakeParameters:
    """Return the parameters of a take that ``request`` made from ``take``. New words are those of the current line."""
    parameters, of_line = take.parameters, take.parameters.line_fingerprint
    if request.text != parameters.text and has_only_other_words(project, take):
        line = replace(project.line(take.line_id), speed=parameters.speed)
        of_line = fingerprint(line, project.dictionary_in_force)
    return replace(parameters, text=request.text, seed=request.seed, line_fingerprint=of_line, odd_length=None)


def join_new_words(
    recording: Samples,
    spoken: Samples,
    sample_rate: int,
    old: Sequence[SentenceEvidence],
    new: Sequence[SentenceEvidence],
) -> RepairedSpeech:
    """Return ``recording`` with the words that differ in ``spoken``, the speech of the new tokens.

    The recording is kept up to 0.2 s from the words. ``old`` and ``new`` are the evidence of both. Raise
    ``UnusableSetting`` if ``spoken`` is another reading of the whole text.
    """
    if len(old) != len(new):
        raise _other_reading()
    samples, growths, places = recording, [0.0] * len(old), dict[int, TimeSpan]()
    # From the last to the first, because each join moves what follows it.
    for index in reversed(range(len(old))):
        if old[index].speech_tokens != new[index].speech_tokens:
            places[index], joined = _with_words(samples, spoken, sample_rate, old[index], new[index])
            growths[index], samples = (len(joined) - len(samples)) / sample_rate, joined
    if not places:
        raise _other_reading()
    evidence, spans, moved = [], [], 0.0
    for index, (before, after) in enumerate(zip(old, new, strict=True)):
        sentence = after if index in places else before
        start, end = before.from_seconds + moved, before.to_seconds + moved + growths[index]
        evidence.append(replace(sentence, from_seconds=start, to_seconds=end))
        if index in places:
            spans.append((places[index][0] + moved, places[index][1] + moved))
        moved += growths[index]
    return RepairedSpeech(samples, tuple(evidence), tuple(spans))


def _with_token_seconds(sentence: SentenceEvidence) -> SentenceEvidence:
    """Return evidence of an earlier version, which has no duration of the tokens, with the mean one."""
    if sentence.token_seconds:
        return sentence
    seconds = sentence.to_seconds - sentence.from_seconds
    return replace(sentence, token_seconds=seconds / max(1, len(sentence.speech_tokens)))


def _with_words(
    recording: Samples, spoken: Samples, sample_rate: int, old: SentenceEvidence, new: SentenceEvidence
) -> tuple[TimeSpan, Samples]:
    """Return the time of the new words of a sentence and ``recording`` with them."""
    num_before, num_after = _num_equal(old.speech_tokens, new.speech_tokens)
    length = _KEPT_SECONDS - _MARGIN_SECONDS
    start, start_of_new = old.seconds_of_token(num_before), new.seconds_of_token(num_before)
    end = old.seconds_of_token(len(old.speech_tokens) - num_after)
    end_of_new = new.seconds_of_token(len(new.speech_tokens) - num_after)
    first, moved = spoken, 0.0
    if min(start, start_of_new) >= length:
        first, moved = switched(
            recording,
            spoken,
            sample_rate,
            first_span=(start - length, start),
            second_span=(start_of_new - length, start_of_new),
        )
    end_of_new += moved
    if end + length > len(recording) / sample_rate:
        return (start_of_new + moved, end_of_new), first
    whole, _ = switched(
        first,
        recording,
        sample_rate,
        first_span=(end_of_new, end_of_new + length),
        second_span=(end, end + length),
    )
    return (start_of_new + moved, end_of_new), whole


def _is_kept(known: KnownTokens, new: SentenceEvidence) -> bool:
    """Return whether the speech tokens of a sentence are the known ones where they are not replaced."""
    start, end = known.replaced or (0, 0)
    if start == 0 and end == len(known.speech_tokens):
        return True
    num_before, _ = _num_equal(known.speech_tokens, new.speech_tokens)
    after = known.speech_tokens[end + _MAX_SHORTENED_TOKENS :]
    return num_before >= start and new.speech_tokens[len(new.speech_tokens) - len(after) :] == after


def _num_equal(one: Sequence[int], other: Sequence[int]) -> tuple[int, int]:
    """Return the numbers of equal tokens at the start and, after them, at the end."""
    most = min(len(one), len(other))
    start = next((index for index in range(most) if one[index] != other[index]), most)
    end = next((index for index in range(most - start) if one[-1 - index] != other[-1 - index]), most - start)
    return start, end


def _other_reading() -> UnusableSetting:
    return UnusableSetting(
        "The engine spoke another text or cannot keep the other words of the take.", remedy="Speak the line again."
    )
