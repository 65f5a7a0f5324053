"""XGBoost's rank:ndcg: 100 trees (optional)."""

from typing import Any

from benchmarks.contestants.queries import RankingContestant
from benchmarks.tasks import Task


class XGBoostRanker(RankingContestant):
    name = "XGBoost rank:ndcg"
    module = "xgboost"

    def make(self, task: Task) -> Any:
        from xgboost import XGBRanker

        return XGBRanker(objective="rank:ndcg", n_estimators=100, random_state=task.seed, n_jobs=1)
