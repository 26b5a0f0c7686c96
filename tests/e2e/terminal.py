"""A real terminal for programs under test: tmux, one screen a program."""
import shlex
import subprocess
import tempfile

from checks import PATIENCE, Failure, check, contains, wait_until


class Screen:
    """A program in a terminal of its own. Ends with `ended N`, its exit code, and the settings of the terminal before and after."""

    def __init__(self, argv, environment, columns=100, rows=30):
        self.directory = tempfile.TemporaryDirectory(prefix="mt.tmux.", dir="/tmp")
        self.socket = self.directory.name + "/s"
        command = shlex.join(str(word) for word in argv)
        # Ctrl-C is for the program, not for the shell that tells of its end.
        script = f"trap : INT; stty -g > {self.directory.name}/before; {command}; echo ended $?; stty -g > {self.directory.name}/after; sleep 1000"
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, "/bin/sh", "-c", script, environment=environment)

    def tmux(self, *words, environment=None):
        done = subprocess.run(["tmux", "-S", self.socket, *map(str, words)], env=environment, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
        check(done.returncode == 0, lambda: f"tmux {words}: {done.stderr}")
        return done.stdout

    def text(self):
        return self.tmux("capture-pane", "-p")

    def everything(self):
        """What has scrolled away, too."""
        return self.tmux("capture-pane", "-p", "-S", "-")

    def shows(self, *parts):
        def look():
            text = self.text()
            for part in parts:
                contains(text, part, "the screen")
            return True
        wait_until(look, f"{parts} on the screen")

    def type(self, *keys):
        """Keys as tmux names them: C-c, Enter, Escape; everything else is typed letter by letter."""
        self.tmux("send-keys", *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", columns, "-y", rows)

    def ended(self, code):
        self.shows("ended ")
        contains(self.text(), f"ended {code}\n", "exit code")
        settings = []

        def both():
            settings[:] = [open(f"{self.directory.name}/{name}").read() for name in ("before", "after")]
            return all(settings)
        wait_until(both, "the terminal's settings")
        if settings[0] != settings[1]:
            raise Failure(f"the terminal was left changed: {settings}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True, check=False)
        self.directory.cleanup()


def in_a_terminal(client, environment):
    """What people do in a container: edit, resize, interrupt. `client` is the command line up to the command."""
    with Screen([*client, "vi", "/tmp/note"], environment) as screen:
        screen.shows("~\n~\n")

        def has(columns, rows):
            # One question a line, and asked again and again: a change of size makes the editor draw over its answer.
            for name, value in (("columns", columns), ("lines", rows)):
                screen.type("Escape", f":set {name}?", "Enter")
                wait_until(lambda answer=f"{name}={value}": contains(screen.text(), answer, "the screen") or True, "its answer", limit=1)
            return True
        wait_until(lambda: has(100, 30), "the size of the terminal")
        screen.resize(120, 40)
        wait_until(lambda: has(120, 40), "the new size")
        screen.type("Enter", "ihello", "Escape", ":wq", "Enter")
        screen.ended(0)
    # Its answer shows that cat runs: a shell that is just starting it loses signals, here and on every terminal.
    with Screen([*client, "sh", "-c", "trap 'echo interrupted; exit 42' INT; echo ready; cat"], environment) as screen:
        screen.shows("ready")
        screen.type("word", "Enter")
        wait_until(lambda: screen.text().count("word\n") == 2, "the echo, and what cat says")
        screen.type("C-c")
        screen.shows("interrupted")
        screen.ended(42)
    with Screen([*client, "sh", "-i"], environment) as screen:
        screen.type("cat /tmp/note; tty; exit 3", "Enter")
        screen.shows("/dev/pts/")
        contains(screen.text(), "hello", "what the editor wrote")
        screen.ended(3)
