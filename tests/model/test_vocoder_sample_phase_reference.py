"""CosyVoice-300M's vocoder equals the official implementation (golden/hift, golden/e2e)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from reference_limits import limit_of, speech_limit
from safetensors.torch import load_file
from table_noise import TableNoise

from studio.model.config import Precision, VocoderConfig
from studio.model.generations import GENERATIONS
from studio.model.official_yaml import Document
from studio.model.stages import SourceNoise
from studio.model.vocoder import HiFTVocoder, load_vocoder
from studio.model.vocoder.network import cumulative_phase, shifted

pytestmark = pytest.mark.reference

FAMILY = "cosyvoice1"
HELD_BACK_FRAMES = 20


@dataclass
class Golden:
    config: VocoderConfig
    vocoder: HiFTVocoder
    noise: SourceNoise
    hift: dict[str, torch.Tensor]
    e2e: dict[str, torch.Tensor]
    reference: Path

    def limit(self, *patterns: str) -> float:
        return limit_of(self.reference, FAMILY, *patterns)

    def source(self, f0: torch.Tensor) -> torch.Tensor:
        network, rate = self.vocoder.network, self.vocoder.samples_per_frame
        phase = network.phase(cumulative_phase(f0, self.config), None, f0.dtype)
        columns = self.noise.columns(0, f0.shape[-1] * rate)
        source: torch.Tensor = network.m_source(f0, shifted(phase, self.noise.initial_phases()), columns)
        return source


@pytest.fixture
def golden(reference: Path) -> Golden:
    folder = reference / FAMILY
    generation = next(known for known in GENERATIONS if known.name == FAMILY)
    config = generation.read_vocoder(Document(folder / "checkpoint" / generation.yaml_name).root)
    tables = load_file(reference / "inputs" / "noise.safetensors")
    return Golden(
        config=config,
        vocoder=load_vocoder(folder / "checkpoint" / "hift.pt", config, Precision.FLOAT32, "cpu"),
        noise=TableNoise(tables["gauss"], wraps=True, phases=tables["phase"].flatten()),
        hift=load_file(folder / "golden" / "hift.safetensors"),
        e2e=load_file(folder / "golden" / "e2e.safetensors"),
        reference=reference,
    )


def largest(difference: torch.Tensor) -> float:
    return float(difference.abs().max())


@pytest.mark.parametrize("run", ["full", "short"])
def test_pitch_source_and_speech_equal_the_official_ones(golden: Golden, run: str) -> None:
    mel = golden.hift[f"{run}/mel"]
    with torch.inference_mode():
        f0 = golden.vocoder.network.f0_predictor(mel)
        source = golden.source(golden.hift[f"{run}/f0"])
    assert largest(f0 - golden.hift[f"{run}/f0"]) <= 2 * golden.limit("hift:*/f0")
    assert largest(source - golden.hift[f"{run}/source"][0]) <= golden.limit("hift:*/source")
    speech = golden.vocoder.synthesize_whole(mel[0], golden.noise)
    assert largest(speech - golden.hift[f"{run}/speech"][0]) <= speech_limit(golden.reference, FAMILY)


def test_decoder_with_given_sources_equals_the_official_one(golden: Golden) -> None:
    limit = golden.limit("hift:zero_source/speech", "hift:cached_source/speech")
    mel = golden.hift["short/mel"]
    cases = {
        "short/speech": (mel, golden.hift["short/source"][0]),
        "cached_source/speech": (mel, golden.hift["cached_source/source"][0]),
        "zero_source/speech": (mel, torch.zeros_like(golden.hift["short/source"][0])),
    }
    with torch.inference_mode():
        for name, (frames, source) in cases.items():
            assert largest(golden.vocoder.network.decode(frames, source) - golden.hift[name]) <= 2 * limit, name
        later = golden.vocoder.network.decode(golden.e2e["stream/hift1_mel"], golden.e2e["stream/hift1_source"][0])
    assert largest(later - golden.e2e["stream/hift1_speech"]) <= 2 * limit


def test_whole_sentence_equals_the_official_one(golden: Golden) -> None:
    speech = golden.vocoder.synthesize_whole(golden.e2e["full/flow0_mel"][0], golden.noise)
    assert largest(speech - golden.e2e["full/chunk0"][0]) <= speech_limit(golden.reference, FAMILY)


def test_first_streamed_chunk_equals_the_official_one(golden: Golden) -> None:
    """Later official chunks draw new noise and phases, and are cross-faded to 1.08 of their level (J2)."""
    mel, wanted = golden.e2e["stream/flow0_mel"][0, :, :-34], golden.e2e["stream/chunk0"][0]
    speech = golden.vocoder.open_stream(golden.noise).synthesize(mel, is_last=False)
    assert len(speech) == len(wanted) == (mel.shape[1] - HELD_BACK_FRAMES) * 256
    assert largest(speech - wanted) <= speech_limit(golden.reference, FAMILY)
