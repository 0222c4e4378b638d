"""The small files of a checkpoint folder: its yaml with the official class tags, and the Qwen config (A2, A6, A7)."""

from __future__ import annotations

import json

from measurements.random_models.first_settings import flow_head_yaml, speech_lm_yaml
from measurements.random_models.reference_sizes import CheckpointPlan
from studio.model.config import FlowConfig, SpeechLMConfig, TransformerLMConfig, VocoderConfig, VocoderKind


def settings_yaml(plan: CheckpointPlan) -> str:
    """Return the yaml of any generation. It contains no settings for training."""
    flow, generation, mel = plan.flow, plan.generation, plan.prompt_mel
    is_first = isinstance(plan.speech_lm, TransformerLMConfig)
    return f"""\
{speech_lm_yaml(plan) if is_first else _qwen_lm(plan)}
flow: !new:cosyvoice.flow.flow.{generation.flow_class}
    input_size: {flow.input_size}
    output_size: {flow.mel_bins}
    spk_embed_dim: !ref <spk_embed_dim>
    output_type: 'mel'
    vocab_size: {flow.num_speech_tokens}
{flow_head_yaml(flow) if is_first else _streaming_head(flow)}
    decoder: !new:cosyvoice.flow.flow_matching.{"" if is_first else "Causal"}ConditionalCFM
        in_channels: {3 * flow.mel_bins}
        n_spks: 1
        spk_emb_dim: {flow.mel_bins}
        cfm_params: !new:omegaconf.DictConfig
            content:
                sigma_min: 1e-06
                solver: 'euler'
                t_scheduler: 'cosine'
                training_cfg_rate: 0.2
                inference_cfg_rate: {flow.solver.guidance_scale}
                reg_loss_type: 'l1'
{_estimator(flow)}

{_vocoder(plan.vocoder, generation.vocoder_class)}

{_tokenizer(plan)}
allowed_special: 'all'
feat_extractor: !name:matcha.utils.audio.mel_spectrogram
    n_fft: {mel.window_samples}
    num_mels: {mel.mel_bins}
    sampling_rate: !ref <sample_rate>
    hop_size: {mel.hop_samples}
    win_size: {mel.window_samples}
    fmin: {mel.min_hz:g}
    fmax: {"null" if mel.max_hz is None else f"{mel.max_hz:g}"}
    center: False
"""


def _tokenizer(plan: CheckpointPlan) -> str:
    if plan.generation.text_folder is None:
        return """\
get_tokenizer: !name:whisper.tokenizer.get_tokenizer
    multilingual: True
    num_languages: 100
    language: 'en'
    task: 'transcribe'"""
    version = "" if plan.vocoder.kind is VocoderKind.NON_CAUSAL else f"\n    version: {plan.generation.name}"
    return f"""\
get_tokenizer: !name:cosyvoice.tokenizer.tokenizer.get_qwen_tokenizer
    token_path: !ref <qwen_pretrain_path>
    skip_special_tokens: True{version}"""


def _qwen_lm(plan: CheckpointPlan) -> str:
    config, flow, generation = plan.speech_lm, plan.flow, plan.generation
    assert isinstance(config, SpeechLMConfig)
    sampling, hidden_size = config.sampling, config.backbone.hidden_size
    return f"""\
sample_rate: {plan.prompt_mel.sample_rate}
llm_input_size: {hidden_size}
llm_output_size: {hidden_size}
spk_embed_dim: {flow.speaker_embedding_size}
qwen_pretrain_path: ''
token_frame_rate: 25
token_mel_ratio: {flow.frames_per_token}
chunk_size: {flow.chunk_tokens}
num_decoding_left_chunks: -1

llm: !new:cosyvoice.llm.llm.{generation.speech_lm_class}
    llm_input_size: !ref <llm_input_size>
    llm_output_size: !ref <llm_output_size>
    speech_token_size: {config.layout.num_speech_tokens}
    length_normalized_loss: True
    lsm_weight: 0
    mix_ratio: [{config.interleave_text_tokens}, {config.interleave_speech_tokens}]
    llm: !new:cosyvoice.llm.llm.Qwen2Encoder
        pretrain_path: !ref <qwen_pretrain_path>
    sampling: !name:cosyvoice.utils.common.ras_sampling
        top_p: {sampling.top_p}
        top_k: {sampling.top_k}
        win_size: {sampling.window_tokens}
        tau_r: {sampling.repetition_ratio}
"""


def _streaming_head(flow: FlowConfig) -> str:
    return f"""\
    input_frame_rate: !ref <token_frame_rate>
    only_mask_loss: True
    token_mel_ratio: !ref <token_mel_ratio>
    pre_lookahead_len: {flow.lookahead_tokens}
{_encoder(flow)}"""


def qwen_json(plan: CheckpointPlan) -> str:
    """Return ``CosyVoice-BlankEN/config.json``."""
    assert isinstance(plan.speech_lm, SpeechLMConfig)
    qwen = plan.speech_lm.backbone
    return json.dumps(
        {
            "architectures": ["Qwen2ForCausalLM"],
            "attention_dropout": 0.0,
            "bos_token_id": plan.num_base_text_tokens,
            "eos_token_id": plan.num_base_text_tokens,
            "hidden_act": "silu",
            "hidden_size": qwen.hidden_size,
            "initializer_range": 0.02,
            "intermediate_size": qwen.intermediate_size,
            "max_position_embeddings": qwen.max_positions,
            "max_window_layers": qwen.num_layers,
            "model_type": "qwen2",
            "num_attention_heads": qwen.num_heads,
            "num_hidden_layers": qwen.num_layers,
            "num_key_value_heads": qwen.num_kv_heads,
            "rms_norm_eps": qwen.rms_norm_eps,
            "rope_theta": qwen.rope_theta,
            "sliding_window": qwen.max_positions,
            "tie_word_embeddings": True,
            "torch_dtype": "bfloat16",
            "use_cache": True,
            "use_sliding_window": False,
            "vocab_size": qwen.vocabulary_size,
        },
        indent=1,
    )


def _encoder(flow: FlowConfig) -> str:
    if flow.lookahead:
        return f"""\
    pre_lookahead_layer: !new:cosyvoice.transformer.upsample_encoder.PreLookaheadLayer
        in_channels: {flow.lookahead.in_channels}
        channels: {flow.lookahead.channels}
        pre_lookahead_len: {flow.lookahead_tokens}"""
    assert flow.conformer
    return f"""\
    encoder: !new:cosyvoice.transformer.upsample_encoder.UpsampleConformerEncoder
        output_size: {flow.conformer.size}
        attention_heads: {flow.conformer.num_heads}
        linear_units: {flow.conformer.feed_forward_size}
        num_blocks: {flow.conformer.num_blocks}
        dropout_rate: 0.1
        positional_dropout_rate: 0.1
        attention_dropout_rate: 0.1
        normalize_before: True
        input_layer: 'linear'
        pos_enc_layer_type: 'rel_pos_espnet'
        selfattention_layer_type: 'rel_selfattn'
        input_size: {flow.input_size}
        use_cnn_module: False
        macaron_style: False
        static_chunk_size: !ref <chunk_size>"""


def _estimator(flow: FlowConfig) -> str:
    if flow.dit:
        return f"""\
        estimator: !new:cosyvoice.flow.DiT.dit.DiT
            dim: {flow.dit.size}
            depth: {flow.dit.depth}
            heads: {flow.dit.num_heads}
            dim_head: {flow.dit.head_size}
            ff_mult: {flow.dit.feed_forward_ratio}
            mel_dim: {flow.mel_bins}
            mu_dim: {flow.mel_bins}
            spk_dim: {flow.mel_bins}
            out_channels: {flow.mel_bins}
            static_chunk_size: !ref <chunk_size> * <token_mel_ratio>
            num_decoding_left_chunks: !ref <num_decoding_left_chunks>"""
    assert flow.unet
    chunks = """
            static_chunk_size: !ref <chunk_size> * <token_mel_ratio>
            num_decoding_left_chunks: !ref <num_decoding_left_chunks>"""
    return f"""\
        estimator: !new:cosyvoice.flow.decoder.{"Causal" if flow.unet.is_causal else ""}ConditionalDecoder
            in_channels: {4 * flow.mel_bins}
            out_channels: {flow.mel_bins}
            channels: {[flow.unet.channels] * flow.unet.num_levels}
            dropout: 0.0
            attention_head_dim: {flow.unet.head_size}
            n_blocks: {flow.unet.num_transformer_blocks}
            num_mid_blocks: {flow.unet.num_mid_blocks}
            num_heads: {flow.unet.num_heads}
            act_fn: 'gelu'{chunks if flow.unet.is_causal else ""}"""


def _vocoder(vocoder: VocoderConfig, class_name: str) -> str:
    is_causal = vocoder.kind is VocoderKind.CAUSAL
    dilations = [list(vocoder.resblock_dilations)] * len(vocoder.resblock_kernel_sizes)
    look_right = f"\n    conv_pre_look_right: {vocoder.look_right_frames}" if is_causal else ""
    return f"""\
hift: !new:cosyvoice.hifigan.generator.{class_name}
    in_channels: {vocoder.mel_bins}
    base_channels: {vocoder.base_channels}
    nb_harmonics: {vocoder.num_harmonics}
    sampling_rate: !ref <sample_rate>
    nsf_alpha: {vocoder.sine_amplitude}
    nsf_sigma: {vocoder.noise_amplitude}
    nsf_voiced_threshold: {vocoder.voiced_threshold_hz:g}
    upsample_rates: {list(vocoder.upsample_rates)}
    upsample_kernel_sizes: {list(vocoder.upsample_kernel_sizes)}
    istft_params:
        n_fft: {vocoder.stft_size}
        hop_len: {vocoder.stft_hop}
    resblock_kernel_sizes: {list(vocoder.resblock_kernel_sizes)}
    resblock_dilation_sizes: {dilations}
    source_resblock_kernel_sizes: {list(vocoder.source_resblock_kernel_sizes)}
    source_resblock_dilation_sizes: {dilations}
    lrelu_slope: {vocoder.leaky_relu_slope}
    audio_limit: {vocoder.audio_limit}{look_right}
    f0_predictor: !new:cosyvoice.hifigan.f0_predictor.{"Causal" if is_causal else ""}ConvRNNF0Predictor
        num_class: 1
        in_channels: {vocoder.mel_bins}
        cond_channels: {vocoder.f0_channels}"""
