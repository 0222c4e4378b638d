"""``train.py words``: the pronunciation of words and syllables in the bundled voice, from the teacher's lexicons.

Decision: a word is spelled with one letter for each sound, which the vocabulary joins to longer tokens. Reason: the
program generates at least two speech tokens for each text token (specification E2), so one text token for each sound
would prevent fast speech. Alternative: the sounds among the special tokens, which are used for corrections by the user.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from studio.text.respellings import RESPELLINGS_FILE
from training.corpus.phones import NUMBER_OF_LABEL, labels_of_word
from training.corpus.utterance import CorpusFailed
from training.teacher.mandarin import MandarinSounds
from training.trainers.options import BUILD_FOLDER

VOCABULARY_FOLDER = "text_vocabulary"  # in the work folder; CosyVoice-BlankEN in the model folder
SYLLABLES_FILE = "syllables.json"  # in the work folder

_CONSONANTS = {
    "b": "b", "d": "d", "f": "f", "h": "h", "j": "y", "k": "k", "l": "l", "m": "m", "n": "n", "p": "p", "s": "s",
    "t": "t", "v": "v", "w": "w", "z": "z", "ɡ": "g", "ɹ": "r", "ð": "e", "ŋ": "q", "ʃ": "x", "ʧ": "c", "ʤ": "j",
    "θ": "o", "ʒ": "i", "ɾ": "t", "ʔ": "t",
}  # fmt: skip
# Vowels without and with stress. Diphthongs are single symbols.
_VOWELS = {
    "A": ("Â", "A"), "I": ("Á", "I"), "O": ("F", "O"), "W": ("Ŵ", "W"), "Y": ("Ý", "Y"), "i": ("J", "E"),
    "u": ("u", "U"), "æ": ("Æ", "H"), "ɑ": ("Ä", "B"), "ɔ": ("Ö", "C"), "ə": ("a", "Q"), "ɛ": ("D", "G"),
    "ɜ": ("Ë", "R"), "ɪ": ("S", "T"), "ʊ": ("Ü", "V"), "ʌ": ("Û", "X"), "ᵊ": ("K", "K"), "ᵻ": ("Z", "Z"),
}  # fmt: skip
SYMBOL_OF_LETTER: dict[str, str] = {
    letter: symbol
    for symbol, letters in (
        *((symbol, (letter,)) for symbol, letter in reversed(_CONSONANTS.items())),
        *_VOWELS.items(),
    )
    for letter in letters
}
STRESSED_LETTERS = frozenset(stressed for plain, stressed in _VOWELS.values() if plain != stressed)
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)*")
_STRESSES = "ˈˌ"
# Words whose sound depends on the next one; the lexicons have the rarer form.
_BEFORE_CONSONANTS = {"a": "ə", "the": "ðə", "to": "tə"}
_LETTER_NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NOTICE = """Words and their sounds, one letter each, from the lexicons of misaki 0.7 (Apache License 2.0), the
pronunciation of Kokoro. Letters in capitals are mostly vowels with stress."""


def respelled(phonemes: str) -> str:
    """Return one letter for each of the teacher's symbols. Vowels with the main stress have their own letters."""
    letters: list[str] = []
    is_stressed = False
    for symbol in phonemes:
        if symbol in _STRESSES:
            is_stressed = symbol == "ˈ" or is_stressed
        elif symbol in _VOWELS:
            letters.append(_VOWELS[symbol][is_stressed])
            is_stressed = False
        else:
            letters.append(_CONSONANTS.get(symbol, ""))
    return "".join(letters)


def read_lexicon(teacher: Path) -> dict[str, str]:
    """Return the usual American phonemes of words in lower case, and of names of letters such as "b.".

    Raise ``CorpusFailed`` if the lexicons are missing.
    """
    phonemes: dict[str, str] = {}
    names: dict[str, str] = {}
    for lexicon in ("us_silver", "us_gold"):  # gold is verified
        path = teacher / "misaki" / "data" / f"{lexicon}.json"
        if not path.is_file():
            raise CorpusFailed(f"{path} is missing. Create the teacher's folder: train.py teacher --to FOLDER")
        for word, found in json.loads(path.read_text("utf-8")).items():
            usual = found["DEFAULT"] if isinstance(found, dict) else found
            if not usual:
                continue
            if word in _LETTER_NAMES:
                names[f"{word.lower()}."] = usual
            plain = word.lower()
            # A name does not replace a word with the same letters.
            if (
                _WORD.fullmatch(plain)
                and (word == plain or word[1:].islower())
                and (word == plain or plain not in phonemes)
            ):
                phonemes[plain] = usual
    return {**dict(sorted(phonemes.items())), **names, **_BEFORE_CONSONANTS}


def write_respellings(folder: Path, words: Mapping[str, str], notice: str = _NOTICE) -> None:
    """Write ``respellings.txt`` to ``folder``, from phonemes of words."""
    folder.mkdir(parents=True, exist_ok=True)
    remarks = [f"# {line}".rstrip() for line in notice.splitlines()]
    lines = [f"{word}\t{letters}" for word, phonemes in words.items() if (letters := respelled(phonemes))]
    (folder / RESPELLINGS_FILE).write_text("\n".join([*remarks, *lines]) + "\n", "utf-8")


def labels_of_letters() -> dict[str, list[int]]:
    """Return the numbers of the sounds of each letter."""
    return {letter: _numbers(labels_of_word(symbol)) for letter, symbol in SYMBOL_OF_LETTER.items()}


def write_syllables(path: Path, teacher: Path) -> None:
    """Write the numbers of the sounds of each Mandarin syllable, such as "hao"."""
    from pypinyin import Style, pinyin  # noqa: PLC0415 - loads its dictionary

    transcribe = MandarinSounds(teacher, lambda _: "").ipa
    read = pinyin("".join(map(chr, range(0x4E00, 0x9FA6))), style=Style.NORMAL, heteronym=True, v_to_u=True)
    found: dict[str, list[int]] = {}
    for syllable in sorted({each for readings in read for each in readings}):
        try:
            found[syllable] = _numbers(labels_of_word(transcribe(f"{syllable}1"), is_mandarin=True))
        except (KeyError, ValueError):
            continue  # interjections without a vowel, such as "hng"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, ensure_ascii=False) + "\n", "utf-8")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="train.py words", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder of the teacher: train.py teacher --to")
    parser.add_argument("--work", type=Path, default=BUILD_FOLDER / "work", help="folder of checkpoints and logs")
    parsed = parser.parse_args(arguments)
    try:
        write_respellings(parsed.work / VOCABULARY_FOLDER, read_lexicon(parsed.teacher))
        write_syllables(parsed.work / SYLLABLES_FILE, parsed.teacher)
    except CorpusFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def _numbers(labels: Sequence[str]) -> list[int]:
    return [NUMBER_OF_LABEL[label] for label in labels]
