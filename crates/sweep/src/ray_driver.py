"""Distributes the points of a sweep over the nodes of Ray: PLAN FLICK ADDRESS.

A task of Ray is a worker of the sweep with some points. Ray starts the tasks of a node that is lost on
another one. The files of results say which points are done.
"""
import json
import subprocess
import sys

try:
    import ray
except ImportError as error:
    print(f"{sys.executable}: {error}", file=sys.stderr)
    sys.exit(77)

TASKS = 200


def main():
    plan, flick, address = sys.argv[1:]
    with open(plan) as file:
        count = len(json.load(file)["points"])
    ray.init(address=address or None, log_to_driver=False, logging_level="warning")

    @ray.remote(max_retries=-1, num_cpus=1)
    def work(points):
        done = subprocess.run([flick, "sweep", "--worker", plan, "--points", points],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
        return points, done.returncode, done.stderr.decode(errors="replace")

    size = max(1, -(-count // TASKS))
    tasks = [work.remote(f"{first}-{min(first + size, count) - 1}") for first in range(0, count, size)]
    while tasks:
        ready, tasks = ray.wait(tasks)
        for task in ready:
            try:
                points, status, text = ray.get(task)
            except ray.exceptions.RayError as error:
                print(f"sweep: a task of Ray is lost: {error}", file=sys.stderr)
                continue
            if status != 0:
                print(f"sweep: the worker of points {points} has ended with {status}: {text}",
                      file=sys.stderr)


main()
