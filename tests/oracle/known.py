# SPDX-License-Identifier: MIT
"""The differences from journalctl that are meant, each with its reason and a test that recognises
it. Whatever none of them recognises fails the comparison. So does one of them that is never needed
in a long run, or that explains more than its share: then it is out of date, or hides something.
"""
import itertools
import random


ORDERS = 12          # of the files, that are tried on journalctl
LONG_RUN = 10000     # command lines, in which each of them has to occur


class Known:
    """One difference: its name, why it is meant, the test, and how often it may occur."""

    def __init__(self, name, reason, test, share_max):
        self.name, self.reason, self.test, self.share_max = name, reason, test, share_max
        self.count = 0


def other_orders(paths):
    """Some orders of the files, the reverse first."""
    if len(paths) <= 3:
        return list(itertools.permutations(paths))
    rng = random.Random(len(paths))
    return [paths[::-1]] + [rng.sample(paths, len(paths)) for _ in range(ORDERS - 1)]


def has_no_single_answer(trial):
    """journalctl prints something else if the same files are named in another order."""
    paths = trial.command.paths or trial.command.reads_all
    if len(paths) < 2 or trial.command.stdin:
        return False
    answers = []
    for order in other_orders(paths):
        result = trial.reference(['--file=' + p for p in order])
        answers.append((result.status, result.out, result.kept))
        if answers[-1] != answers[0]:
            return True
    return False


def jumps_over_boots(trial):
    """Boots or invocations are looked for in files where they lie between each other's entries, or
    where journalctl's own list of boots is not that of its own entries."""
    c = trial.command
    asks = c.action in ('boots', 'invocations') or any(
        w.startswith(('-b', '--boot', '--this-boot', '-I', '--invocation', '-k', '--dmesg', '-e'))
        for w in c.words)
    if not asks:
        return False
    return not trial.lists_boots_as_entries() or any(trial.has_parts(name) for name in (
        '_BOOT_ID', '_SYSTEMD_INVOCATION_ID', 'INVOCATION_ID'))


def ends_elsewhere(trial):
    """What journalctl shows with -n N is not the end of what it shows without, or that is not what
    it shows with -r."""
    c = trial.command
    paths = c.paths or c.reads_all
    if len(paths) < 2 or c.action != 'show':
        return False
    entries = trial.list_with_tail(c.words)
    if entries is None:
        return False
    shown, listed, backward = entries
    return shown != listed[len(listed) - len(shown):] or listed != backward[::-1]


def bisects_steps(trial):
    """A time is looked for in several files, in one of which the clock steps back."""
    c = trial.command
    paths = c.paths or c.reads_all
    if len(paths) < 2 or not any(w.startswith(('-S', '-U', '--since', '--until')) for w in c.words):
        return False
    times = [trial.list_times(path) for path in paths]
    return any(t != sorted(t) for t in times)


KNOWN = [
    Known('order of files',
          'The comparison of entries goes in circles on some sets, and journalctl then goes by the '
          'order in which it opens files; jscan by one that does not depend on names.',
          has_no_single_answer, 0.06),
    Known('boots in between',
          'journalctl finds boots and invocations by jumping from the end of one to the next, and '
          'misses those that lie within another; jscan has all of them.',
          jumps_over_boots, 0.06),
    Known('tail',
          'With -n N journalctl counts back, turns round, and positions all files anew; on sets '
          'without a certain order it then misses some. jscan shows what it counted.',
          ends_elsewhere, 0.02),
    Known('times',
          'Where a clock steps back, bisecting a file for a time can find nothing; having shown '
          'an entry of another file journalctl then looks again, by that one, and jscan does not.',
          bisects_steps, 0.01),
]


def explain(trial):
    """The known difference that a trial shows, or None."""
    for known in KNOWN:
        if known.test(trial):
            known.count += 1
            return known
    return None


def judge(trials):
    """What is wrong with the table after so many trials: lines for people."""
    findings = []
    for known in KNOWN:
        if known.count == 0 and trials >= LONG_RUN:
            findings.append('"%s" was never needed' % known.name)
        if known.count > max(3, known.share_max * trials):
            findings.append('"%s" explains too much: %d of %d' % (known.name, known.count, trials))
    return findings
