"""Exercise progress only goes forward, and survives a restart."""

import threading

import pytest

from rewards_lib.store import ExerciseProgress, Progress, Store


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'progress.sqlite3'}"


def test_an_exercise_nobody_tried_is_at_its_beginning(url):
    progress = Progress(Store(url))
    assert (progress.load(), progress.of("format_reward")) == ({}, ExerciseProgress())


def test_a_worse_try_takes_nothing_away_and_solved_stays_solved(url):
    progress = Progress(Store(url))
    progress.note_try("a", passed=3, checks=5)
    progress.note_try("a", passed=1, checks=5)
    assert (progress.of("a").best, progress.of("a").tries, progress.of("a").solved_at) == (3, 2, None)
    solved = progress.note_try("a", passed=5, checks=5).solved_at
    assert solved is not None
    assert progress.note_try("a", passed=0, checks=5).solved_at == solved


def test_tries_of_two_tabs_at_once_are_all_counted(url):
    tabs = [Progress(Store(url)) for _ in range(4)]

    def try_often(progress):
        for _ in range(10):
            progress.note_try("a", passed=1, checks=5)

    threads = [threading.Thread(target=try_often, args=(progress,)) for progress in tabs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tabs[0].of("a").tries == 40


def test_the_best_round_from_memory_counts(url):
    progress = Progress(Store(url))
    progress.note_recall("a", 0.75)
    assert progress.note_recall("a", 0.5).recalled == 0.75


def test_a_solution_that_is_shown_after_solving_is_not_held_against_anybody(url):
    progress = Progress(Store(url))
    assert progress.note_solution_seen("a").solution_seen
    progress.note_try("b", passed=2, checks=2)
    assert not progress.note_solution_seen("b").solution_seen


def test_progress_survives_a_restart(url):
    first = Store(url)
    kept = Progress(first).note_try("a", passed=2, checks=2)
    first.close()
    assert Progress(Store(url)).load() == {"a": kept}
