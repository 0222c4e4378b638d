"""TensorRT, in both its packages, as a runner of the graphs that ``studio/engines/onnx`` writes.

``library`` finds the package that suits the card, ``building`` makes plans with progress and cancel, ``plan_graph``
runs them on torch's stream. Precision is in the graphs; nothing here sets flags for it.
"""
