"""Text that arrives while speech is made: which tokens go in when (specification E7).

Trained order: 5 text tokens, 15 speech tokens, and so on; when the text has ended, what is left of it,
the task mark, and speech to the end. Repaired against the official program (its traits a to f): the last
token of a block goes in once (a); a prompt that fills whole blocks is followed by text (b); prompt speech
that is left when the text ends goes in after the task mark, as in a whole request (c); nothing is spoken
before the first five text tokens (d). Length limits (e) and forbidden ids (f) are the caller's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import islice


class TokenKind(Enum):
    """Where an input token's vector comes from."""

    TEXT = "text"
    TASK = "task"
    SPEECH = "speech"


@dataclass(frozen=True, slots=True)
class Segment:
    """Input tokens of one table; the task mark is a segment without tokens."""

    table: TokenKind
    tokens: tuple[int, ...] = ()


class InterleavedScheduler:
    """The order of one utterance. It knows ids only, neither embeddings nor the model.

    ``speech_left``: how many speech tokens the model may add before text is due again; 0 while text is awaited.
    """

    def __init__(
        self, *, text_per_block: int, speech_per_block: int, prompt_text: Iterable[int], prompt_speech: Iterable[int]
    ) -> None:
        self._text_per_block = text_per_block
        self._speech_per_block = speech_per_block
        self._text = deque(prompt_text)
        self._prompt_speech = deque(prompt_speech)
        self.speech_left = 0

    def receive(self, text_token: int) -> list[Segment]:
        """Takes one text token that has arrived, and says what goes in now."""
        self._text.append(text_token)
        segments = []
        while self.speech_left == 0 and len(self._text) >= self._text_per_block:
            segments.append(Segment(TokenKind.TEXT, _take(self._text, self._text_per_block)))
            spoken = _take(self._prompt_speech, self._speech_per_block)
            if spoken:
                segments.append(Segment(TokenKind.SPEECH, spoken))
            self.speech_left = self._speech_per_block - len(spoken)
        return segments

    def speak(self) -> None:
        """The model has added a speech token."""
        self.speech_left -= 1

    def end_block(self) -> None:
        """The model has asked for text before the block was full."""
        self.speech_left = 0

    def finish(self) -> list[Segment]:
        """What goes in when the text has ended."""
        rest = [Segment(TokenKind.TEXT, _take(self._text, len(self._text))), Segment(TokenKind.TASK)]
        return [*rest, Segment(TokenKind.SPEECH, _take(self._prompt_speech, len(self._prompt_speech)))]


def _take(queue: deque[int], count: int) -> tuple[int, ...]:
    taken = tuple(islice(queue, count))
    for _ in taken:
        queue.popleft()
    return taken
