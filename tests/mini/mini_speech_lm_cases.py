"""A vocabulary, lines and a small speech LM for the tests of its trainer."""

from __future__ import annotations

from pathlib import Path

from fakes import fake_table

from studio.text.tokenizer import TextTokenizer
from training.corpus.tokens import TokenTable
from training.shipping.instructions import read_instructions
from training.shipping.respellings import write_respellings
from training.shipping.text_vocabulary import open_text_vocabulary, write_text_vocabulary
from training.trainers.speech_lm_network import FactoredSpeechLM, speech_lm_config

TEXTS = [
    "The river runs past the old red house.",
    "Seven green birds, and then eleven more, came back to the harbour.",
    "You are a helpful assistant.",
    "Please speak slowly.",
    "一个人，好水。",
]
# All words of the corpus of tests but "green" and "blue", which stay in letters.
PHONEMES = {
    "one": "wˈʌn", "two": "tˈu", "three": "θɹˈi", "four": "fˈɔɹ", "five": "fˈIv", "six": "sˈɪks", "seven": "sˈɛvən",
    "red": "ɹˈɛd", "river": "ɹˈɪvəɹ", "house": "hˈWs",
}  # fmt: skip


def small_vocabulary(folder: Path) -> TextTokenizer:
    write_respellings(folder, PHONEMES, "of a test")
    write_text_vocabulary(folder, TEXTS * 2, num_merges=40)
    return open_text_vocabulary(folder)


def small_speech_lm(tokenizer: TextTokenizer, table: TokenTable | None = None) -> FactoredSpeechLM:
    config = speech_lm_config(
        tokenizer.num_tokens, hidden_size=32, num_layers=2, num_heads=2, num_kv_heads=1, intermediate_size=48
    )
    return FactoredSpeechLM(config, table or fake_table()).eval()


INSTRUCTIONS = read_instructions()
