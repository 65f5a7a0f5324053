"""
How much may an analyst cost?
=============================

A missed fraud costs its amount, and blocking an honest customer 8.  Or an analyst checks the transaction, at a fixed
cost.  The mean cost depends on this cost, and on well calibrated small probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sklearn_predtron import PredtronBinaryClassifier

rng = np.random.default_rng(0)
n = 30_000
amount, age = rng.lognormal(3.5, 1.2, n), rng.exponential(400, n)
table = pd.DataFrame(
    {
        "amount": amount,
        "hour": rng.integers(0, 24, n).astype(float),
        "kind": pd.Categorical(rng.choice(["card", "transfer", "wallet"], n, p=[0.6, 0.3, 0.1])),
        "country": pd.Categorical(rng.choice(["AT", "DE", "FR", "PL", "US"], n)),
        "account_days": age,
        "tries": rng.poisson(0.7, n).astype(float),
    }
)
risk = 1.5 * (table.hour < 6) + 1.2 * (table.tries > 2) + 0.6 * (np.log(amount) - 3.5) - 5.3
risk += 2.0 * ((table.kind == "transfer") & (age < 100)) + 1.0 * (
    (table.kind == "card") & (table.country == "US")
)
fraud = (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int).to_numpy()
train, test = slice(0, 10_000), slice(10_000, n)

# %%
# Each model predicts probabilities once.  The decision with the lowest expected cost follows for each cost of a
# referral.

columns = make_column_transformer((OneHotEncoder(), ["kind", "country"]), remainder=StandardScaler())
learners = {
    "PredtronBinaryClassifier": PredtronBinaryClassifier(features="piecewise", random_state=0),
    "LogisticRegression": make_pipeline(columns, LogisticRegression()),
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=0
    ),
}
prices = np.array([0.5, 1, 2, 3, 4, 6, 8])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for name, learner in learners.items():
    p = learner.fit(table[train], fraud[train]).predict_proba(table[test])[:, 1]
    means, shares = [], []
    for price in prices:
        expected = [p * amount[test], (1 - p) * 8, np.full(len(p), price)]  # accept, block, refer
        given = np.array([0, 1, -1])[np.argmin(expected, axis=0)]
        mistaken = np.where(fraud[test] == 1, amount[test] * (given == 0), 8.0 * (given == 1))
        means.append(np.where(given == -1, price, mistaken).mean())
        shares.append((given == -1).mean())
    print(f"{name:31}", *(f"{price:g}: {mean:.2f} " for price, mean in zip(prices, means, strict=True)))
    left.plot(prices, means, "o-", label=name)
    right.plot(prices, shares, "o-", label=name)
left.set(xlabel="cost of a referral", ylabel="mean cost per row", title="Cost")
right.set(xlabel="cost of a referral", ylabel="share of referred rows", title="Referrals")
left.axhline((amount * fraud)[test].mean(), color="gray", linestyle=":", label="accept all")
left.legend()
plt.show()

# %%
# ``reject=Reject(cost=3.0)`` and ``predict(X, costs=...)`` make these decisions by themselves.
# :doc:`/user_guide/recipes/fraud` shows them, with missing values and explanations of blocked transactions.
