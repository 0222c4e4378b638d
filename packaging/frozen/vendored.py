"""Libraries that are bundled in Python packages without their own licence file, and data of others in our resources.

A wheel declares its own licence, but not those of linked or bundled libraries; they are listed here. ``licences/``
contains the texts. A shared library of a ``.libs`` folder that is not in this list is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Vendored:
    """A bundled library.

    ``files`` are patterns of file names, and ``texts`` files of ``licences/``. ``told_by`` is the package whose licence
    text contains the library's.
    """

    name: str
    files: tuple[str, ...]
    licence: str
    home: str = ""
    texts: tuple[str, ...] = ()
    copyright: str = ""
    told_by: str = ""


VENDORED = (
    Vendored("ALSA library", ("libasound*",), "LGPL-2.1-or-later", "https://www.alsa-project.org", ("LGPL-2.1",)),
    Vendored(
        "dav1d",
        ("libdav1d*",),
        "BSD-2-Clause",
        "https://code.videolan.org/videolan/dav1d",
        ("BSD-2-Clause",),
        "Copyright (c) 2018-2025, VideoLAN and dav1d authors",
    ),
    Vendored(
        "FFmpeg",
        ("libavcodec*", "libavdevice*", "libavfilter*", "libavformat*", "libavutil*", "libswresample*", "libswscale*"),
        "LGPL-3.0-or-later",
        "https://ffmpeg.org",
        ("LGPL-3.0", "GPL-3.0"),
    ),
    Vendored(
        "GCC runtime libraries",
        ("libgfortran*", "libquadmath*"),
        "GPL-3.0-or-later with the GCC Runtime Library Exception",
        "https://gcc.gnu.org",
        told_by="numpy",
    ),
    Vendored(
        "GCC OpenMP runtime",
        ("libgomp*",),
        "GPL-3.0-or-later with the GCC Runtime Library Exception",
        "https://gcc.gnu.org/onlinedocs/libgomp",
        ("GPL-3.0",),
    ),
    Vendored(
        "GMP", ("libgmp*",), "LGPL-3.0-or-later OR GPL-2.0-or-later", "https://gmplib.org", ("LGPL-3.0", "GPL-3.0")
    ),
    Vendored("GnuTLS", ("libgnutls*",), "LGPL-2.1-or-later", "https://www.gnutls.org", ("LGPL-2.1",)),
    Vendored(
        "ICU",
        ("libicu*", "icu*.dll"),
        "Unicode-DFS-2016",
        "https://icu.unicode.org",
        ("Unicode-DFS-2016",),
        "Copyright (c) 1991-2023 Unicode, Inc. All rights reserved.",
    ),
    Vendored(
        "Intel oneMKL",  # linked into PyTorch's builds for Linux and Windows
        ("libtorch_cpu.so", "torch_cpu.dll"),
        "Intel-Simplified",
        "https://www.intel.com/content/www/us/en/developer/tools/oneapi/onemkl.html",
        ("Intel-Simplified",),
        "Copyright (c) Intel Corporation",
    ),
    Vendored(
        "Intel OpenMP runtime",
        ("libiomp*",),
        "Intel-Simplified",
        "https://www.intel.com/content/www/us/en/developer/tools/oneapi/overview.html",
        ("Intel-Simplified",),
        "Copyright (c) Intel Corporation",
    ),
    Vendored("LAME", ("libmp3lame*",), "LGPL-2.0-or-later", "https://lame.sourceforge.io", ("LGPL-2.1",)),
    Vendored(
        "libdrm",
        ("libdrm*",),
        "MIT",
        "https://dri.freedesktop.org",
        ("MIT",),
        "Copyright (c) 1999-2011 Precision Insight, VA Linux Systems, Tungsten Graphics, Intel, Red Hat and others",
    ),
    Vendored(
        "libunistring",
        ("libunistring*",),
        "LGPL-3.0-or-later OR GPL-2.0-or-later",
        "https://www.gnu.org/software/libunistring",
        ("LGPL-3.0", "GPL-3.0"),
    ),
    Vendored(
        "libvpl", ("libvpl*",), "MIT", "https://github.com/intel/libvpl", ("MIT",), "Copyright (c) Intel Corporation"
    ),
    Vendored(
        "libvpx",
        ("libvpx*",),
        "BSD-3-Clause",
        "https://www.webmproject.org",
        ("BSD-3-Clause",),
        "Copyright (c) 2010, The WebM Project authors. All rights reserved.",
    ),
    Vendored(
        "libwebp",
        ("libwebp*", "libsharpyuv*"),
        "BSD-3-Clause",
        "https://developers.google.com/speed/webp",
        ("BSD-3-Clause",),
        "Copyright (c) 2010, Google Inc. All rights reserved.",
    ),
    Vendored(
        "libxcb, libXau",
        ("libxcb*", "libXau*"),
        "MIT",
        "https://xcb.freedesktop.org",
        ("MIT",),
        "Copyright (C) 2001-2006 Bart Massey, Jamey Sharp, and Josh Triplett; Copyright 1988, 1993, 1994, 1998 The Open Group",
    ),
    Vendored(
        "LLVM OpenMP runtime",
        ("libomp*",),
        "Apache-2.0 WITH LLVM-exception",
        "https://openmp.llvm.org",
        ("LLVM-exception", "Apache-2.0"),
    ),
    # Only on Windows. Its terms are in the licence text of Python.
    Vendored(
        "Microsoft Visual C++ runtime",
        ("concrt140*", "msvcp140*", "vcomp140*", "vcruntime140*"),
        "Microsoft Distributable Code",
        "https://learn.microsoft.com/cpp/windows/latest-supported-vc-redist",
        told_by="Python",
    ),
    Vendored(
        "Nettle",
        ("libnettle*", "libhogweed*"),
        "LGPL-3.0-or-later OR GPL-2.0-or-later",
        "https://www.lysator.liu.se/~nisse/nettle",
        ("LGPL-3.0", "GPL-3.0"),
    ),
    Vendored(
        "OpenBLAS",
        ("libscipy_openblas*", "libopenblas*"),
        "BSD-3-Clause",
        "https://www.openblas.net",
        told_by="numpy",
    ),
    Vendored(
        "OpenCORE AMR",
        ("libopencore-amr*",),
        "Apache-2.0",
        "https://sourceforge.net/projects/opencore-amr",
        ("Apache-2.0",),
    ),
    Vendored(
        "Opus",
        ("libopus*",),
        "BSD-3-Clause",
        "https://opus-codec.org",
        ("BSD-3-Clause",),
        "Copyright 2001-2023 Xiph.Org, Skype Limited, Octasic, Jean-Marc Valin, Timothy B. Terriberry, CSIRO, "
        "Gregory Maxwell, Mark Borgerding, Erik de Castro Lopo, Mozilla, Amazon",
    ),
    Vendored(  # contained in sounddevice on Windows and macOS
        "PortAudio",
        ("libportaudio*",),
        "MIT",
        "https://www.portaudio.com",
        ("MIT",),
        "Copyright (c) 1999-2011 Ross Bencina, Phil Burk",
    ),
    Vendored(
        "SVT-AV1",
        ("libSvtAv1Enc*",),
        "BSD-3-Clause-Clear",
        "https://gitlab.com/AOMediaCodec/SVT-AV1",
        ("BSD-3-Clause-Clear",),
        "Copyright (c) 2019, Alliance for Open Media. All rights reserved.",
    ),
    Vendored(  # the file of openai-whisper 20231117, SHA-256 b34b360d…; ``studio/text/whisper_vocabulary.py`` checks it
        "Whisper's multilingual vocabulary",
        ("whisper-multilingual.tiktoken",),
        "MIT",
        "https://github.com/openai/whisper",
        ("MIT",),
        "Copyright (c) 2022 OpenAI",
    ),
    Vendored("x264", ("libx264*",), "GPL-2.0-or-later", "https://www.videolan.org/developers/x264.html", ("GPL-2.0",)),
    Vendored("x265", ("libx265*",), "GPL-2.0-or-later", "https://www.x265.org", ("GPL-2.0",)),
)


def vendored(file_name: str) -> Vendored | None:
    return next((each for each in VENDORED if any(fnmatchcase(file_name, pattern) for pattern in each.files)), None)
