"""`ray start` without Ray's client server, through which no program connects to this cluster."""

from ray.scripts import scripts

# WORKAROUND: `ray start` opens this server on all interfaces whenever its library is installed, and has no option
# against it (ray/scripts/scripts.py, "no port, has client -> default to 10001").
scripts.get_ray_client_dependency_error = lambda: "not used"
scripts.main()
