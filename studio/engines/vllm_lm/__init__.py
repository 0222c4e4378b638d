"""The speech language model under vLLM (Linux): many concurrent lines share each pass over the weights.

    build      write the weights as files that vLLM loads (``model_files``)
    open       start a child process that runs vLLM (``serving``, from ``__main__``; protocol in ``messages``)
    generate   send prompts as embeddings, receive tokens as they are sampled (``speech_lm``, ``engine_process``)

Decision: vLLM's engine runs inside one child process of ours, without its own worker processes. Reason: after a hang, a
crash or a full GPU, there is one process to kill and one log to read. The logits processor can sample with our rules and random
numbers (``batch_sampler``) and return the scores for verification. Alternative: vLLM's server or asynchronous client,
which sample with vLLM's sampler and leave processes behind.

Decision: vLLM's first model runner, whose logits processors see every token. Reason: the second one has a different
processor interface, which could not be tested here; every vLLM version for a supported torch has both.
"""
