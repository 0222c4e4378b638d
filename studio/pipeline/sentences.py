"""The sentences of a request: the input of the language model, and the attempts to generate each one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.speech_lm.interleave import generate_from_pieces
from studio.model.speech_lm.torch_lm import MIN_SPEECH_PER_TEXT_TOKEN, speech_token_limits
from studio.model.stages import SpeechTokenRequest
from studio.pipeline.alignment import cached_speech_lm, plain_speech_lm
from studio.pipeline.evidence import Generation, filter_silent_tokens
from studio.pipeline.length_limits import LengthLimits, limits_of_sentences
from studio.pipeline.pacing import ChunkSchedule
from studio.pipeline.prompt_cache import VoiceState
from studio.pipeline.request import KnownTokens, LengthFinding, Mode, RequestControl, SynthesisRequest
from studio.pipeline.speech_stream import SentenceTask
from studio.pipeline.stages import Stages
from studio.pipeline.token_source import (
    UNLIMITED,
    ArrivingFeed,
    Attempt,
    CheckedFeed,
    CountedTokens,
    FixedTokens,
    SentenceFeed,
    TokenSource,
)
from studio.pipeline.word_repair import WordRepair
from studio.text.respellings import Respellings
from studio.text.segmentation import ArrivingSentence, Pause, Sentence
from studio.text.tokenizer import LanguageTags


class SentenceOpener:
    """Opens the sentences of ``request`` in order. ``make_source`` runs the language model.

    Lengths are not checked in benchmarks and with random weights.
    """

    def __init__(
        self,
        stages: Stages,
        request: SynthesisRequest,
        voice: VoiceState,
        make_source: Callable[[Iterator[int], RequestControl], TokenSource],
        control: RequestControl,
        *,
        makes_noise: bool,
    ) -> None:
        self._stages = stages
        self._request = request
        self._make_source = make_source
        self._control = control
        generation, prompt = stages.generation, voice.prompt
        self.mode = request.mode if prompt.num_tokens or request.mode is Mode.INSTRUCT else Mode.SPEAKER
        self._prompt_text = self._encode_prompt_text()
        self._prompt_speech = prompt.speech_tokens if self.mode is Mode.ZERO_SHOT else ()
        has_speaker = generation.speaks_without_clip and self.mode is not Mode.INSTRUCT
        self._speaker = tuple(prompt.embedding.tolist()) if has_speaker else None
        self._language_tags = LanguageTags(generation.text)
        is_checked = request.forced_tokens is None and not makes_noise
        self._limits_of = (
            limits_of_sentences(request, stages.text_tokenizer.respellings, prompt.num_tokens, generation.token_rate)
            if is_checked
            else None
        )
        self._retry_below_tokens = self._first_chunk_tokens(voice)
        self._known = list(request.known_tokens)
        self._checked: list[tuple[str, CheckedFeed]] = []
        self._arriving: list[ArrivingFeed] = []

    def open(self, index: int, item: Sentence | Pause | ArrivingSentence) -> SentenceTask:
        if isinstance(item, Pause):
            return SentenceTask(open_feed=None, pause_seconds=item.seconds)
        if isinstance(item, ArrivingSentence):
            return SentenceTask(partial(self._arriving_feed, index, item), is_arriving=True)
        tokens = self._tokens_of(item)
        known = self._take_known(item.spoken.strip())
        if known is None:
            open_feed: Callable[[], SentenceFeed] = partial(self._checked_feed, index, item, tokens)
        elif known.replaced is None:
            open_feed = partial(self._known_feed, item, tokens, known.speech_tokens)
        else:
            open_feed = partial(self._repaired_feed, index, item, tokens, known)
        return SentenceTask(open_feed, num_text_tokens=len(item.text_tokens))

    def _take_known(self, spoken_text: str) -> KnownTokens | None:
        """Return the tokens of this sentence, or of the next one if part of it is replaced, once."""
        found = next((each for each in self._known if each.spoken_text == spoken_text), None)
        if found is None and self._known and self._known[0].replaced is not None:
            found = self._known[0]
        if found is not None:
            self._known.remove(found)
        return found

    def _tokens_of(self, item: Sentence) -> SpeechTokenRequest:
        """Return the request for the next sentence. Call it once per sentence: a typed language tag stays in effect."""
        tokenizer = self._stages.text_tokenizer
        tag = self._language_tags.before(item.spoken) if self.mode is Mode.CROSS_LINGUAL else ""
        return replace(
            self._prompt_tokens(),
            text_tokens=item.text_tokens,
            prompt_text_tokens=(*self._prompt_text, *tokenizer.encode(tag, allow_special=True)),
            min_tokens=fewest_tokens(item, self._request.forced_tokens, tokenizer.respellings),
        )

    @property
    def odd_lengths(self) -> tuple[LengthFinding, ...]:
        """The sentences of implausible length."""
        found = [(text, feed.verdict) for text, feed in self._checked]
        found += [(feed.generation.spoken.strip(), feed.verdict) for feed in self._arriving]
        return tuple(LengthFinding(text, verdict) for text, verdict in found if verdict is not None)

    def _prompt_tokens(self) -> SpeechTokenRequest:
        """Return the request of a sentence without its text."""
        return SpeechTokenRequest(
            text_tokens=(),
            prompt_text_tokens=self._prompt_text,
            prompt_speech_tokens=self._prompt_speech,
            max_tokens=self._request.forced_tokens,
            speaker=self._speaker,
        )

    def _arriving_feed(self, index: int, item: ArrivingSentence) -> ArrivingFeed:
        """Generate the tokens of a sentence while it is being written, in the interleaved mode."""
        stages = self._stages
        sampler = RepetitionAwareSampler(
            self._request.sampling or stages.speech_lm.sampling, sentence_seed(self._request.seed, index)
        )
        plain = plain_speech_lm(stages.speech_lm)
        assert plain is not None, "EngineDescription.interleaves_text"
        tokens = self._prompt_tokens()
        generated = generate_from_pieces(
            plain,
            tokens,
            item.tokens(),
            sampler,
            num_instruction_tokens=stages.generation.text.num_instruction_tokens(
                self._prompt_text, stages.text_tokenizer
            ),
            min_per_text_token=min_speech_per_text_token(stages.text_tokenizer.respellings),
        )
        counted = CountedTokens(generated, UNLIMITED)
        silent = stages.generation.silent_tokens
        source = self._make_source(filter_silent_tokens(counted, silent) if silent else iter(counted), self._control)

        def describe() -> tuple[Generation, LengthLimits | None]:
            sentence = item.sentence()
            whole = replace(tokens, text_tokens=sentence.text_tokens)
            limit = speech_token_limits(whole, len(sentence.text_tokens))[1]
            generation = Generation(sentence.spoken, whole, sampler, None, counted.generated, limit)
            return generation, self._limits_of(sentence) if self._limits_of is not None else None

        feed = ArrivingFeed(source, item.close, describe)
        self._control.when_cancelled(item.close)
        self._arriving.append(feed)
        return feed

    def known_generation(self, item: Sentence, known: Sequence[int]) -> Generation:
        """Describe the next sentence as spoken with the tokens ``known``, to which no limit applies."""
        return self._known_generation(item, self._tokens_of(item), known)

    def _known_generation(self, item: Sentence, tokens: SpeechTokenRequest, known: Sequence[int]) -> Generation:
        sampler = RepetitionAwareSampler(self._stages.speech_lm.sampling, self._request.seed)
        return Generation(item.spoken, tokens, sampler, None, list(known), UNLIMITED)

    def _known_feed(self, item: Sentence, tokens: SpeechTokenRequest, known: Sequence[int]) -> FixedTokens:
        """Return the tokens of a sentence that was spoken before."""
        generation = self._known_generation(item, tokens, known)
        return FixedTokens(generation.tokens, generation)

    def _repaired_feed(
        self, index: int, item: Sentence, tokens: SpeechTokenRequest, known: KnownTokens
    ) -> SentenceFeed:
        """Speak the replaced part of a sentence again, or the whole sentence if the engine has no plain model."""
        stages, speech_lm = self._stages, cached_speech_lm(self._stages.speech_lm)
        if speech_lm is None or known.replaced is None:
            return self._checked_feed(index, item, tokens)
        start, end = (min(place, len(known.speech_tokens)) for place in sorted(known.replaced))
        repair = WordRepair(
            speech_lm,
            tokens,
            before=known.speech_tokens[:start],
            after=known.speech_tokens[end:],
            num_replaced=end - start,
            token_rate=stages.generation.token_rate,
            control=self._control,
        )
        sampling = self._request.sampling or stages.speech_lm.sampling
        spoken = repair.speak(
            lambda attempt: RepetitionAwareSampler(sampling, sentence_seed(self._request.seed, index, attempt))
        )
        if self._request.is_divided:
            spoken = list(filter_silent_tokens(spoken, stages.generation.silent_tokens))
        return self._known_feed(item, tokens, spoken)

    def _checked_feed(self, index: int, item: Sentence, tokens: SpeechTokenRequest) -> CheckedFeed:
        limits = self._limits_of(item) if self._limits_of is not None else None
        feed = CheckedFeed(
            partial(self._start_attempt, index, item.spoken, tokens, limits), limits, self._retry_below_tokens
        )
        self._checked.append((item.spoken.strip(), feed))
        return feed

    def _start_attempt(
        self, index: int, spoken: str, tokens: SpeechTokenRequest, limits: LengthLimits | None, attempt: int
    ) -> Attempt:
        stages = self._stages
        seed = sentence_seed(self._request.seed, index, attempt)
        sampler = RepetitionAwareSampler(self._request.sampling or stages.speech_lm.sampling, seed)
        trace = stages.alignment.new_trace()
        counted = CountedTokens(
            stages.speech_lm.generate(replace(tokens, attention=trace), sampler),
            UNLIMITED if limits is None else limits.longest,
        )
        limit = min(counted.limit, speech_token_limits(tokens, len(tokens.text_tokens))[1])
        silent = stages.generation.silent_tokens
        tokens_for_flow = filter_silent_tokens(counted, silent) if silent else iter(counted)
        return Attempt(
            self._make_source(tokens_for_flow, self._control),
            Generation(spoken, tokens, sampler, trace, counted.generated, limit),
        )

    def _encode_prompt_text(self) -> tuple[int, ...]:
        """Return the prompt text tokens (specification B6)."""
        stages, request = self._stages, self._request
        form, tokenizer = stages.generation.text, stages.text_tokenizer
        match self.mode:
            case Mode.INSTRUCT:
                instruction = request.instruct or stages.styles.preset(request.preset or "").instruction
                return form.instruct(instruction, tokenizer)
            case Mode.ZERO_SHOT:
                return form.zero_shot(request.voice.transcript or "", tokenizer)
            case _:
                return form.cross_lingual(tokenizer)

    def _first_chunk_tokens(self, voice: VoiceState) -> int:
        """Return the number of tokens before decoding starts; shorter sentences are complete by then."""
        request, flow = self._request, self._stages.flow
        if not (request.is_played and request.is_streaming):
            return UNLIMITED
        first_chunk = ChunkSchedule.of(flow, voice.prompt.num_flow_tokens, first_hop_tokens=request.first_hop_tokens)
        return first_chunk.end_tokens + flow.lookahead_tokens


def sentence_seed(seed: int, index: int, attempt: int = 0) -> int:
    """Return a seed for each sentence and attempt, so that equal sentences of a request differ.

    All seeds are distinct for up to half a million sentences.
    """
    return (seed * 1_000_003 + index + attempt * 500_000) % (1 << 63)


def fewest_tokens(sentence: Sentence, forced_tokens: int | None, respellings: Respellings | None) -> int | None:
    """Return the smallest number of speech tokens, or None for the usual one, two for each text token.

    If a model has respellings for all words, a text token is only a sound or two, and fast speech has fewer tokens.
    """
    per_text_token = min_speech_per_text_token(respellings)
    if forced_tokens is None and per_text_token != MIN_SPEECH_PER_TEXT_TOKEN:
        return per_text_token * len(sentence.text_tokens)
    return forced_tokens


def min_speech_per_text_token(respellings: Respellings | None) -> int:
    has_all_words = respellings is not None and respellings.guesser is not None
    return 1 if has_all_words else MIN_SPEECH_PER_TEXT_TOKEN
