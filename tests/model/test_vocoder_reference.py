"""Both vocoders equal the official implementation (golden/hift, golden/e2e).

Limits are from the folder's own tolerances, so they hold for another folder of the same layout as well
(``--reference``).
"""

from __future__ import annotations

import functools
import json
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
from studio.model.vocoder.layers import History
from studio.model.vocoder.network import CausalHiFT, HiFT, cumulative_phase

pytestmark = pytest.mark.reference

SECOND_RUN = {"cosyvoice2": "short", "cosyvoice3": "chunk"}
NOISE_TABLE = {"cosyvoice2": "gauss", "cosyvoice3": "uniform"}


@dataclass
class Golden:
    """The vocoder of one generation with recorded official arrays."""

    family: str
    config: VocoderConfig
    vocoder: HiFTVocoder
    noise: SourceNoise
    hift: dict[str, torch.Tensor]
    e2e: dict[str, torch.Tensor]
    chunk_samples: dict[str, list[int]]
    f0_limit: float  # hertz
    source_limit: float
    speech_limit: float
    speech_of_source_limit: float

    @property
    def network(self) -> HiFT:
        return self.vocoder.network

    @property
    def second_run(self) -> str:
        return SECOND_RUN[self.family]

    def phase(self, f0: torch.Tensor) -> torch.Tensor:
        return self.network.phase(cumulative_phase(f0, self.config), None, f0.dtype)

    def noise_for(self, f0: torch.Tensor) -> torch.Tensor:
        return self.noise.columns(0, f0.shape[-1] * self.vocoder.samples_per_frame)

    def decode_second_run(self, source: torch.Tensor) -> torch.Tensor:
        """The decoder on the second run's mel, which for CosyVoice3 is not the end of its utterance."""
        mel = self.hift[f"{self.second_run}/mel"]
        if not isinstance(self.network, CausalHiFT):
            return self.network.decode(mel, source)
        history = History()
        history.begin_chunk(is_last=False)
        return self.network.decode_chunk(mel, source, history)


@pytest.fixture
def golden(reference: Path, family: str) -> Golden:
    return load_golden(reference, family)


@pytest.fixture
def golden2(reference: Path) -> Golden:
    return load_golden(reference, "cosyvoice2")


@pytest.fixture
def golden3(reference: Path) -> Golden:
    return load_golden(reference, "cosyvoice3")


@functools.cache
def load_golden(reference: Path, family: str) -> Golden:
    folder = reference / family
    generation = next(known for known in GENERATIONS if known.name == family)
    config = generation.read_vocoder(Document(folder / "checkpoint" / generation.yaml_name).root)
    runs = json.loads((folder / "golden" / "e2e.json").read_text("utf-8"))["runs"]
    return Golden(
        family=family,
        config=config,
        vocoder=load_vocoder(folder / "checkpoint" / "hift.pt", config, Precision.FLOAT32, "cpu"),
        noise=TableNoise(load_file(reference / "inputs" / "noise.safetensors")[NOISE_TABLE[family]], wraps=True),
        hift=load_file(folder / "golden" / "hift.safetensors"),
        e2e=load_file(folder / "golden" / "e2e.safetensors"),
        chunk_samples={run["name"]: run["chunk_samples"] for run in runs},
        f0_limit=limit_of(reference, family, "hift:*/f0"),
        source_limit=limit_of(reference, family, "hift:*/source", "e2e:*_source"),
        speech_limit=speech_limit(reference, family),
        # Limit on the difference from both recorded runs.
        speech_of_source_limit=2 * limit_of(reference, family, "hift:zero_source/speech"),
    )


def assert_close(actual: torch.Tensor, wanted: torch.Tensor, limit: float) -> None:
    assert actual.shape == wanted.shape
    assert (actual - wanted).abs().max() <= limit


def test_pitch(golden: Golden) -> None:
    assert_close(golden.network.f0_predictor(golden.hift["full/mel"]), golden.hift["full/f0"], golden.f0_limit)


def test_pitch_in_float64(golden3: Golden) -> None:
    """Weight normalisation is folded in float64 as well."""
    assert_close(golden3.network.f0_predictor(golden3.hift["full/mel"].double()), golden3.hift["full/f0_double"], 1e-9)


def test_pitch_before_the_end_of_the_utterance(golden3: Golden) -> None:
    """CosyVoice3 has a look-ahead of three frames, so without following frames it returns three values fewer."""
    assert isinstance(golden3.network, CausalHiFT)
    history = History()
    history.begin_chunk(is_last=False)
    f0 = golden3.network.f0_predictor.continue_from(golden3.hift["chunk/mel"], history)
    assert_close(f0, golden3.hift["chunk/f0"], golden3.f0_limit)


def test_harmonics_of_the_recorded_pitch(golden: Golden) -> None:
    """The same operations in the same order: only the library's rounding may differ."""
    f0, wanted = golden.hift[f"{golden.second_run}/f0"], golden.hift[f"{golden.second_run}/sines"]
    mixed = golden.network.m_source.mixture(f0, golden.phase(f0), golden.noise_for(f0))
    assert_close(mixed[:, : wanted.shape[1]], wanted, 1e-6)


def test_source_of_the_recorded_pitch(golden: Golden) -> None:
    f0 = golden.hift["full/f0"]
    source = golden.network.m_source(f0, golden.phase(f0), golden.noise_for(f0))
    assert_close(source[None], golden.hift["full/source"], 1e-6)


def test_source(golden: Golden) -> None:
    f0 = golden.network.f0_predictor(golden.hift["full/mel"])
    source = golden.network.m_source(f0, golden.phase(f0), golden.noise_for(f0))
    assert_close(source[None], golden.hift["full/source"], golden.source_limit)


def test_last_layer_on_the_recorded_source(golden: Golden) -> None:
    actual: list[torch.Tensor] = []
    hook = golden.network.conv_post.register_forward_hook(lambda _, __, output: actual.append(output))
    golden.decode_second_run(golden.hift[f"{golden.second_run}/source"][0])
    hook.remove()
    wanted = golden.hift[f"{golden.second_run}/conv_post"]
    assert_close(actual[0][:, :, : wanted.shape[-1]], wanted, 2e-5)  # of values up to 11


@pytest.mark.parametrize("source", ["zero", "recorded"])
def test_decoder_with_the_recorded_source(golden: Golden, source: str) -> None:
    given = golden.hift[f"{golden.second_run}/source"][0]
    name = f"{golden.second_run}/speech" if source == "recorded" else "zero_source/speech"
    wanted = golden.hift[name]
    actual = golden.decode_second_run(given if source == "recorded" else torch.zeros_like(given))
    # CosyVoice3: four frames earlier than the official program, which waits longer than necessary.
    assert_close(actual[:, : wanted.shape[-1]], wanted, golden.speech_of_source_limit)


def test_decoder_with_a_source_continued_from_the_cache(golden2: Golden) -> None:
    """The official program replaces the start of the source by its cache. This tests the decoder alone."""
    actual = golden2.decode_second_run(golden2.hift["cached_source/source"][0])
    assert_close(actual, golden2.hift["cached_source/speech"], golden2.speech_of_source_limit)


def test_decoder_with_the_source_of_a_later_official_chunk(golden2: Golden) -> None:
    """CosyVoice2's second streamed chunk, before its fade."""
    actual = golden2.network.decode(golden2.e2e["stream/hift1_mel"], golden2.e2e["stream/hift1_source"][0])
    assert_close(actual, golden2.e2e["stream/hift1_speech"], golden2.speech_of_source_limit)


@pytest.mark.slow
def test_whole_speech(golden: Golden) -> None:
    for mel, speech in (
        (golden.hift["full/mel"], golden.hift["full/speech"]),
        (golden.e2e["full/flow0_mel"], golden.e2e["full/chunk0"]),
    ):
        actual = golden.vocoder.synthesize_whole(mel[0], golden.noise)
        assert_close(actual[None], speech, golden.speech_limit)


def test_streamed_speech_of_cosyvoice3(golden3: Golden) -> None:
    """The same samples in other chunks: the official stream waits four frames longer than necessary."""
    actual, wanted = stream_as_official(golden3)
    assert_close(torch.cat(actual), torch.cat(wanted), golden3.speech_limit)


@pytest.mark.slow
def test_streamed_speech_of_cosyvoice2(golden2: Golden) -> None:
    """Compare chunk lengths with those of the official stream, and the samples of its first chunk.

    Later chunks differ because of the repairs J2-12 and J2-13, and because the recorded run restarted its
    noise in every chunk. Other tests compare their source and decoder.
    """
    actual, wanted = stream_as_official(golden2)
    assert [len(chunk) for chunk in actual] == golden2.chunk_samples["stream"]
    assert_close(actual[0], wanted[0], golden2.speech_limit)


def test_a_continued_phase_gives_the_source_that_the_official_program_caches(golden2: Golden) -> None:
    """The last eight frames of a chunk are the 3840 samples that the official program caches."""
    mel, wanted = golden2.e2e["stream/flow0_mel"], golden2.e2e["stream/hift1_source"][0, 0, :3840]
    assert torch.equal(wanted, golden2.e2e["stream/hift0_source"][0, 0, -3840:])
    num_frames = mel.shape[-1]
    early, late = golden2.network.f0_predictor(mel).split([num_frames - 8, 8], dim=-1)
    before = cumulative_phase(early, golden2.config)[:, :, -1]
    phase = golden2.network.phase(cumulative_phase(late, golden2.config, before=before), before, late.dtype)
    noise = golden2.noise.columns((num_frames - 8) * 480, num_frames * 480)
    actual = golden2.network.m_source(late, phase, noise)[0]
    # The first half frame glides from a frame that this window does not have.
    assert_close(actual[240:], wanted[240:], golden2.source_limit)


def stream_as_official(golden: Golden) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Return the samples of this vocoder and of the official program for each chunk of the recorded stream."""
    mel = _mel_as_streamed(golden.e2e)
    stream = golden.vocoder.open_stream(golden.noise)
    actual = [stream.synthesize(chunk, is_last=chunk is mel[-1]) for chunk in mel]
    return actual, [golden.e2e[f"stream/chunk{index}"][0] for index in range(len(mel))]


def _mel_as_streamed(e2e: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    """Return the mel that each flow call of the official stream added. Every call returns the utterance from its start."""
    chunks: list[torch.Tensor] = []
    num_frames = 0
    while (mel := e2e.get(f"stream/flow{len(chunks)}_mel")) is not None:
        chunks.append(mel[0, :, num_frames:])
        num_frames = mel.shape[-1]
    return chunks
