"""Input order for text that arrives during generation (specification E7).

In the trained order, blocks of 5 text tokens and 15 speech tokens alternate. The end of the text is followed by its
remaining tokens, the task mark, and the rest of the speech. Four defects of the official program are corrected:

- (a) The last token of a block is input only once.
- (b) A prompt of whole blocks is followed by text.
- (c) Prompt speech that remains at the end of the text follows the task mark, as in a whole request.
- (d) Generation waits for the first five text tokens.

The caller handles length limits (e) and forbidden ids (f).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import islice


class TokenKind(Enum):
    """Embedding table of an input token."""

    TEXT = "text"
    TASK = "task"
    SPEECH = "speech"


@dataclass(frozen=True, slots=True)
class Segment:
    """Input tokens of one kind. The task mark is a segment without tokens."""

    kind: TokenKind
    tokens: tuple[int, ...] = ()


class InterleavedScheduler:
    """Input order of one utterance, as ids.

    ``speech_left`` is the number of speech tokens to generate before more text is needed, or 0 while waiting for text.
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
        """Add a text token and return the segments to input now."""
        self._text.append(text_token)
        segments = []
        while self.speech_left == 0 and len(self._text) >= self._text_per_block:
            segments.append(Segment(TokenKind.TEXT, _take(self._text, self._text_per_block)))
            spoken = _take(self._prompt_speech, self._speech_per_block)
            if spoken:
                segments.append(Segment(TokenKind.SPEECH, spoken))
            self.speech_left = self._speech_per_block - len(spoken)
        return segments

    def count_speech_token(self) -> None:
        """Count a generated speech token."""
        self.speech_left -= 1

    def end_block(self) -> None:
        """End the block early, when the model requests text."""
        self.speech_left = 0

    def finish(self) -> list[Segment]:
        """Return the remaining segments after the end of the text."""
        rest = [Segment(TokenKind.TEXT, _take(self._text, len(self._text))), Segment(TokenKind.TASK)]
        return [*rest, Segment(TokenKind.SPEECH, _take(self._prompt_speech, len(self._prompt_speech)))]


def _take(queue: deque[int], count: int) -> tuple[int, ...]:
    taken = tuple(islice(queue, count))
    for _ in taken:
        queue.popleft()
    return taken
