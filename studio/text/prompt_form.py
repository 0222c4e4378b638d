"""How a generation wants to be asked: what stands in front of the text, and which special tokens it knows.

Decided: a form is data, and its three methods give the prompt's text tokens for the three ways of
asking (specification B6, B7). Because generations differ in a prefix and in lists, not in kind.
Instead of: control tokens in strings that travel through the normaliser and may be forgotten.
The forms are for text tokenizers of the Qwen kind; CosyVoice-300M will bring a form of its own.
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
    """The prompt's text of one generation. ``preamble`` stands before every prompt, closed by the end-of-prompt mark."""

    special_tokens: tuple[str, ...]
    tags: TagSet
    preamble: str = ""

    def zero_shot(self, transcript: str, tokenizer: Encoder, *, normalize: bool = True) -> tuple[int, ...]:
        """Tokens of the reference clip's transcript: in spoken form, never split."""
        bare = transcript.strip().removeprefix(self.preamble + END_OF_PROMPT)
        return self.cross_lingual(tokenizer) + transcript_tokens(bare, self.tags, tokenizer, normalize=normalize)

    def cross_lingual(self, tokenizer: Encoder) -> tuple[int, ...]:
        """Tokens before a text that no transcript comes before.

        The official program makes this prefix part of the text, and then can neither normalise nor
        split it; the sequence of tokens is the same (specification J2, row 10).
        """
        return self._closed(self.preamble, tokenizer) if self.preamble else _NO_TOKENS

    def instruct(self, instruction: str, tokenizer: Encoder) -> tuple[int, ...]:
        """Tokens of a style instruction, as a person says it; it is not normalised.

        Preamble and end mark are added here, and do not come twice if they were pasted along.
        """
        wish = strip_controls(instruction).strip().removesuffix(END_OF_PROMPT).strip()
        if self.preamble:
            wish = wish.removeprefix(self.preamble).strip()
        return self._closed(" ".join(part for part in (self.preamble, wish) if part), tokenizer)

    def _closed(self, text: str, tokenizer: Encoder) -> tuple[int, ...]:
        return (*tokenizer.encode(text, allow_special=False), tokenizer.special_ids[END_OF_PROMPT])


COSYVOICE2_TEXT = PromptForm(special_tokens=COSYVOICE2_SPECIAL_TOKENS, tags=COSYVOICE2_TAGS)

COSYVOICE3_TEXT = PromptForm(
    special_tokens=COSYVOICE3_SPECIAL_TOKENS,
    tags=COSYVOICE3_TAGS,
    preamble="You are a helpful assistant.",
)
