"""Work in the background steps aside for whoever is at the keyboard, and only then."""

from __future__ import annotations

from nuggets_tui.pace import Pace, Turns


class Hands:
    """A clock that moves on when somebody sleeps, and how long was slept."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def pace(self) -> Pace:
        return Pace(lambda: self.now, self.sleep)


def test_work_is_not_held_up_while_nobody_is_here() -> None:
    hands = Hands()
    pace = hands.pace()
    for _ in range(100):
        hands.now += 0.01
        pace.breathe()
    assert sum(hands.slept) == 0.0


def test_after_a_key_most_of_the_time_is_the_persons_but_work_goes_on() -> None:
    hands = Hands()
    pace = hands.pace()
    worked = 0.0
    begun = hands.now
    while hands.now < begun + 10:
        pace.touched()
        hands.now += 0.0005
        worked += 0.0005
        pace.breathe()
    assert 0.5 < worked < 3.0


def test_a_programs_write_comes_before_the_work_too_but_is_nobodys_presence() -> None:
    hands = Hands()
    pace = hands.pace()
    pace.hurry()
    hands.now += 0.01
    pace.breathe()
    assert sum(hands.slept) > 0.0
    assert pace.rests(10)


def test_it_knows_how_long_nobody_was_here() -> None:
    hands = Hands()
    pace = hands.pace()
    assert pace.rests(10)
    pace.touched()
    assert not pace.rests(10)
    hands.now += 10
    assert pace.rests(10)


def test_of_work_of_one_kind_the_newest_alone_goes_on() -> None:
    turns = Turns()
    older = turns.next()
    assert not older()
    newer = turns.next()
    assert older()
    assert not newer()


def test_breathing_often_costs_nothing() -> None:
    hands = Hands()
    pace = hands.pace()
    pace.touched()
    for _ in range(50):
        pace.breathe()
    assert len(hands.slept) == 1
