"""Metrics of all nodes in one text."""

from __future__ import annotations

import asyncio
import http.server
import threading

from prometheus_client.parser import text_string_to_metric_families

from studio.cluster.metrics import merge_metrics, ray_metrics

NODE = b"""# HELP ray_tasks Tasks.
# TYPE ray_tasks gauge
ray_tasks{node="%s"} %d
# HELP ray_seconds Seconds.
# TYPE ray_seconds histogram
ray_seconds_bucket{node="%s",le="1.0"} 1.0
ray_seconds_bucket{node="%s",le="+Inf"} 2.0
ray_seconds_count{node="%s"} 2.0
ray_seconds_sum{node="%s"} 3.5
"""


def of_node(name: bytes, number: int) -> bytes:
    return NODE % (name, number, name, name, name, name)


def test_each_metric_occurs_once_with_the_samples_of_all_nodes() -> None:
    merged = merge_metrics([b"# TYPE timbre_requests counter\ntimbre_requests_total 7.0\n", of_node(b"a", 1)])
    merged = merge_metrics([merged, of_node(b"b", 2)])
    lines = merged.decode().splitlines()
    assert lines.count("# TYPE ray_tasks gauge") == 1
    assert "timbre_requests_total 7.0" in lines
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for metric in text_string_to_metric_families(merged.decode())
        for sample in metric.samples
    }
    assert samples["ray_tasks", "a"] == 1.0
    assert samples["ray_tasks", "b"] == 2.0
    assert samples["ray_seconds_sum", "b"] == 3.5
    assert samples["ray_seconds_bucket", "+Inf", "a"] == 2.0


def test_a_node_that_does_not_answer_is_left_out() -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(of_node(b"a", 1))

        def log_message(self, *_: object) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        texts = asyncio.run(ray_metrics([url, "http://127.0.0.1:9"]))
        server.shutdown()
        thread.join()
    assert texts == [of_node(b"a", 1)]
