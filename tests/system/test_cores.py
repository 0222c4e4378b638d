"""Counting the cores that a process may use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from studio.system.cores import num_cores, num_performance_cores

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads files of Linux")


def hybrid(folder: Path) -> Path:
    """A processor with two fast cores of two threads each (0 to 3) and four slow cores (4 to 7)."""
    for cpu in range(8):
        topology = folder / "devices" / "system" / "cpu" / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        siblings = f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}\n" if cpu < 4 else f"{cpu}\n"
        (topology / "thread_siblings_list").write_text(siblings)
    for name, cpus in (("cpu_core", "0-3\n"), ("cpu_atom", "4-7\n")):
        (folder / "devices" / name).mkdir()
        (folder / "devices" / name / "cpus").write_text(cpus)
    return folder


@pytest.mark.parametrize(
    ("usable", "cores", "fast"), [(set(range(8)), 6, 2), ({0, 1, 5}, 2, 1), ({4, 5}, 2, 2), ({0, 2}, 2, 2)]
)
def test_cores_are_counted_within_the_affinity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usable: set[int], cores: int, fast: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: usable)
    system = hybrid(tmp_path)
    assert (num_cores(system), num_performance_cores(system)) == (cores, fast)


@pytest.mark.parametrize(("quota", "cores"), [("max 100000", 6), ("150000 100000", 2), ("10000 100000", 1), ("", 6)])
def test_cores_are_counted_within_the_quota_of_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quota: str, cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(8)))
    system = hybrid(tmp_path)
    (system / "fs" / "cgroup").mkdir(parents=True)
    (system / "fs" / "cgroup" / "cpu.max").write_text(quota)
    assert num_cores(system) == cores
    assert num_performance_cores(system) == min(2, cores)


def test_without_a_description_the_system_is_asked(tmp_path: Path) -> None:
    expected = psutil.cpu_count(logical=False) or psutil.cpu_count()
    assert num_cores(tmp_path) == num_performance_cores(tmp_path) == expected


def test_a_process_on_one_processor_has_one_core() -> None:
    """As ``taskset -c 0`` starts it."""
    one = min(os.sched_getaffinity(0))
    code = (
        f"import os; os.sched_setaffinity(0, {{{one}}}); from studio.system.cores import num_cores; print(num_cores())"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == "1"
