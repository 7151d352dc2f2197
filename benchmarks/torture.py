"""What is lost when something goes wrong: the process is killed, the disk is full, files are damaged. By hand, seeded.

    python benchmarks/torture.py kills --kills 1000       kill -9, at random moments and at calls that change a file
    python benchmarks/torture.py errors --errors 1000     a full disk, a lost one, no rights, …: a call that fails
    python benchmarks/torture.py reads --errors 1000      the same while a file is read, of every format
    python benchmarks/torture.py signals                  Ctrl-C and SIGTERM while saving
    python benchmarks/torture.py writers                  two writers at once, and readers during a rewrite
    python benchmarks/torture.py mutants                  damaged files of every format that is read

Each prints a table, and exits with 1 if anything was lost, left behind or not what it should be. `--seed` chooses
another run of chance, `--folder` another place to work in (a file system in memory is quickest). Needs Linux and a C
compiler: the commands run with `torture_shim.c`, which disturbs their system calls.
"""

import sys
from importlib import import_module

COMMANDS = {
    "kills": ("torture_kills", "kills"),
    "signals": ("torture_kills", "signals"),
    "writers": ("torture_kills", "writers"),
    "errors": ("torture_errors", "errors"),
    "reads": ("torture_errors", "reads"),
    "mutants": ("torture_mutants", "main"),
}


def main(argv: list[str]) -> int:
    if not argv or argv[0] not in COMMANDS:
        print(__doc__, file=sys.stderr)
        return 2
    from torture_shim import with_shim

    code = None if argv[0] == "mutants" else with_shim()
    if code is not None:
        return code
    module, function = COMMANDS[argv[0]]
    return int(getattr(import_module(module), function)(argv[1:]) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
