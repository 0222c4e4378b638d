"""Alignment of speech with its text, from the attention of the language model.

The heads that follow the text are chosen once for each weight file and stored in the cache folder. They are found on the
clips of the bundled voices, whose transcripts are known; this needs no generation. A model without such heads gives
evidence without an alignment.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from studio import paths
from studio.audio.files import read_audio
from studio.errors import CannotWrite, DiskFull, StudioError
from studio.model.checkpoint import Checkpoint, sampled_digest
from studio.model.speech_lm.alignment_heads import choose_alignment_heads, forced_attention
from studio.model.speech_lm.torch_lm import CachedSpeechLM, TorchSpeechLM
from studio.model.stages import (
    AttentionHead,
    AttentionMap,
    AttentionTrace,
    SpeechLM,
    SpeechTokenizer,
    SpeechTokenRequest,
)
from studio.pipeline.enrolment import source_tokens
from studio.storage.atomic_file import atomic_write
from studio.storage.json_input import read_json
from studio.text.segmentation import Sentence, prepare_text

_log = logging.getLogger(__name__)
# Increase when the choice changes.
_CHOICE_VERSION = 2


class AlignmentReader:
    """Reads the alignment of sentences. Thread-safe: the lines of a batch share it."""

    def __init__(
        self, checkpoint: Checkpoint, open_tokenizer: Callable[[], SpeechTokenizer], variant: str | None
    ) -> None:
        self._checkpoint = checkpoint
        self._open_tokenizer = open_tokenizer
        self._weights = checkpoint.speech_lm_path(variant)
        self._lock = threading.Lock()
        self._heads: tuple[AttentionHead, ...] | None = None
        self._is_read = False

    def new_trace(self) -> AttentionTrace | None:
        """Return a trace for one sentence, or None if the heads are not known yet or the model has none."""
        heads = self._known_heads()
        return AttentionTrace(heads) if heads else None

    def attention(
        self, speech_lm: SpeechLM, request: SpeechTokenRequest, tokens: Sequence[int], trace: AttentionTrace | None
    ) -> AttentionMap | None:
        """Return the attention (speech tokens, text tokens) of a generated sentence, or None without such heads.

        If ``trace`` has not recorded it, the plain model processes the tokens once more.
        """
        if trace is not None and trace.weights is not None and len(trace.weights) >= len(tokens):
            return trace.weights[: len(tokens)]
        plain = plain_speech_lm(speech_lm)
        if plain is None or not tokens or not request.text_tokens:
            return None
        try:
            heads = self._chosen_heads(plain)
            return forced_attention(plain, request, tokens, heads) if heads else None
        except (StudioError, RuntimeError) as error:  # out of memory, for example; the take itself is complete
            _log.warning("no alignment of a sentence: %s", error)
            return None

    def _known_heads(self) -> tuple[AttentionHead, ...] | None:
        with self._lock:
            if not self._is_read:
                self._is_read = True
                self._heads = _stored_heads(self._path())
            return self._heads

    def _chosen_heads(self, plain: TorchSpeechLM) -> tuple[AttentionHead, ...]:
        known = self._known_heads()
        if known is not None:
            return known
        chosen = choose_alignment_heads(plain, _bundled_sentences(self._checkpoint, self._open_tokenizer()))
        _log.info("heads that follow the text: %s", chosen or "none, so takes are checked without an alignment")
        with self._lock:
            self._heads = chosen
        content = {"heads": [[head.layer, head.head] for head in chosen]}
        try:
            atomic_write(self._path(), json.dumps(content).encode())
        except (DiskFull, CannotWrite) as error:
            _log.warning("cannot store the choice of attention heads: %s", error)
        return chosen

    def _path(self) -> Path:
        parts = (_CHOICE_VERSION, sampled_digest(self._weights).hex(), self._checkpoint.front_end_key())
        name = hashlib.sha256(repr(parts).encode()).hexdigest()
        return paths.cache_folder() / "engines" / f"attention-{name}.json"


def _stored_heads(path: Path) -> tuple[AttentionHead, ...] | None:
    try:
        return tuple(AttentionHead(int(layer), int(head)) for layer, head in read_json(path)["heads"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def plain_speech_lm(speech_lm: SpeechLM) -> TorchSpeechLM | None:
    """Return the PyTorch model of CosyVoice2 or CosyVoice3 behind an engine, or None if it has none."""
    model = cached_speech_lm(speech_lm)
    return model if isinstance(model, TorchSpeechLM) else None


def cached_speech_lm(speech_lm: SpeechLM) -> CachedSpeechLM[Any] | None:
    """Return the PyTorch model of any generation behind an engine, or None if it has none."""
    plain = getattr(speech_lm, "plain", None)
    model = plain() if callable(plain) else None
    return model if isinstance(model, CachedSpeechLM) else None


def _bundled_sentences(
    checkpoint: Checkpoint, speech_tokenizer: SpeechTokenizer
) -> list[tuple[SpeechTokenRequest, tuple[int, ...]]]:
    """Return the transcripts of the bundled voices as requests, with the speech tokens of their clips."""
    form, text_tokenizer = checkpoint.generation.text, checkpoint.load_text_tokenizer()
    sentences = []
    for clip in sorted((paths.resources() / "voices").glob("*.wav")):
        transcript = clip.with_suffix(".txt").read_text("utf-8").strip()
        text_tokens = [
            token
            for item in prepare_text(transcript, form=form, tokenizer=text_tokenizer)
            if isinstance(item, Sentence)
            for token in item.text_tokens
        ]
        request = SpeechTokenRequest(
            text_tokens=tuple(text_tokens), prompt_text_tokens=form.cross_lingual(text_tokenizer)
        )
        sentences.append((request, source_tokens(read_audio(clip), speech_tokenizer)))
    return sentences
