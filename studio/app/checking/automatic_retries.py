"""Automatic retries: lines whose takes have problems are spoken again, and the best take is chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, Signal

from studio.app.checking.take_check_queue import TakeCheckQueue
from studio.app.script.project_editor import ProjectEditor
from studio.app.synthesis.queue import JobState, SynthesisJob, SynthesisQueue
from studio.catalog.language_check import unlearned_language
from studio.project.changes import Change, ChooseTake, CompositeChange
from studio.project.dubbing import FitOptions, overrun_seconds, plan_fit, stretches
from studio.project.takes import Take
from studio.take_checks.policy import DEFAULT_RETRIES, CheckMode, CheckPolicy, find_best


@dataclass(slots=True, eq=False)
class _Group:
    """The takes of one request: those that the user asked for, and automatic retries.

    Attributes:
        num_open: Number of takes that are not yet spoken or checked.
        num_earlier: Number of earlier retries of the first take, whose seeds are used up.
        is_repair: Whether the user asked for the retries, so that they do not depend on the policy.
    """

    first_job: SynthesisJob
    take_ids: list[str] = field(default_factory=list)
    num_open: int = 0
    num_retries: int = 0
    is_cancelled: bool = False
    num_earlier: int = 0
    is_repair: bool = False


class AutomaticRetries(QObject):
    """Checks each new take, and applies the ``CheckPolicy`` of the settings and the project.

    A retry is chosen only after its check. If the user edits or locks the line or chooses another take in the meantime,
    nothing more is done. Takes in a language that the model has not learned are not repeated.
    """

    settled = Signal(int, str)  # batch of the jobs, and id of the best take or ""; no more takes follow

    def __init__(
        self,
        queue: SynthesisQueue,
        checker: TakeCheckQueue,
        editor: ProjectEditor,
        policy: Callable[[], CheckPolicy],
        parent: QObject | None = None,
        *,
        fit_options: Callable[[], FitOptions],
    ) -> None:
        super().__init__(parent)
        self._queue = queue
        self._checker = checker
        self._editor = editor
        self._policy = policy
        self._fit_options = fit_options
        self._groups: dict[int, _Group] = {}  # groups by number of the batch
        self._group_of_take: dict[str, _Group] = {}
        queue.jobs_added.connect(self._on_jobs_added)
        queue.job_finished.connect(self._on_job_finished)
        checker.checked.connect(self._on_checked)
        editor.project_replaced.connect(self._forget)

    def is_open(self, batch: int) -> bool:
        """Whether ``settled`` has not been emitted yet for this batch."""
        return batch in self._groups

    def speak_outliers(self, line_ids: Iterable[str]) -> None:
        """Check the chosen takes of lines, and speak those with problems again, at most twice.

        Locked and changed lines are left as they are.
        """
        project, take_ids = self._editor.project, []
        for line_id in line_ids:
            take = project.chosen_take(line_id)
            if take is None or project.line(line_id).is_locked or not project.is_current(take):
                continue
            job = SynthesisJob(line_id, take.parameters.text, take.seed)
            num_earlier = sum(other.retry_of == take.id for other in project.takes_of(line_id))
            group = _Group(job, [take.id], num_open=1, num_earlier=num_earlier, is_repair=True)
            self._groups[job.batch] = self._group_of_take[take.id] = group
            take_ids.append(take.id)
        self._checker.check(take_ids)

    def _on_jobs_added(self, jobs: list[SynthesisJob]) -> None:
        for job in jobs:
            if job.source is None and self._checker.is_on:
                group = self._groups.setdefault(job.batch, _Group(job))
                group.num_open += 1

    def _on_job_finished(self, job: SynthesisJob) -> None:
        group = self._groups.get(job.batch)
        if group is None:
            return
        take = job.take if job.state is JobState.DONE else None
        if take is None:
            group.is_cancelled = True
        elif take.id in self._editor.script.line_of_take and self._checker.is_on:
            group.take_ids.append(take.id)
            self._group_of_take[take.id] = group
            if self._checker.check([take.id]):
                return  # ``_on_checked`` is called later
        self._close_one(group)

    def _on_checked(self, take_id: str) -> None:
        group = self._group_of_take.pop(take_id, None)
        if group is not None:
            self._close_one(group)

    def _close_one(self, group: _Group) -> None:
        group.num_open -= 1
        if group.num_open:
            return
        if self._speaks_again(group):
            return
        best = self._best_take(group)
        if best is not None and self._may_choose(group, best):
            self._editor.apply(self._choice(best))
        del self._groups[group.first_job.batch]
        self.settled.emit(group.first_job.batch, "" if best is None else best.id)

    def _speaks_again(self, group: _Group) -> bool:
        """Speak the line again if its best take has problems; return whether a retry follows."""
        best = self._best_take(group)
        keeps_reading = group.first_job.draft is not None
        if best is None or best.check is None or group.is_cancelled or keeps_reading or not best.needs_review:
            return False
        policy = self._policy()
        if group.is_repair:
            policy = replace(policy, mode=CheckMode.RETRY, num_retries=DEFAULT_RETRIES)
        if not policy.wants_retry(best.check, group.num_retries) or not self._is_wanted(group, best):
            return False
        if unlearned_language(best.parameters.model_name, best.parameters.text):  # another seed would not help
            return False
        group.num_retries += 1
        attempt = group.num_earlier + group.num_retries
        self._queue.retry_take(group.first_job, attempt=attempt, retry_of=group.take_ids[0])
        return True

    def _is_wanted(self, group: _Group, best: Take) -> bool:
        """Whether the line is unchanged since it was spoken, and the user has not chosen another take."""
        line = self._editor.project.line(best.line_id)
        if group.first_job.snapshot is not None:
            return True
        return not line.is_locked and self._editor.project.is_current(best) and line.chosen_take in group.take_ids

    def _may_choose(self, group: _Group, best: Take) -> bool:
        line = self._editor.project.line(best.line_id)
        is_other = line.chosen_take != best.id and line.chosen_take in group.take_ids
        return is_other and not line.is_locked and best.check is not None

    def _choice(self, best: Take) -> Change:
        """Choose ``best``, stretched to the slot of its line if the current take ends within it."""
        choice = ChooseTake(best.line_id, best.id)
        script, options = self._editor.script, self._fit_options()
        plan = plan_fit(script, [best.line_id], options)
        if any(overrun_seconds(fit.slot, fit.take_seconds, script.speech_slots) > 0 for fit in plan):
            return choice
        changed, _ = choice.apply(script)
        stretch = stretches(plan_fit(changed, [best.line_id], options))
        return choice if stretch is None else CompositeChange((choice, stretch))

    def _best_take(self, group: _Group) -> Take | None:
        script = self._editor.script
        takes = [script.take(take_id) for take_id in group.take_ids if take_id in script.line_of_take]
        return takes[find_best([take.check for take in takes])] if takes else None

    def _forget(self) -> None:
        self._groups.clear()
        self._group_of_take.clear()
