"""Signed provenance of audio files: what is said about them, how it is signed, and how it is read.

Decided: manifests of C2PA, written by the library ``c2pa-python``, because players, browsers and content platforms read
them, instead of a format of our own. The library is optional (the extra ``provenance``) and imported only when a file
is signed or inspected.
"""
