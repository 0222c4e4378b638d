"""Checks of takes without a process: the results follow from the text and the number of the take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future

from studio.take_checks.records import Embeddings, Problem, ProblemKind, TakeCheck, Transcript, Verdict, WordTime
from studio.take_checks.requests import CheckRequest, EmbeddingRequest, TranscriptRequest

_SECONDS_PER_WORD = 0.1  # of ``FakeModel``


def words_of(text: str) -> tuple[WordTime, ...]:
    """Return the times of the words as ``FakeModel`` speaks them."""
    words, place = [], 0
    for number, word in enumerate(text.split()):
        place = text.index(word, place)
        start = number * _SECONDS_PER_WORD
        words.append(WordTime(word, start, start + _SECONDS_PER_WORD, place, place + len(word)))
        place += len(word)
    return tuple(words)


def good_check(request: CheckRequest) -> TakeCheck:
    return TakeCheck(Verdict.GOOD, similarity=0.8, word_error_rate=0.0, words=words_of(request.text))


def bad_check(
    request: CheckRequest,
    *,
    verdict: Verdict = Verdict.BAD,
    kind: ProblemKind = ProblemKind.MISSING_WORDS,
    word: int = 0,
) -> TakeCheck:
    """Return a check that reports a problem of one word."""
    words = words_of(request.text)
    at = words[word]
    problem = Problem(kind, at.from_seconds, at.to_seconds, at.text, 0.9, at.text_start, at.text_end)
    return TakeCheck(verdict, (problem,), similarity=0.8, word_error_rate=1 / len(words), words=words)


class FakeChecks:
    """The first ``num_spoilt[text]`` takes of a text are bad; all others are good.

    While ``is_held``, results wait for ``release``. ``requests`` lists all requests.
    """

    def __init__(
        self,
        num_spoilt: dict[str, int] | None = None,
        *,
        result: Callable[[CheckRequest], TakeCheck] | None = None,
        is_held: bool = False,
    ) -> None:
        self.num_spoilt = num_spoilt or {}
        self.is_held = is_held
        self.is_closed = False
        self.requests: list[CheckRequest] = []
        self.transcript_requests: list[TranscriptRequest] = []
        self.transcribe_with: Callable[[TranscriptRequest], Transcript] = lambda request: Transcript(request.typed)
        # One speaker in all parts.
        self.embed_with: Callable[[EmbeddingRequest], Embeddings] = lambda request: Embeddings(
            tuple((1.0, 0.0) for _ in request.spans)
        )
        self._result = result
        self._num_of_text: Counter[str] = Counter()
        self._waiting: list[tuple[Future[TakeCheck], CheckRequest]] = []

    def __call__(self) -> FakeChecks:
        """Return itself, as ``Services.open_checks`` expects."""
        return self

    def submit(self, request: CheckRequest) -> Future[TakeCheck]:
        self.requests.append(request)
        future: Future[TakeCheck] = Future()
        self._waiting.append((future, request))
        if not self.is_held:
            self.release()
        return future

    def transcribe(self, request: TranscriptRequest) -> Future[Transcript]:
        self.transcript_requests.append(request)
        future: Future[Transcript] = Future()
        if not self.is_held:
            future.set_running_or_notify_cancel()
            future.set_result(self.transcribe_with(request))
        return future

    def embed(self, request: EmbeddingRequest) -> Future[Embeddings]:
        future: Future[Embeddings] = Future()
        future.set_result(self.embed_with(request))
        return future

    def release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future, request in waiting:
            if future.set_running_or_notify_cancel():
                future.set_result(self._check(request))

    def close(self) -> None:
        self.is_closed = True

    def _check(self, request: CheckRequest) -> TakeCheck:
        self._num_of_text[request.text] += 1
        if self._result is not None:
            return self._result(request)
        is_spoilt = self._num_of_text[request.text] <= self.num_spoilt.get(request.text, 0)
        return bad_check(request) if is_spoilt else good_check(request)
