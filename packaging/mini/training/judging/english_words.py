"""English words by pocketsphinx: identification of one of several sentences, or free words.

This small recogniser of 2015 for American English makes many errors, even for the teacher's own speech.
Therefore its error rate is compared with that of the teacher.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from studio.audio.waveform import Waveform
from training.corpus.utterance import SAMPLE_RATE, CorpusFailed, FloatArray
from training.trainers.speech_lm_validation import edit_distance

_RATE = 16_000
# Peak level of the recogniser's training speech. Its channel estimate is reliable at this level.
_PEAK = 0.7


class Pocketsphinx:
    """Raise ``CorpusFailed`` if it is not installed."""

    def sentence(self, samples: FloatArray, sentences: tuple[str, ...]) -> int | None:
        """Return the index in ``sentences`` of the recognised sentence, or None. The sample rate is 24 kHz."""
        heard = _recognise(_grammar_decoder(sentences), samples)
        spelled = [" ".join(words_of(sentence)) for sentence in sentences]
        return spelled.index(heard) if heard in spelled else None

    def words(self, samples: FloatArray) -> list[str]:
        return _recognise(_open_decoder(), samples).split()


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def word_error_rate(heard: Sequence[Sequence[str]], texts: Sequence[str]) -> float:
    """Return the number of substitutions, insertions and deletions divided by the number of words in all texts."""
    errors = sum(edit_distance(words, words_of(text)) for words, text in zip(heard, texts, strict=True))
    return errors / max(1, sum(len(words_of(text)) for text in texts))


@lru_cache(maxsize=1)
def _open_decoder() -> Any:
    return _decoder()


@lru_cache(maxsize=2)
def _grammar_decoder(sentences: tuple[str, ...]) -> Any:
    choices = " | ".join(" ".join(words_of(sentence)) for sentence in sentences)
    grammar = f"#JSGF V1.0;\ngrammar sentences;\npublic <sentence> = {choices};\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sentences.jsgf"
        path.write_text(grammar, "utf-8")
        return _decoder(jsgf=str(path))


def _decoder(**settings: object) -> Any:
    try:
        from pocketsphinx import Decoder  # noqa: PLC0415 - only who judges speech needs it
    except ImportError:
        raise CorpusFailed("pocketsphinx is missing. Install it: pip install pocketsphinx") from None
    # Every sentence is recognised independently, without the channel estimate of the previous one.
    return Decoder(samprate=float(_RATE), loglevel="FATAL", cmn="batch", **settings)


def _recognise(decoder: Any, samples: FloatArray) -> str:
    at_16k = Waveform(samples, SAMPLE_RATE).resampled(_RATE).samples
    scaled = at_16k * np.float32(_PEAK / max(1e-6, float(np.abs(at_16k).max(initial=0.0))))
    decoder.start_utt()
    decoder.process_raw(np.round(32_767.0 * scaled).astype(np.int16).tobytes(), full_utt=True)
    decoder.end_utt()
    heard = decoder.hyp()
    return heard.hypstr if heard else ""
