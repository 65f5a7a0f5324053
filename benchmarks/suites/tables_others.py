from benchmarks.report import Table

rounds = streams = ranks = rankings = lambda options: Table("t", [])
