"""Flow and vocoder with 8-bit products, calibrated on speech and accepted only if the difference is inaudible.

``clips`` provides the speech, ``calibration`` finds activation ranges, ``building`` writes the graphs and checks their
distortion. ONNX Runtime runs them like any other graph.
"""
