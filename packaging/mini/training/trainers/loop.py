"""Training loop of all trainers, with resuming, logging, checkpoints, averaging and a time limit.

    begin(options)                                   # one thread, seeds; before networks are made
    trainer = Trainer("f0", options, networks={"f0": network}, optimizers={"f0": optimizer}, averaged=("f0",),
                      facts={"channels": 64}, validate=validate)
    for _ in trainer.steps():
        audio_seconds, batch = ...                   # draws from trainer.random (numpy) or trainer.generator (torch)
        loss = ...
        trainer.descend(loss, "f0", largest_gradient=1.0)
        trainer.note(loss=loss, heard_seconds=audio_seconds)
    return trainer.finish()                          # validates and saves; the values of ``validate``

Code for a single stage is in its module. Several networks with separate optimizers (a vocoder and its
discriminators) are several entries; ``descend`` may be called once for each in a step.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FrameType

import numpy as np
import torch
from torch import nn

from training.trainers.averaging import AveragedWeights
from training.trainers.checkpoints import Fact, read_checkpoint, write_checkpoint
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.running_mean import RunningMean

_FORMAT = 1
_SECONDS_BETWEEN_SAVES = 180.0
_SECONDS_BETWEEN_LINES = 30.0

Validation = Callable[[], Mapping[str, float]]


def begin(options: TrainingOptions) -> None:
    """Set torch's seed, and use one thread (under contention, two were ten times slower)."""
    torch.set_num_threads(1)
    # Denormals appear in optimizer moments and in silence, and are a hundred times slower than other numbers.
    torch.set_flush_denormal(True)
    torch.manual_seed(options.seed)


class Trainer:
    """One run of one stage, without the training steps. It continues an interrupted run.

    ``facts`` (sizes) go into the checkpoint for exporters. The rate of each optimizer rises over
    ``warm_up_steps`` and falls to a tenth in the last ``cool_down_share`` of the time. ``validate`` runs with the
    averaged weights, every ``minutes_between_validations`` and at the end, with modules in ``eval`` mode.
    """

    def __init__(
        self,
        stage: str,
        options: TrainingOptions,
        *,
        networks: Mapping[str, nn.Module],
        optimizers: Mapping[str, torch.optim.Optimizer],
        averaged: Collection[str] = (),
        average_decay: float = 0.999,
        facts: Mapping[str, Fact] | None = None,
        warm_up_steps: int = 100,
        cool_down_share: float = 0.3,
        validate: Validation | None = None,
        minutes_between_validations: float = 10.0,
    ) -> None:
        self.name = options.name or stage
        self.options = options
        self.networks = dict(networks)
        self.optimizers = dict(optimizers)
        self.averages = {name: AveragedWeights(self.networks[name], average_decay) for name in averaged}
        self._averages_of = {
            name: [network for network in self.averages if _has_a_weight_of(self.networks[network], optimizer)]
            for name, optimizer in self.optimizers.items()
        }
        self.facts = dict(facts or {})
        self.generator = torch.Generator().manual_seed(options.seed)
        self.random = np.random.default_rng(options.seed)
        self.step = 0
        self.checkpoint_path = options.work / f"{self.name}.pt"
        self._log_path = options.work / f"{self.name}.jsonl"
        self._rates = {name: [group["lr"] for group in each.param_groups] for name, each in self.optimizers.items()}
        self._warm_up_steps, self._cool_down_share = warm_up_steps, cool_down_share
        self._validate, self._seconds_between_validations = validate, 60.0 * minutes_between_validations
        self._means: dict[str, RunningMean] = {}
        self._earlier_seconds = self._earlier_heard_seconds = self._heard_seconds = 0.0
        self._must_stop = False
        options.work.mkdir(parents=True, exist_ok=True)
        if self.checkpoint_path.is_file():
            self._resume()
        # At idle priority, minutes may pass without a step.
        self._clock = time.process_time if self.device.type == "cpu" else time.monotonic
        self._started = self._clock()
        self._last_line = self._last_save = self._last_validation = time.monotonic()
        self._cpu_at_line = time.process_time()
        self._step_at_line, self._heard_at_line = self.step, 0.0

    @property
    def device(self) -> torch.device:
        return torch.device(self.options.device)

    @property
    def elapsed_share(self) -> float:
        """The elapsed share of the training time of all runs, 0..1."""
        return min(1.0, self.seconds_trained / max(60.0 * self.options.minutes, 1e-9))

    @property
    def seconds_trained(self) -> float:
        """The training time of all runs so far: CPU time, or elapsed time on a GPU."""
        return self._earlier_seconds + self._clock() - self._started

    def steps(self) -> Iterator[int]:
        """Yield the number of each step, until the time is over or the process is interrupted (SIGTERM, Ctrl+C)."""
        self._print(
            f"{self.name}: from step {self.step}, for {self.options.minutes:g} minutes on {self.options.device}"
        )
        with self._ending_gently():
            while self.elapsed_share < 1.0 and not self._must_stop:
                self._set_rates()
                yield self.step
                self.step += 1
                self._after_step()
        if self._must_stop:
            self.save()
            self._print(f"{self.name}: interrupted; saved at step {self.step}")

    def descend(self, loss: torch.Tensor, *optimizers: str, largest_gradient: float | None = None) -> None:
        """Perform a gradient step of ``loss`` with these optimizers, and update the averages of their networks.

        If the gradient is limited, a gradient that is not finite is skipped.
        """
        steppers = [self.optimizers[name] for name in optimizers]
        for stepper in steppers:
            stepper.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        if largest_gradient is not None:
            groups = [group for stepper in steppers for group in stepper.param_groups]
            parameters = [weight for group in groups for weight in group["params"] if weight.grad is not None]
            norm = nn.utils.clip_grad_norm_(parameters, largest_gradient)
            self.note(heard_seconds=0.0, **{f"{optimizers[0]}_gradient": norm})
            if not torch.isfinite(norm):
                return
        for stepper in steppers:
            stepper.step()
        for name in {network for optimizer in optimizers for network in self._averages_of[optimizer]}:
            self.averages[name].update()

    def note(self, *, heard_seconds: float = 0.0, **values: torch.Tensor | float) -> None:
        """Add values to the means of the next log line. ``heard_seconds`` of audio determine the speed."""
        self._heard_seconds += heard_seconds
        for name, value in values.items():
            self._means.setdefault(name, RunningMean()).add(value)

    def finish(self) -> dict[str, float]:
        """Save, validate and return the values. An interrupted run is not validated."""
        if self._must_stop:
            return {}
        if self._means:
            self._write_line({})
        self.save()
        return self._validated()

    def save(self) -> None:
        write_checkpoint(
            self.checkpoint_path,
            {
                "format": _FORMAT,
                "stage": self.name,
                "step": self.step,
                "seconds": self.seconds_trained,
                "heard_seconds": self._earlier_heard_seconds + self._heard_seconds,
                "facts": self.facts,
                "networks": {name: network.state_dict() for name, network in self.networks.items()},
                "averages": {name: average.tensors for name, average in self.averages.items()},
                "num_updates": {name: average.num_updates for name, average in self.averages.items()},
                "optimizers": {name: optimizer.state_dict() for name, optimizer in self.optimizers.items()},
                "random": {
                    "generator": self.generator.get_state(),
                    "torch": torch.get_rng_state(),
                    "numpy": json.dumps(self.random.bit_generator.state),
                },
            },
        )
        self._last_save = time.monotonic()

    def _resume(self) -> None:
        content = read_checkpoint(self.checkpoint_path, self.options.device)
        facts = content["facts"]
        if facts != self.facts:
            raise TrainingFailed(
                f"{self.checkpoint_path} has sizes ({facts}) that differ from the requested ones ({self.facts}). "
                "Delete it, or choose another --name."
            )
        try:
            for name, network in self.networks.items():
                network.load_state_dict(content["networks"][name])
            for name, optimizer in self.optimizers.items():
                optimizer.load_state_dict(content["optimizers"][name])
            for name, average in self.averages.items():
                average.load(content["averages"][name], content["num_updates"][name])
        except (KeyError, RuntimeError, ValueError) as error:
            raise TrainingFailed(
                f"{self.checkpoint_path} does not fit the current networks. Delete it to start from scratch. ({error})"
            ) from error
        self.step = content["step"]
        self._earlier_seconds, self._earlier_heard_seconds = content["seconds"], content["heard_seconds"]
        self.generator.set_state(content["random"]["generator"].cpu())
        torch.set_rng_state(content["random"]["torch"].cpu())
        self.random.bit_generator.state = json.loads(content["random"]["numpy"])

    def _set_rates(self) -> None:
        warm = min(1.0, (self.step + 1) / max(1, self._warm_up_steps))
        cooling = (self.elapsed_share - (1.0 - self._cool_down_share)) / max(self._cool_down_share, 1e-9)
        factor = warm * (1.0 - 0.9 * min(1.0, max(0.0, cooling)))
        for name, optimizer in self.optimizers.items():
            for group, rate in zip(optimizer.param_groups, self._rates[name], strict=True):
                group["lr"] = rate * factor

    def _after_step(self) -> None:
        now = time.monotonic()
        if now - self._last_line >= _SECONDS_BETWEEN_LINES:
            self._write_line({})
        if now - self._last_save >= _SECONDS_BETWEEN_SAVES:
            self._write_line({})  # raises an error for NaN before saving
            self.save()
        if now - self._last_validation >= self._seconds_between_validations and self.elapsed_share < 1.0:
            self._validated()

    def _write_line(self, validation: Mapping[str, float]) -> None:
        """Raise ``TrainingFailed`` for NaN, before a checkpoint is overwritten."""
        means = {name: mean.value for name, mean in self._means.items()}
        broken = [name for name, mean in self._means.items() if mean.is_broken]
        cpu, now = time.process_time(), time.monotonic()
        record: dict[str, float] = {
            "step": self.step,
            "seconds": round(self.seconds_trained, 1),
            "rate": next((each.param_groups[0]["lr"] for each in self.optimizers.values()), 0.0),
            **means,
            **{f"validation_{name}": value for name, value in validation.items()},
        }
        if self.step > self._step_at_line and cpu > self._cpu_at_line:
            record["steps_per_second"] = (self.step - self._step_at_line) / (now - self._last_line)
            record["heard_per_cpu_second"] = (self._heard_seconds - self._heard_at_line) / (cpu - self._cpu_at_line)
        with self._log_path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")
        self._print(f"{self.name} " + " ".join(f"{name}={_short(value)}" for name, value in record.items()))
        self._means.clear()
        self._last_line, self._cpu_at_line = now, cpu
        self._step_at_line, self._heard_at_line = self.step, self._heard_seconds
        if broken:
            raise TrainingFailed(
                f"{self.name} diverged at step {self.step}: {broken[0]} is not a number. "
                "The last checkpoint is older; continue with a lower rate."
            )

    def _validated(self) -> dict[str, float]:
        if self._validate is None:
            return {}
        was_training = {name: network.training for name, network in self.networks.items()}
        with ExitStack() as stack:
            for average in self.averages.values():
                stack.enter_context(average.in_place_of())
            for network in self.networks.values():
                network.eval()
            with torch.no_grad():
                values = dict(self._validate())
        for name, network in self.networks.items():
            network.train(was_training[name])
        self._write_line(values)
        # The time of validation does not count for the training speed.
        self._last_validation = self._last_line = time.monotonic()
        self._cpu_at_line = time.process_time()
        return values

    @contextmanager
    def _ending_gently(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(signal_number: int, frame: FrameType | None) -> None:
            del signal_number, frame
            self._must_stop = True

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @staticmethod
    def _print(line: str) -> None:
        sys.stderr.write(f"[{os.getpid()}] {line}\n")
        sys.stderr.flush()


def _has_a_weight_of(network: nn.Module, optimizer: torch.optim.Optimizer) -> bool:
    stepped = {id(weight) for group in optimizer.param_groups for weight in group["params"]}
    return any(id(weight) in stepped for weight in network.parameters())


def _short(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4g}"
