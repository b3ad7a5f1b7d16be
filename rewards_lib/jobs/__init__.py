"""Long work over files of rollouts: in processes of their own, found again from the store, cancelled and resumed.

Invariant: what a job finished is on the disk before anybody is told; a job whose process is gone is never shown as
running.
"""

from rewards_lib.jobs.job import Job, JobRequest, JobState
from rewards_lib.jobs.runner import JobRunner

__all__ = ["Job", "JobRequest", "JobRunner", "JobState"]
