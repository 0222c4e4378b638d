"""The requests of sentences."""

from __future__ import annotations

from pathlib import Path

from studio.pipeline.sentences import fewest_tokens
from studio.text.letter_sounds import LETTER_SOUNDS_FILE, LetterSounds
from studio.text.respellings import Respellings
from studio.text.segmentation import Sentence

SENTENCE = Sentence("你好。", "你好。", (1, 2, 3, 4, 5))


def test_fast_speech_of_a_model_with_respellings_of_all_words_is_not_prolonged(tmp_path: Path) -> None:
    all_words = Respellings({}, LetterSounds(tmp_path / LETTER_SOUNDS_FILE))
    assert fewest_tokens(SENTENCE, None, None) is None
    assert fewest_tokens(SENTENCE, None, Respellings({})) is None
    assert fewest_tokens(SENTENCE, None, all_words) == 5
    assert fewest_tokens(SENTENCE, 12, all_words) == 12
