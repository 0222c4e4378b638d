"""Generations of the CosyVoice family as data: how they differ, and how their folders are recognised and read.

Decision: a generation is one frozen record of data and functions. Reason: the generations share most
of their structure and differ in details. Alternative: a class per generation, or checks of class names
throughout the code.
This module does not import torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from studio.errors import BadModelSettings, ModelNotFound, UnknownGeneration
from studio.model.config import (
    AnySpeechLMConfig,
    ConformerConfig,
    DiTConfig,
    FlowConfig,
    FlowSizesForNoise,
    LengthRegulatorConfig,
    LookAheadConfig,
    PromptMelConfig,
    QwenConfig,
    RelativeTransformerConfig,
    SolverConfig,
    SpeechLMConfig,
    SpeechTokenLayout,
    TransformerLMConfig,
    UNetConfig,
    VocoderConfig,
    VocoderKind,
)
from studio.model.official_yaml import ConfigSection, Document
from studio.model.options import SamplingOptions
from studio.text.tokenizer import COSYVOICE1_TEXT, COSYVOICE2_TEXT, COSYVOICE3_TEXT, PromptForm
from studio.text.whisper_vocabulary import NUM_WHISPER_TOKENS

# Far above any released model, yet low enough to describe a network of these sizes in bounded time.
_MAX_TOKENS = 1 << 20
_MAX_MEL_BINS = 1024
_MAX_HEADS = 256
_MAX_BLOCKS = 256
_MAX_SOLVER_STEPS = 100
_MAX_NAME = 60  # longest class name in an error message
_RATE_OF_25HZ, _TEXT_TOKENS_OF_25HZ = 25, 60_515
_SAMPLE_RATE_1 = 22_050


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
    # The second argument reads the settings of the Qwen2 backbone.
    read_speech_lm: Callable[[ConfigSection, Callable[[], QwenConfig]], AnySpeechLMConfig]
    read_flow: Callable[[ConfigSection], FlowConfig]
    vocoder_kind: VocoderKind
    num_upsamplings: int = 3  # number of up-sampling stages of the vocoder
    text_folder: str | None = "CosyVoice-BlankEN"  # None: the vocabulary is part of the program
    # Prompt tokens and frames are trimmed to a common length (specification C5).
    trims_prompts: bool = True
    # Whether the language model receives the speaker embedding, except with an instruction. Only such models were
    # trained with speakers that have no clip (specification B6).
    speaks_without_clip: bool = False
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

    def read_vocoder(self, root: ConfigSection) -> VocoderConfig:
        section = root.section("hift")
        stft = section.section("istft_params")
        return VocoderConfig(
            kind=self.vocoder_kind,
            sample_rate=root.integer("sample_rate", low=16_000, high=48_000),
            base_channels=section.integer("base_channels", low=8),
            f0_channels=section.section("f0_predictor").integer("cond_channels", low=8),
            mel_bins=section.integer("in_channels", high=_MAX_MEL_BINS),
            num_harmonics=section.integer("nb_harmonics", high=64),
            sine_amplitude=section.number("nsf_alpha", low=0.0, high=1.0, default=0.1),
            noise_amplitude=section.number("nsf_sigma", low=0.0, high=1.0, default=0.003),
            voiced_threshold_hz=section.number("nsf_voiced_threshold", low=0.0, high=1000.0, default=10.0),
            upsample_rates=section.integers("upsample_rates", length=self.num_upsamplings),
            upsample_kernel_sizes=section.integers("upsample_kernel_sizes", length=self.num_upsamplings),
            resblock_kernel_sizes=section.integers("resblock_kernel_sizes", length=3),
            resblock_dilations=section.rows("resblock_dilation_sizes")[0],
            source_resblock_kernel_sizes=section.integers("source_resblock_kernel_sizes", length=self.num_upsamplings),
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
            mel_bins=section.integer("num_mels", high=_MAX_MEL_BINS),
            min_hz=section.number("fmin", low=0.0, high=24_000.0),
            max_hz=section.optional_number("fmax", low=1.0, high=24_000.0),
        )


def _preceding_flow(root: ConfigSection) -> FlowSizesForNoise:
    flow = _flow_base(root)
    return FlowSizesForNoise(flow.num_speech_tokens, flow.input_size, flow.mel_bins, flow.speaker_embedding_size)


def _layout1(speech_tokens: int) -> SpeechTokenLayout:
    return SpeechTokenLayout(
        num_speech_tokens=speech_tokens,
        num_rows=speech_tokens + 1,
        has_llm_embedding=True,
        head_has_bias=True,
        sos_row=0,
        task_row=1,
        end_id=speech_tokens,
        fill_id=None,
    )


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


def _read_sampling(section: ConfigSection) -> SamplingOptions:
    return SamplingOptions(
        top_p=section.number("top_p", low=0.01, high=1.0, default=0.8),
        top_k=section.integer("top_k", default=25),
        window_tokens=section.integer("win_size", default=10),
        repetition_ratio=section.number("tau_r", low=0.0, high=1.0, default=0.1),
    )


def _speech_lm1(root: ConfigSection, _read_backbone: Callable[[], QwenConfig]) -> TransformerLMConfig:
    section = root.section("llm")
    config = TransformerLMConfig(
        vocabulary_size=section.integer("text_token_size", high=_MAX_TOKENS),
        text_embedding_size=section.integer("text_encoder_input_size"),
        text_encoder=_read_transformer(section.section("text_encoder")),
        decoder=_read_transformer(section.section("llm")),
        layout=_layout1(section.integer("speech_token_size", low=16, high=_MAX_TOKENS)),
        speaker_embedding_size=section.integer("spk_embed_dim", default=192),
        sampling=_read_sampling(section.section("sampling")),
    )
    # Attention to later tokens would need other caches (specification E3).
    for name in ("text_encoder", "llm"):
        section.section(name).integer("static_chunk_size", low=1, high=1, default=1)
    if config.text_encoder.size % config.text_encoder.num_heads or config.decoder.size % config.decoder.num_heads:
        raise _impossible(root)
    if config.decoder.size != section.integer("llm_input_size"):
        raise _impossible(root)
    return config


def _qwen_lm(
    layout: Callable[[int], SpeechTokenLayout],
) -> Callable[[ConfigSection, Callable[[], QwenConfig]], SpeechLMConfig]:
    def read(root: ConfigSection, read_backbone: Callable[[], QwenConfig]) -> SpeechLMConfig:
        section = root.section("llm")
        # Models that were not trained in the interleaved mode lack the entry.
        text_tokens, speech_tokens = section.integers("mix_ratio", length=2) if section.has("mix_ratio") else (0, 0)
        return SpeechLMConfig(
            backbone=read_backbone(),
            layout=layout(section.integer("speech_token_size", low=16, high=_MAX_TOKENS)),
            sampling=_read_sampling(section.section("sampling")),
            interleave_text_tokens=text_tokens,
            interleave_speech_tokens=speech_tokens,
        )

    return read


def _read_transformer(section: ConfigSection) -> RelativeTransformerConfig:
    return RelativeTransformerConfig(
        size=section.integer("output_size"),
        num_heads=section.integer("attention_heads", high=_MAX_HEADS),
        feed_forward_size=section.integer("linear_units"),
        num_blocks=section.integer("num_blocks", high=_MAX_BLOCKS),
    )


def _impossible(root: ConfigSection) -> BadModelSettings:
    return BadModelSettings(
        "{file} describes an impossible network.", remedy="Download the model again.", file=root.file_name
    )


def _flow1(root: ConfigSection) -> FlowConfig:
    section = root.section("flow")
    regulator = section.section("length_regulator")
    estimator = section.section("decoder").section("estimator")
    first_channels, second_channels = estimator.integers("channels", length=2)
    config = replace(
        _flow_base(root),
        lookahead_tokens=0,
        encoder=_read_transformer(section.section("encoder")),
        length_regulator=LengthRegulatorConfig(
            channels=regulator.integer("channels"),
            num_layers=len(regulator.numbers("sampling_ratios")),
            token_rate=section.integer("input_frame_rate", default=50),
            sample_rate=root.integer("sample_rate", low=16_000, high=48_000),
            hop_samples=root.section("feat_extractor").integer("hop_size"),
        ),
        unet=replace(_read_unet(estimator, first_channels), num_levels=2, is_causal=False),
    )
    assert config.encoder is not None
    if first_channels != second_channels or config.encoder.size % config.encoder.num_heads:
        raise _impossible(root)
    return config


def _read_unet(estimator: ConfigSection, channels: int) -> UNetConfig:
    return UNetConfig(
        channels=channels,
        num_heads=estimator.integer("num_heads", high=_MAX_HEADS),
        head_size=estimator.integer("attention_head_dim"),
        num_mid_blocks=estimator.integer("num_mid_blocks", high=64),
        num_transformer_blocks=estimator.integer("n_blocks", high=16),
    )


def _flow2(root: ConfigSection) -> FlowConfig:
    section = root.section("flow")
    encoder = section.section("encoder")
    estimator = section.section("decoder").section("estimator")
    return replace(
        _flow_base(root),
        conformer=ConformerConfig(
            size=encoder.integer("output_size"),
            num_heads=encoder.integer("attention_heads", high=_MAX_HEADS),
            feed_forward_size=encoder.integer("linear_units"),
            num_blocks=encoder.integer("num_blocks", high=_MAX_BLOCKS),
        ),
        unet=_read_unet(estimator, estimator.integers("channels", length=1)[0]),
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
            depth=estimator.integer("depth", high=_MAX_BLOCKS),
            num_heads=estimator.integer("heads", high=_MAX_HEADS),
            head_size=estimator.integer("dim_head"),
            feed_forward_ratio=estimator.integer("ff_mult", high=64),
        ),
    )


def _flow_base(root: ConfigSection) -> FlowConfig:
    section = root.section("flow")
    cfm = section.section("decoder").section("cfm_params").section("content")
    return FlowConfig(
        num_speech_tokens=section.integer("vocab_size", low=16, high=_MAX_TOKENS),
        input_size=section.integer("input_size"),
        mel_bins=section.integer("output_size", high=_MAX_MEL_BINS),
        speaker_embedding_size=section.integer("spk_embed_dim"),
        frames_per_token=section.integer("token_mel_ratio", high=16, default=2),
        lookahead_tokens=section.integer("pre_lookahead_len", high=64, default=3),
        chunk_tokens=root.integer("chunk_size", high=1024, default=25),
        solver=SolverConfig(
            # Not in the released files, whose code has 10 steps: a distilled flow says here how many it needs.
            num_steps=cfm.integer("n_timesteps", high=_MAX_SOLVER_STEPS, default=10),
            guidance_scale=cfm.number("inference_cfg_rate", low=0.0, high=10.0, default=0.7),
        ),
    )


# Silences and breaths as listed by the official program (specification E2).
_SILENT_TOKENS_3 = frozenset({1, 2, 28, 29, 55, 248, 494, 2241, 2242, 2322, 2323})

COSYVOICE1 = Generation(
    name="cosyvoice1",
    title="CosyVoice-300M",
    yaml_name="cosyvoice.yaml",
    speech_lm_class="TransformerLM",
    flow_class="MaskedDiffWithXvec",
    vocoder_class="HiFTGenerator",
    speech_tokenizer_file="speech_tokenizer_v1.onnx",
    token_rate=50,
    frame_rate=22_050 / 256,
    text=COSYVOICE1_TEXT,
    silent_tokens=frozenset(),
    speech_token_layout=_layout1,
    read_speech_lm=_speech_lm1,
    read_flow=_flow1,
    vocoder_kind=VocoderKind.SAMPLE_PHASE,
    num_upsamplings=2,
    text_folder=None,
    trims_prompts=False,
    speaks_without_clip=True,
)

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
    read_speech_lm=_qwen_lm(_layout2),
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
    read_speech_lm=_qwen_lm(_layout3),
    read_flow=_flow3,
    vocoder_kind=VocoderKind.CAUSAL,
)

GENERATIONS = (COSYVOICE1, COSYVOICE2, COSYVOICE3)


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
                _require_released_rates(generation, document)
                return generation, document
    described = ", ".join(str(name)[:_MAX_NAME] for name in names)
    raise UnknownGeneration(
        "{file} describes an unsupported model ({described}).",
        remedy="Use a CosyVoice-300M, CosyVoice2-0.5B or Fun-CosyVoice3-0.5B folder.",
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


def _require_released_rates(generation: Generation, document: Document) -> None:
    """Raise ``UnknownGeneration`` for CosyVoice-300M-25Hz, and for other vocabularies and rates (specification A8)."""
    if generation.text_folder is not None:
        return
    num_text_tokens = document.root.section("llm").integer("text_token_size", high=_MAX_TOKENS)
    token_rate = document.root.section("flow").integer("input_frame_rate", default=generation.token_rate)
    sample_rate = document.root.integer("sample_rate", high=48_000)
    if token_rate == _RATE_OF_25HZ or num_text_tokens == _TEXT_TOKENS_OF_25HZ:
        raise UnknownGeneration(
            "{file} describes CosyVoice-300M-25Hz, an experiment with its own text vocabulary, which is not supported.",
            remedy="Use CosyVoice-300M, CosyVoice-300M-SFT or CosyVoice-300M-Instruct.",
            file=document.file_name,
        )
    if num_text_tokens != NUM_WHISPER_TOKENS or token_rate != generation.token_rate or sample_rate != _SAMPLE_RATE_1:
        raise UnknownGeneration(
            "{file} describes a variant of {generation} with {text_tokens} text tokens, {token_rate} speech tokens per "
            "second and {sample_rate} Hz, which is not supported.",
            remedy="Use CosyVoice-300M, CosyVoice-300M-SFT or CosyVoice-300M-Instruct.",
            file=document.file_name,
            generation=generation.title,
            text_tokens=num_text_tokens,
            token_rate=token_rate,
            sample_rate=sample_rate,
        )
