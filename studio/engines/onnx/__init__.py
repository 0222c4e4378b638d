"""Stages as ONNX graphs, exported from the networks of ``studio/model``.

``graph`` is the interface to a runtime and describes the graphs; ``ort_graph`` implements it with ONNX Runtime.
``..._graphs`` trace networks, ``mixed_precision`` converts graphs to 16 bits, ``files`` writes graphs and opens the
stages, which ``..._decoder`` implement on any runtime.
"""
