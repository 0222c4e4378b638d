"""Generations of the CosyVoice family as data: how they differ, and how their folders are recognised and read.

Decision: a generation is one frozen record of data and functions. Reason: the generations share most
of their structure and differ in details. Alternative: a class per generation, or checks of class names
throughout the code. CosyVoice-300M can be a third record with its own speech LM, flow and text tokenizer.
This module does not import torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from studio.errors import ModelNotFound, UnknownGeneration
from studio.model.config import (
    ConformerConfig,
    DiTConfig,
    FlowConfig,
    FlowSizesForNoise,
    LookAheadConfig,
    PromptMelConfig,
    QwenConfig,
    SamplingOptions,
    SolverConfig,
    SpeechLMConfig,
    SpeechTokenLayout,
    UNetConfig,
    VocoderConfig,
    VocoderKind,
)
from studio.model.official_yaml import ConfigSection, Document
from studio.text.prompt_form import COSYVOICE2_TEXT, COSYVOICE3_TEXT, PromptForm

# Far above any released model, yet low enough to describe a network of these sizes in bounded time.
_MOST_TOKENS = 1 << 20
_MOST_MEL_BINS = 1024
_MOST_HEADS = 256
_MOST_BLOCKS = 256
_LONGEST_NAME = 60  # of a class, in an error message


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of the models. Class names are strings from the yaml and never imported (specification A8)."""

    name: str
    title: str
    yaml_name: str
    speech_lm_class: str
    flow_class: str
    vocoder_class: str
    speech_tokenizer_file: str
    token_rate: int  # speech tokens per second
    frame_rate: float  # mel frames per second
    text: PromptForm
    # Long runs of these tokens are shortened before the flow (specification E2); empty for CosyVoice2.
    silent_tokens: frozenset[int]
    speech_token_layout: Callable[[int], SpeechTokenLayout]
    read_flow: Callable[[ConfigSection], FlowConfig]
    vocoder_kind: VocoderKind
    # Estimator class of a superseded first release, which was trained without chunk masks (specification A3).
    first_release_estimator: str | None = None

    def tokens_of_seconds(self, seconds: float) -> int:
        """Return the number of whole speech tokens in ``seconds`` of speech."""
        return int(seconds * self.token_rate)

    def seconds_of_tokens(self, num_tokens: int) -> float:
        return num_tokens / self.token_rate

    def frames_of_tokens(self, num_tokens: int) -> int:
        """Return the number of mel frames of ``num_tokens`` speech tokens."""
        return int(num_tokens * self.frame_rate / self.token_rate)

    def tokens_of_frames(self, num_frames: int) -> int:
        """Return the largest number of tokens whose mel frames fit in ``num_frames``."""
        return math.ceil((num_frames + 1) * self.token_rate / self.frame_rate) - 1

    def read_speech_lm(self, root: ConfigSection, backbone: QwenConfig) -> SpeechLMConfig:
        section = root.section("llm")
        sampling = section.section("sampling")
        text_tokens, speech_tokens = section.integers("mix_ratio", length=2, default=[5, 15])
        return SpeechLMConfig(
            backbone=backbone,
            layout=self.speech_token_layout(section.integer("speech_token_size", low=16, high=_MOST_TOKENS)),
            sampling=SamplingOptions(
                top_p=sampling.number("top_p", low=0.01, high=1.0, default=0.8),
                top_k=sampling.integer("top_k", default=25),
                window_tokens=sampling.integer("win_size", default=10),
                repetition_ratio=sampling.number("tau_r", low=0.0, high=1.0, default=0.1),
            ),
            interleave_text_tokens=text_tokens,
            interleave_speech_tokens=speech_tokens,
        )

    def read_vocoder(self, root: ConfigSection) -> VocoderConfig:
        section = root.section("hift")
        stft = section.section("istft_params")
        return VocoderConfig(
            kind=self.vocoder_kind,
            sample_rate=root.integer("sample_rate", low=16_000, high=48_000),
            base_channels=section.integer("base_channels", low=8),
            f0_channels=section.section("f0_predictor").integer("cond_channels", low=8),
            mel_bins=section.integer("in_channels", high=_MOST_MEL_BINS),
            num_harmonics=section.integer("nb_harmonics", high=64),
            sine_amplitude=section.number("nsf_alpha", low=0.0, high=1.0, default=0.1),
            noise_amplitude=section.number("nsf_sigma", low=0.0, high=1.0, default=0.003),
            voiced_threshold_hz=section.number("nsf_voiced_threshold", low=0.0, high=1000.0, default=10.0),
            upsample_rates=section.integers("upsample_rates", length=3),
            upsample_kernel_sizes=section.integers("upsample_kernel_sizes", length=3),
            resblock_kernel_sizes=section.integers("resblock_kernel_sizes", length=3),
            resblock_dilations=section.rows("resblock_dilation_sizes")[0],
            source_resblock_kernel_sizes=section.integers("source_resblock_kernel_sizes", length=3),
            stft_size=stft.integer("n_fft"),
            stft_hop=stft.integer("hop_len"),
            leaky_relu_slope=section.number("lrelu_slope", low=0.0, high=1.0, default=0.1),
            audio_limit=section.number("audio_limit", low=0.1, high=1.0, default=0.99),
            look_right_frames=section.integer("conv_pre_look_right", high=64, default=4),
            preceding_flow=_preceding_flow(root),
        )

    def read_prompt_mel(self, root: ConfigSection) -> PromptMelConfig:
        section = root.section("feat_extractor")
        return PromptMelConfig(
            sample_rate=root.integer("sample_rate", low=16_000, high=48_000),
            window_samples=section.integer("win_size"),
            hop_samples=section.integer("hop_size"),
            mel_bins=section.integer("num_mels", high=_MOST_MEL_BINS),
            min_hz=section.number("fmin", low=0.0, high=24_000.0),
            max_hz=section.optional_number("fmax", low=1.0, high=24_000.0),
        )


def _preceding_flow(root: ConfigSection) -> FlowSizesForNoise:
    flow = _flow_base(root)
    return FlowSizesForNoise(flow.num_speech_tokens, flow.input_size, flow.mel_bins, flow.speaker_embedding_size)


def _layout2(speech_tokens: int) -> SpeechTokenLayout:
    return SpeechTokenLayout(
        num_speech_tokens=speech_tokens,
        num_rows=speech_tokens + 3,
        has_llm_embedding=True,
        head_has_bias=True,
        sos_row=0,
        task_row=1,
        end_id=speech_tokens,
        fill_id=speech_tokens + 2,
    )


def _layout3(speech_tokens: int) -> SpeechTokenLayout:
    return SpeechTokenLayout(
        num_speech_tokens=speech_tokens,
        num_rows=speech_tokens + 200,
        has_llm_embedding=False,
        head_has_bias=False,
        sos_row=speech_tokens,
        task_row=speech_tokens + 2,
        end_id=speech_tokens + 1,
        fill_id=speech_tokens + 3,
    )


def _flow2(root: ConfigSection) -> FlowConfig:
    section = root.section("flow")
    encoder = section.section("encoder")
    estimator = section.section("decoder").section("estimator")
    return replace(
        _flow_base(root),
        conformer=ConformerConfig(
            size=encoder.integer("output_size"),
            num_heads=encoder.integer("attention_heads", high=_MOST_HEADS),
            feed_forward_size=encoder.integer("linear_units"),
            num_blocks=encoder.integer("num_blocks", high=_MOST_BLOCKS),
        ),
        unet=UNetConfig(
            channels=estimator.integers("channels", length=1)[0],
            num_heads=estimator.integer("num_heads", high=_MOST_HEADS),
            head_size=estimator.integer("attention_head_dim"),
            num_mid_blocks=estimator.integer("num_mid_blocks", high=64),
            num_transformer_blocks=estimator.integer("n_blocks", high=16),
        ),
    )


def _flow3(root: ConfigSection) -> FlowConfig:
    section = root.section("flow")
    lookahead = section.section("pre_lookahead_layer")
    estimator = section.section("decoder").section("estimator")
    return replace(
        _flow_base(root),
        lookahead=LookAheadConfig(in_channels=lookahead.integer("in_channels"), channels=lookahead.integer("channels")),
        dit=DiTConfig(
            size=estimator.integer("dim"),
            depth=estimator.integer("depth", high=_MOST_BLOCKS),
            num_heads=estimator.integer("heads", high=_MOST_HEADS),
            head_size=estimator.integer("dim_head"),
            feed_forward_ratio=estimator.integer("ff_mult", high=64),
        ),
    )


def _flow_base(root: ConfigSection) -> FlowConfig:
    section = root.section("flow")
    cfm = section.section("decoder").section("cfm_params").section("content")
    return FlowConfig(
        num_speech_tokens=section.integer("vocab_size", low=16, high=_MOST_TOKENS),
        input_size=section.integer("input_size"),
        mel_bins=section.integer("output_size", high=_MOST_MEL_BINS),
        speaker_embedding_size=section.integer("spk_embed_dim"),
        frames_per_token=section.integer("token_mel_ratio", high=16, default=2),
        lookahead_tokens=section.integer("pre_lookahead_len", high=64, default=3),
        chunk_tokens=root.integer("chunk_size", high=1024, default=25),
        solver=SolverConfig(guidance_scale=cfm.number("inference_cfg_rate", low=0.0, high=10.0, default=0.7)),
    )


# Silences and breaths as listed by the official program (specification E2).
_SILENT_TOKENS_3 = frozenset({1, 2, 28, 29, 55, 248, 494, 2241, 2242, 2322, 2323})

COSYVOICE2 = Generation(
    name="cosyvoice2",
    title="CosyVoice2",
    yaml_name="cosyvoice2.yaml",
    speech_lm_class="Qwen2LM",
    flow_class="CausalMaskedDiffWithXvec",
    vocoder_class="HiFTGenerator",
    speech_tokenizer_file="speech_tokenizer_v2.onnx",
    token_rate=25,
    frame_rate=50.0,
    text=COSYVOICE2_TEXT,
    silent_tokens=frozenset(),
    speech_token_layout=_layout2,
    read_flow=_flow2,
    vocoder_kind=VocoderKind.NON_CAUSAL,
    first_release_estimator="ConditionalDecoder",
)

COSYVOICE3 = Generation(
    name="cosyvoice3",
    title="Fun-CosyVoice3",
    yaml_name="cosyvoice3.yaml",
    speech_lm_class="CosyVoice3LM",
    flow_class="CausalMaskedDiffWithDiT",
    vocoder_class="CausalHiFTGenerator",
    speech_tokenizer_file="speech_tokenizer_v3.onnx",
    token_rate=25,
    frame_rate=50.0,
    text=COSYVOICE3_TEXT,
    silent_tokens=_SILENT_TOKENS_3,
    speech_token_layout=_layout3,
    read_flow=_flow3,
    vocoder_kind=VocoderKind.CAUSAL,
)

GENERATIONS = (COSYVOICE2, COSYVOICE3)


def detect_generation(folder: Path) -> tuple[Generation, Document]:
    """Return the generation of a model folder, and its yaml.

    Class names in the yaml determine the generation, not file names, because a folder may contain several
    yaml files, or one with an old name. Raise ``ModelNotFound``, ``UnknownGeneration``,
    ``BadModelSettings``.
    """
    if not folder.is_dir():
        raise ModelNotFound(
            "There is no model folder {folder}.",
            remedy="Give the folder that holds llm.pt, flow.pt and hift.pt.",
            folder=folder,
        )
    # The newest of several files determines the generation.
    paths = sorted(folder.glob("cosyvoice*.yaml"), reverse=True)
    if not paths:
        raise ModelNotFound(
            "{folder} is not a CosyVoice model folder: it has no cosyvoice*.yaml.",
            remedy="Give the folder that holds llm.pt, flow.pt and hift.pt.",
            folder=folder,
        )
    for path in paths:
        document = Document(path)
        names = tuple(document.root.class_name(key) for key in ("llm", "flow", "hift"))
        for generation in GENERATIONS:
            if names == (generation.speech_lm_class, generation.flow_class, generation.vocoder_class):
                _require_streaming_flow(generation, document)
                return generation, document
    described = ", ".join(str(name)[:_LONGEST_NAME] for name in names)
    raise UnknownGeneration(
        "{file} describes an unsupported model ({described}).",
        remedy="Use a CosyVoice2-0.5B or Fun-CosyVoice3-0.5B folder.",
        file=paths[-1].name,
        described=described,
    )


def _require_streaming_flow(generation: Generation, document: Document) -> None:
    """Raise ``UnknownGeneration`` for a first release, whose flow was not trained for streaming."""
    if generation.first_release_estimator is None:
        return
    if document.root.section("flow").section("decoder").class_name("estimator") == generation.first_release_estimator:
        raise UnknownGeneration(
            "{file} describes the first release of {generation}, whose flow cannot stream.",
            remedy="Download the newer release of {generation}, whose settings are in {newer}.",
            file=document.file_name,
            generation=generation.title,
            newer=generation.yaml_name,
        )
