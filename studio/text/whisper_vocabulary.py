"""The vocabulary of CosyVoice-300M: the multilingual one of OpenAI's Whisper (specification B3).

``resources/tokenizers/whisper-multilingual.tiktoken`` is the file of the package openai-whisper 20231117, unchanged
(MIT licence, beside it). Each line has the bytes of a token in base64, and its id, which is also its merge rank.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache

from studio import paths
from studio.errors import DamagedModelFile, MissingModelFile

VOCABULARY_FILE = "whisper-multilingual.tiktoken"
VOCABULARY_SHA256 = "b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126"
# Whisper splits text into words with this pattern before merging bytes.
WORD_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

_NUM_BYTE_TOKENS = 50_257
_LANGUAGES = (
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml "
    "cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am "
    "yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue"
)
_TASKS = "translate transcribe startoflm startofprev nospeech notimestamps"
_NUM_TIMES = 1501  # 0.00 to 30.00 s in steps of 20 ms


def _special_tokens() -> tuple[str, ...]:
    names = ["endoftext", "startoftranscript", *_LANGUAGES.split(), *_TASKS.split()]
    return tuple(f"<|{name}|>" for name in [*names, *(f"{index / 50:.2f}" for index in range(_NUM_TIMES))])


SPECIAL_TOKENS = _special_tokens()
NUM_WHISPER_TOKENS = _NUM_BYTE_TOKENS + len(SPECIAL_TOKENS)
# Some texts mark Japanese with its country code.
_ALIASES = {"<|jp|>": "<|ja|>"}


def special_ids() -> dict[str, int]:
    """Return the ids of the special tokens, which follow those of the byte tokens, and of their aliases."""
    ids = {token: _NUM_BYTE_TOKENS + index for index, token in enumerate(SPECIAL_TOKENS)}
    return ids | {alias: ids[token] for alias, token in _ALIASES.items()}


@cache
def read_vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return the ids of the byte tokens, with a letter for each byte, and the merges in order.

    Whisper merges any two adjacent tokens that form a token, lowest rank first, so every division of a token into two
    tokens is a merge. Raise ``MissingModelFile`` and ``DamagedModelFile``.
    """
    ranks = _read_ranks()
    letters = _letters()
    spelled = {token: "".join(letters[byte] for byte in token) for token in ranks}
    merges = [
        (spelled[token[:cut]], spelled[token[cut:]])
        for token in ranks  # ordered by rank
        for cut in range(len(token) - 1, 0, -1)
        if token[:cut] in ranks and token[cut:] in ranks
    ]
    return {spelled[token]: rank for token, rank in ranks.items()}, merges


def _read_ranks() -> dict[bytes, int]:
    path = paths.resources() / "tokenizers" / VOCABULARY_FILE
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MissingModelFile(
            "The vocabulary {file} is missing from the program.", remedy="Reinstall the program.", file=path.name
        ) from error
    if hashlib.sha256(content).hexdigest() != VOCABULARY_SHA256:
        raise DamagedModelFile(
            "The vocabulary {file} of the program is damaged.", remedy="Reinstall the program.", file=path.name
        )
    lines = (line.split() for line in content.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def _letters() -> list[str]:
    """Return the letter that byte-level vocabularies use for each byte: itself if it is visible, else one above 255."""
    visible = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    letters, num_hidden = [], 0
    for byte in range(256):
        letters.append(chr(byte if byte in visible else 256 + num_hidden))
        num_hidden += byte not in visible
    return letters
