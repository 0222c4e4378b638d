"""The requests of sentences."""

from __future__ import annotations

from studio.pipeline.sentences import fewest_tokens
from studio.text.respellings import Respellings
from studio.text.segmentation import Sentence

SENTENCE = Sentence("你好。", "你好。", (1, 2, 3, 4, 5))


def test_fast_speech_of_a_model_with_respellings_is_not_prolonged() -> None:
    assert fewest_tokens(SENTENCE, None, None) is None
    assert fewest_tokens(SENTENCE, None, Respellings({})) == 5
    assert fewest_tokens(SENTENCE, 12, Respellings({})) == 12
