"""Language model and flow as recorded graphs of kernels: on a card they cost what their arithmetic costs.

Plain PyTorch launches some hundred kernels for every token and ten thousand for every block of mel, one by one; that
is most of the time on a graphics card. The same arithmetic in memory that never moves can be recorded once and
replayed (``recorded``): ``static_step`` is a token of several lines, drawn where its scores are (``device_sampling``)
and shared by whoever speaks (``line_batch``); ``solver_memory`` is all steps of the flow's solver for one block.
"""
