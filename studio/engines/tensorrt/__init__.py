"""TensorRT and TensorRT for RTX as runners of the graphs that ``studio/engines/onnx`` writes.

``library`` finds the package that supports the GPU, ``building`` builds plans with progress and cancellation,
``plan_files`` defines their sizes and files, ``plan_graph`` runs them on torch's stream. The graphs determine the
precision; no builder flags are set for it.
"""
