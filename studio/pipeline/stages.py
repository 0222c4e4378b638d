"""The stages of a loaded model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from studio.model.generations import Generation
from studio.model.stages import FlowDecoder, SpeechLM, Vocoder
from studio.pipeline.alignment import AlignmentReader
from studio.pipeline.enrolment import Frontend
from studio.text.styles import Styles
from studio.text.tokenizer import TextTokenizer


@dataclass(frozen=True, slots=True)
class Stages:
    generation: Generation
    speech_lm: SpeechLM
    flow: FlowDecoder
    vocoder: Vocoder
    text_tokenizer: TextTokenizer
    frontend: Callable[[], Frontend]  # loads the front end when the first new voice needs it
    styles: Styles
    alignment: AlignmentReader
    is_provisional: bool = False  # the precisions have not been compared; see ``EngineOptions.compares_later``
