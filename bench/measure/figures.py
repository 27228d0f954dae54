# SPDX-License-Identifier: MIT
"""Raw data, and the medians and spreads that are made of it."""
import json
import statistics


class Raw:
    """Every run that was measured, one object of JSON in a line, written as it comes. With AGAIN
    those of a run that has ended are read."""

    def __init__(self, path, again=False):
        self.records = []
        if again:
            with open(path, encoding='utf-8') as f:
                self.records = [json.loads(line) for line in f]
        # pylint: disable=consider-using-with
        self.file = open(path, 'a' if again else 'w', encoding='utf-8')

    def add(self, suite, archive, case, program, turn, result, **more):
        """Keeps a run."""
        record = {'suite': suite, 'archive': archive, 'case': case, 'program': program,
                  'turn': turn, **more, **{k: round(v, 6) if isinstance(v, float) else v
                                           for k, v in result.items()}}
        self.records.append(record)
        self.file.write(json.dumps(record) + '\n')
        self.file.flush()

    def values(self, key, **where):
        """One figure of all runs that are so."""
        return [r[key] for r in self.records if r.get(key) is not None and
                all(r.get(k) == v for k, v in where.items())]

    def programs(self, **where):
        """The programs that were measured, in the order in which they first came."""
        return list(dict.fromkeys(r['program'] for r in self.records
                                  if all(r.get(k) == v for k, v in where.items())))

    def cases(self, **where):
        """The cases, likewise."""
        return list(dict.fromkeys(r['case'] for r in self.records
                                  if all(r.get(k) == v for k, v in where.items())))

    def median(self, key, **where):
        """The median of a figure, or None."""
        values = self.values(key, **where)
        return statistics.median(values) if values else None

    def ratios(self, ours, theirs, key='seconds', **where):
        """Of each turn, how many times ours theirs took."""
        pairs = zip(self.values(key, program=ours, **where),
                    self.values(key, program=theirs, **where))
        return [b / a for a, b in pairs if a]

    def cpu(self, program, **where):
        """The median of user and system time together."""
        pairs = zip(self.values('user', program=program, **where),
                    self.values('system', program=program, **where))
        return statistics.median(a + b for a, b in pairs)


def spread(values, form='%.3f'):
    """Median, and the smallest and largest."""
    if not values:
        return '–'
    return '%s (%s–%s)' % tuple(form % v for v in (statistics.median(values), min(values),
                                                   max(values)))


def in_turns(programs, rounds, measure):
    """Calls MEASURE(program, turn) for all programs, ROUNDS times; each round begins with another
    one, so that none always has the place after the same other."""
    for turn in range(rounds):
        for i in range(len(programs)):
            measure(programs[(turn + i) % len(programs)], turn)
