# SPDX-License-Identifier: MIT
"""The differences from journalctl that are meant, each with its reason and a test that recognises
it. Whatever none of them recognises fails the comparison. So does one of them that is never needed
in a long run, or that explains more than its share: then it is out of date, or hides something.
"""
import itertools
import random
import re


ORDERS = 12          # of the files, that are tried on journalctl
LONG_RUN = 10000     # command lines, in which each that is not rare has to occur
RARE_SHARE = 0.005   # those that may explain less than this occur by chance
RARE_RUN = 40000     # command lines, in which they have to, too


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


LAST_CURSOR = re.compile(rb'^-- cursor: (.*)\n\Z', re.M)
BOOT_WORDS = ('-b', '--boot', '--this-boot', '-k', '--dmesg', '-e')
INVOCATION_WORDS = ('-I', '--invocation')
BOOT_COUNT = re.compile(r'(?:^| )(?:-b|--boot)[ =]?([0-9a-f]{32})?\+?([1-9]\d*)(?= |$)')


def jumps_over_boots(trial):
    """Boots or invocations are looked for in files where they lie between each other's entries."""
    c = trial.command
    parts = []
    if c.action == 'boots' or any(w.startswith(BOOT_WORDS) for w in c.words):
        parts.append('_BOOT_ID')
    if c.action == 'invocations' or any(w.startswith(INVOCATION_WORDS) for w in c.words):
        parts += ['_SYSTEMD_INVOCATION_ID', 'INVOCATION_ID']
    if c.action in ('boots', 'invocations') and trial.lists_less():
        return False
    return any(trial.has_parts(name) for name in parts)


def has_two_orders_of_boots(trial):
    """Boots are asked for, and journalctl has them in another order when it reads backward, or
    leaves some out of its list that it shows entries of."""
    c = trial.command
    if c.action != 'boots' and not any(w.startswith(BOOT_WORDS) for w in c.words):
        return False
    if c.action == 'boots' and trial.lists_less():
        return False
    forward = trial.boots_of_entries()
    return forward != trial.boots_of_entries('-r')[::-1] or len(trial.listed_boots()) < len(forward)


def counts_in_a_circle(trial):
    """A boot is asked for that lies behind the last one, and jscan says that there is none."""
    m = BOOT_COUNT.search(' '.join(trial.command.words))
    if not m or b'No journal boot entry found' not in trial.ours().err:
        return False
    boots = trial.boots_of_entries()
    at = -1
    if m.group(1):
        if m.group(1).encode() not in boots:
            return False
        at = boots.index(m.group(1).encode())
    return at + int(m.group(2)) >= len(boots)


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


def ends_at_another_cursor(trial):
    """With -n N the same is shown, and journalctl's last cursor is not of the last entry."""
    c = trial.command
    paths = c.paths or c.reads_all
    if len(paths) < 2 or not any(w.startswith(('-n', '--lines', '-e')) for w in c.words):
        return False
    theirs, ours = trial.reference(), trial.ours()
    if LAST_CURSOR.sub(b'', theirs.out) != LAST_CURSOR.sub(b'', ours.out):
        return False
    shown = trial.list_with_tail(c.words)
    cursor = LAST_CURSOR.search(theirs.out)
    return bool(shown and cursor and cursor.group(1) not in shown[0])


KNOWN = [
    Known('order of files',
          'The comparison of entries goes in circles on some sets, and journalctl then goes by the '
          'order in which it opens files; jscan by one that does not depend on names.',
          has_no_single_answer, 0.06),
    Known('boots in between',
          'journalctl finds boots and invocations by jumping from the end of one to the next, and '
          'misses those that lie within another; jscan has all of them.',
          jumps_over_boots, 0.06),
    Known('two orders of boots',
          'Where clocks step back, reading forward and backward need not come to boots in opposite '
          'orders; journalctl lists them by the one and takes the newest by the other, or loses '
          'some. jscan lists all, in the order of reading backward, and takes the newest from '
          'there.',
          has_two_orders_of_boots, 0.002),
    Known('boots in a circle',
          'Counting on behind the last boot, journalctl can come to boots a second time.',
          counts_in_a_circle, 0.002),
    Known('tail',
          'With -n N journalctl counts back, turns round, and positions all files anew; on sets '
          'without a certain order it then misses some. jscan shows what it counted.',
          ends_elsewhere, 0.02),
    Known('cursor of a tail',
          'Positioned anew, journalctl then comes to an entry behind --until that lies before what '
          'it has counted, and remembers its cursor.',
          ends_at_another_cursor, 0.001),
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
        if known.count == 0 and trials >= (RARE_RUN if known.share_max < RARE_SHARE else LONG_RUN):
            findings.append('"%s" was never needed' % known.name)
        if known.count > max(3, known.share_max * trials):
            findings.append('"%s" explains too much: %d of %d' % (known.name, known.count, trials))
    return findings
