"""Screens of documents: fenced blocks of the language `console`, with commands behind "$ " and what they print. A line "…" stands for any
number of lines; `# exit 3` behind a command is its exit code, 0 otherwise. tests/e2e/local-docs.suite and real-main.suite run them."""
import collections
import re

from checks import ROOT, check, equal

# What differs from run to run.
NEUTRAL = (
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UID"),
    (r"\b[0-9a-f]{8}\b", "RUN"),  # before durations: 3141359d is none
    (r"\b\d+:\d\d:\d\d\b", "DURATION"),
    (r"\b\d+(\.\d+)? ?(ms|s|m|h|d)\b(\d+[smhd]\b)*", "DURATION"),
    (r"\b\d{1,3}(\.\d{1,3}){3}\b", "ADDRESS"),
    (r"\bpid \d+", "pid PID"),
    (r"\b\d+ there\b", "N there"),
    (r"\b\d+m\b", "CPU"),
    (r"\b\d+(\.\d+)?(Mi|Gi|Ki)\b", "BYTES"),
    (r"[ \t]+", " "),
)
# As `muster logs` and `kubectl logs --prefix` begin them.
RANK = re.compile(r"^(\S+ [│|]|\[pod/\S+\]) ")


class Block:
    def __init__(self, document, line, language, comments, text):
        self.where = f"{document}:{line}"
        self.language, self.comments, self.text = language, comments, text

    def comment(self, name):
        """The value of `<!-- name: value -->` or "" of `<!-- name -->` above the block; None without."""
        for key, value in re.findall(r"<!--\s*([\w-]+)(?::\s*(.*?))?\s*-->", self.comments):
            if key == name:
                return value
        return None

    def commands(self):
        """(command, exit code, expected lines) in order."""
        found = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                command, _, code = line[2:].partition("  # exit ")
                found.append((command.strip(), int(code or 0), []))
            elif found:
                found[-1][2].append(line)
        return found


def blocks(document):
    """The fenced blocks of a document."""
    lines = (ROOT / document).read_text().splitlines()
    found, number = [], 0
    while number < len(lines):
        fence = re.match(r"```(\w*)", lines[number])
        if not fence:
            number += 1
            continue
        end = next(at for at in range(number + 1, len(lines)) if lines[at].startswith("```"))
        above = number
        while above > 0 and lines[above - 1].startswith("<!--"):
            above -= 1
        found.append(Block(document, number + 1, fence[1], "\n".join(lines[above:number]), "\n".join(lines[number + 1:end]) + "\n"))
        number = end + 1
    return found


def neutral(line):
    for pattern, word in NEUTRAL:
        line = re.sub(pattern, word, line.rstrip())
    return line


def tokens(lines):
    """Lines, and lists of those lines of ranks that come together: which one is first is nobody's promise. "…" beside or among lines of
    ranks leaves some of them out: (lines, True)."""
    out = []
    for line in lines:
        of_rank, last = RANK.match(line), out[-1] if out else None
        if of_rank and last == "…" and len(out) > 1 and isinstance(out[-2], tuple):
            out.pop()
            out[-1][0].append(line)
        elif of_rank and isinstance(last, tuple):
            last[0].append(line)
        elif of_rank:
            out.append(([line], last == "…"))
        elif line == "…" and isinstance(last, tuple):
            out[-1:] = [(last[0], True), line]
        else:
            out.append(line)
    return out


def matches(wanted, seen):
    """Whether the tokens are those; "…" is any number of lines."""
    if not wanted:
        return not seen
    if wanted[0] == "…":
        return any(matches(wanted[1:], seen[at:]) for at in range(len(seen) + 1))
    return bool(seen) and same(wanted[0], seen[0]) and matches(wanted[1:], seen[1:])


def same(wanted, seen):
    if not isinstance(wanted, tuple) or not isinstance(seen, tuple):
        return wanted == seen
    missing, more = (collections.Counter(one[0]) - collections.Counter(other[0]) for one, other in ((wanted, seen), (seen, wanted)))
    return not missing and (wanted[1] or not more)


def compare(block, command, code, expected, done, masked=neutral):
    """A command that was run printed what the document says, and ended so; `masked` makes lines neutral."""
    wanted, seen = ([masked(line) for line in lines if line.strip()] for lines in (expected, done.stdout.splitlines()))
    shown = "\n".join(done.stdout.splitlines())
    check(matches(tokens(wanted), tokens(seen)), f"{block.where}: $ {command}\n--- the document says\n" + "\n".join(wanted) +
          "\n--- the program prints\n" + "\n".join(seen[-60:]) + f"\n--- as it is\n{shown[-4000:]}")
    equal(done.returncode, code, f"{block.where}: $ {command}: exit code")
