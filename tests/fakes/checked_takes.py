"""A take of the bundled model, and faults that are planted in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from studio import paths
from studio.model.speech_lm import RepetitionAwareSampler
from studio.model.stages import SpeechTokenRequest
from studio.pipeline.evidence import EvidenceReader, Generation, UtteredSentence
from studio.pipeline.request import RequestControl, SentenceEvidence, SynthesisRequest, VoiceReference
from studio.pipeline.synthesizer import Synthesizer
from studio.take_checks.requests import CheckRequest
from studio.text.segmentation import Sentence, prepare_text

MODEL = paths.resources() / "models" / "studio-mini"
VOICES = paths.resources() / "voices"
RATE = 24_000
TEXT = "The captain folded the map, and looked toward the distant shore."


@dataclass(frozen=True)
class Take:
    """A take of ``TEXT`` by Ada."""

    synthesizer: Synthesizer = field(repr=False)
    samples: np.ndarray = field(repr=False)
    evidence: SentenceEvidence = field(repr=False)

    def request(self, **changes: object) -> CheckRequest:
        plain = CheckRequest(
            samples=self.samples,
            sample_rate=RATE,
            text=TEXT,
            language="en",
            evidence=(self.evidence,),
            prompt_clip=VOICES / "Ada.wav",
            model_folder=MODEL,
            recognizer="off",
        )
        return replace(plain, **changes)  # type: ignore[arg-type]

    def speak(self, text: str, **changes: object) -> tuple[np.ndarray, SentenceEvidence]:
        return speak(self.synthesizer, text, **changes)

    def of_tokens(self, tokens: list[int]) -> SentenceEvidence:
        """Return the evidence for ``tokens`` as speech of ``TEXT``."""
        stages, form = self.synthesizer.stages, self.synthesizer.checkpoint.generation.text
        (sentence,) = prepare_text(TEXT, form=form, tokenizer=stages.text_tokenizer)
        assert isinstance(sentence, Sentence)
        request = SpeechTokenRequest(sentence.text_tokens, form.cross_lingual(stages.text_tokenizer))
        sampler = RepetitionAwareSampler(stages.speech_lm.sampling, 0)
        generation = Generation(sentence.spoken, request, sampler, None, tokens, 1 << 30)
        spoken = UtteredSentence(generation, 0.0, 0.04 * len(tokens))
        (evidence,) = EvidenceReader(
            stages.alignment, stages.speech_lm, stages.text_tokenizer, (), 0.04, [spoken]
        ).read()
        return evidence


def speak(synthesizer: Synthesizer, text: str, seed: int = 1) -> tuple[np.ndarray, SentenceEvidence]:
    clip = VOICES / "Ada.wav"
    voice = VoiceReference(clip, transcript=clip.with_suffix(".txt").read_text("utf-8").strip())
    chunks = synthesizer.stream(SynthesisRequest(text, voice, seed=seed), control=RequestControl())
    pieces = []
    while True:
        try:
            pieces.append(next(chunks).samples)
        except StopIteration as end:
            return np.concatenate(pieces), end.value.evidence[0]


def bundled_clip(name: str) -> Path:
    return VOICES / f"{name}.wav"
