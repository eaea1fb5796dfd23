"""What a process may still use: trees of files as containers, scopes and Slurm jobs show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ritz._core.allowance import allowance
from ritz._core.memory import limit, stated, within

GB = 2**30


def tree(root: Path, files: dict[str, object]) -> Path:
    base = {"proc/meminfo": f"MemTotal: {64 * 2**20} kB\nMemAvailable: {32 * 2**20} kB\n"}
    for name, text in (base | files).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")
    return root


def v2(path: str, **files: object) -> dict[str, object]:
    return {f"sys/fs/cgroup{path}/memory.{name}": text for name, text in files.items()}


def v1(path: str, **files: object) -> dict[str, object]:
    return {f"sys/fs/cgroup/memory{path}/memory.{name}": text for name, text in files.items()}


def test_a_machine_without_bounds(tmp_path):
    assert allowance(tree(tmp_path, {}), {}) == 32 * GB


def test_a_container_of_version_2_sees_its_own_top(tmp_path):
    files = {"proc/self/cgroup": "0::/", **v2("", max=4 * GB, current=3 * GB, stat=f"anon 5\ninactive_file {2 * GB}")}
    assert allowance(tree(tmp_path, files), {}) == 3 * GB  # files in the cache are no use of memory


@pytest.mark.parametrize("where", ["/user.slice/app.slice/run.scope", "/user.slice/app.slice", "/user.slice"])
def test_a_scope_of_systemd_and_every_slice_above_it_bound(tmp_path, where):
    files = {"proc/self/cgroup": "0::/user.slice/app.slice/run.scope"}
    for part in ("/user.slice", "/user.slice/app.slice", "/user.slice/app.slice/run.scope"):
        files |= v2(part, max="max", high="max", current=GB)
    bounded = files | v2(where, max=2 * GB)
    assert allowance(tree(tmp_path, bounded), {}) == GB
    assert allowance(tree(tmp_path, files | v2(where, max="max", high=3 * GB)), {}) == 2 * GB


def test_a_group_elsewhere_does_not_bound(tmp_path):
    files = {"proc/self/cgroup": "0::/mine", **v2("/mine", max="max", current=0), **v2("/other", max=GB, current=0)}
    assert allowance(tree(tmp_path, files), {}) == 32 * GB


def test_the_steps_of_a_slurm_job_in_version_1(tmp_path):
    step = "/slurm/uid_7/job_42/step_0"
    files = {
        "proc/self/cgroup": f"9:cpuset:{step}\n4:memory:{step}\n0::/",
        **v1(step, limit_in_bytes=9223372036854771712, usage_in_bytes=GB),
        **v1("/slurm/uid_7/job_42", limit_in_bytes=6 * GB, usage_in_bytes=2 * GB),
    }
    assert allowance(tree(tmp_path, files), {}) == 4 * GB


def test_a_container_that_is_named_by_the_host_but_mounted_as_the_top(tmp_path):
    files = {"proc/self/cgroup": "4:memory:/docker/abc", **v1("", limit_in_bytes=5 * GB, usage_in_bytes=GB)}
    assert allowance(tree(tmp_path, files), {}) == 4 * GB
    mounted = "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"
    assert allowance(tree(tmp_path, files | {"proc/self/mountinfo": mounted}), {}) == 4 * GB


def test_a_group_outside_of_the_namespace(tmp_path):
    files = {"proc/self/cgroup": "0::/../../elsewhere", **v2("", max=2 * GB, current=0)}
    assert allowance(tree(tmp_path, files), {}) == 2 * GB


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"SLURM_MEM_PER_NODE": "4096"}, 4 * GB),
        ({"SLURM_MEM_PER_NODE": "4G"}, 4 * GB),
        ({"SLURM_MEM_PER_NODE": "0"}, 32 * GB),  # all of the node
        ({"SLURM_MEM_PER_CPU": "1024", "SLURM_CPUS_ON_NODE": "3"}, 3 * GB),
        ({"SLURM_MEM_PER_CPU": "1024", "SLURM_JOB_CPUS_PER_NODE": "2(x3),1"}, 2 * GB),
        ({"SLURM_MEM_PER_CPU": "1024"}, GB),
        ({"SLURM_MEM_PER_GPU": "2048", "SLURM_GPUS_ON_NODE": "2"}, 4 * GB),
        ({"SLURM_MEM_PER_NODE": "8192", "SLURM_MEM_PER_CPU": "1024", "SLURM_CPUS_ON_NODE": "2"}, 2 * GB),
        ({"SLURM_MEM_PER_NODE": "nonsense"}, 32 * GB),
    ],
)
def test_what_slurm_gave_the_job(tmp_path, environ, expected):
    assert allowance(tree(tmp_path, {}), environ) == expected


def test_what_the_process_holds_is_taken_off_what_slurm_gave(tmp_path):
    root = tree(tmp_path, {"proc/self/status": f"Name: x\nVmRSS:\t{2**20} kB"})
    assert allowance(root, {"SLURM_MEM_PER_NODE": "4096"}) == 3 * GB


def test_the_smallest_bound_counts_and_none_is_negative(tmp_path):
    files = {"proc/self/cgroup": "0::/a", **v2("/a", max=8 * GB, current=0)}
    assert allowance(tree(tmp_path, files), {"SLURM_MEM_PER_NODE": "2048"}) == 2 * GB
    assert allowance(tree(tmp_path, files | v2("/a", max=GB, current=2 * GB)), {}) == 0


def test_a_reader_states_its_limit():
    assert stated() == pytest.approx(limit(None), rel=0.2)
    with within(5e6):
        assert stated() == 5e6
    assert stated() > 5e6
