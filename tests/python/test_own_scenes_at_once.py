"""Who may call a user's scenes at the same time: different objects, and never the same one."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import saccade
from test_own_scenes import CONFIG, Bars, ItemDataset

SHORT = {"training.episodes": 256, "evaluation.scenes": 10}


def train_at_once(tmp_path, *scenes):
    """A training on each, in threads of this program."""

    def train(number):
        return saccade.train(CONFIG, SHORT, scenes=scenes[number], threads=1, out=tmp_path / f"{number}")

    with ThreadPoolExecutor(len(scenes)) as pool:
        return list(pool.map(train, range(len(scenes))))


def test_different_scenes_do_not_wait_for_each_other(tmp_path):
    meeting = threading.Barrier(2)

    class Meeting(Bars):
        """Its first block waits until another object makes one, too."""

        met = False

        def canvases(self, indices):
            if len(indices) > 2 and not self.met:
                self.met = True
                meeting.wait(timeout=60)  # else BrokenBarrierError
            return super().canvases(indices)

    runs = train_at_once(tmp_path, Meeting(), Meeting())
    assert all(run.finished for run in runs)


class Alone:
    """Notices when two threads are inside at once, and leaves them the time to be. Neither hashable nor
    with weak references."""

    __slots__ = ("_inside", "_seconds")
    __hash__ = None

    def __init__(self, seconds):
        self._inside, self._seconds = threading.Lock(), seconds

    def __enter__(self):
        if not self._inside.acquire(blocking=False):
            raise RuntimeError("two threads at once")
        time.sleep(self._seconds)

    def __exit__(self, *_):
        self._inside.release()


class AloneScenes(Alone):
    __slots__ = ("_bars",)
    class_names = Bars.class_names

    def __init__(self):
        super().__init__(0.02)
        self._bars = Bars()

    def canvases(self, indices):
        with self:
            return self._bars.canvases(indices)


class AloneDataset(ItemDataset):
    def __init__(self):
        super().__init__()
        self._alone = Alone(0.001)

    def __getitem__(self, index):
        with self._alone:
            return super().__getitem__(index)


@pytest.mark.parametrize(
    "pair",
    [
        lambda scenes=AloneScenes(): scenes,
        lambda dataset=AloneDataset(): saccade.scenes.from_dataset(dataset),
    ],
    ids=["one object", "one dataset in two adapters"],
)
def test_the_same_scenes_are_called_by_one_thread_at_a_time(tmp_path, pair):
    runs = train_at_once(tmp_path, pair(), pair(), pair())
    assert all(run.finished for run in runs)
