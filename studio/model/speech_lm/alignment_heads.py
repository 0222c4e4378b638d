"""Attention heads of the language model that follow the text.

In models of this design, a few attention heads follow the text while speech tokens are generated: they attend to the
text token that is being spoken. ``choose_alignment_heads`` finds them. An ``AttentionRecorder`` records their attention
during generation, and ``forced_attention`` computes it afterwards from known tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from studio.model.speech_lm.decoder import AttentionRecorder, KVCache
from studio.model.speech_lm.torch_lm import TorchSpeechLM
from studio.model.stages import AttentionHead, AttentionMap, SpeechTokenRequest

# A head follows the text if its attention correlates with the time and stays on the text. In studio-mini two heads have
# 0.9 and more, and all others less than 0.1.
_MIN_SCORE = 0.5
# Heads are ahead of the speech by different times, so a mean of several is blurred: with the better of studio-mini's two
# heads, 95 % of word starts are within 80 ms, and with their mean within 120 ms.
_MAX_HEADS = 1
_MIN_TEXT_TOKENS = 8


def forced_attention(
    speech_lm: TorchSpeechLM, request: SpeechTokenRequest, speech_tokens: Sequence[int], heads: Sequence[AttentionHead]
) -> AttentionMap | None:
    """Return the attention of ``heads`` when ``speech_lm`` is forced to generate ``speech_tokens``."""
    recorder = AttentionRecorder(heads, request)
    cache = _forced(speech_lm, request, speech_tokens, recorder)
    return recorder.weights(cache.filled_layers(), speech_lm.config.backbone.num_heads)


def choose_alignment_heads(
    speech_lm: TorchSpeechLM, sentences: Sequence[tuple[SpeechTokenRequest, Sequence[int]]]
) -> tuple[AttentionHead, ...]:
    """Return the heads that follow the text in ``sentences``, pairs of a request and its speech, the best one first."""
    backbone = speech_lm.config.backbone
    heads = [AttentionHead(layer, head) for layer in range(backbone.num_layers) for head in range(backbone.num_heads)]
    usable = [(request, tokens) for request, tokens in sentences if len(request.text_tokens) >= _MIN_TEXT_TOKENS]
    if not usable:
        return ()
    scores = np.zeros(len(heads))
    for request, tokens in usable:
        recorder = AttentionRecorder(heads, request)
        cache = _forced(speech_lm, request, tokens, recorder)
        maps = recorder.maps(cache.filled_layers(), backbone.num_heads).numpy(force=True)
        scores += [_following(each) for each in maps]
    scores /= len(usable)
    best = [int(index) for index in np.argsort(-scores)[:_MAX_HEADS] if scores[index] >= _MIN_SCORE]
    return tuple(heads[index] for index in best)


@torch.inference_mode()
def _forced(
    speech_lm: TorchSpeechLM, request: SpeechTokenRequest, speech_tokens: Sequence[int], recorder: AttentionRecorder
) -> KVCache:
    # The last token is not an input, since no token follows it.
    rest = torch.cat((speech_lm.inputs.embed_rest(request), speech_lm.inputs.embed_speech(tuple(speech_tokens[:-1]))))
    cache = speech_lm.open_cache(1 + len(request.prompt_text_tokens) + len(rest))
    speech_lm.begin_with_prompt_text(request.prompt_text_tokens, cache)
    cache.recorder = recorder
    speech_lm.decoder.advance(rest, cache)
    return cache


def _following(attention: AttentionMap) -> float:
    """Return how closely a map (speech tokens, text tokens) follows the text, up to 1."""
    mass = attention.sum(axis=1)
    position = attention @ np.arange(attention.shape[1]) / np.maximum(mass, 1e-9)
    if position.std() < 1e-6:
        return 0.0
    correlation = np.corrcoef(np.arange(len(position)), position)[0, 1]
    return float(correlation * mass.mean())
