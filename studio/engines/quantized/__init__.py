"""Flow and vocoder with eight-bit products, calibrated on speech and accepted only where that is not heard.

``material`` is the speech, ``calibration`` finds the range of every activation, ``building`` writes the graphs and
holds them to the gate. Reading them is ONNX Runtime's business, as with any other graph.
"""
