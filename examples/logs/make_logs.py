"""Writes flights.csv.gz and shift.csv.gz: results of a controller's solver, tick by tick (made up, seeded).

  python3 make_logs.py

Every tick the controller solves one problem; a row has the residual after 10, 20, .. 60 iterations. Ticks of one flight
share its weather: three flights in a hundred meet gusts, in which problems are hard for many ticks in a row. So ticks of a
flight depend on each other, and flights do not. shift.csv.gz is one long log: the ticks of one working day, in which what is
hard stays hard for a while.
"""

import gzip
import pathlib
import random

STEPS = range(10, 61, 10)


def tick(hard, draw):
    """Residuals after each of STEPS: they fall by ten every 12 iterations from a level that is `hard` decades up."""
    level = hard + 0.3 * draw.gauss(0, 1)
    return [f"{10 ** (level - step / 12 + 0.05 * draw.gauss(0, 1)):.3g}" for step in STEPS]


def flights(draw):
    for flight in range(1, 201):
        gusts = draw.random() < 0.03
        weather = 0.25 * draw.gauss(0, 1)
        length = draw.randint(15, 40)
        begin = draw.randint(0, length // 2)
        for i in range(length):
            hard = weather + (2.2 if gusts and i >= begin else 0)
            yield [f"F{flight:03}", *tick(hard, draw)]


def shift(draw):
    hard = 0.0
    for _ in range(3000):
        hard = 0.98 * hard + 0.1 * draw.gauss(0, 1)
        yield tick(hard, draw)


def write(name, header, rows):
    text = ",".join(header) + "\n" + "".join(",".join(row) + "\n" for row in rows)
    file = pathlib.Path(__file__).parent / name
    file.write_bytes(gzip.compress(text.encode(), mtime=0))


labels = [f"k={step}" for step in STEPS]
write("flights.csv.gz", ["flight", *labels], flights(random.Random(21)))
write("shift.csv.gz", labels, shift(random.Random(22)))
