"""Flows whose tables and reduced weights are in the cache folder."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import torch
from flow_cases import flow_config, flow_decoder, random_prompt, random_tokens, streamed_mel
from non_causal_flow_cases import FAMILY, non_causal_config, non_causal_decoder, random_voice

from studio import paths
from studio.errors import MissingModelFile, WrongTensors
from studio.model.config import FlowConfig, Precision
from studio.model.cpu_products import multiplies_in
from studio.model.flow import CachedFlowDecoder, FlowOptions, NonCausalFlowDecoder, stored
from studio.model.flow.stored import discard_stored

PRECISIONS = [
    pytest.param(
        precision,
        marks=pytest.mark.skipif(not multiplies_in(precision), reason="this processor does not multiply in it"),
    )
    for precision in (Precision.FLOAT32, Precision.BFLOAT16, Precision.INT8)
]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path / "cache"))


def _files() -> list[Path]:
    return sorted((paths.cache_folder() / "weights").glob("*"))


def _load(reference: Path, family: str, precision: Precision) -> CachedFlowDecoder:
    path, config = reference / family / "checkpoint" / "flow.pt", flow_config(reference, family)
    return CachedFlowDecoder.load(path, config, precision, "cpu")


def _mel(decoder: CachedFlowDecoder, config: FlowConfig) -> torch.Tensor:
    prompt, tokens = random_prompt(config, 3), random_tokens(config, 10)
    return streamed_mel(decoder, decoder.prepare_prompt(prompt), tokens, [])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_stored_flow_computes_the_same_mel_as_a_plain_one(reference: Path, family: str, precision: Precision) -> None:
    config, plain = flow_config(reference, family), flow_decoder(reference, family, precision=precision)
    expected = _mel(plain, config)
    for _ in range(2):  # converted, then read
        decoder = _load(reference, family, precision)
        assert torch.equal(_mel(decoder, config), expected)
        assert decoder.prompt_key() == plain.prompt_key()
        fast, plain_fast = decoder.with_steps(5), plain.with_steps(5)
        assert isinstance(fast, CachedFlowDecoder)
        assert isinstance(plain_fast, CachedFlowDecoder)
        assert torch.equal(_mel(fast, config), _mel(plain_fast, config))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_second_load_converts_nothing(
    reference: Path, family: str, precision: Precision, monkeypatch: pytest.MonkeyPatch
) -> None:
    _load(reference, family, precision)
    before = {path: path.stat().st_ino for path in _files()}
    assert len(before) == (1 if precision is Precision.FLOAT32 else 2)
    for name in ("_tables", "_layers"):
        monkeypatch.setattr(stored, name, lambda *_: pytest.fail("converted again"))
    _load(reference, family, precision)
    assert {path: path.stat().st_ino for path in _files()} == before


@pytest.mark.parametrize("precision", PRECISIONS)
def test_damaged_files_are_replaced(reference: Path, precision: Precision, caplog: pytest.LogCaptureFixture) -> None:
    config = flow_config(reference, "cosyvoice3")
    expected = _mel(_load(reference, "cosyvoice3", precision), config)
    for path in _files():
        content = bytearray(path.read_bytes())
        content[-100] ^= 8
        path.unlink()  # a mapped file must not change
        path.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert torch.equal(_mel(_load(reference, "cosyvoice3", precision), config), expected)
    assert "damaged" in caplog.text


@pytest.mark.parametrize("precision", [Precision.FLOAT32, *PRECISIONS[1:2]])
def test_the_first_generation_is_stored_as_well(reference: Path, precision: Precision) -> None:
    path, config = reference / FAMILY / "checkpoint" / "flow.pt", non_causal_config(reference)
    prompt, tokens = random_voice(config, 20, 34), list(range(40))
    plain = non_causal_decoder(reference, precision=precision)
    for _ in range(2):
        decoder = NonCausalFlowDecoder.load(path, config, precision, "cpu")
        assert torch.equal(decoder.decode_whole(prompt, tokens), plain.decode_whole(prompt, tokens))
        assert decoder.prompt_key() == plain.prompt_key()
    assert len(_files()) == (1 if precision is Precision.FLOAT32 else 2)


def test_other_numbers_of_steps_are_not_stored(reference: Path) -> None:
    path, config = reference / "cosyvoice3" / "checkpoint" / "flow.pt", flow_config(reference, "cosyvoice3")
    CachedFlowDecoder.load(path, config, Precision.FLOAT32, "cpu", FlowOptions(num_steps=9))
    assert not _files()


def test_reduced_weights_are_discarded(reference: Path) -> None:
    if not multiplies_in(Precision.INT8):
        pytest.skip("this processor does not multiply in 8 bits")
    _load(reference, "cosyvoice3", Precision.INT8)
    path, config = reference / "cosyvoice3" / "checkpoint" / "flow.pt", flow_config(reference, "cosyvoice3")
    discard_stored(path, config, Precision.INT8)
    assert len(_files()) == 1
    assert len(list(_files()[0].parent.iterdir())) == 1


def test_a_file_that_is_refused_is_not_stored(reference: Path, tmp_path: Path) -> None:
    config = flow_config(reference, "cosyvoice3")
    with pytest.raises(MissingModelFile, match=r"flow\.pt"):
        CachedFlowDecoder.load(tmp_path / "flow.pt", config, Precision.FLOAT32, "cpu")
    other = reference / "cosyvoice2" / "checkpoint" / "flow.pt"
    for _ in range(2):
        with pytest.raises(WrongTensors):
            CachedFlowDecoder.load(other, config, Precision.FLOAT32, "cpu")
    assert not _files()
