"""TensorRT and TensorRT for RTX as runners of the graphs that ``studio/engines/onnx`` writes.

``library`` finds the package that supports the GPU, ``building`` builds plans with progress and cancellation,
``plan_graph`` runs them on torch's stream. Precision is part of the graphs; no builder flags are set for it.
"""
