"""Helm and kubectl, built from published modules, and the objects that they write."""
import functools
import json
import pathlib
import subprocess
import tempfile

from checks import ROOT, check

CHART = ROOT / "deploy/helm/muster"


@functools.lru_cache(maxsize=None)
def program(name):
    """helm, or kubectl; the first time on a machine they are built."""
    folder = subprocess.run([ROOT / "tests/kubernetes/build", *(["helm"] if name == "helm" else [])], text=True, stdout=subprocess.PIPE, check=True).stdout
    return pathlib.Path(folder.strip()) / name


def run(name, *words, env=None):
    """The completed process."""
    return subprocess.run([program(name), *map(str, words)], text=True, capture_output=True, stdin=subprocess.DEVNULL, cwd=ROOT, check=False, env=env)


def printed(name, *words):
    done = run(name, *words)
    check(done.returncode == 0, lambda: f"{name} {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def template(*words):
    """The chart as it is rendered for a release in muster-system."""
    return printed("helm", "template", "muster", CHART, "--namespace", "muster-system", *words)


def objects(text):
    """The objects of a YAML text, by kind, namespace and name. Helm reads them for us: Python has no YAML of its own."""
    with tempfile.TemporaryDirectory() as folder:
        chart = pathlib.Path(folder)
        (chart / "templates").mkdir()
        (chart / "Chart.yaml").write_text("{apiVersion: v2, name: reader, version: 0.0.1}\n")
        (chart / "text").write_text(text)
        (chart / "templates/objects.yaml").write_text(
            '{{ $found := list }}{{ range regexSplit "(?m)^---" (.Files.Get "text") -1 }}{{ with fromYaml . }}{{ $found = append $found . }}{{ end }}{{ end }}'
            '{{ dict "kind" "Read" "objects" $found | toJson }}')
        said = printed("helm", "template", "reader", chart)
    found = json.loads(said.splitlines()[-1])["objects"]
    check(not [each for each in found if "Error" in each], found)
    named = {(each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each for each in found}
    check(len(named) == len(found), "an object twice")
    return named
