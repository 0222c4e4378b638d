"""Prompt text and special tokens of each generation.

Decision: a form is data with a method for each of the three modes, which returns the tokens of the prompt text
(specification B6, B7). Reason: generations differ only in a prefix and in lists. Alternative: control tokens in strings
that pass through the normaliser.
"""

from __future__ import annotations

from dataclasses import dataclass

from studio.text.language import detect_language
from studio.text.normalize import strip_controls
from studio.text.spoken import Encoder, fold, spoken_transcript, text_tokens
from studio.text.tags import (
    COSYVOICE1_TAGS,
    COSYVOICE2_SPECIAL_TOKENS,
    COSYVOICE2_TAGS,
    COSYVOICE3_SPECIAL_TOKENS,
    COSYVOICE3_TAGS,
    END_OF_PROMPT,
    TagSet,
)


@dataclass(frozen=True, slots=True)
class PromptForm:
    """Prompt text of one generation."""

    special_tokens: tuple[str, ...]
    tags: TagSet
    preamble: str = ""  # precedes every prompt, followed by the end-of-prompt token

    def zero_shot(self, transcript: str, tokenizer: Encoder, *, normalize: bool = True) -> tuple[int, ...]:
        """Return the prompt tokens for a reference clip with a transcript."""
        bare = transcript.strip().removeprefix(self.preamble + END_OF_PROMPT)
        spoken = spoken_transcript(bare, self.tags, normalize=normalize)
        return self.cross_lingual(tokenizer) + text_tokens(fold(spoken, tokenizer), tokenizer)

    def cross_lingual(self, tokenizer: Encoder) -> tuple[int, ...]:
        """Return the prompt tokens for a reference clip without a transcript.

        In the official program this prefix is part of the text, which then cannot be normalised or split. The
        token sequence is the same (specification J2, row 10).
        """
        return self._encode_with_end(self.preamble, tokenizer) if self.preamble else ()

    def instruct(self, instruction: str, tokenizer: Encoder) -> tuple[int, ...]:
        """Return the prompt tokens for a style instruction, which is not normalised.

        The preamble and the end token are added unless the instruction includes them.
        """
        plain = strip_controls(instruction).strip().removesuffix(END_OF_PROMPT).strip()
        if self.preamble:
            plain = plain.removeprefix(self.preamble).strip()
        return self._encode_with_end(" ".join(part for part in (self.preamble, plain) if part), tokenizer)

    def num_instruction_tokens(self, prompt: tuple[int, ...], tokenizer: Encoder) -> int:
        """Return the number of tokens of ``prompt`` up to the end-of-prompt token, in generations with a preamble."""
        end = tokenizer.special_ids.get(END_OF_PROMPT)
        return prompt.index(end) + 1 if self.preamble and end in prompt else 0

    def _encode_with_end(self, text: str, tokenizer: Encoder) -> tuple[int, ...]:
        end = tokenizer.special_ids.get(END_OF_PROMPT)
        if end is None:  # CosyVoice-300M was trained with the letters of the mark
            return tokenizer.encode(text + END_OF_PROMPT, allow_special=False)
        return (*tokenizer.encode(text, allow_special=False), end)


class LanguageTags:
    """Tags of the sentences of one text, in order, after a clip without a transcript (specification B7).

    A typed tag applies until the next one. Without it, the language is detected.
    """

    def __init__(self, form: PromptForm) -> None:
        self._known = form.tags.languages
        self._typed = ""

    def before(self, spoken: str) -> str:
        """Return the tag that the sentence ``spoken`` needs, or "" if it has its own, or there is none."""
        spoken = spoken.lstrip()
        typed = [(spoken.rfind(tag), tag) for tag in self._known if tag in spoken]
        needed = "" if spoken.startswith(self._known or "\0") else self._typed or f"<|{detect_language(spoken).value}|>"
        if typed:
            self._typed = max(typed)[1]
        return needed if needed in self._known else ""


COSYVOICE1_TEXT = PromptForm(special_tokens=(), tags=COSYVOICE1_TAGS)

COSYVOICE2_TEXT = PromptForm(special_tokens=COSYVOICE2_SPECIAL_TOKENS, tags=COSYVOICE2_TAGS)

COSYVOICE3_TEXT = PromptForm(
    special_tokens=COSYVOICE3_SPECIAL_TOKENS,
    tags=COSYVOICE3_TAGS,
    preamble="You are a helpful assistant.",
)
