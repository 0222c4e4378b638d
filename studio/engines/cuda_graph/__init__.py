"""All stages as CUDA graphs, which remove the cost of launching kernels one by one.

Plain PyTorch launches several hundred kernels per token and ten thousand per block of mel, which is most of the time on
a GPU. The same arithmetic in fixed memory is recorded once and replayed (``captured_graph``): ``prefill`` is prompt and
text of a line, ``static_step`` one token of several lines, sampled on the GPU, and ``speech_lm`` batches concurrent lines;
``flow`` computes one block in one run of all solver steps; ``vocoder`` and ``window_vocoder`` compute one chunk.
"""
