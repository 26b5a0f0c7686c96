"""A rank that prints much: `flood.py LINES_A_SECOND SECONDS`. Numbered lines on its output, and a bar as tqdm draws it on its errors."""
import sys
import time

rate, seconds = int(sys.argv[1]), float(sys.argv[2])
total = int(rate * seconds)
begun = time.monotonic()
printed = drawn = 0


def draw():
    share = printed / total
    full = "█" * int(share * 10)
    spent = time.monotonic() - begun
    sys.stderr.write(f"\r{share:4.0%}|{full:10}| {printed}/{total} [{spent // 60:02.0f}:{spent % 60:02.0f}<00:00, {rate:.2f}it/s]")
    sys.stderr.flush()


while printed < total:
    until = min(total, int((time.monotonic() - begun) * rate) + 1)
    sys.stdout.write("".join(f"line {i} of some length, as programs that train print them: loss=0.123456 lr=0.001\n" for i in range(printed, until)))
    sys.stdout.flush()
    printed = until
    if time.monotonic() - begun >= drawn * 0.1:
        drawn += 1
        draw()
    time.sleep(0.01)
draw()
sys.stderr.write("\n")
