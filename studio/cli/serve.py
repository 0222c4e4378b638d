"""`timbre serve`: the speech service for programs on this computer or network."""

from __future__ import annotations

import argparse
from dataclasses import replace

from studio.cli.command_context import CommandContext
from studio.cli.numbers import port_number
from studio.cli.options import (
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
from studio.cli.speaking import run_until_cancelled
from studio.errors import IncompleteInstallation
from studio.model.options import Quality
from studio.system.installation import how_to_add
from studio.worker.client import WorkerClient

EXAMPLES = """\
examples:
  timbre serve                                       for programs on this computer: http://127.0.0.1:8807/v1
  timbre serve --model CosyVoice2-0.5B --voice Anna
  timbre serve --host 0.0.0.0 --token-file token     for other computers; creates the token
  curl http://127.0.0.1:8807/v1/audio/speech -H "Content-Type: application/json" \\
       -d '{"input": "Hello there.", "response_format": "wav"}' -o hello.wav

Clients of OpenAI's speech API work unchanged: set their base URL to the address above, with /v1.
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "serve",
        run,
        help_text="serve speech to other programs",
        description="Offer voices to other programs, through an API compatible with OpenAI's speech API.",
        examples=EXAMPLES,
    )
    add_service_options(parser, port_note="; 0 chooses one")
    parser.add_argument(
        "--metrics-port", type=port_number, metavar="N", help="also serve the metrics on this port, without the token"
    )
    parser.add_argument(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="format of the line for each request (default text)",
    )
    add_signing_options(parser)
    add_quality_option(parser)
    add_model_option(parser)
    add_engine_options(parser, has_threads=True)


def run(arguments: argparse.Namespace, command_context: CommandContext) -> int:
    try:
        from studio.serve.request_log import log_to_standard_error  # noqa: PLC0415
        from studio.serve.running import Address, access_rules, run_service  # noqa: PLC0415 - an optional extra
        from studio.serve.service import ServiceOptions, SpeechService  # noqa: PLC0415
    except ImportError as error:
        raise IncompleteInstallation(
            "The speech service needs libraries that are not installed ({reason}).",
            remedy="{how}",
            reason=error,
            how=how_to_add("serve"),
        ) from error

    folder = model_folder(arguments.model)
    address = Address(
        arguments.host,
        arguments.port,
        arguments.token_file,
        tuple(arguments.allow_host),
        tuple(arguments.allow_origin),
        arguments.metrics_port,
    )
    access_rules(address)  # before the model is loaded
    names = voice_names(arguments, command_context.open_library())
    signing = signing_of(arguments)

    def on_ready(url: str) -> None:
        print_message(f"serving {folder.name} at {url}/v1; Ctrl+C stops")
        if arguments.token_file is not None:
            print_message(f"the API key is in {arguments.token_file}")

    async def serve() -> None:
        engine = replace(engine_options(arguments, folder), runs_lines_in_processes=True, keeps_line_processes=True)
        async with WorkerClient(folder, engine, start_worker=command_context.start_worker) as client:
            quality = chosen_quality(arguments) or Quality.EXACT
            options = ServiceOptions(
                folder,
                arguments.voice,
                arguments.queue,
                quality,
                names,
                is_strict=arguments.strict_models,
                signing=signing,
                is_marked=is_marked(arguments),
                warms_up=True,
            )
            service = SpeechService(client, options, command_context.open_library)
            await run_service(service, address, on_ready=on_ready)

    with log_to_standard_error(arguments.log_format):
        return run_until_cancelled(serve())
