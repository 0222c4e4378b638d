"""`timbre cluster`: the speech service on several computers, through Ray Serve."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING

from studio.cli.command_context import CommandContext
from studio.cli.numbers import port_number, positive
from studio.cli.options import (
    Actions,
    Commands,
    add_command,
    add_engine_options,
    add_model_option,
    add_quality_option,
    add_service_options,
    chosen_quality,
    engine_options,
    model_folder,
    voice_names,
)
from studio.cli.progress import print_message
from studio.cli.signing import add_signing_options, is_marked, signing_of
from studio.errors import CannotServe, IncompleteInstallation
from studio.model.options import Quality
from studio.system.installation import how_to_add

if TYPE_CHECKING:
    from studio.cluster.deployment import ClusterState

EXAMPLES = """\
examples:
  ray get-auth-token --generate                       once; copy ~/.ray/auth_token to the other computers
  chmod 600 ~/.ray/auth_token                         on every computer
  export RAY_AUTH_MODE=token                          on every computer
  timbre cluster start --device cuda --replicas 8     on the first computer
  timbre cluster start --join 10.0.0.5:6379           on each of the others
  timbre cluster status
  timbre cluster stop

The service has the API of `timbre serve`. “start” writes Ray Serve's deployment file, cluster.yaml, into the data folder.
On an existing Ray cluster, deploy a copy of it: serve run cluster.yaml
"""

_THIS_COMPUTER = "127.0.0.1"


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "cluster",
        None,
        help_text="serve speech with several computers",
        description="Serve speech with the GPUs or cores of several computers, through Ray Serve.",
        examples=EXAMPLES,
    )
    actions = Actions(parser)
    _add_start(actions)
    status = actions.add("status", _status, "show the nodes and workers of the cluster")
    status.add_argument("--json", action="store_true", help="print a JSON object")
    actions.add("stop", _stop, "leave the cluster")


def _add_start(actions: Actions) -> None:
    parser = actions.add("start", _start, "start the cluster, or add this computer to it")
    parser.add_argument("--join", metavar="HOST:PORT", help="add this computer to the cluster with this head node")
    parser.add_argument(
        "--ray-port", type=port_number, default=6379, metavar="N", help="port of the head node (default 6379)"
    )
    parser.add_argument(
        "--node-address",
        metavar="IP",
        help="address of this computer for the other ones; 127.0.0.1 keeps Ray off the network",
    )
    parser.add_argument("--num-cpus", type=positive, metavar="N", help="cores that Ray may use here (default all)")
    parser.add_argument("--num-gpus", type=positive, metavar="N", help="GPUs that Ray may use here (default all)")
    add_service_options(parser)
    parser.add_argument(
        "--replicas", type=positive, default=1, metavar="N", help="maximum number of workers (default 1)"
    )
    parser.add_argument(
        "--fewest-replicas", type=positive, default=1, metavar="N", help="workers that always run (default 1)"
    )
    parser.add_argument("--cores", type=positive, metavar="N", help="cores of each worker (default 2, with a GPU 1)")
    add_signing_options(parser)
    add_quality_option(parser)
    add_model_option(parser)
    add_engine_options(parser, has_threads=True)
    parser.set_defaults(device="cpu")


def _start(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    is_private = arguments.node_address == _THIS_COMPUTER
    if is_private and arguments.join:
        raise CannotServe(
            "A computer with the address {host} cannot join another one.",
            remedy="Name its address in the network.",
            host=_THIS_COMPUTER,
        )
    with _libraries():
        from studio.cluster import node  # noqa: PLC0415 - an optional extra

        if is_private:
            node.keep_private()
        from studio.cluster import deployment  # noqa: PLC0415
        from studio.cluster.application import application  # noqa: PLC0415
        from studio.cluster.options import ClusterOptions  # noqa: PLC0415

    here = partial(node.start_node, host=arguments.node_address, cores=arguments.num_cpus, gpus=arguments.num_gpus)
    if arguments.join:
        here(join=arguments.join)
        print_message(f"this computer belongs to the cluster {arguments.join}")
        _warn_of_ports()
        return 0
    engine = engine_options(arguments, None)
    options = ClusterOptions(
        model=str(model_folder(arguments.model).resolve()) if arguments.model else ClusterOptions().model,
        voice=arguments.voice,
        quality=chosen_quality(arguments) or Quality.EXACT,
        engine=engine if engine.num_threads or not arguments.cores else replace(engine, num_threads=arguments.cores),
        fewest_replicas=min(arguments.fewest_replicas, arguments.replicas),
        most_replicas=arguments.replicas,
        cores=arguments.cores,
        voice_names=voice_names(arguments, command_context.open_library()),
        strict_models=arguments.strict_models,
        queue=arguments.queue,
        host=arguments.host,
        signs_files=signing_of(arguments) is not None,
        marks_files=is_marked(arguments),
        token_file=arguments.token_file and arguments.token_file.absolute(),
        allowed_hosts=tuple(arguments.allow_host),
        allowed_origins=tuple(arguments.allow_origin),
    )
    # Wrong options are reported before anything is started.
    application(options)
    options.access_rules()
    print_message("starting Ray; this takes about half a minute")
    head = here(join=None, port=arguments.ray_port)
    try:
        deployment.deploy(head.address, options, arguments.port)
    except BaseException:
        node.stop_node(head)
        raise
    url = f"http://{arguments.host}:{arguments.port}"
    node.remember(replace(head, url=url))
    print_message(f"serving {options.model_folder().name} at {url}/v1; “timbre cluster stop” ends it")
    if arguments.token_file is not None:
        print_message(f"the API key is in {arguments.token_file}")
    if not is_private:
        _warn_of_ports()
    return 0


def _status(arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    with _libraries():
        from studio.cluster import node  # noqa: PLC0415 - an optional extra

        if (here := node.running_node()) is None:
            raise CannotServe("No cluster runs on this computer.", remedy="Start it with “timbre cluster start”.")
        if here.is_private:
            node.keep_private()
        from studio.cluster import deployment  # noqa: PLC0415
    state = deployment.cluster_state(here.address)
    if arguments.json:
        print(json.dumps({"address": here.address, "url": here.url, **asdict(state)}))
        return 0
    replicas = ", ".join(f"{number} {name.lower()}" for name, number in sorted(state.replicas.items())) or "none"
    print(f"service   {here.url or 'on the head node'}, {_service_state(state)}")
    print(f"head      {here.address}")
    print(f"nodes     {state.nodes}, with {state.cores:g} cores and {state.gpus:g} GPUs")
    print(f"workers   {replicas}")
    print(f"metrics   {', '.join(state.metrics_urls)}, of Ray")
    return 0


def _service_state(state: ClusterState) -> str:
    """Describe the state. Ray calls a service unhealthy as long as it replaces a lost worker, although others work."""
    if state.status == "UNHEALTHY" and state.replicas.get("RUNNING"):
        return "running, with fewer workers than it needs"
    return state.status.lower().replace("_", " ")


def _stop(_arguments: argparse.Namespace, _command_context: CommandContext) -> int:
    with _libraries():
        from studio.cluster import node  # noqa: PLC0415 - an optional extra

        if (here := node.running_node()) is None:
            print_message("no cluster runs on this computer")
            return 0
        if here.is_private:
            node.keep_private()
        from studio.cluster import deployment  # noqa: PLC0415
    if here.url:
        with contextlib.suppress(CannotServe):  # stop an unresponsive head node too
            deployment.end_service(here.address)
    node.stop_node(here)
    print_message("the cluster has ended" if here.url else "this computer has left the cluster")
    return 0


@contextlib.contextmanager
def _libraries() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise IncompleteInstallation(
            "A cluster needs libraries that are not installed ({reason}).",
            remedy="{how}",
            reason=error,
            how=how_to_add("cluster"),
        ) from error


def _warn_of_ports() -> None:
    print_message(
        "note: Ray listens on all interfaces of this computer, whatever its address. Use a private network, or let a "
        "firewall admit only the computers of the cluster."
    )
