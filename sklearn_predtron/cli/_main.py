"""The main job, from the command line to the exit code."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn_predtron._support.quiet_start import raise_interrupts
from sklearn_predtron.cli._arguments import build_parser
from sklearn_predtron.cli._console import UsageError, complain, report, terminable, warnings_in_a_line
from sklearn_predtron.cli._progress import ProgressBar


def main(argv: Sequence[str] | None = None) -> int:
    """Run the main job and return the exit code."""
    parser = build_parser()
    try:
        args = parser.parse_args(argv)
        bar = ProgressBar(quiet=bool(args.quiet))
    except SystemExit as stop:  # --help has been written, if somebody reads it
        raise SystemExit(report("") or stop.code) from None
    # Help and errors of single arguments have ended by now, without these imports, which take long.
    from sklearn_predtron.cli._job import Job
    from sklearn_predtron.cli._predict import predict

    raise_interrupts()
    try:
        job = Job.of(args)
        with terminable(), warnings_in_a_line(bar.clear):
            found = predict(job, bar)
        if isinstance(found, int):
            return found
        from sklearn_predtron.cli._checks import check_job  # all other jobs need scikit-learn
        from sklearn_predtron.cli._file_job import run_files

        check_job(job)
        with terminable(), warnings_in_a_line(bar.clear):
            if job.train or job.load:
                return run_files(job, bar, found)
            from sklearn_predtron.cli._demo import run_demo  # scikit-learn's data sets, which files do without

            return run_demo(job, bar)
    except UsageError as error:
        bar.clear()
        parser.error(str(error))
    except KeyboardInterrupt as stop:
        bar.clear()
        return complain(stop)
