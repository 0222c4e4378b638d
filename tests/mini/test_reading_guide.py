"""The pull towards the text is felt by the head that really reads, and by nothing when it looks where it should."""

from __future__ import annotations

import pytest
import torch
from mini_speech_lm_cases import small_speech_lm, small_vocabulary

from studio.model.speech_lm.network import Attention, rotary_tables
from studio.text.tokenizer import TextTokenizer
from training.trainers.reading_guide import NOWHERE, ReadingGuide
from training.trainers.speech_lm_network import FactoredSpeechLM


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> TextTokenizer:
    return small_vocabulary(tmp_path_factory.mktemp("vocabulary"))


@pytest.fixture
def network(tokenizer: TextTokenizer) -> FactoredSpeechLM:
    return small_speech_lm(tokenizer)


@torch.no_grad()
def test_attention_is_counted_as_the_layer_computes_it(network: FactoredSpeechLM) -> None:
    guide = ReadingGuide(network.backbone, layer=1, reach_tokens=3.0)
    attention = network.backbone.get_submodule("layers.1.self_attn")
    assert isinstance(attention, Attention)
    attention.o_proj.weight.copy_(torch.eye(32))
    hidden = torch.randn(2, 6, 32, generator=torch.Generator().manual_seed(0))
    cosines, sines = rotary_tables(network.config.backbone, 6, hidden.device)
    put_out = attention(hidden, cosines, sines).chunk(2, dim=-1)
    shares = [guide._shares(head, hidden, cosines, sines) for head in range(2)]
    for head in range(2):
        assert torch.allclose(shares[head] @ attention.v_proj(hidden), put_out[head], atol=1e-5)
    expected = torch.full((2, 6), 2)
    expected[:, :2] = NOWHERE
    said, following = (torch.exp(-0.5 * ((torch.arange(6.0) - place) / 3.0) ** 2) for place in (2, 3))
    near = [(shares[head][:, 2:] * where).sum(-1) for head, where in ((0, said), (1, following))]
    wanted = -0.5 * sum(float((share + 1e-4).log().mean()) for share in near)
    assert float(guide.loss(expected)) == pytest.approx(float(wanted), abs=1e-5)


@pytest.mark.slow
def test_following_the_pull_brings_the_head_to_the_text(network: FactoredSpeechLM) -> None:
    guide = ReadingGuide(network.backbone, layer=1)
    optimizer = torch.optim.Adam(network.backbone.parameters(), lr=0.01)
    hidden = torch.randn(1, 20, 32, generator=torch.Generator().manual_seed(1))
    expected = torch.full((1, 20), NOWHERE)
    expected[0, 12:] = torch.arange(2, 10)
    losses = []
    for _ in range(60):
        network.backbone(hidden)
        loss = guide.loss(expected)
        losses.append(float(loss.detach()))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert losses[-1] < 0.3 * losses[0]
    guide.close()
    guide._heard = None
    network.backbone(hidden)
    assert guide._heard is None
