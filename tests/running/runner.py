"""The sorts of checks: a command, a suite that counts by itself, a GoogleTest program, a fuzzer."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import tempfile

from running import report
from running.commands import LOGS, ROOT, Commands
from running.report import Report

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "muster"

GtestRun = collections.namedtuple("GtestRun", "ended tests")


class Runner:
    """Runs the checks whose names were asked for; `options` of a check are the reaper's."""

    def __init__(self, words):
        self.words = words
        self.commands = Commands()
        self.report = Report()

    def wanted(self, name):
        return not self.words or any(word in name for word in self.words)

    def check(self, name, command, limit=900, env=None, needed=False, options=()):
        """One command, one check; one that others need is run with them."""
        if not needed and not self.wanted(name):
            return True
        ended = self.commands.run(name, command, limit, env, options)
        good = ended.code == 0
        self.report.add(name, (int(good), int(not good), 0), ended.seconds, ended.cpu,
                        below=report.notes(ended.log) + ([] if good else report.tail(ended.log)))
        return good

    def counted(self, name, command, limit=900, env=None, options=()):
        """A suite that ends with its own totals line: N passed, M failed, K skipped."""
        if not self.wanted(name):
            return
        ended = self.commands.run(name, command, limit, env, options)
        found = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", ended.log.read_text(errors="replace"), re.M)
        passed, failed, skipped = (int(n or 0) for n in found[-1]) if found else (0, 1, 0)
        if ended.code != 0 and failed == 0:
            failed = 1
        self.report.add(name, (passed, failed, skipped), ended.seconds, ended.cpu,
                        below=report.notes(ended.log) + (report.failures(ended.log) if failed else []))

    def gtest(self, name, program, limit=600, env=None, shards=1, options=()):
        """A GoogleTest program, in so many processes; each test counts."""
        if not self.wanted(name):
            return
        if not program.exists():
            self.report.add(name, (0, 1, 0), 0, 0, "was not built")
            return
        with concurrent.futures.ThreadPoolExecutor(shards) as pool:
            runs = list(pool.map(lambda shard: self.gtest_run(name, program, limit, env or {}, (shard, shards), options), range(shards)))
        tests = [test for run in runs for test in run.tests]
        failed = sum("failures" in test for test in tests)
        skipped = sum(test.get("result") == "SKIPPED" for test in tests)
        passed = len(tests) - failed - skipped
        # A crash leaves no report, or one that says nothing of it.
        if failed == 0:
            failed = sum(run.ended.code != 0 for run in runs)
        below = report.sums([run.ended.log for run in runs])
        for run in runs:
            below += report.failed_tests(run.ended.log) if run.ended.code != 0 else []
        self.report.add(name, (passed, failed, skipped), max(run.ended.seconds for run in runs), sum(run.ended.cpu for run in runs), below=below)

    def gtest_run(self, name, program, limit, env, place, options):
        """One process of a GoogleTest program, and the tests that it ran."""
        shard, shards = place
        env = {**env, "GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)}
        with tempfile.NamedTemporaryFile(suffix=".json") as written:
            ended = self.commands.run(f"{name}-{shard}" if shards > 1 else name, [program, f"--gtest_output=json:{written.name}"], limit, env, options)
            try:
                suites = json.loads(pathlib.Path(written.name).read_text())["testsuites"]
            except (ValueError, KeyError):
                suites = []
        return GtestRun(ended, [test for suite in suites for test in suite["testsuite"]])

    def fuzz(self, program, seconds, seed):
        """A fuzzer, for so long."""
        if not self.wanted(program.name):
            return
        corpus = ROOT / "tests/fuzz/corpus" / program.name.removeprefix("fuzz_")
        fresh = CACHE / "fuzz" / program.name
        fresh.mkdir(parents=True, exist_ok=True)
        ended = self.commands.run(program.name, [program, f"-seed={seed}", f"-max_total_time={seconds}", "-timeout=5", "-rss_limit_mb=1024",
                                                 "-print_final_stats=1", f"-artifact_prefix={LOGS}/", fresh, *([corpus] if corpus.is_dir() else [])],
                                  seconds + 60)
        executions = re.findall(r"number_of_executed_units: (\d+)", ended.log.read_text(errors="replace"))
        good = ended.code == 0
        self.report.add(program.name, (int(good), int(not good), 0), ended.seconds, ended.cpu, f"{executions[-1] if executions else '?'} runs",
                        [] if good else report.tail(ended.log))
