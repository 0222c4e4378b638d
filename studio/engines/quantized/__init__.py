"""Flow and vocoder with 8-bit matrix multiplications, calibrated on speech.

A build is accepted only if the difference from float32 is inaudible.

``calibration`` finds activation ranges and quantises a graph, ``building`` cuts the calibration clips, writes the graphs
and checks their distortion. ONNX Runtime runs them like any other graph.
"""
