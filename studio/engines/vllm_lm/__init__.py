"""The speech language model under vLLM (Linux): many lines at once share each pass over the weights.

    build    the weights, as files vLLM reads (``model_files``)
    open     a child process that runs vLLM (``serving``, from ``__main__``), spoken to in ``messages``
    speak    prompts go there as embeddings, tokens come back as they are drawn (``speech_lm``, ``engine_process``)

Decided: vLLM's engine runs inside one process of ours, not in the processes it would start itself. Because a hang,
a crash or a full card is then one process to end, its output one log, and its logits processor can draw tokens by
our own law and our own random numbers (``batch_draw``), and show the scores to whoever proves it. Instead of: its
server, or its asynchronous client, which leave tokens to vLLM's sampler and processes behind.

Decided: vLLM's first model runner, whose logits processors see every token. Because its second one has another kind,
which nothing here could run; all versions made for a torch this program takes have both.
"""
