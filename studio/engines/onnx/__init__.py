"""Stages as ONNX graphs: written by us from the networks of ``studio/model``, and run by whatever is fast here.

``..._graphs`` trace networks, ``..._files`` lay graphs in a folder, ``mixed_precision`` says in them what is half;
``graph`` is all the stages ask of a library, ``ort_graph`` is ONNX Runtime's answer, and ``..._decoder``
keep the stages' promises with any library that answers. Nothing here chooses.
"""
