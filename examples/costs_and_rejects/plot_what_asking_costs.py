"""
What an analyst may cost
========================

To let a fraud pass costs its amount, to refuse a good customer 8.  Or an analyst looks at it, at a price of each look.
What is paid hangs on the price, and on probabilities that are right where they are small.
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
# Each learner gives probabilities once; what is cheapest by them follows from the price.

columns = make_column_transformer((OneHotEncoder(), ["kind", "country"]), remainder=StandardScaler())
learners = {
    "PredtronBinaryClassifier": PredtronBinaryClassifier(features="piecewise", random_state=0),
    "LogisticRegression": make_pipeline(columns, LogisticRegression()),
    "HistGradientBoostingClassifier": HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=0
    ),
}
prices = np.array([0.5, 1, 2, 3, 4, 6, 8])
figure, (paid, asked) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for name, learner in learners.items():
    p = learner.fit(table[train], fraud[train]).predict_proba(table[test])[:, 1]
    means, looks = [], []
    for price in prices:
        expected = [p * amount[test], (1 - p) * 8, np.full(len(p), price)]  # to let pass, to refuse, to ask
        given = np.array([0, 1, -1])[np.argmin(expected, axis=0)]
        mistaken = np.where(fraud[test] == 1, amount[test] * (given == 0), 8.0 * (given == 1))
        means.append(np.where(given == -1, price, mistaken).mean())
        looks.append((given == -1).mean())
    print(f"{name:31}", *(f"{price:g}: {mean:.2f} " for price, mean in zip(prices, means, strict=True)))
    paid.plot(prices, means, "o-", label=name)
    asked.plot(prices, looks, "o-", label=name)
paid.set(xlabel="price of a look", ylabel="mean cost of a row", title="What is paid")
asked.set(xlabel="price of a look", ylabel="share of the rows", title="What is looked at")
paid.axhline((amount * fraud)[test].mean(), color="gray", linestyle=":", label="to let all pass")
paid.legend()
plt.show()

# %%
# ``reject=Reject(cost=3.0)`` and ``predict(X, costs=...)`` decide so by themselves:
# :doc:`/user_guide/recipes/fraud` has them, with values that are missing, and the reasons of a refusal.
