"""Kills commands at random moments and fills a disk, and looks at what they leave: see scripts/test-endings."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

KILLS, NENDO, WORK = int(sys.argv[1]), str(pathlib.Path(sys.argv[2]).resolve()), pathlib.Path(sys.argv[3])
ROOT = pathlib.Path(".").resolve()
ASIDE = ".nendo-"  # what files under way are called in front

# Each with a run that ends by itself in some seconds at most. OUT is where it writes.
COMMANDS = {
    "run": "run box:6x6x6 --engine f32 --force --steps 4000 --frames 40 -o OUT/run",
    "run model": "run cube9 --engine model --steps 300 --frames 10 -o OUT/model",
    "picture": "picture docs/press.toml --at 0,0.1 -o OUT/press.png",
    "import": "scene import tests/meshes/bun41.msh -o OUT/bun.toml --overwrite",
    "scene box": "scene box 20x20x20 -o OUT/box.toml --overwrite",
    "gen": "gen -o OUT/gen",
    "record": "board run cube9 --device model --steps 30 --record OUT/traffic.jsonl",
    "compare": "compare cube9 --seconds 0.3 --plot OUT/error.svg --out OUT/compare",
}
# As many more that a full disk stops.
OUTPUTS = {
    "run": "run box:6x6x6 --engine f32 --force --steps 400 --frames 4 -o OUT",
    "run model": "run cube9 --engine model --steps 20 --frames 2 -o OUT",
    "PNG": "picture docs/press.toml --at 0 -o OUT/press.png",
    "SVG": "picture docs/press.toml --at 0 -o OUT/press.svg",
    "import": "scene import tests/meshes/bun41.msh -o OUT/bun.toml --overwrite",
    "scene box": "scene box 4x4x4 -o OUT/box.toml --overwrite",
    "gen": "gen -o OUT",
    "record": "board run cube9 --device model --steps 30 --record OUT/traffic.jsonl",
    "plot": "compare cube9 --seconds 0.05 --plot OUT/error.svg",
    "compare": "compare cube9 --seconds 0.05 --out OUT",
    "stdout": "completions bash > OUT/nendo.bash",
    "man": "man -o OUT",
}


def words(line, out):
    return [NENDO] + [word.replace("OUT", str(out)) for word in line.split()]


def fault(path):
    """What is wrong with a file that should be whole, if anything."""
    data = path.read_bytes()
    ends = {
        ".png": b"IEND\xaeB`\x82", ".svg": b"</svg>", ".vtu": b"</VTKFile>", ".pvd": b"</VTKFile>",
        ".html": b"</html>", ".toml": b"\n", ".csv": b"\n", ".v": b"\n", ".jsonl": b"\n",
    }
    end = ends.get(path.suffix)
    if end and not data.rstrip(b"" if end == b"\n" else b" \n").endswith(end):
        return "has no end"
    try:
        if path.suffix == ".json":
            json.loads(data)
        elif path.suffix in (".vtu", ".pvd", ".svg"):
            xml.fromstring(data)
        elif path.suffix == ".jsonl":
            [json.loads(line) for line in data.splitlines()]
        elif path.suffix == ".glb" and (data[:4] != b"glTF" or int.from_bytes(data[8:12], "little") != len(data)):
            return "is not as long as it says"
        elif path.suffix == ".nendo" and not data.startswith(b"nendo state"):
            return "is no state"
    except ValueError as error:
        return f"cannot be read: {error}"
    except xml.ParseError as error:
        return f"cannot be read: {error}"
    return None


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def kill_all():
    random.seed(21)
    print(f"{'command':12} kills  under way  files found whole  half-written  left over, then removed")
    total = [0] * 5
    for k, (name, line) in enumerate(COMMANDS.items()):
        out = WORK / "kills" / name.replace(" ", "-")
        out.mkdir(parents=True)
        started = time.monotonic()
        subprocess.run(words(line, out), check=True, capture_output=True)
        whole = time.monotonic() - started
        kills = KILLS // len(COMMANDS) + (k < KILLS % len(COMMANDS))
        alive = found = broken = 0
        leftovers = set()
        for _ in range(kills):
            process = subprocess.Popen(words(line, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, whole))
            alive += process.poll() is None
            process.kill()
            process.wait()
            for path in files(out):
                if path.name.startswith(ASIDE):
                    leftovers.add(path)
                    continue
                found += 1
                if what := fault(path):
                    broken += 1
                    print(f"{name}: {path} {what}")
        # Files that are left are old enough a minute later: as if that had passed.
        for path in leftovers:
            if path.exists():
                os.utime(path, (time.time() - 300,) * 2)
        subprocess.run(words(line, out), check=True, capture_output=True)
        still = [path for path in files(out) if path.name.startswith(ASIDE)]
        broken += len(still)
        for path in still:
            print(f"{name}: {path} is still there")
        row = [kills, alive, found, broken, len(leftovers)]
        total = [a + b for a, b in zip(total, row)]
        print(f"{name:12} {row[0]:5} {row[1]:10} {row[2]:18} {row[3]:13} {row[4]:24}", flush=True)
    print(f"{'all':12} {total[0]:5} {total[1]:10} {total[2]:18} {total[3]:13} {total[4]:24}")
    return total[3] == 0


def fill_disk():
    if os.geteuid() != 0:
        print("left out: a full file system, for only root can mount one", file=sys.stderr)
        return True
    sound = True
    disk = WORK / "full"
    print(f"{'output':12} exit code  old file  what it says")
    for name, line in OUTPUTS.items():
        # First somewhere else, to know what it writes; then where old files of these names leave no room.
        model = WORK / "model"
        shutil.rmtree(model, ignore_errors=True)
        model.mkdir()
        run(line, model)
        disk.mkdir(exist_ok=True)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True).returncode != 0:
            print("left out: a full file system, for none can be mounted here", file=sys.stderr)
            return True
        try:
            for path in files(model):
                old = disk / path.relative_to(model)
                old.parent.mkdir(parents=True, exist_ok=True)
                old.write_bytes(b"old")
            names = files(disk)
            filler = open(disk / "filler", "wb", buffering=0)
            try:
                while True:
                    filler.write(bytes(4096))
            except OSError:
                filler.close()
            result = run(line, disk)
            kept = all(is_kept(path) for path in names if ">" not in line)
            said = result.stderr.strip().splitlines()[-1] if result.stderr.strip() else ""
            left = [path.name for path in files(disk) if path.name.startswith(ASIDE)]
            good = result.returncode == 1 and kept and "space" in said and "panicked" not in result.stderr and not left
            sound = sound and good
            print(f"{name:12} {result.returncode:9}  {'kept' if kept else 'LOST':8}  {'' if good else 'WRONG '}{said[:140]} {left or ''}", flush=True)
        finally:
            subprocess.run(["umount", disk], check=True)
    return sound


def is_kept(path):
    """A file is the old one or a whole new one; frames of the run before are removed when another begins."""
    if not path.exists():
        return path.parent.name == "frames"
    return path.read_bytes() == b"old" or fault(path) is None


def run(line, out):
    if " > " in line:
        line, target = line.split(" > ")
        with open(target.replace("OUT", str(out)), "wb") as file:
            return subprocess.run(words(line, out), stdout=file, stderr=subprocess.PIPE, text=True)
    return subprocess.run(words(line, out), capture_output=True, text=True)


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
killed, filled = kill_all(), fill_disk()
shutil.rmtree(WORK)
sys.exit(0 if killed and filled else 1)
