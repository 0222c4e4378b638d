"""NaN is never played or written to a file, where it would become a full-scale click."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import noise_models
import numpy as np
import pytest
import torch

from studio.errors import ModelOverflow
from studio.model.stages import SourceNoise, Vocoder, VocoderStream
from studio.pipeline.loading import load_synthesizer
from studio.pipeline.request import EngineOptions, RequestControl, SynthesisRequest, VoiceReference


class Overflowing:
    """Make the vocoder return NaN from its second chunk on, or in a whole utterance."""

    def __init__(self, vocoder: Vocoder) -> None:
        self._vocoder = vocoder
        self._stream: VocoderStream | None = None
        self.sample_rate = vocoder.sample_rate
        self.samples_per_frame = vocoder.samples_per_frame
        self.noise = vocoder.noise
        self._num_chunks = 0

    def open_stream(self, noise: SourceNoise) -> VocoderStream:
        self._stream = self._vocoder.open_stream(noise)
        return self

    def synthesize(self, mel: torch.Tensor, *, is_last: bool) -> torch.Tensor:
        assert self._stream is not None
        self._num_chunks += 1
        return self._stream.synthesize(mel, is_last=is_last) / float(self._num_chunks < 2)

    def synthesize_whole(self, mel: torch.Tensor, noise: SourceNoise) -> torch.Tensor:
        return self._vocoder.synthesize_whole(mel, noise) * float("nan")


@pytest.mark.slow
@pytest.mark.parametrize("speed", [1.0, 1.2])
@pytest.mark.parametrize("is_streaming", [True, False])
def test_a_line_ends_with_an_error_at_an_overflow(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_streaming: bool, speed: float
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path))
    synthesizer = load_synthesizer(noise_models.V3, EngineOptions(speech_lm_precision="float32", num_threads=1))
    synthesizer.use(vocoder=Overflowing(synthesizer.stages.vocoder), words={}, names={})
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", name="a")
    request = SynthesisRequest("A line.", voice, forced_tokens=60)
    request = replace(request, is_streaming=is_streaming, speed=speed)
    heard = []
    with pytest.raises(ModelOverflow, match="not a number"):
        heard.extend(synthesizer.stream(request, control=RequestControl()))
    synthesizer.close()
    assert bool(heard) == is_streaming, "its first chunk was sound"
    assert all(np.isfinite(chunk.samples).all() for chunk in heard)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llm.pt", "flow.pt", "hift.pt"])
@pytest.mark.parametrize("source", [noise_models.V1, noise_models.V3], ids=lambda folder: folder.name)
def test_weights_that_are_not_numbers_end_with_an_error(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Path, name: str
) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "model"
    shutil.copytree(source, folder, copy_function=shutil.copyfile)
    tensors = torch.load(folder / name, weights_only=True)
    torch.save({key: torch.full_like(tensor, float("nan")) for key, tensor in tensors.items()}, folder / name)
    synthesizer = load_synthesizer(folder, EngineOptions(speech_lm_precision="float32", num_threads=1))
    voice = VoiceReference(reference / "inputs" / "prompt_a.wav", name="a")
    with pytest.raises(ModelOverflow):
        list(synthesizer.stream(SynthesisRequest("A line.", voice), control=RequestControl()))
    synthesizer.close()
