"""Prompt text and special tokens of each generation.

Decision: a form is data with three methods for the prompt text tokens of the three modes (specification B6, B7).
Reason: generations differ only in a prefix and in lists. Alternative: control tokens in strings that pass through
the normaliser. These forms are for Qwen tokenizers; CosyVoice-300M needs another one.
"""

from __future__ import annotations

from dataclasses import dataclass

from studio.text.clean import strip_controls
from studio.text.generation_tags import COSYVOICE2_TAGS, COSYVOICE3_TAGS
from studio.text.special_tokens import (
    COSYVOICE2_SPECIAL_TOKENS,
    COSYVOICE3_SPECIAL_TOKENS,
    END_OF_PROMPT,
)
from studio.text.spoken import Encoder
from studio.text.tags import TagSet
from studio.text.transcript import transcript_tokens

_NO_TOKENS: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptForm:
    """Prompt text of one generation. ``preamble`` precedes every prompt, followed by the end-of-prompt token."""

    special_tokens: tuple[str, ...]
    tags: TagSet
    preamble: str = ""

    def zero_shot(self, transcript: str, tokenizer: Encoder, *, normalize: bool = True) -> tuple[int, ...]:
        """Return the tokens of the reference clip's transcript, in spoken form and not split."""
        bare = transcript.strip().removeprefix(self.preamble + END_OF_PROMPT)
        return self.cross_lingual(tokenizer) + transcript_tokens(bare, self.tags, tokenizer, normalize=normalize)

    def cross_lingual(self, tokenizer: Encoder) -> tuple[int, ...]:
        """Return the prompt tokens of a request without a transcript.

        In the official program this prefix is part of the text, which then cannot be normalised or split. The
        token sequence is the same (specification J2, row 10).
        """
        return self._encode_with_end(self.preamble, tokenizer) if self.preamble else _NO_TOKENS

    def instruct(self, instruction: str, tokenizer: Encoder) -> tuple[int, ...]:
        """Return the tokens of a style instruction, which is not normalised.

        Preamble and end token are added unless the instruction includes them.
        """
        plain = strip_controls(instruction).strip().removesuffix(END_OF_PROMPT).strip()
        if self.preamble:
            plain = plain.removeprefix(self.preamble).strip()
        return self._encode_with_end(" ".join(part for part in (self.preamble, plain) if part), tokenizer)

    def _encode_with_end(self, text: str, tokenizer: Encoder) -> tuple[int, ...]:
        return (*tokenizer.encode(text, allow_special=False), tokenizer.special_ids[END_OF_PROMPT])


COSYVOICE2_TEXT = PromptForm(special_tokens=COSYVOICE2_SPECIAL_TOKENS, tags=COSYVOICE2_TAGS)

COSYVOICE3_TEXT = PromptForm(
    special_tokens=COSYVOICE3_SPECIAL_TOKENS,
    tags=COSYVOICE3_TAGS,
    preamble="You are a helpful assistant.",
)
