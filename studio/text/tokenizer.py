"""Text to token ids: byte-level BPE of Qwen2 (``CosyVoice-BlankEN/``) or Whisper, and a generation's special tokens
and prompt text.

Decision: special tokens are found before the BPE, and only if the caller allows them. Reason: if they were always
recognised, typed text could control the model. Alternative: added tokens of the library, switched on and off for each
call.

Decision: a prompt form is data with a method for each of the three modes, which returns the tokens of the prompt text
(specification B6, B7). Reason: generations differ only in a prefix and in lists. Alternative: control tokens in strings
that pass through the normaliser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import regex
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE

from studio.errors import DamagedModelFile, MissingModelFile
from studio.storage.json_input import parse_json
from studio.text import whisper_vocabulary
from studio.text.chinese_reading import syllables
from studio.text.language import detect_language
from studio.text.normalize import strip_controls
from studio.text.pinyin import HAN, syllable_tokens
from studio.text.respellings import RESPELLINGS_FILE, Respellings, fold_to_ascii
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

# Qwen2 splits text into words with this pattern before merging bytes (specification B4).
WORD_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_HAN_PARTS = regex.compile(f"({HAN.pattern})")
_REMEDY = "Download the model again, or repair its folder."


class TextTokenizer:
    """Text tokenizer of one model folder. Thread-safe."""

    def __init__(
        self,
        vocabulary: dict[str, int],
        merges: list[tuple[str, str]],
        special_ids: dict[str, int],
        respellings: Respellings | None = None,
        *,
        word_pattern: str = WORD_PATTERN,
        composes: bool = True,
    ) -> None:
        """``composes`` is whether letters and their accents are composed first (Unicode NFC)."""
        self._bpe = Tokenizer(BPE(vocab=vocabulary, merges=merges))
        if composes:
            self._bpe.normalizer = normalizers.NFC()
        self._bpe.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(word_pattern), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        self._bpe.decoder = decoders.ByteLevel()
        self.special_ids = special_ids
        self.respellings = respellings
        self.num_tokens = len({*vocabulary.values(), *special_ids.values()})
        self._special_values = frozenset(special_ids.values())
        longest_first = sorted(special_ids, key=len, reverse=True)
        self._special_pattern = regex.compile("|".join(regex.escape(token) for token in longest_first))

    @classmethod
    def from_folder(cls, folder: Path, form: PromptForm) -> TextTokenizer:
        """Load the tokenizer of a ``CosyVoice-BlankEN/`` folder with the special tokens of ``form``.

        Raise ``MissingModelFile`` and ``DamagedModelFile``.
        """
        vocabulary = _read_vocabulary(folder / "vocab.json")
        merges = _read_merges(folder / "merges.txt")
        special_ids = _read_base_specials(folder / "tokenizer_config.json")
        respellings_path = folder / RESPELLINGS_FILE
        respellings = Respellings.read(respellings_path) if respellings_path.exists() else None
        num_tokens = len(vocabulary.keys() | special_ids.keys())
        for token in form.special_tokens:
            if token in special_ids:
                continue
            known = vocabulary.get(token)
            special_ids[token] = num_tokens if known is None else known
            num_tokens += known is None
        try:
            return cls(vocabulary, merges, special_ids, respellings)
        except Exception as error:  # the library raises plain Exception for inconsistent merges
            raise DamagedModelFile(
                "vocab.json and merges.txt in {folder} do not match.", remedy=_REMEDY, folder=folder
            ) from error

    @classmethod
    def whisper(cls) -> TextTokenizer:
        """Return the tokenizer of CosyVoice-300M, whose vocabulary is part of the program.

        Raise ``MissingModelFile`` and ``DamagedModelFile``.
        """
        vocabulary, merges = whisper_vocabulary.read_vocabulary()
        return cls(
            vocabulary,
            merges,
            whisper_vocabulary.special_ids(),
            word_pattern=whisper_vocabulary.WORD_PATTERN,
            composes=False,
        )

    def encode(self, text: str, *, allow_special: bool) -> tuple[int, ...]:
        """Return the ids of ``text``, without added tokens.

        If ``allow_special``, special tokens in the text become their ids. Otherwise ``<|endofprompt|>`` or
        ``[breath]`` is encoded like other text. Lone surrogates, which are invalid in UTF-8, are dropped.
        """
        text = text.encode("utf-8", "ignore").decode("utf-8")
        if not allow_special:
            return self._encode_plain(text)
        ids: list[int] = []
        position = 0
        for match in self._special_pattern.finditer(text):
            ids += self._encode_plain(text[position : match.start()])
            ids.append(self.special_ids[match.group()])
            position = match.end()
        return (*ids, *self._encode_plain(text[position:]))

    @property
    def reads_pinyin(self) -> bool:
        """Whether Chinese characters are encoded as phone tokens."""
        return self.respellings is not None

    def encode_speech(self, words: str) -> tuple[int, ...]:
        """Return the ids of ``words``. If the model has respellings, words are respelled, and Chinese is in pinyin."""
        if self.respellings is None:
            return self.encode(words, allow_special=False)
        words = words.encode("utf-8", "ignore").decode("utf-8")
        return tuple(token for token, _ in self._word_starts(words, 0))

    def folded(self, words: str) -> str:
        """Return ``words`` with the letters and marks that the model knows. Only models with respellings lack some."""
        return fold_to_ascii(words) if self.respellings else words

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ``ids`` without special tokens."""
        return str(self._bpe.decode([token for token in ids if token not in self._special_values]))

    def pieces(self, text: str, ids: Sequence[int]) -> tuple[str, ...]:
        """Return the part of ``text`` that each of ``ids`` stands for; joined they are ``text``.

        ``text`` is spoken text, with tags or without. The parts of a respelled word are proportional. Return an empty
        tuple if ``ids`` are not those of ``text``.
        """
        text = text.encode("utf-8", "ignore").decode("utf-8")
        for allow_special in (True, False):
            found = self._starts(text, allow_special=allow_special)
            if [token for token, _ in found] == list(ids):
                starts = [0, *(start for _, start in found[1:])]
                return tuple(text[start:end] for start, end in pairwise((*starts, len(text)))) if found else ()
        return ()

    def _starts(self, text: str, *, allow_special: bool) -> list[tuple[int, int]]:
        """Return the tokens of spoken ``text`` and the position in ``text`` at which each starts."""
        found: list[tuple[int, int]] = []
        position = 0
        for match in self._special_pattern.finditer(text) if allow_special else ():
            found += self._word_starts(text[position : match.start()], position)
            found.append((self.special_ids[match.group()], match.start()))
            position = match.end()
        return found + self._word_starts(text[position:], position)

    def _word_starts(self, text: str, offset: int) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        # Every second part is in Chinese characters.
        for index, part in enumerate(_HAN_PARTS.split(text) if self.respellings else [text]):
            if index % 2:
                for place, syllable in enumerate(syllables(part), offset):
                    phones = [self.special_ids.get(token) for token in syllable_tokens(syllable)]
                    found += [(token, place) for token in phones if token is not None]
            else:
                respelled, origins = (
                    self.respellings.respelled_with_origins(part)
                    if self.respellings
                    else (part, list(range(len(part) + 1)))
                )
                encoding = self._bpe.encode(respelled, add_special_tokens=False)
                found += [
                    (token, offset + origins[start])
                    for token, (start, _) in zip(encoding.ids, encoding.offsets, strict=True)
                ]
            offset += len(part)
        return found

    def num_bytes(self, token: int) -> int:
        """Return the number of bytes of a token's text. A byte-level vocabulary has one letter per byte."""
        return len(self._bpe.id_to_token(token) or "")

    def _encode_plain(self, text: str) -> tuple[int, ...]:
        return tuple(self._bpe.encode(text, add_special_tokens=False).ids) if text else ()


def _read_text(path: Path) -> str:
    if not path.is_file():
        raise MissingModelFile("{file} is missing from {folder}.", remedy=_REMEDY, file=path.name, folder=path.parent)
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(path) from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = parse_json(_read_text(path))
    except ValueError as error:
        raise _damaged(path) from error
    if not isinstance(values, dict):
        raise _damaged(path)
    return values


def _read_vocabulary(path: Path) -> dict[str, int]:
    vocabulary = _read_json(path)
    are_ids = all(type(token_id) is int for token_id in vocabulary.values())
    if not are_ids or sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise _damaged(path)
    # Bytes without a symbol would be dropped silently.
    if not vocabulary.keys() >= set(pre_tokenizers.ByteLevel.alphabet()):
        raise _damaged(path)
    return vocabulary


def _read_merges(path: Path) -> list[tuple[str, str]]:
    merges: list[tuple[str, str]] = []
    for line in _read_text(path).split("\n"):
        if not line or line.startswith("#version"):
            continue
        left, separator, right = line.rstrip("\r").partition(" ")
        if not separator or not left or not right or " " in right:
            raise _damaged(path)
        merges.append((left, right))
    if not merges:
        raise _damaged(path)
    return merges


def _read_base_specials(path: Path) -> dict[str, int]:
    try:
        added = _read_json(path)["added_tokens_decoder"]
        specials = {str(entry["content"]): int(token_id) for token_id, entry in added.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(path) from error
    if "" in specials:
        raise _damaged(path)
    return specials


def _damaged(path: Path) -> DamagedModelFile:
    return DamagedModelFile("{file} in {folder} is damaged.", remedy=_REMEDY, file=path.name, folder=path.parent)


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
        """Return the tag to put before the sentence ``spoken``, or "" if it begins with one or its language has none."""
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
