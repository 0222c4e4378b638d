"""Stages as ONNX graphs, exported from the networks of ``studio/model``.

``..._graphs`` trace networks, ``..._files`` write graphs into a folder, ``mixed_precision`` converts them to 16 bits.
``graph`` is the interface to a runtime and ``ort_graph`` its ONNX Runtime implementation; ``..._decoder`` implement the
stages on any runtime. Nothing here chooses an engine.
"""
