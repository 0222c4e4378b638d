"""Stages as ONNX graphs, exported from the networks of ``studio/model``.

``graph`` is the interface to a runtime and describes the graphs; ``ort_graph`` implements it with ONNX Runtime.
``flow_graphs`` and ``vocoder`` trace networks, ``mixed_precision`` converts graphs to 16 bits, ``files`` writes graphs
and opens the stages, which ``flow_decoder`` and ``vocoder`` implement on any runtime.
"""
