"""A vocabulary, lines and a small speech LM for the tests of its trainer."""

from __future__ import annotations

from pathlib import Path

from studio.text.tokenizer import TextTokenizer
from training.corpus.store import Corpus
from training.shipping.instructions import read_instructions
from training.shipping.respellings import respelled, write_respellings
from training.shipping.text_vocabulary import open_text_vocabulary, write_text_vocabulary
from training.trainers.factored import pair_labels
from training.trainers.speech_lm_lines import Line, read_lines
from training.trainers.speech_lm_network import FactoredSpeechLM, speech_lm_config

TEXTS = [
    "The river runs past the old red house.",
    "Seven green birds, and then eleven more, came back to the harbour.",
    "You are a helpful assistant.",
    "Please speak slowly.",
]
# All words of the corpus of tests but "green" and "blue", which stay in letters.
RESPELLED = {
    word: respelled(phones.split())
    for word, phones in {
        "one": "W AH1 N", "two": "T UW1", "three": "TH R IY1", "four": "F AO1 R", "five": "F AY1 V",
        "six": "S IH1 K S", "seven": "S EH1 V AH0 N", "red": "R EH1 D", "river": "R IH1 V ER0", "house": "HH AW1 S",
    }.items()
}  # fmt: skip


def small_vocabulary(folder: Path) -> TextTokenizer:
    write_respellings(folder, RESPELLED, "of a test")
    write_text_vocabulary(folder, TEXTS * 2, num_merges=40)
    return open_text_vocabulary(folder)


def lines_of(corpus: Corpus, folder: Path) -> list[Line]:
    return read_lines(corpus, folder / "spoken.json")


def small_speech_lm(tokenizer: TextTokenizer) -> FactoredSpeechLM:
    config = speech_lm_config(
        tokenizer.num_tokens, hidden_size=32, num_layers=2, num_heads=2, num_kv_heads=1, intermediate_size=48
    )
    return FactoredSpeechLM(config, pair_labels()).eval()


INSTRUCTIONS = read_instructions()
