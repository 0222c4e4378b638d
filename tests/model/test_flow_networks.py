"""The flow networks equal the official ones and can be trained."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from flow_cases import Golden, flow_config, flow_network, random_prompt, random_tokens

from studio.model.config import ConformerConfig, DiTConfig, FlowConfig, LookAheadConfig, UNetConfig
from studio.model.flow.dit import RotaryPositions
from studio.model.flow.layers import Conditions, FullContext
from studio.model.flow.model import FlowModel
from studio.model.flow.network import EncoderContext, RelativeAttention, build_network

FULL_SIZE = {
    "cosyvoice2": FlowConfig(6561, 512, conformer=ConformerConfig(512, 8, 2048, 6), unet=UNetConfig(256, 8, 64, 12, 4)),
    "cosyvoice3": FlowConfig(6561, 80, lookahead=LookAheadConfig(80, 1024), dit=DiTConfig(1024, 22, 16, 64, 2)),
}


@pytest.mark.slow
@pytest.mark.reference
def test_names_and_shapes_equal_those_of_the_released_files(reference: Path, family: str) -> None:
    lists = reference / "state-dicts"
    if not lists.is_dir():
        pytest.skip("this reference folder has no list of full-size tensors")
    listed = json.loads((lists / f"{family}.flow.json").read_text("utf-8"))["state_dict"]
    with torch.device("meta"):
        network = build_network(FULL_SIZE[family])
    ours = {name: list(tensor.shape) for name, tensor in network.state_dict().items()}
    assert ours == {name: entry["shape"] for name, entry in listed.items()}


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize(("mode", "chunk_frames"), [("full", None), ("stream", 50)])
def test_estimator_equals_official(reference: Path, family: str, mode: str, chunk_frames: int | None) -> None:
    golden = Golden(reference, family)
    x, mean, prompt_mel = (golden[f"estimator/{name}"].transpose(1, 2) for name in ("x", "mu", "cond"))
    estimator = flow_network(reference, family).estimator
    times = [found[1] for name in golden.arrays if (found := re.fullmatch(rf"estimator/out_t([\d.]+)_{mode}", name))]
    assert len(times) > 1
    for time in times:
        with torch.no_grad():
            velocity = estimator(
                x,
                torch.full((2,), float(time)),
                Conditions(mean, prompt_mel, golden["estimator/spks"]),
                FullContext(chunk_frames),
            )
        expected = golden[f"estimator/out_t{time}_{mode}"].transpose(1, 2)
        assert (velocity - expected).abs().max() <= golden.tolerance, time


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize(
    ("run", "num_ahead", "is_streaming"),
    [("full", 0, False), ("stream_final", 0, True), ("stream_chunk", 3, True), ("full_chunk", 3, False)],
)
def test_encoder_speaker_and_first_step_equal_official(
    reference: Path, family: str, run: str, num_ahead: int, is_streaming: bool
) -> None:
    golden = Golden(reference, family)
    num_tokens = golden[f"{run}/mel"].shape[-1] // 2
    network = flow_network(reference, family)
    tokens = [*golden.prompt.speech_tokens, *golden.tokens[: num_tokens + num_ahead]]
    contexts = EncoderContext(FullContext(25), FullContext(50)) if is_streaming else EncoderContext(
        FullContext(), FullContext()
    )  # fmt: skip
    with torch.no_grad():
        embedded = network.embed(torch.tensor([tokens]))
        if family == "cosyvoice2":
            encoded, name = network.encoder(embedded, num_ahead, contexts), "encoder"
        else:
            encoded, name = network.pre_lookahead_layer(embedded, num_ahead, contexts.tokens), "pre_lookahead"
        mean = network.mean(embedded, num_ahead, contexts)
        speaker = network.speaker(golden["flow_embedding"])
    assert (encoded - golden[f"{run}/{name}"]).abs().max() <= golden.tolerance
    if f"{run}/mu" in golden.arrays:
        assert (mean.transpose(1, 2) - golden[f"{run}/mu"]).abs().max() <= golden.tolerance
        assert (speaker - golden[f"{run}/spks"]).abs().max() <= golden.tolerance
    if run == "full":
        model = FlowModel(network, flow_config(reference, family), 10)
        prompt_mel = torch.zeros_like(mean)
        prompt_mel[:, : len(golden.prompt.mel)] = torch.from_numpy(golden.prompt.mel)
        is_conditional = torch.stack([torch.ones(1), torch.zeros(1)])[:, :, None]
        with torch.no_grad():
            velocity = network.estimator.velocity(
                model.noise[: mean.shape[1]].expand(2, -1, -1),
                Conditions(mean * is_conditional, prompt_mel * is_conditional, speaker * is_conditional[:, :, 0]),
                model.modulations[0],
                FullContext(),
            )
        assert (velocity.transpose(1, 2) - golden["full/step1_velocity"]).abs().max() <= golden.tolerance


@pytest.mark.slow
def test_padding_of_a_training_batch_changes_nothing(reference: Path, family: str) -> None:
    """Two sequences of different length in a batch equal single runs, with and without chunks."""
    estimator = flow_network(reference, family, torch.float64).estimator
    generator = torch.Generator().manual_seed(3)
    x, mean, prompt_mel = (torch.randn(2, 107, 80, generator=generator, dtype=torch.float64) for _ in range(3))
    speaker, time = torch.randn(2, 80, generator=generator, dtype=torch.float64), torch.tensor([0.3, 0.7]).double()
    is_valid = torch.arange(107) < torch.tensor([[107], [61]])
    for chunk_frames in (None, 50):
        batch = estimator(x, time, Conditions(mean, prompt_mel, speaker), FullContext(chunk_frames, is_valid))
        for row, length in enumerate((107, 61)):
            only, upto = slice(row, row + 1), slice(0, length)
            conditions = Conditions(mean[only, upto], prompt_mel[only, upto], speaker[only])
            alone = estimator(x[only, upto], time[only], conditions, FullContext(chunk_frames))
            assert (batch[only, upto] - alone).abs().max() < 1e-9


def test_gradients_reach_every_weight(reference: Path, family: str) -> None:
    config = flow_config(reference, family)
    torch_state = torch.random.get_rng_state()
    network = build_network(replace(config, num_speech_tokens=40))
    torch.random.set_rng_state(torch_state)
    prompt = random_prompt(replace(config, num_speech_tokens=40), 40)
    tokens = torch.tensor([prompt.speech_tokens])
    contexts = EncoderContext(FullContext(25), FullContext(50))
    mean = network.mean(network.embed(tokens), 0, contexts)
    speaker = network.speaker(torch.from_numpy(prompt.embedding)[None])
    conditions = Conditions(mean, torch.zeros_like(mean), speaker)
    velocity = network.estimator(torch.ones_like(mean), torch.tensor([0.4]), conditions, FullContext(50))
    velocity.square().sum().backward()
    unreached = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    # A key bias adds the same value to all scores of a query, which has no effect on the softmax.
    assert [name for name in unreached if not name.endswith(("linear_k.bias", "to_k.bias"))] == []


def test_training_works_after_inference(reference: Path) -> None:
    """Values cached during inference must not break gradients."""
    config = flow_config(reference, "cosyvoice3")
    network = flow_network(reference, "cosyvoice3").requires_grad_()
    tokens = torch.tensor([random_tokens(config, 10)])

    def velocity() -> torch.Tensor:
        mean = network.mean(network.embed(tokens), 0, EncoderContext(FullContext(), FullContext()))
        conditions = Conditions(mean, torch.zeros_like(mean), torch.zeros(1, 80))
        v: torch.Tensor = network.estimator(torch.ones_like(mean), torch.tensor([0.4]), conditions, FullContext())
        return v

    with torch.inference_mode():
        expected = velocity().clone()
    trained = velocity()
    trained.sum().backward()
    assert torch.equal(trained, expected)
    assert network.input_embedding.weight.grad is not None


def test_distance_term_far_from_the_beginning() -> None:
    """The formula of F3, also beyond the 5000 positions of the official table."""
    attention = RelativeAttention(size=16, num_heads=2).double()
    generator = torch.Generator().manual_seed(2)
    for parameter in attention.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    start, num_keys = 6000, 6050
    normed = torch.randn(1, 50, 16, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        queries = attention.queries(normed, start)
        bias = attention.score_bias(queries, start, num_keys)
        with_v = queries + (attention.pos_bias_v - attention.pos_bias_u)[:, None]
        for query, key in ((0, 0), (0, 6049), (49, 0), (49, 6049), (17, 3333), (17, 6017)):
            distance = start + query - key
            rates = 10000.0 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 16)
            encoded = torch.stack([(distance * rates).sin(), (distance * rates).cos()], dim=-1).flatten()
            projected = (attention.linear_pos.weight @ encoded).view(2, 8)
            expected = (with_v[0, :, query] * projected).sum(-1) / 8**0.5
            # The rates are the official float32 ones.
            assert bias[0, :, query, key].numpy() == pytest.approx(expected.numpy(), abs=2e-3)
            assert bias.shape == (1, 2, 50, 6050)


def test_rotations_are_not_shared_between_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value may be queued there but not computed yet."""
    stream = 1
    monkeypatch.setattr("torch.cpu.current_stream", lambda _device: stream)
    positions = RotaryPositions(8)
    first = positions.rotations(0, 5)
    assert positions.rotations(0, 5) is first
    stream = 2
    again = positions.rotations(0, 5)
    assert again is not first
    assert torch.equal(again, first)
